// SPDX-License-Identifier: MIT
#include "src/scan/stores/mapped_row_store.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/scan/stores/block_row_store.h"
#include "src/scan/stores/read_only_rows.h"
#include "src/scan/stores/row_code_store.h"

namespace polarquant {
namespace {

class MappedBlocks final : public ReadOnlyRows<BlockRowStore> {
 public:
  MappedBlocks(const Codec& codec, int64_t rows, std::shared_ptr<const MappedSection> sketches,
               std::shared_ptr<const MappedSection> payloads)
      : ReadOnlyRows(rows),
        layout_(codec),
        sketches_(std::move(sketches)),
        payloads_(std::move(payloads)) {
    if (rows > 0) set_scan_codec(std::make_unique<ScanCodec>(codec));
  }

  std::vector<BlockRows> spans() const override {
    sketches_->require_intact();
    payloads_->require_intact();
    return RowStore::spans();
  }
  size_t span_count() const override { return CodeBlocks::spans_count(rows_); }
  BlockRows span(size_t number) const override {
    const int64_t first = static_cast<int64_t>(number) * kMappedSpanRows;
    const int64_t rows = std::min(kMappedSpanRows, rows_ - first);
    const size_t sketches = layout_.sketches_bytes(first);
    const size_t payloads = kReadAhead + layout_.payloads_bytes(first);
    sketches_->require_intact(sketches, layout_.sketches_bytes(rows));
    payloads_->require_intact(payloads, layout_.payloads_bytes(rows));
    return {sketches_->data() + sketches, rows, first, payloads_->data() + payloads};
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

class MappedRowCodes final : public ReadOnlyRows<RowCodeStore> {
 public:
  MappedRowCodes(int64_t rows, std::shared_ptr<const MappedSection> codes)
      : ReadOnlyRows(rows), codes_(std::move(codes)) {}

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
