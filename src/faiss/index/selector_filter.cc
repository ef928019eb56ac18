// SPDX-License-Identifier: MIT
#include "src/faiss/index/selector_filter.h"

#include <cstdint>
#include <vector>

#include "src/scan/search/filter_rules.h"

namespace polarquant {
namespace {

/// Of two selectors, where the FAISS at hand has the class.
template <typename Pair>
RowFilter filter_of_pair(const ::faiss::IDSelector* selector, JoinMasks masks) {
  if constexpr (Defined<Pair>) {
    if (const auto* pair = dynamic_cast<const Pair*>(selector))
      return join(filter_of_selector(pair->lhs), filter_of_selector(pair->rhs), masks);
  }
  return {};
}

RowFilter filter_of_pairs(const ::faiss::IDSelector* selector) {
  RowFilter filter = filter_of_pair<::faiss::IDSelectorAnd>(
      selector, [](uint64_t a, uint64_t b) { return a & b; });
  if (filter.keeps_all())
    filter = filter_of_pair<::faiss::IDSelectorOr>(selector,
                                                   [](uint64_t a, uint64_t b) { return a | b; });
  if (filter.keeps_all())
    filter = filter_of_pair<::faiss::IDSelectorXOr>(selector,
                                                    [](uint64_t a, uint64_t b) { return a ^ b; });
  return filter;
}

}  // namespace

RowFilter filter_of_selector(const ::faiss::IDSelector* selector) {
  if (selector == nullptr || dynamic_cast<const ::faiss::IDSelectorAll*>(selector) != nullptr)
    return {};
  if (const auto* ours = dynamic_cast<const FilterSelector*>(selector)) return ours->filter();
  if (const auto* range = dynamic_cast<const ::faiss::IDSelectorRange*>(selector)) {
    // FAISS's never keeps the last id there can be, which kNoEnd would.
    if (range->imax != kNoEnd) return keep_range(range->imin, range->imax);
  }
  if (const auto* bitmap = dynamic_cast<const ::faiss::IDSelectorBitmap*>(selector))
    return keep_bits(bitmap->bitmap, static_cast<int64_t>(8 * bitmap->n));
  if (const auto* array = dynamic_cast<const ::faiss::IDSelectorArray*>(selector))
    return keep_ids(std::vector<int64_t>(array->ids, array->ids + array->n));
  if (const auto* batch = dynamic_cast<const ::faiss::IDSelectorBatch*>(selector))
    return [batch](int64_t id) { return batch->::faiss::IDSelectorBatch::is_member(id); };
  if (const auto* other = dynamic_cast<const ::faiss::IDSelectorNot*>(selector))
    return join({}, filter_of_selector(other->sel), [](uint64_t, uint64_t b) { return ~b; });
  RowFilter pairs = filter_of_pairs(selector);
  if (!pairs.keeps_all()) return pairs;
  return [selector](int64_t id) { return selector->is_member(id); };
}

std::vector<uint64_t> selected_rows(const ::faiss::IDSelector& selector, int64_t rows) {
  std::vector<uint64_t> selected(static_cast<size_t>((rows + 63) / 64));
  if (rows > 0) filter_of_selector(&selector).masks(0, rows, selected.data());
  return selected;
}

}  // namespace polarquant
