// SPDX-License-Identifier: MIT
#include "src/scan/model/scan_query.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "src/codec/segment_plan.h"
#include "src/scan/model/row_values.h"
#include "src/simd/exact_sums.h"
#include "src/simd/round_to_int8.h"
#include "src/simd/sign_words.h"

namespace polarquant {
namespace {

/// Bounds leave no row out from 20·√dim on; much larger ones would overflow.
constexpr float kMaxExactness = 65536;

/// Calls body(first coordinate, count, first position) for the runs of coordinates that stay
/// together in padded order: full segments as they are, the last one in its two halves.
template <typename Body>
void for_each_run(int dim, const Body& body) {
  const int full = dim / kSegmentDims * kSegmentDims;
  if (full > 0) body(0, full, 0);
  const int half = (dim - full + 1) / 2;
  if (half > 0) body(full, half, full);
  if (dim - full > half) body(full + half, dim - full - half, full + kSegmentDims / 2);
}

/// Rounds x, (dim), whole segments but for the last, to values in padded order, 0 at positions
/// without a coordinate; returns the step, 0 where all values are 0.
float round_padded(const float* x, int dim, int8_t* values) {
  const float step = round_to_step(x, dim, values);
  const int left = dim % kSegmentDims;
  if (left == 0) return step;
  const int half = (left + 1) / 2;
  int8_t* last = values + dim - left;
  std::memmove(last + kSegmentDims / 2, last + half, static_cast<size_t>(left - half));
  clear_padding(values, dim);
  return step;
}

/// A coordinate's weight is the number of these borders, in standard deviations, that it is beyond.
/// Stage 1 leaves a fifth more candidates than with weights that are not rounded, and a quarter
/// fewer than with 1 and 3 in place of 0 to 3; other borders leave as many. The weights of 64
/// coordinates, whatever they are, add up to 127 at the most, less than half of a byte: of
/// coordinates beyond 1 there are at most 63.
constexpr float kBorders[] = {.35F, 1, 1.7F};

/// The border step of a trained code's first word, which says most of a score. Steps of .33 are
/// best where few rows are lost. From .287 on the weights of 64 coordinates, whatever they are, add
/// up to 255 at most, a byte: Σ w is largest where all are at one border, (w − ½)·step = 1.
constexpr float kFirstWordStep = .33F;
constexpr float kFirstWordBorders[kMostBorders] = {
    .5F * kFirstWordStep,  1.5F * kFirstWordStep, 2.5F * kFirstWordStep, 3.5F * kFirstWordStep,
    4.5F * kFirstWordStep, 5.5F * kFirstWordStep, 6.5F * kFirstWordStep};

/// A position may weigh 2 or 3 in only one of the sketch's words after the first: the one whose
/// value there is the largest for the word's root mean square. In the others it then weighs 1.
void part_twos(const ScanCodec& codec, const int8_t* values, const std::vector<SignWord>& words,
               WordWeights* weights) {
  const auto sketch_words = static_cast<size_t>(codec.layout().sketch_words());
  // Two words' squares over their mean squares, multiplied by what both would be divided by.
  const auto farness = [&](size_t word, int place, size_t other) {
    const int64_t value = values[word * kSegmentDims + static_cast<size_t>(place)];
    return value * value * segment_dims(codec.dim(), static_cast<int>(word)) * words[other].squares;
  };
  for (size_t a = 1; a < sketch_words; ++a) {
    for (size_t b = a + 1; b < sketch_words; ++b) {
      for (uint64_t both = weights[a].twos & weights[b].twos; both != 0; both &= both - 1) {
        const int place = std::countr_zero(both);
        const size_t nearer = farness(a, place, b) < farness(b, place, a) ? a : b;
        WordWeights& changed = weights[nearer];
        const int weight = changed.weight_of(place);
        changed.ones |= uint64_t{1} << place;
        changed.twos ^= uint64_t{1} << place;
        changed.sum -= weight - 1;
        changed.squares -= weight * weight - 1;
        changed.along -=
            (weight - 1) * std::abs(values[nearer * kSegmentDims + static_cast<size_t>(place)]);
      }
    }
  }
}

/// The words of a query, made of its values: sums of them are off by less than 1e-4, and sums of
/// integers are the same on every machine.
struct QueryWords {
  const std::vector<SignWord>& words;
  WordWeights weights[kMaxSketchWords];  // of the sketch
  const float (&steps)[2];               // of each stage's values
  size_t second_stage;                   // its first word, for split stages

