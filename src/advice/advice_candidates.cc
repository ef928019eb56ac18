// SPDX-License-Identifier: MIT
#include "src/advice/advice_candidates.h"

#include <algorithm>
#include <iterator>

#include "src/codec/centroids.h"

namespace polarquant {
namespace {

// The one list: a line adds a candidate.
constexpr const char* kCandidates[] = {
    "Polar0.5", "Polar0.5-pca",  //
    "Polar1",   "Polar1-pca",    //
    "Polar1.5", "Polar1.5-pca",  //
    "Polar2",   "Polar2-pca",    //
    "Polar2.5", "Polar2.5-pca",  //
    "Polar3",   "Polar3-pca",    //
    "Polar3.5", "Polar3.5-pca",  //
    "Polar2+2",                  //
    "Polar4",   "Polar4-pca",    //
    "Polar4.5", "Polar4.5-pca",  //
    "Polar5",   "Polar5-pca",    //
    "Polar4+2", "Polar4+2-pca",  //
    "Polar4+3", "Polar4+3-pca",  //
    "Polar8",
};

/// Beyond, codes of whole bits a dimension are as short: at 384 dimensions Polar1-pca has 52 bytes.
constexpr double kMostFewBytes = 64;
constexpr int kUsualBytes[] = {8, 12, 16, 24, 32, 48};
/// The most first. The advisor trains on a part of a sample: with half the rows for each that do
/// well (centroids.h) more centroids find more than fewer.
constexpr int kCentroidCounts[] = {4096, 1024, 256};
constexpr int64_t kRowsPerCentroid = kGoodRowsPerCentroid / 2;

}  // namespace

std::vector<std::string> few_bytes_candidates(int dim, double allowed_bytes, int64_t train_rows) {
  std::vector<std::string> names;
  if (!(allowed_bytes > 0 && allowed_bytes <= kMostFewBytes)) return names;
  const auto most = static_cast<int>(allowed_bytes);
  std::vector<int> sizes;
  std::copy_if(std::begin(kUsualBytes), std::end(kUsualBytes), std::back_inserter(sizes),
               [most](int bytes) { return bytes < most; });
  sizes.push_back(most);
  // A tenth of the rows is held out of training.
  const auto* count = std::find_if(
      std::begin(kCentroidCounts), std::end(kCentroidCounts),
      [train_rows](int each) { return each * kRowsPerCentroid <= train_rows - train_rows / 10; });
  for (const int bytes : sizes) {
    const auto add = [&](int centroids) {
      const Spec spec = {
          CodecFamily::bytes, {bytes}, RotationKind::pca, /*online=*/false, centroids};
      if (fits_bytes(spec, dim)) names.push_back(print_spec(spec));
    };
    add(0);
    if (count != std::end(kCentroidCounts)) add(*count);
  }
  return names;
}

std::span<const char* const> advice_candidates() { return kCandidates; }

std::vector<Spec> candidate_specs(const std::vector<std::string>& names) {
  std::vector<Spec> specs;
  const auto add = [&](const Spec& spec) {
    if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(spec);
  };
  for (const std::string& name : names) {
    const Spec spec = parse_spec(name);
    add(untrained_counterpart(spec));
    add(spec);
  }
  return specs;
}

}  // namespace polarquant
