// SPDX-License-Identifier: MIT
#include "src/scan/row_store.h"

#include <utility>
#include <vector>

#include "src/core/checked_size.h"
#include "src/scan/block_row_store.h"
#include "src/scan/row_code_store.h"

namespace polarquant {
namespace {

class BlockStore final : public BlockRowStore {
 public:
  explicit BlockStore(const Codec& codec) : blocks_(BlockLayout(codec)) {}
  BlockStore(const Codec& codec, CodeBlocks blocks) : blocks_(std::move(blocks)) {
    set_scan_codec(std::make_unique<ScanCodec>(codec));
  }

  int64_t rows() const override { return blocks_.rows(); }
  size_t memory_bytes() const override { return blocks_.memory_bytes(); }
  std::vector<BlockRows> spans() const override { return blocks_.spans(); }

  void append(const Codec& codec, int64_t n, const float* x, int threads) override {
    require(n >= 0, StatusCode::bad_argument, "n: {} rows are not allowed; 0 or more", n);
    blocks_.layout().bytes(static_cast<int64_t>(checked_add(rows(), n, "rows")));
    if (n == 0) return;
    // The codec's state is final once it encodes.
    auto scan_codec = std::make_unique<ScanCodec>(codec);
    const Mark before = mark(codec);
    try {
      // All at once: errors name rows of x. Codes are a small part of the floats they stand for.
      std::vector<uint8_t> codes(codec.layout().bytes(n));
      codec.encode(n, x, codes.data(), threads);
      blocks_.append(n, codes.data());
    } catch (...) {
      go_back_to(codec, before);
      throw;
    }
    set_scan_codec(std::move(scan_codec));
  }
  void clear() noexcept override { blocks_.clear(); }

  Mark mark(const Codec& /*codec*/) const override {
    CodeBlocks::Mark mark = blocks_.mark();
    return {mark.rows, std::move(mark.last_block)};
  }
  void go_back_to(const Codec& /*codec*/, const Mark& mark) noexcept override {
    blocks_.go_back_to(mark.rows, mark.tail);
  }

 private:
  size_t row_format_bytes() const override { return blocks_.layout().row_format_bytes(); }
  void get_row(int64_t row, uint8_t* code) const override { blocks_.get(row, code); }

  CodeBlocks blocks_;
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

std::unique_ptr<RowStore> RowStore::make(const Codec& codec) {
  if (ScanCodec::supports(codec)) return std::make_unique<BlockStore>(codec);
  return std::make_unique<BufferStore>();
}

std::unique_ptr<RowStore> RowStore::of_blocks(const Codec& codec, CodeBlocks blocks) {
  return std::make_unique<BlockStore>(codec, std::move(blocks));
}

std::unique_ptr<RowStore> RowStore::of_row_codes(CodeBuffer codes) {
  return std::make_unique<BufferStore>(std::move(codes));
}

}  // namespace polarquant
