// SPDX-License-Identifier: MIT
// What a search needs to know of a codec: how its codes become integers, and which numbers turn
// integers into scores and bounds. docs/dev/bounds.md has the maths.
//
// A row's decoded direction û and the rotated query are both rounded to int8 values, so that an
// inner product is an integer sum, the same on every machine and in every order:
//   ⟨q', û⟩ ≈ query_step · Σ_stages step · Σ_lanes query_value · value.
// Values fit a byte, −127 to 127. Rounding to them moves scores by about .013/√dim of ‖q‖‖x‖, more
// than the best codes are off themselves, so that searches keep more than k rows for the codec's
// own scores to choose from (rescored_rows()). Vectors are taken as lanes: 64 for each segment of
// 64 coordinates, lane t the first coordinate of the segment's pair t and lane 32+t the second,
// lanes without a coordinate 0. A full segment so is in its own order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/codec/codec.h"
#include "src/codec/segment_plan.h"
#include "src/scan/layout/block_layout.h"
#include "src/simd/bit_fields.h"
#include "src/simd/lanes.h"

namespace polarquant {

/// Integer values of some segments: a table, and where a row's indices into it lie.
struct Int8Part {
  enum class Kind : uint8_t {
    windows,     // the table's x, y for each pair's window over a ring of bits
    bytes,       // the table's x for each coordinate's byte
    magnitudes,  // the table's x for each coordinate's field of `step_bits` bits; full segments
  };
  enum class Signs : uint8_t {
    none,   // the table has them
    words,  // the block's sign words
    plane,  // a plane of the row's payload, in coordinate order
  };
  Kind kind = Kind::windows;
  Signs signs = Signs::none;
  int first_segment = 0;
  int dim = 0;              // coordinates
  int step_bits = 0;        // windows: bits a pair; magnitudes: bits a coordinate
  size_t signs_offset = 0;  // plane: from the start of a row's payload
  size_t codes_offset = 0;  // ring, bytes or fields, from the start of a row's payload
  alignas(64) int8_t x[256] = {};
  alignas(64) int8_t y[256] = {};
  /// Both in one number, x in the low half, for kernels.
  uint16_t pairs[256] = {};
  FieldSpread fields;  // of windows and magnitudes

  int segments() const { return segments_of(dim); }
  /// Whether half a register holds what windows 64·group … 64·group+63 need.
  bool reads_half(int group) const { return step_bits <= 3 || 2 * group + 1 == segments(); }
  /// From codes_offset on, by kernels that take 32 or 64 bytes at a time.
  size_t bytes_read() const;
  /// Makes `pairs` and `fields` from the others.
  void make_tables();
};

/// Integer values of one stage of a code, by parts, in order. A residual code's two stages are of
/// all segments, a trained code's of the first ones and of the others. A query has 0 in lanes of no
/// part.
struct Int8Stage {
  std::vector<Int8Part> parts;
  int first_segment = 0;
  int segments = 0;
  float step = 0;            // value × step is the value
  size_t codes_begin = 0;    // of the parts' first code in a row's payload
  size_t payload_bytes = 0;  // of a row's payload, from its start: what the parts read