  /// Makes scan->words.
  QueryWords(const ScanCodec& codec, const float (&stage_steps)[2], ScanQuery* scan)
      : words(scan->words),
        steps(stage_steps),
        second_stage(codec.has_split_stages() ? static_cast<size_t>(codec.stages()[1].first_segment)
                                              : std::numeric_limits<size_t>::max()) {
    scan->words.resize(scan->values.size() / kSegmentDims);
    const int8_t* values = scan->values.data();
    const SignWord* sums = scan->words.data();
    const int sketch_words = codec.layout().sketch_words();
    sum_sign_words(values, static_cast<int>(words.size()), scan->words.data());
    if (!codec.has_third_bit()) {
      weigh_values(values, sums, sketch_words, codec.dim(), kBorders, weights);
      return;
    }
    weigh_values(values, sums, 1, codec.dim(), kFirstWordBorders, weights);
    weigh_values(values + kSegmentDims, sums + 1, sketch_words - 1, codec.dim() - kSegmentDims,
                 kBorders, weights + 1);
    part_twos(codec, values, words, weights);
  }
  double step(size_t word) const { return word < second_stage ? steps[0] : steps[1]; }
  /// Σ x² of words first … end−1.
  double squared_norm(int first, int end) const {
    double sum = 0;
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(end); ++i)
      sum += step(i) * step(i) * words[i].squares;
    return sum;
  }
  int32_t value_sum(int first, int end) const {
    int32_t sum = 0;
    for (int i = first; i < end; ++i) sum += words[static_cast<size_t>(i)].sum;
    return sum;
  }
};

/// Sums of a sketch, or of some words of it.
struct SketchSums {
  double along = 0;     // Σ weight·|x_j|
  int32_t weights = 0;  // Σ weight
  int32_t squares = 0;  // Σ weight²

