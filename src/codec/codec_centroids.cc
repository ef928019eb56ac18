// SPDX-License-Identifier: MIT
// What encoding and decoding do for codes about centroids (centroids.h).
#include <algorithm>
#include <cfloat>

#include "src/codec/codec.h"

namespace polarquant {
namespace {

/// Rows whose metric's input is in memory at a time.
constexpr int64_t kRowsTogether = 16384;
/// Of |t| and |n|, so that scores stay finite.
constexpr double kMostTilt = 0x1p20;
constexpr double kMostSquare = kMaxRowNorm * kMaxRowNorm;

}  // namespace

// By the rows as the metric sees them.
void Codec::find_nearest(const CentroidFinder& finder, int64_t n, const float* x, int threads,
                         int32_t* nearest) const {
  if (metric_ != Metric::cosine) return finder.find(n, x, threads, nearest);
  AlignedVector<float> inputs(static_cast<size_t>(std::min(n, kRowsTogether) * dim_));
  for (int64_t first = 0; first < n; first += kRowsTogether) {
    const int64_t count = std::min(n - first, kRowsTogether);
    for (int64_t i = 0; i < count; ++i)
      metric_input(x + (first + i) * dim_, &inputs[static_cast<size_t>(i * dim_)]);
    finder.find(count, inputs.data(), threads, nearest + first);
  }
}

const CentroidFinder& Codec::centroid_finder() const {
  const std::lock_guard lock(finder_mutex_);
  if (centroid_finder_ == nullptr)
    centroid_finder_ =
        kernels_.make_centroid_finder(centroids_->count(), dim_, centroids_->rows().data());
  return *centroid_finder_;
}

std::vector<int32_t> Codec::nearest_centroids(int64_t n, const float* x, int threads) const {
  std::vector<int32_t> nearest(static_cast<size_t>(n));
  find_nearest(centroid_finder(), n, x, threads, nearest.data());
  return nearest;
}

void Codec::centroid_similarities(int64_t n, const float* x, float* out) const {
  if (metric_ != Metric::cosine) return centroid_finder().similarities(n, x, out);
  AlignedVector<float> inputs(static_cast<size_t>(n * dim_));
  for (int64_t i = 0; i < n; ++i)
    metric_input(x + i * dim_, &inputs[static_cast<size_t>(i * dim_)]);
  centroid_finder().similarities(n, inputs.data(), out);
}

// ⟨C, E⟩.
double Codec::along_centroid(const CodedRow& row) const {
  return kernels_.dot_exact(centroids_->row(row.factors.centroid), row.v, dim_);
}

double Codec::stored_scale(Factors factors) const {
  uint8_t bytes[8];
  store_factors(factor_format_, factors, bytes);
  return load_factors(factor_format_, bytes).scale;
}

// t or n of centroids.h. By the scale as it is stored: what its rounding changes along C is made up
// for.
double Codec::centroid_bias(const CodedRow& row) const {
  const int number = row.factors.centroid;
  const double along =
      stored_scale(row.factors) * kernels_.dot_exact(rotated_centroid(number), row.decoded, dim_);
  const double most = factor_format_.max_bias();
  const bool balanced = has_balanced_factors();
  if (metric_ == Metric::l2) {
    double square = row.norm2 + 2 * along;
    if (balanced) square += 2 * (1 - kBalancedShare) * (along_centroid(row) - along);
    return std::clamp(square, -most, most);
  }
  const double norm2 = centroids_->norm2(number);
  if (norm2 == 0) return 0;
  const double tilt = (along_centroid(row) - along) / norm2;
  return std::clamp((balanced ? kBalancedShare : 1) * tilt, -most, most);
}

Shares Codec::most_shares() const {
  const double most_scale = factor_format_.max_scale();
  const double most_share = centroid_bits(factor_format_.form)->most_share();
  // With small units it is more than a float holds.
  const auto as_float = [](double most) {
    return static_cast<float>(std::min(most, double{FLT_MAX}));
  };
  if (metric_ != Metric::l2) return {0, as_float(kMostTilt / (most_share * most_scale))};
  return {as_float(kMostSquare / (most_scale * most_scale)),
          as_float(kMostSquare / (most_share * most_scale))};
}

// What s is multiplied by for the least error. An exact s is too long by 1/(1−D), a balanced one by
// the root of this times √dim/‖û‖.
double Codec::least_error_gain(const float* decoded) const {
  const double gain = 1 - mse();
  if (!has_balanced_factors()) return gain;
  return std::sqrt(gain * std::sqrt(kernels_.dot_exact(decoded, decoded, dim_) / dim_));
}

// û becomes R of the row.
void Codec::add_centroid(const Factors& factors, Reconstruction kind, float* y) const {
  // Any bytes are a code.
  const int number = std::min(factors.centroid, centroids_->count() - 1);
  const bool unbiased = kind == Reconstruction::unbiased;
  const float scale =
      unbiased ? factors.scale : static_cast<float>(factors.scale * least_error_gain(y));
  const float gain = unbiased && metric_ != Metric::l2 ? 1 + factors.bias : 1;
  const float* centroid = rotated_centroid(number);
  for (int j = 0; j < dim_; ++j) y[j] = gain * centroid[j] + scale * y[j];
}

}  // namespace polarquant
