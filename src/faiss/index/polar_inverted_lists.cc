// SPDX-License-Identifier: MIT
#include "src/faiss/index/polar_inverted_lists.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/core/platform/platform.h"
#include "src/faiss/foreign/faiss_error.h"

namespace polarquant {
namespace {

/// Memory between lists goes back when one row of so many went, and so many rows at least.
constexpr size_t kReturnEvery = 32;
constexpr size_t kLeastReturned = 1024;

}  // namespace

PolarInvertedLists::PolarInvertedLists(std::unique_ptr<CodeLists> lists)
    : InvertedLists(static_cast<size_t>(lists->count()), lists->code_bytes()),
      lists_(std::move(lists)) {}

size_t PolarInvertedLists::list_size(size_t list_no) const {
  return static_cast<size_t>(lists_->rows(static_cast<int64_t>(list_no)));
}

const uint8_t* PolarInvertedLists::get_codes(size_t list_no) const {
  return with_faiss_errors([&] {
    const auto list = static_cast<int64_t>(list_no);
    const int64_t rows = lists_->rows(list);
    auto codes = std::make_unique<uint8_t[]>(static_cast<size_t>(rows) * code_size);
    for (int64_t row = 0; row < rows; ++row)
      lists_->get(list, row, codes.get() + static_cast<size_t>(row) * code_size);
    return codes.release();
  });
}

const uint8_t* PolarInvertedLists::get_single_code(size_t list_no, size_t offset) const {
  return with_faiss_errors([&] {
    auto code = std::make_unique<uint8_t[]>(code_size);
    lists_->get(static_cast<int64_t>(list_no), static_cast<int64_t>(offset), code.get());
    return code.release();
  });
}

void PolarInvertedLists::release_codes(size_t /*list_no*/, const uint8_t* codes) const {
  delete[] codes;
}

const idx_t* PolarInvertedLists::get_ids(size_t list_no) const {
  return with_faiss_errors([&] { return lists_->ids(static_cast<int64_t>(list_no)); });
}

idx_t PolarInvertedLists::get_single_id(size_t list_no, size_t offset) const {
  return get_ids(list_no)[offset];
}

size_t PolarInvertedLists::add_entries(size_t list_no, size_t n_entry, const idx_t* ids,
                                       const uint8_t* code) {
  return with_faiss_errors([&] {
    const size_t before = list_size(list_no);
    lists_->append(static_cast<int64_t>(list_no), static_cast<int64_t>(n_entry), ids, code);
    return before;
  });
}

void PolarInvertedLists::update_entries(size_t list_no, size_t offset, size_t n_entry,
                                        const idx_t* ids, const uint8_t* code) {
  with_faiss_errors([&] {
    for (size_t i = 0; i < n_entry; ++i) {
      lists_->overwrite(static_cast<int64_t>(list_no), static_cast<int64_t>(offset + i), ids[i],
                        code + i * code_size);
    }
  });
}

void PolarInvertedLists::set_id(size_t list_no, size_t offset, idx_t id) {
  with_faiss_errors(
      [&] { lists_->set_id(static_cast<int64_t>(list_no), static_cast<int64_t>(offset), id); });
}

void PolarInvertedLists::resize(size_t list_no, size_t new_size) {
  with_faiss_errors([&] {
    const size_t before = list_size(list_no);
    if (new_size <= before) {
      lists_->truncate(static_cast<int64_t>(list_no), static_cast<int64_t>(new_size));
      return;
    }
    const std::vector<idx_t> ids(new_size - before, -1);
    const std::vector<uint8_t> codes((new_size - before) * code_size);
    add_entries(list_no, ids.size(), ids.data(), codes.data());
  });
}

// Lists that become longer move, and leave pieces of memory that fit few others. Of itself the C
// library gives back only what lies after all of them: docs/dev/tuning.md, "Memory".
void PolarInvertedLists::note_removed(size_t removed, size_t rows) noexcept {
  removed_ += removed;
  if (removed_ < std::max(kLeastReturned, rows / kReturnEvery)) return;
  removed_ = 0;
  platform::return_free_memory();
}

void PolarInvertedLists::reset() {
  with_faiss_errors([&] { lists_->clear(); });
}

}  // namespace polarquant
