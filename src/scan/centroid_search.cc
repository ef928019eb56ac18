// SPDX-License-Identifier: MIT
#include "src/scan/centroid_search.h"

#include <vector>

#include "src/scan/block_search.h"
#include "src/scan/kernels/exact_sums.h"
#include "src/scan/simd_codec_kernels.h"

namespace polarquant {
namespace {

std::unique_ptr<Codec> codec_of(int64_t count, int dim, Metric metric, const float* centroids) {
  auto codec = std::make_unique<Codec>(parse_spec("Polar8"), dim, metric, CodecOptions{});
  codec->use_kernels(simd_codec_kernels());
  codec->train(count, centroids);
  return codec;
}

float exact_score(Metric metric, const float* q, const float* c, int dim) {
  const auto dot = simd_exact_sums().dot_float;
  if (metric != Metric::l2) return dot(q, c, dim);
  thread_local AlignedVector<float> difference;
  difference.resize(static_cast<size_t>(dim));
  for (int j = 0; j < dim; ++j) difference[static_cast<size_t>(j)] = q[j] - c[j];
  return dot(difference.data(), difference.data(), dim);
}

}  // namespace

CentroidSearch::CentroidSearch(int64_t count, int dim, Metric metric, const float* centroids)
    : centroids_(centroids),
      codec_(codec_of(count, dim, metric, centroids)),
      scan_codec_(*codec_),
      blocks_(BlockLayout(*codec_)) {
  std::vector<uint8_t> codes(codec_->layout().bytes(count));
  codec_->encode(count, centroids, codes.data(), 0);
  blocks_.append(count, codes.data());
}

size_t CentroidSearch::memory_bytes() const {
  return codec_->memory_bytes() + blocks_.memory_bytes();
}

void CentroidSearch::search(int64_t nq, const float* queries, int64_t nprobe, int threads,
                            float* scores, int64_t* lists) const {
  const int dim = codec_->dim();
  SearchOptions options;
  options.threads = threads;
  const auto score = [&](int64_t query, int64_t list) {
    return exact_score(codec_->metric(), queries + query * dim, centroids_ + list * dim, dim);
  };
  block_search_scored_by(*codec_, scan_codec_, blocks_.spans(), nq, queries, nprobe, score, options,
                         scores, lists);
}

}  // namespace polarquant
