// SPDX-License-Identifier: MIT
#include "src/scan/scan_query.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "src/codec/dot.h"
#include "src/scan/kernels/round_levels.h"

namespace polarquant {
namespace {

/// Bounds leave no row out from 20·√dim on; much larger ones would overflow.
constexpr float kMaxExactness = 65536;

/// Calls body(first coordinate, count, first lane) for the runs of coordinates that stay together
/// as lanes: full segments as they are, the last one in its two halves.
template <typename Body>
void for_each_run(int dim, const Body& body) {
  const int full = dim / kSegmentLanes * kSegmentLanes;
  if (full > 0) body(0, full, 0);
  const int half = (dim - full + 1) / 2;
  if (half > 0) body(full, half, full);
  if (dim - full > half) body(full + half, dim - full - half, full + kSegmentLanes / 2);
}

/// Rounds x, (dim), to levels in lanes; returns the step, 0 where all levels are 0.
template <typename Level>
float round_to_lanes(const float* x, int dim, int max_level, AlignedVector<Level>* levels) {
  const float largest = largest_magnitude(x, dim);
  const float to_levels = static_cast<float>(max_level) / largest;
  if (!(to_levels <= std::numeric_limits<float>::max())) return 0;  // 0, or too small to divide by
  for_each_run(dim, [&](int first, int count, int lane) {
    round_levels(x + first, count, to_levels, levels->data() + lane);
  });
  return largest / static_cast<float>(max_level);
}

void set_sign_words(const float* x, int dim, AlignedVector<uint64_t>* words) {
  for_each_run(dim, [&](int first, int count, int first_lane) {
    for (int j = 0; j < count; ++j) {
      const auto lane = static_cast<size_t>(first_lane + j);
      const auto negative = static_cast<uint64_t>(x[first + j] < 0 ? 1 : 0);
      (*words)[lane / kSegmentLanes] |= negative << (lane % kSegmentLanes);
    }
  });
}

}  // namespace

ScanQuery make_scan_query(const ScanCodec& codec, const PreparedQuery& query, float exactness) {
  exactness = std::min(exactness, kMaxExactness);
  const int dim = codec.dim();
  const auto lanes = static_cast<size_t>(codec.lanes());
  const float* rotated = query.rotated.data();
  ScanQuery scan;
  scan.levels.resize(lanes);
  const float narrow_step = round_to_lanes(rotated, dim, kNarrowLevel, &scan.levels);
  float step = narrow_step;
  if (codec.wide()) {
    scan.wide_levels.resize(lanes);
    step = round_to_lanes(rotated, dim, codec.max_level(), &scan.wide_levels);
  }
  scan.biased_levels.resize(lanes);
  for (size_t lane = 0; lane < lanes; ++lane) {
    scan.biased_levels[lane] = static_cast<uint8_t>(scan.levels[lane] + 128);
    scan.level_sum += scan.levels[lane];
  }
  if (codec.has_signs()) {
    scan.sign_words.resize(lanes / kSegmentLanes);
    set_sign_words(rotated, dim, &scan.sign_words);
  }

  const bool l2 = codec.metric() == Metric::l2;
  const float factor = l2 ? 2.0F : 1.0F;
  scan.score.base = l2 ? -query.offset : query.offset;
  scan.score.weight = l2 ? 1.0F : query.bias_weight;
  for (size_t stage = 0; stage < codec.stages().size(); ++stage) {
    scan.score.dot_scale[stage] = factor * step * codec.stages()[stage].step;
  }

  const double norm = std::sqrt(dot_exact(rotated, rotated, dim));
  const BoundConstants& constants = codec.bounds();
  const double length = factor * constants.length_of_norm;  // per norm term
  const double root_dim = std::sqrt(static_cast<double>(dim));
  const double angle_per_bit = std::numbers::pi / dim;
  constexpr double kBend = (1 - 2 / std::numbers::pi) * 4 / (std::numbers::pi * std::numbers::pi);
  scan.hamming.reach = static_cast<float>(dim / 2.0 + exactness * root_dim / 2);
  scan.hamming.half = static_cast<float>(dim / 2.0);
  scan.hamming.slope = static_cast<float>(norm * length * angle_per_bit);
  scan.hamming.bend =
      static_cast<float>(norm * length * angle_per_bit * kBend * angle_per_bit * angle_per_bit);
  scan.signs.slope = static_cast<float>(length * constants.sign_scale * narrow_step);
  scan.signs.margin = static_cast<float>(exactness * norm * length * constants.sign_error);
  scan.first_stage.slope =
      static_cast<float>(length * constants.first_stage_scale * step * codec.stages()[0].step);
  scan.first_stage.margin =
      static_cast<float>(exactness * norm * length * constants.first_stage_error);
  return scan;
}

}  // namespace polarquant
