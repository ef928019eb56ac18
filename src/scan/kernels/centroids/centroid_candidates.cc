// SPDX-License-Identifier: MIT
#include "src/scan/kernels/centroids/centroid_candidates.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/scan/kernels/bounds/load_terms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/centroids/centroid_candidates.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Terms of a block's rows.
struct CentroidBlock {
  alignas(64) float scale[kBlockRows];
  alignas(64) float constant[kBlockRows];
  alignas(64) float bias[kBlockRows];
  alignas(64) int32_t centroid[kBlockRows];
};

/// Writes the bounds of a block's rows; bit r of what is returned: row r reaches the threshold. The
/// operations of centroid_bound in their order.
HWY_ATTR uint64_t bound_centroid_block(const ScanQuery& query, const CentroidBlock& terms,
                                       float threshold, float* bounds) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto radius = hn::Set(d, query.centroid_radius);
  const auto reach = hn::Set(d, threshold);
  const auto one = hn::Set(d, 1.0F);
  uint64_t reached = 0;
  for (size_t row = 0; row < kBlockRows; row += hn::Lanes(d)) {
    const auto base =
        hn::GatherIndex(d, query.centroid_bases.data(), hn::Load(di, terms.centroid + row));
    const auto weight = query.weighs_by_base ? base : one;
    const auto offset = hn::Add(base, hn::Mul(weight, hn::Load(d, terms.constant + row)));
    const auto bound = hn::Add(offset, hn::Mul(hn::Load(d, terms.scale + row), radius));
    hn::Store(bound, d, bounds + row);
    alignas(8) uint8_t mask_bits[8] = {};
    hn::StoreMaskBits(d, hn::Ge(bound, reach), mask_bits);
    uint64_t bits;
    std::memcpy(&bits, mask_bits, sizeof bits);
    reached |= bits << row;
  }
  return reached;
}

HWY_ATTR void candidates_of_blocks(const ScanCodec& codec, const ScanTile& tile, int first_block,
                                   int end_block, CandidateSearch* searches, int count) {
  CentroidBlock terms;
  alignas(64) float bounds[kBlockRows];
  for (int block = first_block; block < end_block; ++block) {
    const uint8_t* sketch = tile.sketch[block];
    const int capacity = tile.capacity[block];
    load_block_terms(codec, sketch, capacity, terms.scale, terms.constant, terms.bias);
    load_centroids(codec, sketch, capacity, terms.centroid);
    for (int i = 0; i < count; ++i) {
      const CandidateSearch& search = searches[i];
      const float threshold =
          std::isfinite(search.threshold) ? search.threshold : std::numeric_limits<float>::lowest();
      uint64_t rows =
          bound_centroid_block(*search.query, terms, threshold, bounds) & tile.allowed[block];
      CandidateList& found = searches[i].found;
      for (; rows != 0; rows &= rows - 1) {
        const int row = std::countr_zero(rows);
        found.candidates[found.count] =
            candidate_of(static_cast<uint32_t>(block * kBlockRows + row), 0);
        found.bounds[found.count++] = bounds[row];
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(candidates_of_blocks);

void find_centroid_candidates(const ScanCodec& codec, const ScanTile& tile, int first_block,
                              int end_block, CandidateSearch* searches, int count) {
  HWY_DYNAMIC_DISPATCH(candidates_of_blocks)(codec, tile, first_block, end_block, searches, count);
}

}  // namespace polarquant
#endif