  int first_lane() const { return first_segment * kSegmentLanes; }
  int padded_dim() const { return segments * kSegmentLanes; }
};

/// Standard deviations that a bound stands off, for each of exactness. With 1 most of what a search
/// loses it loses to rows of a little more than exactness standard deviations: 117,659 × 384 real
/// embeddings at 4 bits and z = 2.25 lost .0010 of recall@10 with 1 for the first stage's bound,
/// .0002 with 1.2, nothing with 1.3, which leaves 3 % of the rows to the next stage instead of 2 %.
inline constexpr double kBoundMargin = 1.3;
/// Of trained codes, whose coordinates are not alike: for the sketch, for all signs, and for the
/// first of split stages. Times what training measured (measure_margins.h).
inline constexpr double kTrainedSketchMargin = .93;
inline constexpr double kTrainedSignsMargin = 2.0;
inline constexpr double kTrainedBoundMargin = 1.3;
/// Added to the sketch's for the share of Σ scale⁴ that sign words do not cover, which has ways of
/// its own: Polar1-pca, .2 of it, loses .0015 to .0019 without it, .0004 to .0009 with it.
inline constexpr double kUncoveredSketchMargin = 1;

/// What the bounds of a row need beside the query; errors are standard deviations of ⟨q', x−c⟩
/// given what a stage reads (and a margin), in units of ‖q'‖‖x−c‖. docs/dev/bounds.md derives them.
struct BoundConstants {
  double margin = kBoundMargin;
  double sketch_margin = kBoundMargin;
  double slope_of_sign = 0;  // √(π/2)/√dim
  float length_of_norm = 0;  // ‖x−c‖ / ScanTerms::norm, of what is coded
  float scale_of_norm = 0;   // ScanTerms::scale / ScanTerms::norm
  // Of split stages: what Σ level² of a row in the first one is in the mean, and what Σ q'·û in the
  // second is taken to lose for each 1 above, by ‖q'‖ there.
  double mean_squared_norm = 0;
  double loss_of_squared_norm = 0;
  // Of a residual code.
  float first_stage_scale = 0;  // ⟨q', û₁⟩·‖x−c‖ → estimate by the first of two stages
  float first_stage_error = 0;
};

/// The parts of a row that scores need, read from a block.
struct ScanTerms {
  float scale = 0;         // s
  float constant = 0;      // b for inner product and cosine, −b² for L2
  float norm = 0;          // the bounds' length: s for inner product, b for L2
  float squared_norm = 0;  // of split stages: Σ level² of the first one
};

class ScanCodec {
 public:
  explicit ScanCodec(const Codec& codec, RowOrder order = RowOrder::blocks);

  const BlockLayout& layout() const { return layout_; }
  const std::vector<Int8Stage>& stages() const { return stages_; }
  int padded_dim() const { return lanes_; }
  int dim() const { return layout_.dim(); }
  Metric metric() const { return metric_; }
  const FactorFormat& factor_format() const { return factor_format_; }
  /// Whether the two stages are of different lanes.
  bool has_split_stages() const { return stages_.size() == 2 && stages_[1].first_segment > 0; }
  bool has_signs() const { return layout_.sign_words() > 0; }
  /// Whether rows lie as a staged search reads them.
  bool has_sketch() const { return layout_.sketch_words() > 0; }
  /// Whether segments differ in squared_norm.
  bool is_trained() const { return !scales_.empty(); }
  /// Whether a query has three bits instead of two of each coordinate of the sketch's first word:
  /// of trained codes, whose first word says most.
  bool has_third_bit() const { return has_sketch() && is_trained(); }
  /// Sign words that meet the query's full values: those behind the sketch, but none of split
  /// stages.
  int int8_words() const {
    return has_split_stages() ? 0 : layout_.sign_words() - layout_.sketch_words();
  }
  /// Of split stages, the sketch's words that are the first one's, and those behind it.
  int first_stage_words() const {
    return has_split_stages() ? std::min(stages_[1].first_segment, layout_.sketch_words()) : 0;
  }
  int words_behind_first_stage() const {
    return has_split_stages() ? layout_.sketch_words() - first_stage_words() : 0;
  }
  /// Coordinates that a row's sign words cover.
  int sign_dims() const { return std::min(dim(), layout_.sign_words() * kSegmentLanes); }
  /// (dim), of a code with a trained rotation, else empty: what values of coordinates are
  /// multiplied by to be û. The query's coordinates take it over. 0 where a code has nothing of a
  /// coordinate.
  const std::vector<float>& scales() const { return scales_; }
  const BoundConstants& bounds() const { return bounds_; }
  /// How many rows a search for the k best by the codec's scores keeps by values, for these scores
  /// to choose from. Recall@10 of 117,659 × 384 real embeddings without and with one more, and by
  /// floats: Polar2 .8674, .8680, .8681; Polar4-pca .9687, .9702, .9701; Polar4+4 .9923, .9964,
  /// .9966; Polar8 .9924, .9965, .9964.
  static int64_t rescored_rows(int64_t k) {
    return k + std::min(k / 16 + 1, std::numeric_limits<int64_t>::max() - k);
  }

 private:
  void set_squared_norm_bounds();

  BlockLayout layout_;
  Metric metric_;
  FactorFormat factor_format_;
  int lanes_;
  std::vector<Int8Stage> stages_;
  std::vector<float> scales_;
  BoundConstants bounds_;
};

}  // namespace polarquant