  void add(const SketchSums& other) {
    along += other.along;
    weights += other.weights;
    squares += other.squares;
  }
  /// The best value for a weight of 1.
  double unit() const { return squares > 0 ? along / squares : 0; }
};

struct SketchWeights {
  SketchSums all;
  SketchSums after_first_stage;
};

/// Sets the sketch of the query. All its words weigh alike. Those of untrained codes have nearly
/// the same squared norm. Of a trained code the first word has most of a score; but rows that are
/// near are so in all words, while rows that only seem near are so in the first.
SketchWeights set_sketch(const ScanCodec& codec, const QueryWords& query_words, ScanQuery* query) {
  query->sketch_words = static_cast<size_t>(codec.layout().sketch_words());
  query->fours_word = query_words.weights[0].fours;
  const size_t later = query->sketch_words - static_cast<size_t>(codec.words_after_first_stage());
  SketchWeights sums;
  for (size_t word = 0; word < query->sketch_words; ++word) {
    const WordWeights& weights = query_words.weights[word];
    query->sign_words[word] = query_words.words[word].negative;
    query->ones_words[word] = weights.ones;
    query->twos_words[word] = weights.twos;
    const SketchSums own = {query_words.step(word) * weights.along, weights.sum, weights.squares};
    sums.all.add(own);
    if (word >= later) sums.after_first_stage.add(own);
  }
  query->sketch_weight = sums.all.weights;
  query->later_weight = sums.after_first_stage.weights;
  return sums;
}

/// The part of ‖q‖² in words first … end−1 that have bits; x is q times the scales.
double query_squared_norm(const ScanCodec& codec, const QueryWords& query_words, int first,
                          int end) {
  if (!codec.is_trained()) return query_words.squared_norm(first, end);
  double sum = 0;
  for (int word = first; word < end; ++word) {
    const double scale = codec.scales()[static_cast<size_t>(word * kSegmentDims)];
    if (scale > 0) sum += query_words.squared_norm(word, word + 1) / (scale * scale);
  }
  return sum;
}

/// The factor is 1 to 1.3 for queries like the rows, and 4 and more for queries in random
/// directions over rows with a quarter of their axes long, which lose two to seven times as much
/// with 1.5 at most.
constexpr double kMostSketchFactor = 3;

/// Rows near the query have one cosine with it in all words: words have the share of a score that
/// they have of ‖q‖². This divided by their share of ‖x‖², which the estimates below assume.
double sketch_factor(const ScanCodec& codec, const QueryWords& query_words, double norm2) {
  if (!codec.is_trained()) return 1;
  const int words = static_cast<int>(query_words.words.size());
  const int sketch_words = codec.layout().sketch_words();
  const double sketch_share = query_squared_norm(codec, query_words, 0, sketch_words);
  if (!(sketch_share > 0) || !(norm2 > 0)) return 1;
  const double factor = query_squared_norm(codec, query_words, 0, words) / sketch_share *
                        query_words.squared_norm(0, sketch_words) / norm2;
  return std::min(factor, kMostSketchFactor);
}

/// The factors that bounds grow with.
struct BoundScale {
  double norm2;   // of the query
  double length;  // of rows, per norm term
  float exactness;
};

/// Sets the bounds by which the signs of a row tell its score. For weights v_j on the signs (those
/// of the sketch times a unit, and |x_j| after it) let e = Σ v_j·|x_j| and the unit be the best
/// one, so that Σ v_j² = e too. A row at cosine ρ is expected to have Σ ±v = √(2/π)·√dim·e/‖x‖·ρ
/// (beyond ρ = .5 more, so that the estimate is too high), with a variance of at most e −
/// (2/π)·e²/‖x‖²: the second part is what ρ itself explains.
void set_sign_bounds(const ScanCodec& codec, const QueryWords& query_words, const SketchSums& sums,
                     const BoundScale& scale, float value_step, ScanQuery* query) {
  const double norm2 = scale.norm2;
  const BlockLayout& layout = codec.layout();
  const double unit = sums.unit();
  const double sketch_squared_norm = unit * sums.along;
  const double squared_norm =
      sketch_squared_norm + query_words.squared_norm(layout.sketch_words(), layout.sign_words());
  const double slope_of_squared_norm = codec.bounds().slope_of_sign * norm2 * scale.length;
  const double explained = 2 / std::numbers::pi / norm2;
  const auto bound_of = [&](double e, double margin) {
    struct {
      double slope = 0;
      double margin = 0;
    } bound;
    if (!(e > 0)) return bound;
    bound.slope = slope_of_squared_norm / e;
    const double variance = std::max(0.0, e - explained * e * e);
    bound.margin = margin * scale.exactness * bound.slope * std::sqrt(variance);
    return bound;
  };
  const auto sketch = bound_of(sketch_squared_norm, codec.bounds().sketch_margin);
  query->sketch = {
      static_cast<float>(sketch_factor(codec, query_words, norm2) * sketch.slope * unit),
      static_cast<float>(sketch.margin)};
  const auto both = bound_of(squared_norm, codec.bounds().margin);
  query->signs = {static_cast<float>(both.slope * unit),
                  static_cast<float>(both.slope * value_step), static_cast<float>(both.margin)};
  // The bound of the first of split stages knows more.
  if (codec.has_split_stages()) query->signs = {query->sketch.slope, 0, query->sketch.margin};
}

/// `step`: of the first stage's Σ value·value.
SumBound residual_bound(const ScanCodec& codec, double norm, double length, float exactness,
                        double step) {
  const BoundConstants& constants = codec.bounds();
  return {static_cast<float>(length * constants.first_stage_scale * step), 0,
          static_cast<float>(exactness * norm * length * constants.first_stage_error)};
}

/// For split stages: the first one's part of the score is known. The sketch's words after it,
/// `later`, estimate the second's: a coordinate of variance 1 is √(π/2) for its sign, so that
/// √(π/2)·Σ ±v_j has an error of variance Σ x_j² − 2·Σ v_j·|x_j| + π/2·Σ v_j². v_j, the weights
/// times their unit, are such that Σ v_j·|x_j| = Σ v_j². Coordinates that have bits but no word in
/// the sketch count by their share of ‖q‖², with an error of variance 1. set_squared_norm_bounds
/// (scan_codec.cc) derives what a row's squared norm in the first stage takes off.
SumBound split_bound(const ScanCodec& codec, const QueryWords& query_words, float exactness,
                     const SketchSums& later) {
  const BoundConstants& constants = codec.bounds();
  const int words = static_cast<int>(query_words.words.size());
  const int lead = codec.stages()[0].segments;
  const int known = std::max(lead, codec.layout().sketch_words());
  const double later_squared_norm = query_squared_norm(codec, query_words, lead, words);
  const double seen = query_squared_norm(codec, query_words, 0, known);
  const double unknown = query_squared_norm(codec, query_words, known, words);
  const double more = seen > 0 ? 1 + unknown / seen : 1;
  const double variance = query_words.squared_norm(lead, words) +
                          (std::numbers::pi / 2 - 2) * later.unit() * later.along;
  const double factor = codec.metric() == Metric::l2 ? 2 : 1;
  const double unit = factor * constants.scale_of_norm;  // of Σ query·û, per norm term
  const double squared_norm_slope =
      unit * std::sqrt(later_squared_norm) * constants.loss_of_squared_norm;
  const double margin = constants.margin * exactness * unit * std::sqrt(std::max(0.0, variance));
  return {static_cast<float>(more * unit * query_words.steps[0] * codec.stages()[0].step),
          static_cast<float>(more * unit * std::sqrt(std::numbers::pi / 2) * later.unit()),
          static_cast<float>(margin + squared_norm_slope * constants.mean_squared_norm),
          static_cast<float>(squared_norm_slope)};
}

// With u_j = scale_j·w_j, ⟨q,u⟩ = Σ (q_j·scale_j)·w_j: w has variance 1, as bounds expect.
AlignedVector<float> scaled_query(const ScanCodec& codec, const PreparedQuery& query) {
  const std::vector<float>& scales = codec.scales();
  AlignedVector<float> scaled(scales.size());
  for (size_t j = 0; j < scales.size(); ++j) scaled[j] = query.rotated[j] * scales[j];
  return scaled;
}

/// The longest that û and its values ŷ are taken to be, in √dim: û is the decoded vector nearest to
/// one of length √dim.
constexpr double kLongestRow = 1.5;

/// Σ over coordinates of |x_j|, and of (x_j − step·value)².
struct RoundingSums {
  double magnitudes = 0;
  double squares = 0;
};
RoundingSums rounding_sums(const float* x, int dim, const int8_t* values, float step) {
  RoundingSums sums;
  for_each_run(dim, [&](int first, int count, int position) {
    for (int j = 0; j < count; ++j) {
      const double error = double{x[first + j]} - double{step} * values[position + j];
      sums.magnitudes += std::fabs(x[first + j]);
      sums.squares += error * error;
    }
  });
  return sums;
}

/// The cosine between what a query and a row have in the coordinates with bits, for each of
/// exactness: above it a row may be lost. The ten nearest of real embeddings have .24 in the
/// median, .50 in one of a hundred.
constexpr double kCentroidCosine = .22;

/// The radius: |⟨q,û⟩| is the cosine times the lengths of q where there are bits, and of û.
float centroid_radius(const ScanCodec& codec, const PreparedQuery& query, float exactness) {
  double norm2 = 0;
  for (int j = 0; j < codec.coded_dims(); ++j)
    norm2 += double{query.rotated[static_cast<size_t>(j)]} * query.rotated[static_cast<size_t>(j)];
  const double factor = codec.metric() == Metric::l2 ? 2 : 1;
  return static_cast<float>(factor * kCentroidCosine * exactness * codec.bounds().decoded_length *
                            std::sqrt(norm2));
}

/// Leaves nothing of a query, maybe of another codec, but its memory.
void empty(ScanQuery* query) {
  ScanQuery emptied;
  emptied.values = std::move(query->values);
  emptied.words = std::move(query->words);
  emptied.centroid_bases = std::move(query->centroid_bases);
  emptied.values.clear();
  emptied.words.clear();
  emptied.centroid_bases.clear();
  *query = std::move(emptied);
}

}  // namespace

