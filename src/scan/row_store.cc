// SPDX-License-Identifier: MIT
#include "src/scan/row_store.h"

#include <utility>
#include <vector>

#include "src/codec/code_buffer.h"
#include "src/core/checked_size.h"
#include "src/scan/code_blocks.h"
#include "src/scan/row_removal.h"
#include "src/scan/row_search.h"
#include "src/scan/single_row_store.h"

namespace polarquant {
namespace {

class BlockStore final : public RowStore {
 public:
  explicit BlockStore(const Codec& codec) : blocks_(BlockLayout(codec)) {}

  int64_t rows() const override { return blocks_.rows(); }
  size_t memory_bytes() const override { return blocks_.memory_bytes(); }
  std::vector<BlockRows> spans() const override { return blocks_.spans(); }

  void append(const Codec& codec, int64_t n, const float* x, int threads) override {
    require(n >= 0, StatusCode::bad_argument, "n: {} rows are not allowed; 0 or more", n);
    blocks_.layout().bytes(static_cast<int64_t>(checked_add(rows(), n, "rows")));
    if (n == 0) return;
    // All at once: errors name rows of x. Codes are a small part of the floats they stand for.
    std::vector<uint8_t> codes(codec.layout().bytes(n));
    codec.encode(n, x, codes.data(), threads);
    append_codes(codec, n, codes.data());
  }
  void clear() noexcept override { blocks_.clear(); }

  void get(const Codec& /*codec*/, int64_t row, uint8_t* code) const override {
    blocks_.get(row, code);
  }
  void append_codes(const Codec& codec, int64_t n, const uint8_t* codes) override {
    // The codec's state is final once it has encoded.
    auto scan_codec = std::make_unique<ScanCodec>(codec);
    blocks_.append(n, codes);
    scan_codec_ = std::move(scan_codec);
  }
  void overwrite(const Codec& /*codec*/, int64_t row, const uint8_t* code) noexcept override {
    blocks_.overwrite(row, code);
  }
  void remove(const Codec& /*codec*/, std::span<const uint64_t> removed) override {
    blocks_.remove(removed);
  }

  Mark mark(const Codec& /*codec*/) const override {
    CodeBlocks::Mark mark = blocks_.mark();
    return {mark.rows, std::move(mark.last_block)};
  }
  void go_back_to(const Codec& /*codec*/, const Mark& mark) noexcept override {
    blocks_.go_back_to(mark.rows, mark.tail);
  }

  void search(const Codec& codec, int64_t nq, const float* queries, int64_t k,
              const RowFilter& filter, const SearchOptions& options, float* scores,
              int64_t* ids) const override {
    if (scan_codec_ == nullptr) {
      block_search(codec, ScanCodec(codec), std::span<const BlockRows>(), nq, queries, k, filter,
                   options, scores, ids);
      return;
    }
    block_search(codec, *scan_codec_, blocks_.spans(), nq, queries, k, filter, options, scores,
                 ids);
  }
  void range_search(const Codec& codec, int64_t nq, const float* queries, float radius,
                    const RowFilter& filter, const SearchOptions& options,
                    RangeFound* found) const override {
    if (scan_codec_ == nullptr) {
      block_range_search(codec, ScanCodec(codec), std::span<const BlockRows>(), nq, queries, radius,
                         filter, options, found);
      return;
    }
    block_range_search(codec, *scan_codec_, blocks_.spans(), nq, queries, radius, filter, options,
                       found);
  }

  void decode(const Codec& codec, int64_t first, int64_t count, Reconstruction kind,
              float* x) const override {
    for (int64_t row = 0; row < count; ++row) {
      codec.decode(row_code(first + row), 0, 1, kind, x + row * codec.dim());
    }
  }
  RowTerms decode_for_score(const Codec& codec, int64_t row, float* y) const override {
    return codec.decode_for_score(row_code(row), 0, y);
  }
  float score_codes(const Codec& codec, int64_t row_a, int64_t row_b) const override {
    const std::vector<uint8_t> a = copy_of_row(row_a);
    const std::vector<uint8_t> b = copy_of_row(row_b);
    return codec.score_codes({a.data(), 1}, 0, {b.data(), 1}, 0);
  }

