// SPDX-License-Identifier: MIT
// What a search needs to know of a codec: how its codes become integers, and which numbers turn
// integers into scores and bounds. docs/scan.md has the maths.
//
// A row's decoded direction û and the rotated query are both rounded to integer levels, so that an
// inner product is an integer sum, the same on every machine and in every order:
//   ⟨q', û⟩ ≈ query_step · Σ_stages step · Σ_lanes query_level · level.
// Levels fit a byte (−127 to 127) for codes of up to 4 bits a dimension, where rounding costs at
// most .0005 of recall@10, and 16 bits above. Vectors are taken as lanes: 64 for each segment of 64
// coordinates, lane t the first coordinate of the segment's pair t and lane 32+t the second, lanes
// without a coordinate 0. A full segment so is in its own order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/codec/codec.h"
#include "src/scan/block_layout.h"

namespace polarquant {

inline constexpr int kSegmentLanes = 64;
/// The largest level of a byte; symmetric, so that a level can change its sign.
inline constexpr int kNarrowLevel = 127;

/// Integer levels of one stage of a code: a table, and where a row's indices into it lie.
struct LevelStage {
  enum class Kind : uint8_t {
    windows,  // the table's x, y for each pair's window over a ring of bits
    bytes,    // the table's x for each coordinate's byte
  };
  enum class Signs : uint8_t {
    none,   // the table has them
    words,  // the block's sign words
    plane,  // a plane of the row's rest, in coordinate order
  };
  Kind kind = Kind::windows;
  Signs signs = Signs::none;
  int window_step = 0;      // windows: bits a pair
  size_t signs_offset = 0;  // plane: from the start of a row's rest
  size_t codes_offset = 0;  // ring or bytes, from the start of a row's rest
  float step = 0;           // level × step is the value
  int16_t x[256] = {};
  int16_t y[256] = {};
  /// The same by bytes, for kernels: low bytes (all there is to narrow levels), then high bytes.
  alignas(64) uint8_t x_bytes[2][256] = {};
  alignas(64) uint8_t y_bytes[2][256] = {};
  /// Both in one number, x in the low half.
  uint16_t narrow_pairs[256] = {};
  uint32_t wide_pairs[256] = {};

  /// Makes the kernels' tables from x and y.
  void make_tables();
};

/// Standard deviations that a bound stands off, for each of exactness. With 1 most of what a search
/// loses it loses to rows of a little more than exactness standard deviations: 117,659 × 384 real
/// embeddings at 4 bits and z = 2.25 lost .0010 of recall@10 with 1 for the first stage's bound,
/// .0002 with 1.2, nothing with 1.3, which leaves 3 % of the rows to the next stage instead of 2 %.
inline constexpr double kBoundMargin = 1.3;

/// What the bounds of a row need beside the query; errors are standard deviations of ⟨q', x−c⟩
/// given what a stage reads (and a margin), in units of ‖q'‖‖x−c‖. docs/scan.md derives them.
struct BoundConstants {
  float length_of_norm = 0;     // ‖x−c‖ / ScanTerms::norm
  float first_stage_scale = 0;  // ⟨q', û₁⟩·‖x−c‖ → estimate by the first of two stages
  float first_stage_error = 0;
};

/// The parts of a row that scores need, read from a block.
struct ScanTerms {
  float scale = 0;     // s
  float constant = 0;  // b for inner product and cosine, −b² for L2
  float norm = 0;      // the bounds' length: s for inner product, b for L2
};

class ScanCodec {
 public:
  /// Whether searches of this codec's codes run on integer levels: the flagship, its residual codes
  /// and Polar8.
  static bool supports(const Codec& codec);
  explicit ScanCodec(const Codec& codec);

  const BlockLayout& layout() const { return layout_; }
  const std::vector<LevelStage>& stages() const { return stages_; }
  int lanes() const { return lanes_; }
  int dim() const { return layout_.dim(); }
  /// Levels of 16 bits, not 8.
  bool wide() const { return max_level_ > kNarrowLevel; }
  int max_level() const { return max_level_; }
  Metric metric() const { return metric_; }
  const FactorFormat& factor_format() const { return factor_format_; }
  bool has_signs() const { return layout_.sign_words() > 0; }
  const BoundConstants& bounds() const { return bounds_; }

 private:
  BlockLayout layout_;
  Metric metric_;
  FactorFormat factor_format_;
  int lanes_;
  int max_level_ = kNarrowLevel;
  std::vector<LevelStage> stages_;
  BoundConstants bounds_;
};

}  // namespace polarquant
