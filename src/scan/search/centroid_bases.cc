// SPDX-License-Identifier: MIT
#include "src/scan/search/centroid_bases.h"

#include "src/core/aligned_buffer.h"
#include "src/simd/exact_sums.h"

namespace polarquant {

void set_centroid_bases(const Codec& codec, const ScanCodec& scan_codec, int64_t n, const float* x,
                        const PreparedQuery* prepared, ScanQuery* queries) {
  const int64_t centroids = scan_codec.centroid_count();
  if (centroids == 0) return;
  AlignedVector<float> similarities(static_cast<size_t>(n * centroids));
  codec.centroid_similarities(n, x, similarities.data());
  const auto dot = simd_exact_sums().dot_exact;
  for (int64_t i = 0; i < n; ++i) {
    // The query as the metric sees it, about no centre; a rotation keeps its length.
    const float* rotated = prepared[i].rotated.data();
    set_centroid_bases(scan_codec, &similarities[static_cast<size_t>(i * centroids)],
                       static_cast<float>(dot(rotated, rotated, codec.dim())), &queries[i]);
  }
}

}  // namespace polarquant