 private:
  std::vector<uint8_t> copy_of_row(int64_t row) const {
    std::vector<uint8_t> code(blocks_.layout().row_format_bytes());
    blocks_.get(row, code.data());
    return code;
  }
  /// Valid until the thread's next call.
  CodeRows row_code(int64_t row) const {
    thread_local std::vector<uint8_t> code;
    code.resize(blocks_.layout().row_format_bytes());
    blocks_.get(row, code.data());
    return {code.data(), 1};
  }

  CodeBlocks blocks_;
  std::unique_ptr<ScanCodec> scan_codec_;  // of the state that the rows were encoded in
};

/// A buffer of single rows' codes as row_removal.h takes it.
struct RowsOfBuffer {
  const Codec& codec;
  CodeBuffer& buffer;

  int64_t rows() const { return buffer.size(); }
  void get(int64_t row, uint8_t* code) const { buffer.get(codec, row, code); }
  void overwrite(int64_t row, const uint8_t* code) { buffer.overwrite(codec, row, code); }
};

class BufferStore final : public RowStore {
 public:
  int64_t rows() const override { return buffer_.size(); }
  size_t memory_bytes() const override { return buffer_.memory_bytes(); }

  void append(const Codec& codec, int64_t n, const float* x, int threads) override {
    buffer_.append(codec, n, x, threads);
  }
  void clear() noexcept override { buffer_.clear(); }

  void get(const Codec& codec, int64_t row, uint8_t* code) const override {
    buffer_.get(codec, row, code);
  }
  void append_codes(const Codec& codec, int64_t n, const uint8_t* codes) override {
    buffer_.append_codes(codec, n, codes);
  }
  void overwrite(const Codec& codec, int64_t row, const uint8_t* code) noexcept override {
    buffer_.overwrite(codec, row, code);
  }
  void remove(const Codec& codec, std::span<const uint64_t> removed) override {
    RowsOfBuffer rows = {codec, buffer_};
    std::vector<uint8_t> code(codec.layout().group_bytes);
    const int64_t kept = move_kept_rows(rows, code, removed);
    buffer_.go_back_to(codec, kept, {});
  }

  Mark mark(const Codec& codec) const override {
    CodeBuffer::Mark mark = buffer_.mark(codec);
    return {mark.rows, std::move(mark.tail)};
  }
  void go_back_to(const Codec& codec, const Mark& mark) noexcept override {
    buffer_.go_back_to(codec, mark.rows, mark.tail);
  }

  void search(const Codec& codec, int64_t nq, const float* queries, int64_t k,
              const RowFilter& filter, const SearchOptions& options, float* scores,
              int64_t* ids) const override {
    row_search(codec, buffer_.rows(), nq, queries, k, filter, options, scores, ids);
  }
  void range_search(const Codec& codec, int64_t nq, const float* queries, float radius,
                    const RowFilter& filter, const SearchOptions& options,
                    RangeFound* found) const override {
    row_range_search(codec, buffer_.rows(), nq, queries, radius, filter, options, found);
  }

  void decode(const Codec& codec, int64_t first, int64_t count, Reconstruction kind,
              float* x) const override {
    codec.decode(buffer_.rows(), first, count, kind, x);
  }
  RowTerms decode_for_score(const Codec& codec, int64_t row, float* y) const override {
    return codec.decode_for_score(buffer_.rows(), row, y);
  }
  float score_codes(const Codec& codec, int64_t row_a, int64_t row_b) const override {
    return codec.score_codes(buffer_.rows(), row_a, buffer_.rows(), row_b);
  }

 private:
  CodeBuffer buffer_;
};

}  // namespace

std::unique_ptr<RowScorer> RowStore::make_scorer(const Codec& codec) const {
  return make_float_scorer(codec, *this);
}

std::unique_ptr<RowStore> RowStore::make(const Codec& codec, RowOrder order) {
  if (ScanCodec::supports(codec)) {
    if (order == RowOrder::single) return make_single_row_store(codec);
    return std::make_unique<BlockStore>(codec);
  }
  return std::make_unique<BufferStore>();
}

}  // namespace polarquant
