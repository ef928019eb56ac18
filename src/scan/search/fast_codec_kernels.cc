// SPDX-License-Identifier: MIT
#include "src/scan/search/fast_codec_kernels.h"

#include <algorithm>
#include <vector>

#include "src/scan/search/centroid_search.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant {
namespace {

/// Rows whose scores are in memory at a time.
constexpr int64_t kRowsTogether = 65536;

class FastCentroidFinder final : public CentroidFinder {
 public:
  FastCentroidFinder(int64_t count, int dim, const float* centroids)
      : dim_(dim), search_(count, dim, Metric::l2, centroids) {}

  void find(int64_t n, const float* x, int threads, int32_t* nearest) const override {
    const auto most = static_cast<size_t>(std::min(n, kRowsTogether));
    std::vector<float> scores(most);
    std::vector<int64_t> numbers(most);
    for (int64_t first = 0; first < n; first += kRowsTogether) {
      const int64_t count = std::min(n - first, kRowsTogether);
      search_.search({count, x + first * dim_, 1, threads}, scores.data(), numbers.data());
      std::copy_n(numbers.begin(), count, nearest + first);
    }
  }

  void similarities(int64_t n, const float* x, float* out) const override {
    search_.similarities(n, x, out);
  }

 private:
  int dim_;
  CentroidSearch search_;
};

}  // namespace

CodecKernels fast_codec_kernels() {
  CodecKernels kernels = simd_codec_kernels();
  kernels.make_centroid_finder = [](int64_t count, int dim,
                                    const float* centroids) -> std::unique_ptr<CentroidFinder> {
    return std::make_unique<FastCentroidFinder>(count, dim, centroids);
  };
  return kernels;
}

}  // namespace polarquant
