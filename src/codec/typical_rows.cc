// SPDX-License-Identifier: MIT
#include "src/codec/typical_rows.h"

#include <algorithm>
#include <cstddef>

namespace polarquant {
namespace {

constexpr double kMostTimes = 8;
constexpr double kShare = .9;
/// Rows, evenly spread, whose coordinates' medians are the first centre.
constexpr int64_t kMedianRows = 200;
/// Nearly always a mean has the same typical rows again after one round.
constexpr int kMostRounds = 4;
/// Rows around the origin are about as far from their mean as from it, some a little further.
constexpr double kAsFar = 1 + 0x1p-7;

/// The value that a `share` of them do not exceed.
double ranked(std::vector<double> values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// The mean of the two middle ones where the count is even.
float median(std::vector<float>* values) {
  const auto middle = values->begin() + std::ssize(*values) / 2;
  std::nth_element(values->begin(), middle, values->end());
  if (values->size() % 2 == 1) return *middle;
  const float below = *std::max_element(values->begin(), middle);
  return static_cast<float>((static_cast<double>(below) + static_cast<double>(*middle)) / 2);
}

std::vector<float> coordinate_medians(int64_t n, int dim, const RowReader& row_of) {
  const int64_t count = std::min(n, kMedianRows);
  std::vector<std::vector<float>> columns(static_cast<size_t>(dim));
  for (int64_t i = 0; i < count; ++i) {
    const float* row = row_of(i * n / count);
    for (int j = 0; j < dim; ++j) columns[static_cast<size_t>(j)].push_back(row[j]);
  }
  std::vector<float> medians;
  for (std::vector<float>& column : columns) medians.push_back(median(&column));
  return medians;
}

std::vector<double> distances2_from(const std::vector<float>& centre, int64_t n,
                                    const RowReader& row_of, const CodecKernels& kernels) {
  const auto dim = static_cast<int>(centre.size());
  AlignedVector<float> v(centre.size());
  std::vector<double> distances2;
  distances2.reserve(static_cast<size_t>(n));
  for (int64_t row = 0; row < n; ++row) {
    kernels.subtract_multiple(row_of(row), 1, centre.data(), dim, v.data());
    distances2.push_back(kernels.dot_exact(v.data(), v.data(), dim));
  }
  return distances2;
}

std::vector<float> mean_of(const TypicalRows& typical, int64_t n, int dim,
                           const RowReader& row_of) {
  std::vector<double> sum(static_cast<size_t>(dim), 0.0);
  for (int64_t row = 0; row < n; ++row) {
    if (!typical.has(row)) continue;
    const float* x = row_of(row);
    for (int j = 0; j < dim; ++j) sum[static_cast<size_t>(j)] += x[j];
  }
  const auto count = static_cast<double>(typical.count(n));
  std::vector<float> mean;
  for (const double column : sum) mean.push_back(static_cast<float>(column / count));
  return mean;
}

}  // namespace

TypicalRows::TypicalRows(const std::vector<double>& distances2) {
  const double most = kMostTimes * kMostTimes * ranked(distances2, kShare);
  if (most == 0) return;
  const auto is_far = [&](double distance2) { return distance2 > most; };
  if (std::none_of(distances2.begin(), distances2.end(), is_far)) return;
  for (const double distance2 : distances2) left_out_.push_back(is_far(distance2));
}

int64_t TypicalRows::count(int64_t n) const {
  return n - std::count(left_out_.begin(), left_out_.end(), true);
}

std::vector<float> typical_mean(int64_t n, int dim, const RowReader& row_of,
                                const CodecKernels& kernels) {
  const std::vector<float> origin(static_cast<size_t>(dim), 0.0F);
  std::vector<double> distances2 =
      distances2_from(coordinate_medians(n, dim, row_of), n, row_of, kernels);
  TypicalRows typical(distances2);
  std::vector<float> mean = mean_of(typical, n, dim, row_of);
  for (int round = 0; round < kMostRounds; ++round) {
    distances2 = distances2_from(mean, n, row_of, kernels);
    TypicalRows near_mean(distances2);
    if (near_mean == typical) break;
    typical = std::move(near_mean);
    mean = mean_of(typical, n, dim, row_of);
  }
  const double by_mean = ranked(distances2, .5);
  const double by_origin = ranked(distances2_from(origin, n, row_of, kernels), .5);
  return by_mean > kAsFar * kAsFar * by_origin ? origin : mean;
}

}  // namespace polarquant
