// SPDX-License-Identifier: MIT
#include "src/scan/layout/block_layout.h"

#include <algorithm>
#include <cstring>

#include "src/codec/planned_quantizer.h"
#include "src/core/checked_size.h"
#include "src/scan/layout/level_planes.h"

namespace polarquant {
namespace {

constexpr int kPairsPerWord = kSegmentDims / 2;

uint64_t low_bits(int count) { return count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

/// The share of Σ scale⁴, by which scores spread, that the sketch's words should have. One query is
/// as fast with 2 words as with 3, and slower with 4 (docs/dev/tuning.md, "Sketch words").
constexpr double kTellingShare = .97;

/// Without libm, whose last bit could differ between machines: files have blocks in this layout.
double fourth_power(double x) { return x * x * (x * x); }

/// Words of a trained code that are worth reading for every row. Codes of few bytes have few signs,
/// and are scored without bounds by them.
int telling_words(const Codec& codec) {
  if (codec.factor_format().is_of_few_bytes()) return 0;
  const PlannedQuantizer* planned = codec.planned();
  if (planned == nullptr || !codec.has_basis()) return kMaxSketchWords;
  double total = 0;
  for (const SegmentRate& segment : planned->plan()) total += fourth_power(segment.scale);
  int words = 0;
  for (double share = 0; share < kTellingShare * total; ++words)
    share += fourth_power(planned->plan()[static_cast<size_t>(words)].scale);
  return words;
}

}  // namespace

uint64_t to_pair_order(uint64_t signs, int count) {
  const int half = (count + 1) / 2;
  return (signs & low_bits(half)) | (signs >> half & low_bits(count - half)) << kPairsPerWord;
}

uint64_t to_coordinate_order(uint64_t signs, int count) {
  const int half = (count + 1) / 2;
  return (signs & low_bits(half)) | (signs >> kPairsPerWord & low_bits(count - half)) << half;
}

int position_of(int j, int dim) {
  const int start = j / kSegmentDims * kSegmentDims;
  const int half = (segment_dims(dim, j / kSegmentDims) + 1) / 2;
  const int place = j - start;
  return start + (place < half ? place : kPairsPerWord + place - half);
}

bool BlockLayout::supports(const Codec& codec) {
  return !codec.quantizer().describe().stages.empty();
}

BlockLayout::BlockLayout(const Codec& codec, RowOrder order, LevelForm levels)
    : dim_(codec.dim()),
      splits_levels_(levels == LevelForm::split &&
                     codec.quantizer().describe().lone_levels() != nullptr) {
  require(codec.layout().group_rows == 1, StatusCode::unsupported,
          "{} codes {} rows together: it has no blocks", print_spec(codec.spec()),
          codec.layout().group_rows);
  row_format_bytes_ = codec.layout().group_bytes;
  factor_bytes_ = codec.has_factors() ? codec.factor_format().bytes() : 0;
  const size_t sign_bytes = codec.quantizer().describe().sign_plane_bytes;
  // Only the first segments of a trained code have words.
  sign_words_ = splits_levels_
                    ? segments_of(dim_)
                    : static_cast<int>((sign_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  sketch_words_ = order == RowOrder::single
                      ? 0
                      : std::min({sign_words_, kMaxSketchWords, telling_words(codec)});
  payload_bytes_ =
      payload_sign_bytes() + (splits_levels_ ? level_magnitude_bytes(dim_)
                                             : row_format_bytes_ - factor_bytes_ - sign_bytes);
  row_bytes_ = sketch_words_ * sizeof(uint64_t) + factor_bytes_ + payload_bytes_;
}

size_t BlockLayout::bytes(int64_t rows) const {
  require(rows >= 0, StatusCode::bad_argument, "rows: {}; at least 0 are needed", rows);
  const size_t full = checked_mul(rows / kBlockRows, block_bytes(), "bytes of blocks");
  return checked_add(full, capacity(rows % kBlockRows) * row_bytes_, "bytes of blocks");
}

size_t BlockLayout::sketches_bytes(int64_t rows) const {
  bytes(rows);  // a smaller size cannot wrap either
  return static_cast<size_t>(rows / kBlockRows) * sketch_bytes(kBlockRows) +
         sketch_bytes(capacity(rows % kBlockRows));
}

size_t BlockLayout::payloads_bytes(int64_t rows) const {
  bytes(rows);
  return static_cast<size_t>(rows) * payload_bytes_;
}

void BlockLayout::put_sign_word(uint64_t word, int number, const WritableRow& at) const {
  if (number < sketch_words_) {
    *const_cast<uint64_t*>(sketch_word(at, number)) = word;
  } else {
    std::memcpy(at.payload + static_cast<size_t>(at.row) * payload_bytes_ +
                    static_cast<size_t>(number - sketch_words_) * sizeof word,
                &word, sizeof word);
  }
}

void BlockLayout::put_row(const uint8_t* code, const WritableRow& at) const {
  const uint8_t* factors = code + row_format_bytes_ - factor_bytes_;
  std::memcpy(at.sketch + factors_offset(at.capacity) + at.row * factor_bytes_, factors,
              factor_bytes_);
  if (splits_levels_) return put_levels(code, at);
  for (int w = 0; w < sign_words_; ++w) {
    const int count = segment_dims(dim_, w);
    uint64_t signs = 0;
    std::memcpy(&signs, code, static_cast<size_t>(count + 7) / 8);
    code += (count + 7) / 8;
    put_sign_word(to_pair_order(signs, count), w, at);
  }
  std::memcpy(at.payload + at.row * payload_bytes_ + payload_sign_bytes(), code,
              payload_bytes_ - payload_sign_bytes());
}

void BlockLayout::get_row(const RowPlace& at, uint8_t* code) const {
  std::memcpy(code + row_format_bytes_ - factor_bytes_, row_factors(at), factor_bytes_);
  if (splits_levels_) return get_levels(at, code);
  for (int w = 0; w < sign_words_; ++w) {
    const int count = segment_dims(dim_, w);
    const uint64_t signs = to_coordinate_order(sign_word(at, w), count);
    std::memcpy(code, &signs, static_cast<size_t>(count + 7) / 8);
    code += (count + 7) / 8;
  }
  std::memcpy(code, row_payload(at) + payload_sign_bytes(), payload_bytes_ - payload_sign_bytes());
}

void BlockLayout::copy_sketch(const RowPlace& from, const WritableRow& to) const {
  for (int w = 0; w < sketch_words_; ++w) put_sign_word(*sketch_word(from, w), w, to);
  if (factor_bytes_ == 0) return;
  std::memcpy(to.sketch + factors_offset(to.capacity) + to.row * factor_bytes_, row_factors(from),
              factor_bytes_);
}

void BlockLayout::put_levels(const uint8_t* code, const WritableRow& at) const {
  uint8_t* magnitudes = at.payload + at.row * payload_bytes_ + payload_sign_bytes();
  for (int w = 0; w < sign_words_; ++w) {
    const int count = segment_dims(dim_, w);
    put_sign_word(to_pair_order(split_levels(code, count, magnitudes), count), w, at);
    code += count;
    magnitudes += level_magnitude_bytes(count);
  }
}

void BlockLayout::get_levels(const RowPlace& at, uint8_t* code) const {
  const uint8_t* magnitudes = row_payload(at) + payload_sign_bytes();
  for (int w = 0; w < sign_words_; ++w) {
    const int count = segment_dims(dim_, w);
    join_levels(to_coordinate_order(sign_word(at, w), count), magnitudes, count, code);
    code += count;
    magnitudes += level_magnitude_bytes(count);
  }
}

RowPlace BlockRows::place(const BlockLayout& layout, int64_t row) const {
  const int64_t block = row / kBlockRows;
  const auto before = static_cast<size_t>(block);
  const int capacity =
      BlockLayout::capacity(std::min<int64_t>(kBlockRows, rows - block * kBlockRows));
  const uint8_t* sketch = data + before * sketch_stride(layout);
  const uint8_t* payload = payloads != nullptr ? payloads + before * payload_stride(layout)
                                               : sketch + layout.sketch_bytes(capacity);
  return {sketch, payload, capacity, static_cast<int>(row % kBlockRows)};
}

}  // namespace polarquant
