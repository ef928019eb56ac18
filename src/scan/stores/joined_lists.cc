// SPDX-License-Identifier: MIT
#include "src/scan/stores/joined_lists.h"

#include <limits>
#include <utility>

#include "src/core/status.h"
#include "src/scan/stores/mapped_row_store.h"

namespace polarquant {

void JoinedLists::join(std::unique_ptr<CodeLists> lists, int64_t add_id) {
  parts_.push_back({std::move(lists), add_id});
}

int64_t JoinedLists::rows(int64_t list) const {
  int64_t rows = 0;
  for (const Part& part : parts_) rows += part.lists->rows(list);
  return rows;
}

size_t JoinedLists::memory_bytes() const {
  size_t bytes = ids_.capacity() * sizeof(int64_t) + codes_.capacity();
  for (const Part& part : parts_) bytes += part.lists->memory_bytes();
  return bytes;
}

void JoinedLists::verify() const {
  for (const Part& part : parts_) part.lists->verify();
}

const int64_t* JoinedLists::ids(int64_t list) const {
  ids_.clear();
  for (const Part& part : parts_) {
    const int64_t* ids = part.lists->ids(list);
    for (int64_t row = 0; row < part.lists->rows(list); ++row) {
      require(ids[row] <= std::numeric_limits<int64_t>::max() - part.add_id,
              StatusCode::corrupt_data, "index file: id {} of row {} of list {} grows by {}",
              ids[row], row, list, part.add_id);
      ids_.push_back(ids[row] + part.add_id);
    }
  }
  return ids_.data();
}

size_t JoinedLists::span_count(int64_t list) const {
  size_t spans = 0;
  for (const Part& part : parts_) spans += part.lists->span_count(list);
  return spans;
}

BlockRows JoinedLists::span(int64_t list, size_t number) const {
  int64_t first_row = 0;
  auto part = parts_.begin();
  for (; number >= part->lists->span_count(list); ++part) {
    number -= part->lists->span_count(list);
    first_row += part->lists->rows(list);
  }
  BlockRows span = part->lists->span(list, number);
  span.first_row += first_row;
  return span;
}

const uint8_t* JoinedLists::row_codes(int64_t list) const {
  codes_.clear();
  for (const Part& part : parts_) {
    const uint8_t* codes = part.lists->row_codes(list);
    codes_.insert(codes_.end(), codes,
                  codes + static_cast<size_t>(part.lists->rows(list)) * code_bytes());
  }
  return codes_.data();
}

void JoinedLists::get(int64_t list, int64_t row, uint8_t* code) const {
  auto part = parts_.begin();
  for (; row >= part->lists->rows(list); ++part) row -= part->lists->rows(list);
  part->lists->get(list, row, code);
}

void JoinedLists::append(int64_t /*list*/, int64_t /*n*/, const int64_t* /*ids*/,
                         const uint8_t* /*codes*/) {
  refuse_change_of_mapped();
}
void JoinedLists::overwrite(int64_t /*list*/, int64_t /*row*/, int64_t /*id*/,
                            const uint8_t* /*code*/) {
  refuse_change_of_mapped();
}
void JoinedLists::truncate(int64_t /*list*/, int64_t /*rows*/) { refuse_change_of_mapped(); }
void JoinedLists::clear() { refuse_change_of_mapped(); }

}  // namespace polarquant
