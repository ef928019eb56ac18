// SPDX-License-Identifier: MIT
#include "src/codec/code_buffer.h"

#include <algorithm>
#include <cstring>

#include "src/core/checked_size.h"

namespace polarquant {
namespace {

void resize_by_an_eighth(std::vector<uint8_t>& bytes, size_t size) {
  if (size > bytes.capacity())
    bytes.reserve(std::max(size, bytes.capacity() + bytes.capacity() / 8));
  bytes.resize(size);
}

/// The layout's bytes before the unfinished group.
size_t full_groups_bytes(const CodeLayout& layout, int64_t rows) {
  return static_cast<size_t>(rows / layout.group_rows) * layout.group_bytes;
}

/// Codes a full group of rows, which are kept as the vectors that the quantizer takes, in place.
void close_group(const Codec& codec, uint8_t* group) {
  const auto rows = static_cast<size_t>(codec.layout().group_rows);
  AlignedVector<float> vectors(rows * static_cast<size_t>(codec.dim()));
  std::memcpy(vectors.data(), group, rows * codec.layout().tail_row_bytes);
  codec.quantizer().encode(vectors.data(), group);
}

}  // namespace

void CodeBuffer::append(const Codec& codec, int64_t n, const float* x, int threads) {
  require(n >= 0, StatusCode::bad_argument, "n: {} rows are not allowed; 0 or more", n);
  const CodeLayout& layout = codec.layout();
  const size_t size_before = bytes_.size();
  const size_t size_after = layout.bytes(static_cast<int64_t>(checked_add(rows_, n, "rows")));
  // Rows of the unfinished group, and new rows that join them.
  const int64_t tail_rows = rows_ % layout.group_rows;
  const int64_t joining = tail_rows == 0 ? 0 : std::min(n, layout.group_rows - tail_rows);
  const size_t size_joined =
      size_before + checked_mul(joining, layout.tail_row_bytes, "bytes of the unfinished group");
  const Mark before = mark(codec);
  // A group's code is shorter than its rows: closing one can leave fewer bytes than there were.
  resize_by_an_eighth(bytes_, std::max(size_joined, size_after));
  try {
    if (tail_rows + joining < layout.group_rows || tail_rows == 0) {
      codec.encode(n, x, bytes_.data() + size_before, threads);
    } else {
      codec.encode(joining, x, bytes_.data() + size_before, threads);
      uint8_t* group = bytes_.data() + full_groups_bytes(layout, rows_);
      close_group(codec, group);
      codec.encode(n - joining, x + joining * codec.dim(), group + layout.group_bytes, threads);
    }
  } catch (...) {
    go_back_to(codec, before.rows, before.tail);
    throw;
  }
  bytes_.resize(size_after);
  rows_ += n;
}

void CodeBuffer::append_codes(const Codec& codec, int64_t n, const uint8_t* codes) {
  const size_t before = bytes_.size();
  resize_by_an_eighth(bytes_,
                      codec.layout().bytes(static_cast<int64_t>(checked_add(rows_, n, "rows"))));
  std::copy_n(codes, bytes_.size() - before, bytes_.begin() + static_cast<ptrdiff_t>(before));
  rows_ += n;
}

void CodeBuffer::get(const Codec& codec, int64_t row, uint8_t* code) const {
  const size_t bytes = codec.layout().group_bytes;
  std::memcpy(code, bytes_.data() + static_cast<size_t>(row) * bytes, bytes);
}

void CodeBuffer::overwrite(const Codec& codec, int64_t row, const uint8_t* code) noexcept {
  const size_t bytes = codec.layout().group_bytes;
  std::memcpy(bytes_.data() + static_cast<size_t>(row) * bytes, code, bytes);
}

void CodeBuffer::clear() {
  std::vector<uint8_t>().swap(bytes_);
  rows_ = 0;
}

CodeBuffer::Mark CodeBuffer::mark(const Codec& codec) const {
  const size_t start = full_groups_bytes(codec.layout(), rows_);
  return {rows_, {bytes_.begin() + static_cast<ptrdiff_t>(start), bytes_.end()}};
}

void CodeBuffer::go_back_to(const Codec& codec, int64_t rows,
                            const AlignedVector<uint8_t>& tail) noexcept {
  // Never longer than the capacity reached meanwhile, so nothing is allocated.
  const size_t start = full_groups_bytes(codec.layout(), rows);
  bytes_.resize(start + tail.size());
  std::copy(tail.begin(), tail.end(), bytes_.begin() + static_cast<ptrdiff_t>(start));
  rows_ = rows;
}

}  // namespace polarquant
