// SPDX-License-Identifier: MIT
#include "src/scan/stores/row_store.h"

#include <utility>
#include <vector>

#include "src/codec/spec.h"
#include "src/core/checked_size.h"
#include "src/scan/layout/row_removal.h"
#include "src/scan/stores/block_row_store.h"
#include "src/scan/stores/row_code_store.h"
#include "src/scan/stores/single_row_store.h"

namespace polarquant {
namespace {

/// The row-format code of a row, valid until the thread's next call.
CodeRows row_code(const RowStore& rows, const Codec& codec, int64_t row) {
  thread_local std::vector<uint8_t> code;
  code.resize(codec.layout().group_bytes);
  rows.get(codec, row, code.data());
  return {code.data(), 1};
}

class BlockStore final : public BlockRowStore {
 public:
  explicit BlockStore(const Codec& codec) : blocks_(BlockLayout(codec)) {}
  BlockStore(const Codec& codec, CodeBlocks blocks) : blocks_(std::move(blocks)) {
    set_scan_codec(std::make_unique<ScanCodec>(codec));
  }

  int64_t rows() const override { return blocks_.rows(); }
  size_t memory_bytes() const override { return blocks_.memory_bytes(); }
  uint64_t held_rows_state() const override { return held_.number(); }
  size_t span_count() const override { return blocks_.spans_count(); }
  BlockRows span(size_t number) const override { return blocks_.span(number); }

  void append(const Codec& codec, int64_t n, const float* x, int threads) override {
    require(n >= 0, StatusCode::bad_argument, "n: {} rows are not allowed; 0 or more", n);
    blocks_.layout().bytes(static_cast<int64_t>(checked_add(rows(), n, "rows")));
    if (n == 0) return;
    // All at once: errors name rows of x. Codes take little memory beside the floats.
    std::vector<uint8_t> codes(codec.layout().bytes(n));
    codec.encode(n, x, codes.data(), threads);
    append_codes(codec, n, codes.data());
  }
  void clear() noexcept override { changed().clear(); }

  void get(const Codec& /*codec*/, int64_t row, uint8_t* code) const override {
    blocks_.get(row, code);
  }
  void append_codes(const Codec& codec, int64_t n, const uint8_t* codes) override {
    // The codec's state is final once it has encoded.
    std::unique_ptr<ScanCodec> scan_codec;
    if (rows() == 0) scan_codec = std::make_unique<ScanCodec>(codec);
    blocks_.append(n, codes);
    if (scan_codec != nullptr) set_scan_codec(std::move(scan_codec));
  }
  void overwrite(const Codec& /*codec*/, int64_t row, const uint8_t* code) noexcept override {
    changed().overwrite(row, code);
  }
  void remove(const Codec& /*codec*/, std::span<const uint64_t> removed) override {
    changed().remove(removed);
  }
  void swap_remove(const Codec& /*codec*/, std::span<const int64_t> rows) override {
    for (const int64_t row : rows) changed().swap_remove(row);
  }

  Mark mark(const Codec& /*codec*/) const override { return {rows(), {}}; }
  void go_back_to(const Codec& /*codec*/, const Mark& mark) noexcept override {
    changed().truncate(mark.rows);
  }

 private:
  /// The blocks, for all that is not adding rows.
  CodeBlocks& changed() noexcept {
    held_.change();
    return blocks_;
  }

  CodeBlocks blocks_;
  HeldRowsState held_;
};

class BufferStore final : public RowCodeStore {
 public:
  BufferStore() = default;
  explicit BufferStore(CodeBuffer codes) : buffer_(std::move(codes)) {}

  int64_t rows() const override { return buffer_.size(); }
  size_t memory_bytes() const override { return buffer_.memory_bytes(); }

  void append(const Codec& codec, int64_t n, const float* x, int threads) override {
    buffer_.append(codec, n, x, threads);
  }
  void clear() noexcept override { buffer_.clear(); }

