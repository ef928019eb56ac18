// SPDX-License-Identifier: MIT
// FAISS's selectors keep as filters what they keep in FAISS.
#include "src/faiss/index/selector_filter.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "src/core/random.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

/// A class of a caller's.
struct EveryThird final : ::faiss::IDSelector {
  bool is_member(int64_t id) const override { return id % 3 == 0; }
};

void check_filter(const ::faiss::IDSelector& selector) {
  const RowFilter filter = filter_of_selector(&selector);
  std::vector<uint64_t> masks(20);
  filter.masks(0, 64 * std::ssize(masks), masks.data());
  for (int64_t id = 0; id < 64 * std::ssize(masks); ++id) {
    CAPTURE(id);
    const bool is_kept = (masks[static_cast<size_t>(id / 64)] >> id % 64 & 1) != 0;
    if (is_kept != selector.is_member(id)) FAIL("another mask");
  }
  for (const int64_t id : {int64_t{-7}, int64_t{-1}, int64_t{3}, int64_t{900}, int64_t{1} << 40,
                           std::numeric_limits<int64_t>::max()}) {
    CAPTURE(id);
    // FAISS's bitmap reads no bit of a negative id.
    REQUIRE(filter.keeps(id) == selector.is_member(id));
  }
}

template <typename Pair>
void check_pair(const ::faiss::IDSelector& a, const ::faiss::IDSelector& b) {
  if constexpr (Defined<Pair>) {
    const Pair pair(&a, &b);
    check_filter(pair);
    const ::faiss::IDSelectorNot neither(&pair);
    check_filter(neither);
  }
}

}  // namespace

TEST_CASE("a selector of FAISS's is the filter that it says", "[faiss][filter]") {
  Random random(3);
  std::vector<uint8_t> bytes(101);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.below(256));
  const std::vector<int64_t> ids = {900, 3, 64, 3, 65, -7, 127, 128, 1030};
  std::vector<std::unique_ptr<::faiss::IDSelector>> selectors;
  selectors.push_back(std::make_unique<::faiss::IDSelectorAll>());
  selectors.push_back(std::make_unique<::faiss::IDSelectorRange>(-8, 901));
  selectors.push_back(std::make_unique<::faiss::IDSelectorRange>(70, 70));
  selectors.push_back(
      std::make_unique<::faiss::IDSelectorRange>(5, std::numeric_limits<int64_t>::max()));
  selectors.push_back(std::make_unique<::faiss::IDSelectorArray>(ids.size(), ids.data()));
  selectors.push_back(std::make_unique<::faiss::IDSelectorBatch>(ids.size(), ids.data()));
  selectors.push_back(std::make_unique<::faiss::IDSelectorBitmap>(bytes.size(), bytes.data()));
  selectors.push_back(std::make_unique<EveryThird>());
  selectors.push_back(
      std::make_unique<FilterSelector>(RowFilter([](int64_t id) { return id % 5 == 1; })));
  for (const auto& selector : selectors) {
    check_filter(*selector);
    const ::faiss::IDSelectorNot other(selector.get());
    check_filter(other);
    check_pair<::faiss::IDSelectorAnd>(*selector, *selectors.front());
    check_pair<::faiss::IDSelectorAnd>(*selector, other);
    check_pair<::faiss::IDSelectorOr>(*selector, *selectors.back());
    check_pair<::faiss::IDSelectorXOr>(*selectors[6], *selector);
  }
  REQUIRE(filter_of_selector(nullptr).keeps_all());
}
