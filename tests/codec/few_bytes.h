// SPDX-License-Identifier: MIT
// Clustered rows, and codecs of few bytes that were trained on them, for the tests of these.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/random.h"

namespace polarquant::test {

inline constexpr int kFewDim = 48;

/// n rows near 30 points, which lie about as far from each other as from the origin.
inline std::vector<float> lumpy_rows(int64_t n, uint64_t seed) {
  constexpr uint64_t kLumps = 30;
  Random points_random(11);
  std::vector<double> points(kLumps * kFewDim);
  for (double& value : points) value = .3 + points_random.normal();
  Random random(seed);
  std::vector<float> rows;
  for (int64_t row = 0; row < n; ++row) {
    const uint64_t lump = random.below(kLumps);
    for (size_t j = 0; j < kFewDim; ++j)
      rows.push_back(static_cast<float>(points[lump * kFewDim + j] + .4 * random.normal()));
  }
  return rows;
}

/// Of a new codec, or of one whose state is older.
inline Spec few_bytes_spec(const std::string& name, CentroidFactors factors) {
  Spec spec = parse_spec(name);
  if (spec.centroids > 0) spec.centroid_factors = factors;
  return spec;
}

/// Trained on 1000 of these, once for each name, metric and kind of factors.
inline std::unique_ptr<Codec> few_bytes_codec(const std::string& spec, Metric metric,
                                              CentroidFactors factors = CentroidFactors::balanced) {
  static std::map<std::tuple<std::string, Metric, CentroidFactors>, std::vector<uint8_t>> trained;
  std::vector<uint8_t>& state = trained[{spec, metric, factors}];
  if (state.empty()) {
    Codec codec(few_bytes_spec(spec, factors), kFewDim, metric, {});
    codec.train(1000, lumpy_rows(1000, 1).data());
    state = codec.save_state();
  }
  return Codec::load_state(state.data(), state.size());
}

inline std::vector<uint8_t> codes_of(const Codec& codec, const std::vector<float>& x,
                                     int threads = 1) {
  const auto n = static_cast<int64_t>(x.size()) / codec.dim();
  std::vector<uint8_t> codes(codec.layout().bytes(n), 0xa5);
  codec.encode(n, x.data(), codes.data(), threads);
  return codes;
}

inline std::vector<float> decoded_row(const Codec& codec, const std::vector<uint8_t>& codes,
                                      int64_t row, Reconstruction kind) {
  std::vector<float> x(static_cast<size_t>(codec.dim()));
  const auto rows = static_cast<int64_t>(codes.size() / codec.layout().group_bytes);
  codec.decode({codes.data(), rows}, row, 1, kind, x.data());
  return x;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

inline std::vector<double> wide(const std::vector<float>& x) { return {x.begin(), x.end()}; }

inline std::vector<double> row_of(const std::vector<float>& rows, int64_t row) {
  return {rows.begin() + row * kFewDim, rows.begin() + (row + 1) * kFewDim};
}

/// Normalized for cosine.
inline std::vector<double> as_metric_sees(Metric metric, std::vector<double> x) {
  const double norm = std::sqrt(dot(x, x));
  if (metric == Metric::cosine && norm > 0)
    for (double& value : x) value /= norm;
  return x;
}

/// Mean ‖x̂−x‖² of the reconstruction of least error.
inline double squared_error(const Codec& codec, const std::vector<float>& x) {
  const std::vector<uint8_t> codes = codes_of(codec, x);
  const auto n = static_cast<int64_t>(x.size()) / kFewDim;
  double sum = 0;
  for (int64_t row = 0; row < n; ++row) {
    std::vector<double> error = as_metric_sees(codec.metric(), row_of(x, row));
    const auto decoded = decoded_row(codec, codes, row, Reconstruction::least_error);
    for (size_t j = 0; j < kFewDim; ++j) error[j] -= decoded[j];
    sum += dot(error, error);
  }
  return sum / static_cast<double>(n);
}

}  // namespace polarquant::test
