// SPDX-License-Identifier: MIT
#include "src/scan/stores/joined_lists.h"

#include <limits>
#include <utility>

#include "src/core/status.h"
#include "src/scan/stores/mapped_row_store.h"

namespace polarquant {

JoinedLists::JoinedLists(const Codec& codec, int64_t lists, Copies copies)
    : CodeLists(codec, lists),
      kept_(copies),
      ids_(kept_ == Copies::all ? static_cast<size_t>(lists) : 1),
      codes_(kept_ == Copies::all && !has_blocks() ? static_cast<size_t>(lists) : 1) {}

void JoinedLists::join(std::unique_ptr<CodeLists> lists, int64_t add_id) {
  parts_.push_back({std::move(lists), add_id});
}

int64_t JoinedLists::rows(int64_t list) const {
  int64_t rows = 0;
  for (const Part& part : parts_) rows += part.lists->rows(list);
  return rows;
}

size_t JoinedLists::memory_bytes() const {
  size_t bytes = ids_.size() * sizeof ids_[0] + codes_.size() * sizeof codes_[0];
  for (const auto& ids : ids_) bytes += ids.items.capacity() * sizeof(int64_t);
  for (const auto& codes : codes_) bytes += codes.items.capacity();
  for (const Part& part : parts_) bytes += part.lists->memory_bytes();
  return bytes;
}

void JoinedLists::verify() const {
  for (const Part& part : parts_) part.lists->verify();
}

template <typename Item, typename Fill>
const Item* JoinedLists::copy_of(int64_t list, std::vector<Copy<Item>>& copies,
                                 const Fill& fill) const {
  if (kept_ == Copies::last) {
    copies[0].items.clear();
    fill(copies[0].items);
    return copies[0].items.data();
  }
  Copy<Item>& copy = copies[static_cast<size_t>(list)];
  std::call_once(copy.once, [&] {
    std::vector<Item> items;
    items.reserve(static_cast<size_t>(rows(list)) * (sizeof(Item) == 1 ? code_bytes() : 1));
    fill(items);
    copy.items = std::move(items);
  });
  return copy.items.data();
}

const int64_t* JoinedLists::ids(int64_t list) const {
  return copy_of(list, ids_, [&](std::vector<int64_t>& ids) { copy_ids(list, ids); });
}

const uint8_t* JoinedLists::row_codes(int64_t list) const {
  return copy_of(list, codes_, [&](std::vector<uint8_t>& codes) { copy_codes(list, codes); });
}

void JoinedLists::copy_ids(int64_t list, std::vector<int64_t>& joined) const {
  for (const Part& part : parts_) {
    const int64_t* ids = part.lists->ids(list);
    for (int64_t row = 0; row < part.lists->rows(list); ++row) {
      require(ids[row] <= std::numeric_limits<int64_t>::max() - part.add_id,
              StatusCode::corrupt_data, "index file: id {} of row {} of list {} grows by {}",
              ids[row], row, list, part.add_id);
      joined.push_back(ids[row] + part.add_id);
    }
  }
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

// As span, but each part is asked once.
void JoinedLists::append_spans(int64_t list, std::vector<BlockRows>* spans) const {
  int64_t first_row = 0;
  for (const Part& part : parts_) {
    const size_t begin = spans->size();
    part.lists->append_spans(list, spans);
    for (size_t i = begin; i < spans->size(); ++i) (*spans)[i].first_row += first_row;
    first_row += part.lists->rows(list);
  }
}

void JoinedLists::copy_codes(int64_t list, std::vector<uint8_t>& joined) const {
  for (const Part& part : parts_) {
    const uint8_t* codes = part.lists->row_codes(list);
    joined.insert(joined.end(), codes,
                  codes + static_cast<size_t>(part.lists->rows(list)) * code_bytes());
  }
}

void JoinedLists::read_ahead(std::span<const int64_t> lists) const {
  for (const Part& part : parts_) part.lists->read_ahead(lists);
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
