// SPDX-License-Identifier: MIT
#include "src/scan/code_lists.h"

#include <algorithm>
#include <cstring>

#include "src/core/status.h"
#include "src/scan/scan_codec.h"

namespace polarquant {
namespace {

/// As much spare room as blocks keep (code_blocks.cc): doubling would cost a short list half its
/// bytes again.
constexpr size_t kSpareShare = 128;

template <typename Vector>
void reserve_more(Vector& vector, size_t more) {
  const size_t needed = vector.size() + more;
  if (needed > vector.capacity()) vector.reserve(needed + vector.size() / kSpareShare);
}

}  // namespace

CodeLists::CodeLists(const Codec& codec, int64_t lists)
    : code_bytes_(codec.layout().group_bytes), ids_(static_cast<size_t>(lists)) {
  require(codec.layout().group_rows == 1, StatusCode::unsupported,
          "{}: codes {} rows together, so that they cannot be parted to lists",
          print_spec(codec.spec()), codec.layout().group_rows);
  if (ScanCodec::supports(codec)) {
    blocks_.assign(static_cast<size_t>(lists), CodeBlocks(BlockLayout(codec)));
  } else {
    row_codes_.resize(static_cast<size_t>(lists));
  }
}

size_t CodeLists::memory_bytes() const {
  size_t bytes = blocks_.capacity() * sizeof(CodeBlocks) +
                 row_codes_.capacity() * sizeof(row_codes_[0]) + ids_.capacity() * sizeof(ids_[0]);
  for (const CodeBlocks& blocks : blocks_) bytes += blocks.memory_bytes();
  for (const auto& codes : row_codes_) bytes += codes.capacity();
  for (const auto& ids : ids_) bytes += ids.capacity() * sizeof(int64_t);
  return bytes;
}

void CodeLists::get(int64_t list, int64_t row, uint8_t* code) const {
  if (has_blocks()) {
    blocks(list).get(row, code);
  } else {
    std::memcpy(code, row_codes(list) + static_cast<size_t>(row) * code_bytes_, code_bytes_);
  }
}

void CodeLists::append(int64_t list, int64_t n, const int64_t* ids, const uint8_t* codes) {
  const auto at = static_cast<size_t>(list);
  const auto count = static_cast<size_t>(n);
  reserve_more(ids_[at], count);
  if (has_blocks()) {
    blocks_[at].append(n, codes);
  } else {
    reserve_more(row_codes_[at], count * code_bytes_);
    row_codes_[at].insert(row_codes_[at].end(), codes, codes + count * code_bytes_);
  }
  ids_[at].insert(ids_[at].end(), ids, ids + n);
}

void CodeLists::overwrite(int64_t list, int64_t row, int64_t id, const uint8_t* code) {
  const auto at = static_cast<size_t>(list);
  if (has_blocks()) {
    blocks_[at].overwrite(row, code);
  } else {
    std::memcpy(row_codes_[at].data() + static_cast<size_t>(row) * code_bytes_, code, code_bytes_);
  }
  ids_[at][static_cast<size_t>(row)] = id;
}

void CodeLists::set_ids(int64_t list, const int64_t* ids) {
  auto& held = ids_[static_cast<size_t>(list)];
  std::copy_n(ids, held.size(), held.begin());
}

void CodeLists::truncate(int64_t list, int64_t rows) {
  if (rows >= this->rows(list)) return;
  const auto at = static_cast<size_t>(list);
  if (has_blocks()) {
    blocks_[at].truncate(rows);
  } else {
    row_codes_[at].resize(static_cast<size_t>(rows) * code_bytes_);
  }
  ids_[at].resize(static_cast<size_t>(rows));
}

void CodeLists::clear() noexcept {
  for (CodeBlocks& blocks : blocks_) blocks.clear();
  for (auto& codes : row_codes_) codes = {};
  for (auto& ids : ids_) ids = {};
}

}  // namespace polarquant
