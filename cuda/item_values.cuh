// SPDX-License-Identifier: MIT
// Values and bounds of a query about a list's centre, by half a warp: set_scan_query of
// src/scan/model/scan_query.cc, by its float operations in their order. Names are as there.
#pragma once

#include <cfloat>
#include <numbers>

#include "cuda/group8_decode.cuh"
#include "cuda/residual_query.cuh"

namespace polarquant::cuda {

/// The coordinate at a segment's position, counted from the segment's first; −1 for none.
__device__ inline int coordinate_of(int position, int count) {
  const int half = (count + 1) / 2;
  if (position < kSegmentDims / 2) return position < half ? position : -1;
  const int second = position - kSegmentDims / 2;
  return second < count - half ? half + second : -1;
}

/// A query's coordinate of a segment, as values are made of it.
__device__ inline float scaled_at(const CodeView& code, const ResidualQuery& query, int segment,
                                  int j) {
  const float x = query.at(segment * kSegmentDims + j);
  return code.is_trained() ? x * code.plan[segment].scale : x;
}
__device__ inline int coded_count(const CodeView& code, int segment) {
  return code.is_trained() ? code.plan[segment].count : segment_count(code.dim, segment);
}

/// round_to_step of src/simd/round_to_int8.h, of each stage that has values of its own.
struct ValueSteps {
  float to_values[kMaxStages];
  float step[kMaxStages];
};
__device__ inline ValueSteps find_steps(const CodeView& code, const ResidualQuery& query) {
  float most[kMaxStages] = {0, 0};
  for (int segment = 0; segment < code.segments; ++segment) {
    const int count = coded_count(code, segment);
    float own = 0;
    for (int j = threadIdx.x % kHalfWarp; j < count; j += kHalfWarp)
      own = fmaxf(own, fabsf(scaled_at(code, query, segment, j)));
    if (code.stage_of(segment) == 0) {
      most[0] = fmaxf(most[0], own);
    } else {
      most[1] = fmaxf(most[1], own);
    }
  }
  constexpr float kMaxInt8 = 127;
  ValueSteps steps;
#pragma unroll
  for (int s = 0; s < kMaxStages; ++s) {
    const float largest = half_warp_largest(most[s]);
    steps.to_values[s] = kMaxInt8 / largest;
    steps.step[s] = largest / kMaxInt8;
    if (!(steps.to_values[s] <= FLT_MAX)) steps.to_values[s] = steps.step[s] = 0;
  }
  // Stages of the same segments are of the same values.
  if (code.second_stage == 0) steps.step[1] = steps.step[0];
  return steps;
}

/// Signs (SignWord) and weights (WordWeights, src/simd/sign_words.h) of a word, from which a
/// query's bounds are made.
struct SketchWord {
  uint64_t negative = 0;
  uint64_t ones = 0;
  uint64_t twos = 0;
  uint64_t fours = 0;
  int32_t sum = 0;
  int32_t squares = 0;
  int32_t along = 0;
};
/// Sums over words, by which bounds grow. Those of ‖q‖² are for trained codes.
struct Int8Sums {
  SketchWord sketch[kMaxSketchWords];
  double norm2 = 0;
  double payload_squared_norm = 0;  // of the sign words after the sketch
  double sketch_squared_norm = 0;   // of the sketch's words, before they are weighed
  double later_squared_norm = 0;    // of split stages' second one
  double query_norm2 = 0;
  double query_sketch = 0;
  double query_later = 0;
  double query_known = 0;  // of the first stage or the sketch, whichever is longer
  double query_unknown = 0;
};

/// The part of a word that a lane of half a warp has: one word of a group8's values.
struct Int8Word {
  int value[4];
  int weight[4];
  int32_t squares;  // of the whole word
};
/// The place of a lane's byte in a segment.
__device__ inline int lane_position(int b) {
  const int lane = threadIdx.x % kHalfWarp;
  return position_of_byte(lane / 4, lane % 4, b);
}

/// kBorders and kFirstWordBorders of src/scan/model/scan_query.cc.
__device__ constexpr float kBorders[] = {.35F, 1, 1.7F};
__device__ constexpr float kFirstWordStep = .33F;
__device__ constexpr float kFirstWordBorders[] = {
    .5F * kFirstWordStep,  1.5F * kFirstWordStep, 2.5F * kFirstWordStep, 3.5F * kFirstWordStep,
    4.5F * kFirstWordStep, 5.5F * kFirstWordStep, 6.5F * kFirstWordStep};

template <int kCount>
__device__ inline void weigh_word(const float (&borders)[kCount], int dims, Int8Word* word) {
  const float root = sqrtf(static_cast<float>(word->squares) / static_cast<float>(dims));
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    word->weight[b] = 0;
#pragma unroll
    for (const float border : borders)
      word->weight[b] += abs(word->value[b]) > static_cast<int>(border * root) ? 1 : 0;
  }
}

