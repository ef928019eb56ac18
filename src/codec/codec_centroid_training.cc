// SPDX-License-Identifier: MIT
// What codes about centroids learn from rows (centroids.h): the centroids, the plan of what is left
// about them, and how their factors are stored.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "src/codec/codec_state.h"
#include "src/codec/plan_training.h"
#include "src/core/checked_size.h"
#include "src/core/work_progress.h"

namespace polarquant {

/// A row that was not learned from.
struct HeldOutRow {
  const float* x;
  int centroid;
  double distance2;  // to it
};

namespace {

/// Of the time that training takes, about.
constexpr double kShareOfCentroids = .8;
/// The largest multiple of s that is stored, in standard deviations: one row of 16,000 is beyond.
constexpr double kReachOfShares = 4;
/// The median of |x| by the standard deviation of normal numbers x.
constexpr double kMedianOfNormal = .6745;

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

// The codec's centroids. Rows that plans are judged by are not learned from.
void Codec::train_centroids_of(int64_t n, const float* x, Learned* learned) const {
  const WorkStage stage(0, kShareOfCentroids);
  std::vector<float> inputs;
  inputs.reserve(checked_mul(learned->typical.count(n), static_cast<size_t>(dim_), "n x dim"));
  AlignedVector<float> input(static_cast<size_t>(dim_));
  for (int64_t row = 0; row < n; ++row) {
    if (!learned->typical.has(row) || is_held_out(row, n)) continue;
    metric_input(x + row * dim_, input.data());
    inputs.insert(inputs.end(), input.begin(), input.end());
  }
  const int64_t count = std::ssize(inputs) / dim_;
  learned->centroids = std::make_shared<const Centroids>(
      dim_, train_centroids(count, dim_, inputs.data(), spec_.centroids, seed_, kernels_));
}

void Codec::train_with_centroids(int64_t n, const float* x, Learned* learned) const {
  train_centroids_of(n, x, learned);
  const WorkStage stage(kShareOfCentroids, 1);
  const Centroids& centroids = *learned->centroids;
  const auto finder =
      kernels_.make_centroid_finder(centroids.count(), dim_, centroids.rows().data());
  std::vector<int32_t> nearest(static_cast<size_t>(n));
  find_nearest(*finder, n, x, 0, nearest.data());
  double sum = 0;
  std::vector<HeldOutRow> held_out;
  AlignedVector<float> v(static_cast<size_t>(dim_));
  for (int64_t row = 0; row < n; ++row) {
    if (!learned->typical.has(row) || !is_held_out(row, n)) continue;
    const int number = nearest[static_cast<size_t>(row)];
    const float* from = x + row * dim_;
    held_out.push_back(
        {from, number, residual(from, centroids.row(number), centroids.norm2(number), v.data())});
    sum += held_out.back().distance2;
  }
  if (learn_unit_ && !held_out.empty())
    learned->unit_exponent =
        unit_exponent_for(std::sqrt(sum / static_cast<double>(held_out.size())));
  const RowDirections directions = row_directions(centroids, nearest, x);
  take_plan(train_plan_of_bytes(directions, quantizer_->code_bytes(), seed_, kernels_), learned);
  if (has_balanced_factors()) learn_shares(held_out, learned);
}

// By medians, which the few rows about centroids near the origin, where t is large, do not move.
void Codec::learn_shares(const std::vector<HeldOutRow>& rows, Learned* learned) const {
  std::vector<double> scales;
  std::vector<double> biases;
  std::vector<double> squares;  // ‖E‖²/s²
  Shares most;
  with_learned(learned, [&](Codec& trained) {
    const Centroids& centroids = *trained.centroids_;
    most = trained.most_shares();
    std::vector<uint8_t> code(trained.layout_.group_bytes);
    for (const HeldOutRow& row : rows) {
      if (std::sqrt(row.distance2) > trained.most_norm()) continue;
      const Centre centre = {centroids.row(row.centroid), centroids.norm2(row.centroid), 1,
                             row.centroid};
      const CodedRow coded = trained.code_row(row.x, centre, code.data());
      if (coded.factors.scale == 0) continue;
      scales.push_back(trained.stored_scale(coded.factors));
      biases.push_back(trained.centroid_bias(coded));
      squares.push_back(coded.norm2 / (scales.back() * scales.back()));
    }
  });
  if (scales.empty()) return;
  Shares& shares = learned->shares;
  if (metric_ == Metric::l2)
    shares.square = std::min(most.square, static_cast<float>(median(squares)));
  std::vector<double> sizes;
  for (size_t i = 0; i < scales.size(); ++i)
    sizes.push_back(std::fabs(biases[i] / scales[i] - shares.square * scales[i]));
  const double step = kReachOfShares / kMedianOfNormal * median(sizes) /
                      centroid_bits(factor_form_of(spec_))->most_share();
  if (step > 0)
    shares.step = static_cast<float>(std::clamp(step, double{FLT_MIN}, double{most.step}));
}

}  // namespace polarquant
