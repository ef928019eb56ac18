// SPDX-License-Identifier: MIT
// What a search needs to know of a codec: how its codes become integers, and which numbers turn
// integers into scores and bounds. docs/dev/bounds.md has the maths.
//
// A row's decoded direction û and the rotated query are both rounded to int8 values, so that an
// inner product is an integer sum, the same on every machine and in every order:
//   ⟨q', û⟩ ≈ query_step · Σ_stages step · Σ_positions query_value · value.
// Values fit a byte, −127 to 127. Rounding to them moves scores by about .013/√dim of ‖q‖‖x‖, more
// than the best codes are off themselves, so that searches keep more than k rows for the codec's
// own scores to choose from (rescored_rows()). Vectors are padded to 64 positions for each
// segment of 64 coordinates: position t has the first coordinate of the segment's pair t, position
// 32+t the second, and positions without a coordinate are 0. A full segment keeps its order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/codec/codec.h"
#include "src/codec/segment_plan.h"
#include "src/scan/layout/block_layout.h"
#include "src/simd/bit_fields.h"
#include "src/simd/int8_values.h"

namespace polarquant {

/// Integer values of some segments: a table, and where a row's indices into it lie.
struct Int8Part {
  enum class Kind : uint8_t {
    windows,     // the table's x, y by each pair's window over a ring of bits
    magnitudes,  // the table's x by each coordinate's field of `step_bits` bits
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
  size_t codes_offset = 0;  // ring or fields, from the start of a row's payload
  alignas(64) int8_t x[256] = {};
  alignas(64) int8_t y[256] = {};
  /// Both in one number, x in the low half, for kernels.
  uint16_t pairs[256] = {};
  FieldSpread fields;  // of windows and magnitudes

  int segments() const { return segments_of(dim); }
  /// Whether half a register holds what windows 64·group … 64·group+63 need.
  bool reads_half(int group) const { return step_bits <= 3 || 2 * group + 1 == segments(); }
  /// Bytes from codes_offset on that kernels read which take 32 or 64 bytes at a time.
  size_t bytes_read() const;
  /// Makes `pairs` and `fields` from the others.
  void make_tables();
};

/// Integer values of one stage of a code, by parts, in order. A residual code's two stages both
/// have all segments; a trained code's first stage has the first ones and its second the others. A
/// query has 0 at positions of no part.
struct Int8Stage {
  std::vector<Int8Part> parts;
  int first_segment = 0;
  int segments = 0;
  float step = 0;            // value × step is the value
  size_t codes_begin = 0;    // of the parts' first code, in a row's payload
  size_t payload_bytes = 0;  // of a row's payload, from its start: what the parts read

  int first_position() const { return first_segment * kSegmentDims; }
  int padded_dim() const { return segments * kSegmentDims; }
};

/// Standard deviations of margin of a bound, for each of exactness. With 1 a search loses mostly
/// rows whose error is a little more than exactness standard deviations; with 1.3 it loses nothing,
/// and the first stage leaves a few more candidates (docs/dev/tuning.md, "Margins").
inline constexpr double kBoundMargin = 1.3;
/// Factors of the margins of trained codes, whose coordinates differ: for the sketch, for all
/// signs, and for the first of split stages. Training measures further factors (measure_margins.h).
inline constexpr double kTrainedSketchMargin = .93;
inline constexpr double kTrainedSignsMargin = 2.0;
inline constexpr double kTrainedBoundMargin = 1.3;
/// Added to the sketch's factor for the share of Σ scale⁴ that sign words do not cover: without it
/// Polar1-pca loses more recall (docs/dev/tuning.md, "Margins").
inline constexpr double kUncoveredSketchMargin = 1;

/// The numbers of a codec that bounds of its rows need; errors are standard deviations of ⟨q', x−c⟩
/// given what a stage reads (and a margin), in units of ‖q'‖‖x−c‖. docs/dev/bounds.md derives them.
struct BoundConstants {
  double margin = kBoundMargin;
  double sketch_margin = kBoundMargin;
  double slope_of_sign = 0;  // √(π/2)/√dim
  float length_of_norm = 0;  // ‖x−c‖ / ScanTerms::norm, for what is coded
  float scale_of_norm = 0;   // ScanTerms::scale / ScanTerms::norm
  // For split stages: the mean of a row's Σ value² in the first one, and what Σ q'·û in the second
  // is taken to lose for each 1 above it, by ‖q'‖ there.
  double mean_squared_norm = 0;
  double loss_of_squared_norm = 0;
  float decoded_length = 0;  // about ‖û‖, for codes about centroids
  // For a residual code only:
  float first_stage_scale = 0;  // ⟨q', û₁⟩·‖x−c‖ → estimate by the first of two stages
  float first_stage_error = 0;
};

/// The parts of a row that scores need, read from a block.
struct ScanTerms {
  float scale = 0;     // s
  float constant = 0;  // b for inner product and cosine, −b² for L2; about centroids t and −n
  float norm = 0;      // the bounds' length: s for inner product, b for L2
  /// For split stages Σ value² of the first one; about centroids, whose codes have no such stages,
  /// the number of the row's, which a float holds exactly.
  float squared_norm = 0;