/// A position may weigh 2 or 3 in only one of the words after the first.
__device__ inline void part_twos(const CodeView& code, Int8Word (&words)[kMaxSketchWords]) {
#pragma unroll
  for (int a = 1; a < kMaxSketchWords; ++a) {
#pragma unroll
    for (int other = a + 1; other < kMaxSketchWords; ++other) {
      if (other >= code.sketch_words) continue;
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        if ((words[a].weight[b] & words[other].weight[b] & 2) == 0) continue;
        const auto farness = [&](int word, int than) {
          const int64_t value = words[word].value[b];
          return value * value * segment_count(code.dim, word) * words[than].squares;
        };
        if (farness(a, other) < farness(other, a)) {
          words[a].weight[b] = 1;
        } else {
          words[other].weight[b] = 1;
        }
      }
    }
  }
}

/// A word of the sketch, for all lanes of the half.
__device__ inline SketchWord sum_sketch_word(const Int8Word& own) {
  SketchWord word;
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    const int weight = own.weight[b];
    const uint64_t bit = uint64_t{1} << lane_position(b);
    if (own.value[b] < 0) word.negative |= bit;
    if ((weight & 1) != 0) word.ones |= bit;
    if ((weight & 2) != 0) word.twos |= bit;
    if ((weight & 4) != 0) word.fours |= bit;
    word.sum += weight;
    word.squares += weight * weight;
    word.along += weight * abs(own.value[b]);
  }
  return {half_warp_or(word.negative), half_warp_or(word.ones), half_warp_or(word.twos),
          half_warp_or(word.fours),    half_warp_sum(word.sum), half_warp_sum(word.squares),
          half_warp_sum(word.along)};
}

/// Adds a word's Σ x².
__device__ inline void add_word(const CodeView& code, int segment, double squared_norm,
                                Int8Sums* sums) {
  sums->norm2 += squared_norm;
  const bool in_sketch = segment < code.sketch_words;
  if (in_sketch) {
    sums->sketch_squared_norm += squared_norm;
  } else if (segment < code.sign_words) {
    sums->payload_squared_norm += squared_norm;
  }
  if (!code.is_trained()) return;
  const bool is_later = segment >= code.second_stage;
  if (is_later) sums->later_squared_norm += squared_norm;
  const double scale = code.plan[segment].scale;
  if (!(scale > 0)) return;
  const double query_part = squared_norm / (scale * scale);
  sums->query_norm2 += query_part;
  if (in_sketch) sums->query_sketch += query_part;
  if (is_later) sums->query_later += query_part;
  if (in_sketch || !is_later) {
    sums->query_known += query_part;
  } else {
    sums->query_unknown += query_part;
  }
}

/// How the words of a segment's values lie: those of a group8 together, or word u of all groups8
/// together (arrange_values in query_values.cu).
enum class WordOrder { by_groups, by_words };