ScanQuery make_scan_query(const ScanCodec& codec, const PreparedQuery& query, float exactness) {
  ScanQuery scan;
  set_scan_query(codec, query, exactness, &scan);
  return scan;
}

void set_scan_query(const ScanCodec& codec, const PreparedQuery& query, float exactness,
                    ScanQuery* scan) {
  empty(scan);
  exactness = std::min(exactness, kMaxExactness);
  const auto padded_dim = static_cast<size_t>(codec.padded_dim());
  const AlignedVector<float> scaled = scaled_query(codec, query);
  const float* x = scaled.empty() ? query.rotated.data() : scaled.data();
  const bool l2 = codec.metric() == Metric::l2;
  const float factor = l2 ? 2.0F : 1.0F;
  scan->score.base = l2 ? -query.offset : query.offset;
  scan->score.weight = l2 ? 1.0F : query.bias_weight;
  scan->values.resize(padded_dim);
  float steps[2] = {0, 0};
  for (size_t i = 0; i < codec.stages().size(); ++i) {
    const Int8Stage& stage = codec.stages()[i];
    const int first = stage.first_segment * kSegmentDims;
    const int count = std::min(codec.coded_dims() - first, stage.padded_dim());
    if (i > 0 && !codec.has_split_stages()) {
      steps[i] = steps[0];
    } else {
      steps[i] = round_padded(x + first, count, scan->values.data() + first);
    }
    scan->score.dot_scale[i] = factor * steps[i] * stage.step;
  }
  const QueryWords words(codec, steps, scan);
  const int sign_words = codec.layout().sign_words();
  scan->sign_int8_sum = words.value_sum(sign_words - codec.int8_words(), sign_words);

  const double norm2 = words.squared_norm(0, static_cast<int>(words.words.size()));
  const double length = factor * codec.bounds().length_of_norm;  // per norm term
  const float last_step = steps[codec.stages().size() - 1];
  const SketchWeights sketch = set_sketch(codec, words, scan);
  if (codec.has_signs())
    set_sign_bounds(codec, words, sketch.all, {norm2, length, exactness}, last_step, scan);
  if (codec.has_centroids()) scan->centroid_radius = centroid_radius(codec, query, exactness);
  if (codec.has_split_stages()) {
    scan->first_stage = split_bound(codec, words, exactness, sketch.after_first_stage);
  } else if (codec.stages().size() == 2) {
    scan->first_stage = residual_bound(codec, std::sqrt(norm2), length, exactness,
                                       steps[0] * codec.stages()[0].step);
  }
}

