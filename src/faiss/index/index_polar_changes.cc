// SPDX-License-Identifier: MIT
// IndexPolar's changes of rows held: removal, update, merge. Each leaves the index as it was when
// it fails.
#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/coded_rows.h"
#include "src/faiss/index/index_polar_mark.h"
#include "src/faiss/index/row_checks.h"
#include "src/faiss/index/row_ids.h"
#include "src/faiss/index/selector_filter.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {
namespace {

/// Codes that a merge copies at a time.
constexpr int64_t kMergeRows = 4096;

/// Appends codes of this codec's state.
void append_codes(const Codec& codec, const RowStore& from, RowStore& to) {
  const size_t code_bytes = codec.layout().group_bytes;
  std::vector<uint8_t> codes(static_cast<size_t>(std::min(from.rows(), kMergeRows)) * code_bytes);
  for (int64_t first = 0; first < from.rows(); first += kMergeRows) {
    const int64_t count = std::min(from.rows() - first, kMergeRows);
    for (int64_t i = 0; i < count; ++i)
      from.get(codec, first + i, codes.data() + static_cast<size_t>(i) * code_bytes);
    to.append_codes(codec, count, codes.data());
  }
}
void append_codes_or_none(const Codec& codec, const RowStore& from, RowStore& to) {
  const RowStore::Mark before = to.mark(codec);
  try {
    append_codes(codec, from, to);
  } catch (...) {
    to.go_back_to(codec, before);
    throw;
  }
}

/// The rows that a selector names, falling. Selectors that list ids are not asked for each row.
std::vector<idx_t> falling_rows(const RowIds& ids, const ::faiss::IDSelector& sel) {
  std::vector<idx_t> rows;
  const auto take = [&](idx_t id) {
    if (const idx_t row = ids.row_of(id); row >= 0) rows.push_back(row);
  };
  if (const auto* listed = dynamic_cast<const ::faiss::IDSelectorArray*>(&sel)) {
    std::for_each_n(listed->ids, listed->n, take);
  } else if (const auto* batch = dynamic_cast<const ::faiss::IDSelectorBatch*>(&sel)) {
    std::for_each(batch->set.begin(), batch->set.end(), take);
  } else {
    for (idx_t row = 0; row < std::ssize(ids.all()); ++row)
      if (sel.is_member(ids[row])) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), std::greater<>());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace

void IndexPolar::require_removable(const char* call) const {
  require_row_codes(call, *codec_);
  require_writable(call, *codes_);
}

void IndexPolar::remove_positions(const std::vector<uint64_t>& gone) noexcept {
  codes_->remove(*codec_, gone);
  ntotal = codes_->rows();
}

void IndexPolar::remove_row(idx_t row, idx_t heir) {
  codes_->remove_row(*codec_, row, heir);
  ntotal = codes_->rows();
}

size_t IndexPolar::remove_ids(const ::faiss::IDSelector& sel) {
  return with_faiss_errors([&] {
    require_removable("remove_ids");
    const idx_t before = ntotal;
    if (ids_->empty()) {
      remove_positions(selected_rows(sel, ntotal));
    } else {
      const std::vector<idx_t> rows = falling_rows(*ids_, sel);
      codes_->swap_remove(*codec_, rows);
      for (const idx_t row : rows) ids_->swap_remove(row);
      ids_->return_spare();
    }
    ntotal = codes_->rows();
    return static_cast<size_t>(before - ntotal);
  });
}

void IndexPolar::update_vectors(idx_t n, const idx_t* keys, const float* x) {
  update_rows(n, keys, x, {});
}

void IndexPolar::update_rows(idx_t n, const idx_t* keys, const float* x, const CodedRows& coded) {
  with_faiss_errors([&] {
    require_row_codes("update_vectors", *codec_);
    require_writable("update_vectors", *codes_);
    if (coded.empty()) require_rows("update_vectors", n, d, x);
    if (n == 0) return;
    require(keys != nullptr, StatusCode::bad_argument,
            "update_vectors: keys is null; {} ids are needed", n);
    std::vector<idx_t> rows;
    rows.reserve(static_cast<size_t>(n));
    for (idx_t i = 0; i < n; ++i) rows.push_back(row_of("update_vectors", keys[i]));
    if (coded.empty()) return codes_->replace(*codec_, rows, x, 0);
    put_positions(rows, x, coded);
  });
}

void IndexPolar::put_positions(const std::vector<idx_t>& rows, const float* x,
                               const CodedRows& coded) noexcept {
  if (codes_->holds_floats()) return codes_->replace(*codec_, rows, x, 0);
  const uint8_t* code = coded.codes.data();
  for (const idx_t row : rows) {
    codes_->overwrite(*codec_, row, code);
    code += codec_->layout().group_bytes;
  }
}

void IndexPolar::check_compatible_for_merge(const ::faiss::Index& other) const {
  with_faiss_errors([&] {
    const auto* polar = dynamic_cast<const IndexPolar*>(&other);
    require(polar != nullptr, StatusCode::state_mismatch,
            "merge: other is no IndexPolar; an index of {} is needed", spec_);
    require(polar != this, StatusCode::bad_argument, "merge: other is the index itself");
    require_row_codes("merge", *codec_);
    const std::string difference = this->difference(*polar);
    require(
        difference.empty(), StatusCode::state_mismatch,
        "merge: codes of other are of another state: {} differs; equal states mix (train before "
        "sharding)",
        difference);
  });
}

void IndexPolar::merge_from(::faiss::Index& other_index, idx_t add_id) {
  with_faiss_errors([&] {
    check_compatible_for_merge(other_index);
    auto& other = dynamic_cast<IndexPolar&>(other_index);
    require_writable("merge_from", *codes_);
    require_writable("merge_from, of other", *other.codes_);
    if (other.ntotal == 0) return;
    const bool with_ids = !other.ids_->empty();
    require(ntotal == 0 || with_ids != ids_->empty(), StatusCode::bad_argument,
            "merge: rows of {} have ids of their own, those of {} do not",
            with_ids ? "other" : "the index", with_ids ? "the index" : "other");
    require(with_ids || add_id == 0 || add_id == ntotal, StatusCode::bad_argument,
            "merge: add_id is {}; 0 or ntotal, {}, is allowed, as rows have no ids of their own",
            add_id, ntotal);
    const size_t ids_before = ids_->all().size();
    try {
      ids_->reserve(other.ids().size());
      for (const idx_t id : other.ids()) {
        require(id <= std::numeric_limits<idx_t>::max() - std::max<idx_t>(add_id, 0) &&
                    id + add_id >= 0,
                StatusCode::bad_argument,
                "merge: id {} of other and add_id {} make an id outside 0 to 2^63-1", id, add_id);
        require(ids_->append(id + add_id), StatusCode::bad_argument,
                "merge: id {} of other, with add_id {}, is in the index already", id, add_id);
      }
      if (other.codes_->holds_floats()) {
        append_rows(other.ntotal, other.codes_->floats().data(), {});
      } else if (codes_->holds_floats()) {
        Contents coded = code_held_rows(copy_codec(learns_from_rows() ? *other.codec_ : *codec_));
        append_codes(*coded.codec, *other.codes_, *coded.rows);
        coded.codec->mark_encoded();
        take(std::move(coded));
      } else {
        append_codes_or_none(*codec_, *other.codes_, *codes_);
        codec_->mark_encoded();
      }
    } catch (...) {
      ids_->truncate(ids_before);
      throw;
    }
    ntotal = codes_->rows();
    other.reset();
  });
}

}  // namespace polarquant