/// Writes a residual query's values, and sums them.
template <WordOrder kOrder = WordOrder::by_groups>
__device__ inline Int8Sums write_values(const CodeView& code, const ResidualQuery& query,
                                        const ValueSteps& steps, bool bounded, int8_t* values) {
  const int lane = threadIdx.x % kHalfWarp;
  const int place = kOrder == WordOrder::by_groups ? lane : lane % 4 * 4 + lane / 4;
  Int8Word sketch[kMaxSketchWords] = {};
  Int8Sums sums;
  for (int segment = 0; segment < code.segments; ++segment) {
    const int stage = code.stage_of(segment);
    const float to_values = stage == 0 ? steps.to_values[0] : steps.to_values[1];
    const int count = coded_count(code, segment);
    Int8Word own = {};
    uint32_t word = 0;
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const int j = coordinate_of(lane_position(b), count);
      own.value[b] = j >= 0 ? __float2int_rn(scaled_at(code, query, segment, j) * to_values) : 0;
      word |= static_cast<uint32_t>(own.value[b] & 255) << (8 * b);
      own.squares += own.value[b] * own.value[b];
    }
    reinterpret_cast<uint32_t*>(values + segment * kSegmentDims)[place] = word;
    if (!bounded) continue;
    own.squares = half_warp_sum(own.squares);
    const double step = stage == 0 ? steps.step[0] : steps.step[1];
    add_word(code, segment, step * step * own.squares, &sums);
#pragma unroll
    for (int w = 0; w < kMaxSketchWords; ++w)
      if (w == segment) sketch[w] = own;
  }
  if (!bounded) return sums;
#pragma unroll
  for (int w = 0; w < kMaxSketchWords; ++w) {
    if (w >= code.sketch_words) break;
    const int dims = segment_count(code.dim, w);
    if (w == 0 && code.has_third_bit != 0) {
      weigh_word(kFirstWordBorders, dims, &sketch[w]);
    } else {
      weigh_word(kBorders, dims, &sketch[w]);
    }
  }
  if (code.has_third_bit != 0) part_twos(code, sketch);
#pragma unroll
  for (int w = 0; w < kMaxSketchWords; ++w)
    if (w < code.sketch_words) sums.sketch[w] = sum_sketch_word(sketch[w]);
  return sums;
}

struct SketchSums {
  double along = 0;
  int32_t weights = 0;
  int32_t squares = 0;

  __device__ void add(const SketchWord& word, double step) {
    along += step * word.along;
    weights += word.sum;
    squares += word.squares;
  }
  __device__ double unit() const { return squares > 0 ? along / squares : 0; }
};

__device__ inline double sketch_factor(const CodeView& code, const Int8Sums& sums) {
  constexpr double kMostSketchFactor = 3;
  if (!code.is_trained() || !(sums.query_sketch > 0) || !(sums.norm2 > 0)) return 1;
  const double factor =
      sums.query_norm2 / sums.query_sketch * sums.sketch_squared_norm / sums.norm2;
  return fmin(factor, kMostSketchFactor);
}

/// split_bound.
__device__ inline void set_split_bound(const CodeView& code, const Int8Description& values,
                                       const Int8Sums& sums, float first_step, float exactness,
                                       const SketchSums& later, QueryConstants* query) {
  const double more = sums.query_known > 0 ? 1 + sums.query_unknown / sums.query_known : 1;
  const double variance =
      sums.later_squared_norm + (std::numbers::pi / 2 - 2) * later.unit() * later.along;
  const double factor = code.is_l2 != 0 ? 2 : 1;
  const double unit = factor * values.scale_of_norm;
  const double squared_norm_slope = unit * sqrt(sums.query_later) * values.loss_of_squared_norm;
  const double margin = values.margin * exactness * unit * sqrt(fmax(0.0, variance));
  query->first_slope = static_cast<float>(more * unit * first_step * values.stage_step[0]);
  query->first_other_slope =
      static_cast<float>(more * unit * sqrt(std::numbers::pi / 2) * later.unit());
  query->first_margin = static_cast<float>(margin + squared_norm_slope * values.mean_squared_norm);
  query->first_squared_norm_slope = static_cast<float>(squared_norm_slope);
}

