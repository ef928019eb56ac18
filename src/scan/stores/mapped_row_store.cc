// SPDX-License-Identifier: MIT
#include "src/scan/stores/mapped_row_store.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/scan/stores/block_row_store.h"
#include "src/scan/stores/row_code_store.h"

namespace polarquant {
namespace {

/// The functions that would change rows, for each of the classes that answer requests.
template <typename Base>
class ReadOnly : public Base {
 public:
  int64_t rows() const override { return rows_; }
  /// The pages belong to the system, which takes them back when it needs them.
  size_t memory_bytes() const override { return 0; }
  bool is_mapped() const override { return true; }

  void append(const Codec& /*codec*/, int64_t /*n*/, const float* /*x*/, int /*threads*/) override {
    refuse_change_of_mapped();
  }
  void append_codes(const Codec& /*codec*/, int64_t /*n*/, const uint8_t* /*codes*/) override {
    refuse_change_of_mapped();
  }
  void remove(const Codec& /*codec*/, std::span<const uint64_t> /*removed*/) override {
    refuse_change_of_mapped();
  }
  void swap_remove(const Codec& /*codec*/, std::span<const int64_t> /*rows*/) override {
    refuse_change_of_mapped();
  }
  // Never called by those who ask is_mapped() first.
  void overwrite(const Codec& /*codec*/, int64_t /*row*/,
                 const uint8_t* /*code*/) noexcept override {}
  void clear() noexcept override { rows_ = 0; }
  RowStore::Mark mark(const Codec& /*codec*/) const override { return {rows_, {}}; }
  void go_back_to(const Codec& /*codec*/, const RowStore::Mark& mark) noexcept override {
    rows_ = mark.rows;
  }

 protected:
  explicit ReadOnly(int64_t rows) : rows_(rows) {}

  int64_t rows_;
};

class MappedBlocks final : public ReadOnly<BlockRowStore> {
 public:
  MappedBlocks(const Codec& codec, int64_t rows, std::shared_ptr<const MappedSection> sketches,
               std::shared_ptr<const MappedSection> payloads)
      : ReadOnly(rows),
        layout_(codec),
        sketches_(std::move(sketches)),
        payloads_(std::move(payloads)) {
    if (rows > 0) set_scan_codec(std::make_unique<ScanCodec>(codec));
  }

  std::vector<BlockRows> spans() const override {
    sketches_->require_intact();
    payloads_->require_intact();
    std::vector<BlockRows> spans;
    for (int64_t first = 0; first < rows_; first += kMappedSpanRows) {
      spans.push_back({sketches_->data() + layout_.sketches_bytes(first),
                       std::min(kMappedSpanRows, rows_ - first), first,
                       payloads_->data() + kReadAhead + layout_.payloads_bytes(first)});
    }
    return spans;
  }
  void verify() const override {
    sketches_->verify_anew();
    payloads_->verify_anew();
  }
  void get(const Codec& /*codec*/, int64_t row, uint8_t* code) const override {
    const BlockRows all{sketches_->data(), rows_, 0, payloads_->data() + kReadAhead};
    const RowPlace place = all.place(layout_, row);
    sketches_->require_intact(static_cast<size_t>(place.sketch - sketches_->data()),
                              layout_.sketch_bytes(place.capacity));
    payloads_->require_intact(static_cast<size_t>(layout_.row_payload(place) - payloads_->data()),
                              layout_.payload_bytes());
    layout_.get_row(place, code);
  }

 private:
  BlockLayout layout_;
  std::shared_ptr<const MappedSection> sketches_;
  std::shared_ptr<const MappedSection> payloads_;
};

class MappedRowCodes final : public ReadOnly<RowCodeStore> {
 public:
  MappedRowCodes(int64_t rows, std::shared_ptr<const MappedSection> codes)
      : ReadOnly(rows), codes_(std::move(codes)) {}

  CodeRows row_codes() const override {
    codes_->require_intact();
    return {codes_->data(), rows_};
  }
  void verify() const override { codes_->verify_anew(); }

 private:
  std::shared_ptr<const MappedSection> codes_;
};

}  // namespace

void refuse_change_of_mapped() {
  fail(StatusCode::unsupported,
       "index: it is memory-mapped and cannot be changed; load it without memory_map, or clone it");
}

std::unique_ptr<RowStore> map_blocks(const Codec& codec, int64_t rows,
                                     std::shared_ptr<const MappedSection> sketches,
                                     std::shared_ptr<const MappedSection> payloads) {
  return std::make_unique<MappedBlocks>(codec, rows, std::move(sketches), std::move(payloads));
}

std::unique_ptr<RowStore> map_row_codes(int64_t rows, std::shared_ptr<const MappedSection> codes) {
  return std::make_unique<MappedRowCodes>(rows, std::move(codes));
}

}  // namespace polarquant