  void append_codes(const Codec& codec, int64_t n, const uint8_t* codes) override {
    buffer_.append_codes(codec, n, codes);
  }
  void overwrite(const Codec& codec, int64_t row, const uint8_t* code) noexcept override {
    buffer_.overwrite(codec, row, code);
  }
  void remove(const Codec& codec, std::span<const uint64_t> removed) override {
    const size_t bytes = codec.layout().group_bytes;
    const int64_t kept = move_kept_rows(rows(), removed, [&](int64_t from, int64_t to) {
      buffer_.overwrite(codec, to, row_codes().data + static_cast<size_t>(from) * bytes);
    });
    buffer_.go_back_to(codec, kept, {});
  }

  Mark mark(const Codec& codec) const override {
    CodeBuffer::Mark mark = buffer_.mark(codec);
    return {mark.rows, std::move(mark.tail)};
  }
  void go_back_to(const Codec& codec, const Mark& mark) noexcept override {
    buffer_.go_back_to(codec, mark.rows, mark.tail);
  }

  CodeRows row_codes() const override { return buffer_.rows(); }

 private:
  CodeBuffer buffer_;
};

}  // namespace

std::vector<BlockRows> RowStore::spans() const {
  std::vector<BlockRows> spans;
  spans.reserve(span_count());
  for (size_t i = 0; i < span_count(); ++i) spans.push_back(span(i));
  return spans;
}

void RowStore::replace(const Codec& codec, std::span<const int64_t> rows, const float* x,
                       int threads) {
  const auto n = static_cast<int64_t>(rows.size());
  std::vector<uint8_t> codes(codec.layout().bytes(n));
  codec.encode(n, x, codes.data(), threads);
  const uint8_t* code = codes.data();
  for (const int64_t row : rows) {
    overwrite(codec, row, code);
    code += codec.layout().group_bytes;
  }
}

void RowStore::take_out(const Codec& codec, int64_t row, int64_t heir, uint8_t* code) {
  const auto copy = [&](int64_t from, int64_t to) {
    if (from == to) return;
    get(codec, from, code);
    overwrite(codec, to, code);
  };
  const int64_t last = rows() - 1;
  copy(heir, row);
  copy(last, heir);
  go_back_to(codec, {last, {}});
}

void RowStore::remove_row(const Codec& codec, int64_t row, int64_t heir) {
  std::vector<uint8_t> code(codec.layout().group_bytes);
  take_out(codec, row, heir, code.data());
}

void RowStore::swap_remove(const Codec& codec, std::span<const int64_t> rows) {
  std::vector<uint8_t> code(codec.layout().group_bytes);
  for (const int64_t row : rows) take_out(codec, row, this->rows() - 1, code.data());
}

void RowStore::decode(const Codec& codec, int64_t first, int64_t count, Reconstruction kind,
                      float* x) const {
  for (int64_t row = 0; row < count; ++row) {
    codec.decode(row_code(*this, codec, first + row), 0, 1, kind, x + row * codec.dim());
  }
}

RowTerms RowStore::decode_for_score(const Codec& codec, int64_t row, float* y) const {
  return codec.decode_for_score(row_code(*this, codec, row), 0, y);
}

std::unique_ptr<RowScorer> RowStore::make_scorer(const Codec& codec) const {
  return make_float_scorer(codec, *this);
}

void RowStore::lay_out_records(const Codec& codec, int /*links*/) {
  fail(StatusCode::unsupported,
       "records: rows of {} do not lie one by one, as those of a graph's records do",
       print_spec(codec.spec()));
}

std::unique_ptr<RowStore> RowStore::make(const Codec& codec, RowOrder order) {
  if (BlockLayout::supports(codec)) {
    // Scores of single rows have one number for a query to begin with.
    if (order == RowOrder::single)
      return codec.spec().centroids > 0 ? std::make_unique<BufferStore>()
                                        : make_single_row_store(codec);
    return std::make_unique<BlockStore>(codec);
  }
  return std::make_unique<BufferStore>();
}

std::unique_ptr<RowStore> RowStore::from_blocks(const Codec& codec, CodeBlocks blocks) {
  return std::make_unique<BlockStore>(codec, std::move(blocks));
}

std::unique_ptr<RowStore> RowStore::from_row_codes(CodeBuffer codes) {
  return std::make_unique<BufferStore>(std::move(codes));
}

}  // namespace polarquant