void set_centroid_bases(const ScanCodec& codec, const float* similarities, float query_norm2,
                        ScanQuery* scan) {
  const int count = codec.centroid_count();
  const bool l2 = codec.metric() == Metric::l2;
  scan->weighs_by_base = !l2;
  scan->centroid_bases.resize(static_cast<size_t>(count));
  float* __restrict bases = scan->centroid_bases.data();
  if (l2) {
    std::copy_n(similarities, count, bases);
  } else {
    const double* norms2 = codec.centroids()->norms2().data();
    for (int i = 0; i < count; ++i)
      bases[i] = (similarities[i] + query_norm2 + static_cast<float>(norms2[i])) * .5F;
  }
  // By bits, which compilers take many at a time of.
  int32_t largest = 0;
  for (int i = 0; i < count; ++i)
    largest =
        std::max(largest, std::bit_cast<int32_t>(bases[i]) & std::numeric_limits<int32_t>::max());
  scan->largest_base = std::bit_cast<float>(largest);
}

// ⟨q',û⟩ − ⟨q̂,ŷ⟩ = ⟨q',û−ŷ⟩ + ⟨q'−q̂,ŷ⟩: a cell differs from its value by half a step at most, and
// ŷ is no longer than kLongestRow.
ScoreErrorBound make_score_error_bound(const ScanCodec& codec, const PreparedQuery& query,
                                       const ScanQuery& scan) {
  const AlignedVector<float> scaled = scaled_query(codec, query);
  const float* x = scaled.empty() ? query.rotated.data() : scaled.data();
  const int dim = codec.dim();
  const double factor = codec.metric() == Metric::l2 ? 2 : 1;
  double cell_error = 0;
  double squares = 0;
  for (size_t i = 0; i < codec.stages().size(); ++i) {
    const Int8Stage& stage = codec.stages()[i];
    const int first = stage.first_position();
    const int count = std::min(codec.coded_dims() - first, stage.padded_dim());
    const double step = scan.score.dot_scale[i] / (factor * stage.step);
    const RoundingSums sums =
        rounding_sums(x + first, count, scan.values.data() + first, static_cast<float>(step));
    cell_error += .5 * stage.step * sums.magnitudes;
    // Stages of the same segments are one vector ŷ.
    squares = i == 0 || codec.has_split_stages() ? squares + sums.squares : sums.squares;
  }
  const double norm = std::sqrt(simd_exact_sums().dot_exact(x, x, dim));
  const double length = kLongestRow * std::sqrt(dim);
  // Float sums of dim products, in 16 parts.
  const int sums = dim / 16 + 16;
  const double rounding = sums * double{std::numeric_limits<float>::epsilon()};
  constexpr float kTermRounding = 8 * std::numeric_limits<float>::epsilon();
  return {
      static_cast<float>(factor * (cell_error + (std::sqrt(squares) + rounding * norm) * length)),
      kTermRounding};
}

}  // namespace polarquant