  int centroid() const { return static_cast<int>(squared_norm); }
};

class ScanCodec {
 public:
  explicit ScanCodec(const Codec& codec, RowOrder order = RowOrder::blocks);

  const BlockLayout& layout() const { return layout_; }
  const std::vector<Int8Stage>& stages() const { return stages_; }
  int padded_dim() const { return padded_dim_; }
  int dim() const { return layout_.dim(); }
  Metric metric() const { return metric_; }
  const FactorFormat& factor_format() const { return factor_format_; }
  /// Whether the two stages have different segments.
  bool has_split_stages() const { return stages_.size() == 2 && stages_[1].first_segment > 0; }
  bool has_signs() const { return layout_.sign_words() > 0; }
  /// Whether rows lie as a staged search reads them.
  bool has_sketch() const { return layout_.sketch_words() > 0; }
  /// Whether rows are about centroids, which are the codec's: it must then live as long as this.
  bool has_centroids() const { return centroids_ != nullptr; }
  const Centroids* centroids() const { return centroids_; }
  int centroid_count() const { return has_centroids() ? centroids_->count() : 0; }
  /// Coordinates that have bits, those before all others.
  int coded_dims() const { return coded_dims_; }
  /// Whether segments differ in variance.
  bool is_trained() const { return !scales_.empty(); }
  /// Whether a query has three bits instead of two for each coordinate of the sketch's first word:
  /// for trained codes, whose first word says most.
  bool has_third_bit() const { return has_sketch() && is_trained(); }
  /// Sign words for the query's full values: those after the sketch, none for split stages.
  int int8_words() const {
    return has_split_stages() ? 0 : layout_.sign_words() - layout_.sketch_words();
  }
  /// For split stages: the sketch's words of the first one, and those after it.
  int first_stage_words() const {
    return has_split_stages() ? std::min(stages_[1].first_segment, layout_.sketch_words()) : 0;
  }
  int words_after_first_stage() const {
    return has_split_stages() ? layout_.sketch_words() - first_stage_words() : 0;
  }
  /// Coordinates that a row's sign words cover.
  int sign_dims() const { return std::min(dim(), layout_.sign_words() * kSegmentDims); }
  /// (dim), for a code with a trained rotation, else empty: the factors that make û of values. The
  /// query takes them instead. 0 where a code has no bits of a coordinate.
  const std::vector<float>& scales() const { return scales_; }
  /// (256), the numbers that bytes stand for, where rows' layout splits such bytes; else empty.
  const std::vector<float>& split_levels() const { return split_levels_; }
  const BoundConstants& bounds() const { return bounds_; }
  /// How many rows a search for the k best by the codec's scores keeps by values, for these scores
  /// to choose from. docs/dev/tuning.md, "Int8 values and floats", has recall with and without.
  static int64_t rescored_rows(int64_t k) {
    return k + std::min(k / 16 + 1, std::numeric_limits<int64_t>::max() - k);
  }

 private:
  void set_squared_norm_bounds();

  BlockLayout layout_;
  Metric metric_;
  FactorFormat factor_format_;
  int padded_dim_;
  int coded_dims_;
  const Centroids* centroids_;
  std::vector<Int8Stage> stages_;
  std::vector<float> scales_;
  std::vector<float> split_levels_;
  BoundConstants bounds_;
};

}  // namespace polarquant