/// set_sketch, set_sign_bounds, and the bound of the first of two stages.
__device__ inline void set_bounds(const CodeView& code, const Int8Description& values,
                                  const Int8Sums& sums, const ValueSteps& steps, float exactness,
                                  QueryConstants* query) {
  const bool is_split = code.second_stage > 0;
  SketchSums sketch;
  SketchSums later;
  for (int w = 0; w < code.sketch_words; ++w) {
    const SketchWord& word = sums.sketch[w];
    query->sign_words[w] = word.negative;
    query->ones_words[w] = word.ones;
    query->twos_words[w] = word.twos;
    const double step = code.stage_of(w) == 0 ? steps.step[0] : steps.step[1];
    sketch.add(word, step);
    if (is_split && w >= code.first_stage_words) later.add(word, step);
  }
  query->fours_word = sums.sketch[0].fours;
  query->sketch_weight = sketch.weights;
  query->later_weight = later.weights;
  const double unit = sketch.unit();
  const double sketch_squared_norm = unit * sketch.along;
  const double squared_norm = sketch_squared_norm + sums.payload_squared_norm;
  const double length = (code.is_l2 != 0 ? 2.0F : 1.0F) * values.length_of_norm;
  const double slope_of_squared_norm = values.slope_of_sign * sums.norm2 * length;
  const double explained = 2 / std::numbers::pi / sums.norm2;
  struct SignBound {
    double slope = 0;
    double margin = 0;
  };
  const auto bound_of = [&](double e, double margin) -> SignBound {
    if (!(e > 0)) return {};
    const double slope = slope_of_squared_norm / e;
    const double variance = fmax(0.0, e - explained * e * e);
    return {slope, margin * exactness * slope * sqrt(variance)};
  };
  const SignBound by_sketch = bound_of(sketch_squared_norm, values.sketch_margin);
  query->sketch_slope = static_cast<float>(sketch_factor(code, sums) * by_sketch.slope * unit);
  query->sketch_margin = static_cast<float>(by_sketch.margin);
  if (is_split) {
    query->signs_sketch_slope = query->sketch_slope;
    query->signs_payload_slope = 0;
    query->signs_margin = query->sketch_margin;
    return set_split_bound(code, values, sums, steps.step[0], exactness, later, query);
  }
  const SignBound both = bound_of(squared_norm, values.margin);
  query->signs_sketch_slope = static_cast<float>(both.slope * unit);
  query->signs_payload_slope = static_cast<float>(both.slope * steps.step[0]);
  query->signs_margin = static_cast<float>(both.margin);
  if (code.stages != 2) return;
  const double first_step = steps.step[0] * values.stage_step[0];
  query->first_slope = static_cast<float>(length * values.first_stage_scale * first_step);
  query->first_margin =
      static_cast<float>(exactness * sqrt(sums.norm2) * length * values.first_stage_error);
}

/// All but the bounds.
__device__ inline QueryConstants make_constants(const CodeView& code, const Int8Description& values,
                                                const ResidualQuery& query,
                                                const ValueSteps& steps) {
  const bool is_l2 = code.is_l2 != 0;
  QueryConstants constants = {};
  constants.base = is_l2 ? -query.offset : query.offset;
  constants.weight = is_l2 ? 1.0F : query.bias_weight;
  for (int s = 0; s < code.stages; ++s)
    constants.dot_scale[s] = (is_l2 ? 2.0F : 1.0F) * steps.step[s] * values.stage_step[s];
  constants.offset = query.offset;
  constants.bias_weight = query.bias_weight;
  return constants;
}

/// Larger ones leave no row out, and would overflow (src/scan/model/scan_query.cc).
inline float limited_exactness(float exactness) {
  constexpr float kMaxExactness = 65536;
  return exactness < kMaxExactness ? exactness : kMaxExactness;
}

}  // namespace polarquant::cuda
