// SPDX-License-Identifier: MIT
// What a trained trellis code spends its bytes on. Rotated coordinates are taken in segments of 64,
// the last may be shorter; those of a trained rotation come by falling variance, and a segment with
// more of it gets more bits. A plan says, segment by segment, which rate and which scale: its
// coordinates divided by the scale have variance 1, as the codebooks want them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace polarquant {

inline constexpr int kSegmentDims = 64;

/// A rate that a segment can be coded at: the trellis codes of up to 5 bits a dimension, magnitudes
/// (magnitude_planes.h) above.
struct Rate {
  int twice_bits;  // 2 × bits per dimension
  double mse;      // error per dimension on the unit Gaussian
  bool signs;      // whether a plane of signs goes with it
  int pair_bits;   // of a pair, beside the signs
};
/// Ascending.
const std::vector<Rate>& plan_rates();
/// Null where there is none.
const Rate* find_plan_rate(int twice_bits);

struct SegmentRate {
  int twice_bits = 0;  // 0, or one of plan_rates()
  float scale = 1;

  bool operator==(const SegmentRate&) const = default;
};

/// One entry a segment. Rates do not rise: segments with a sign plane so come first.
using SegmentPlan = std::vector<SegmentRate>;

constexpr int segments_of(int dim) { return (dim + kSegmentDims - 1) / kSegmentDims; }
/// Coordinates of a segment: 64, or what is left for the last.
int segment_dims(int dim, int segment);

/// Only full segments can have magnitudes.
bool can_have_rate(int dims, int twice_bits);
/// Bytes of a segment's planes at a rate.
size_t segment_bytes(int dims, int twice_bits);
/// Bytes of a code by the plan, without padding.
size_t plan_bytes(int dim, const SegmentPlan& plan);

/// The least rate, half a bit a dimension without signs, can be that of some first coordinates of a
/// segment alone: so many for each byte.
inline constexpr int kPartRate = 1;
inline constexpr int kPartDimsPerByte = 16;
/// Coordinates that have bits. All of the segments with a rate; where a code's bytes do not suffice
/// for the last of these, and its rate is kPartRate, the first coordinates of it.
int coded_dims(int dim, const SegmentPlan& plan, size_t bytes);
/// plan_bytes without the last segment with bits, where it can be coded in part.
size_t least_plan_bytes(int dim, const SegmentPlan& plan);
/// Gives the bytes that a plan leaves, if any, to part of the first segment without bits.
void code_part(int dim, size_t bytes, SegmentPlan* plan);

/// One rate everywhere: of a trellis code's rate, the plan of the untrained code.
SegmentPlan uniform_plan(int dim, int twice_bits);
/// The same; where a short last segment cannot have that rate, `bytes` spent most evenly.
SegmentPlan even_plan(int dim, int twice_bits, size_t bytes);
/// Error per dimension on the unit Gaussian of a plan with equal scales.
double plan_mse(int dim, const SegmentPlan& plan);
/// The scale of coordinates of this variance; 1 where floats resolve none.
float scale_of_variance(double variance);
/// The plan of the least error in at most `bytes`, for segments of these variances (variance per
/// coordinate, falling): starting with 0 bits, take the step that removes most error a byte, again
/// and again (greedy; the rates' errors are nearly convex, so that little is left to gain).
SegmentPlan allocate_rates(int dim, std::span<const double> variances, size_t bytes);

}  // namespace polarquant
