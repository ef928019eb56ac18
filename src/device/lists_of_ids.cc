// SPDX-License-Identifier: MIT
#include "src/device/lists_of_ids.h"

#include <bit>
#include <cstring>

#include "src/core/status.h"

namespace polarquant::device {
namespace {

[[noreturn]] void fail_without_codes() {
  fail(StatusCode::internal, "lists: their codes are on devices");
}

}  // namespace

BlockRows ListsOfIds::span(int64_t /*list*/, size_t /*number*/) const { fail_without_codes(); }
const uint8_t* ListsOfIds::row_codes(int64_t /*list*/) const { fail_without_codes(); }
void ListsOfIds::get(int64_t /*list*/, int64_t /*row*/, uint8_t* /*code*/) const {
  fail_without_codes();
}
void ListsOfIds::append(int64_t /*list*/, int64_t /*n*/, const int64_t* /*ids*/,
                        const uint8_t* /*codes*/) {
  fail_without_codes();
}
void ListsOfIds::overwrite(int64_t /*list*/, int64_t /*row*/, int64_t /*id*/,
                           const uint8_t* /*code*/) {
  fail_without_codes();
}
void ListsOfIds::truncate(int64_t /*list*/, int64_t /*rows*/) { fail_without_codes(); }
void ListsOfIds::clear() { fail_without_codes(); }

ListsOfKeptRows::ListsOfKeptRows(const Codec& codec, const CudaLists& lists,
                                 const KeptListRows& kept, const ReadRowCodes& read)
    : ListsOfIds(codec, lists), words_(kept.words()) {
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(kept.count()));
  before_.reserve(words_.size());
  for (size_t at = 0; at < words_.size(); ++at) {
    before_.push_back(std::ssize(rows));
    for (uint64_t left = words_[at]; left != 0; left &= left - 1)
      rows.push_back(static_cast<int64_t>(64 * at) + std::countr_zero(left));
  }
  codes_.resize(rows.size() * code_bytes());
  read(rows, codes_.data());
}

void ListsOfKeptRows::get(int64_t list, int64_t row, uint8_t* code) const {
  const int64_t number = row_number(list, row);
  const auto word = static_cast<size_t>(number / 64);
  const uint64_t earlier = words_[word] & ((uint64_t{1} << number % 64) - 1);
  const auto at = static_cast<size_t>(before_[word] + std::popcount(earlier));
  std::memcpy(code, codes_.data() + at * code_bytes(), code_bytes());
}

}  // namespace polarquant::device
