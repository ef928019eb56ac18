// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/centroid_matches.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/dense/centroid_matches.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The operations of similarity() in their order, so that a match's score is the one computed
/// later.
HWY_ATTR int centroid_matches_of_tile(const int32_t* dots, const QueryTileConstants& constants,
                                      const float* bases, bool weighs_by_base,
                                      const float* thresholds, const CentroidRows& rows,
                                      int32_t first_query, DenseMatch* matches) {
  const hn::CappedTag<float, kTileQueries> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto one = hn::Set(d, 1.0F);
  int count = 0;
  for (size_t slot = 0; slot < kTileQueries; slot += hn::Lanes(d)) {
    const auto dot_scale = hn::Load(d, constants.dot_scale[0] + slot);
    const auto threshold = hn::Load(d, thresholds + slot);
    for (int row = 0; row < kChunkRows; ++row) {
      const auto base =
          hn::Load(d, bases + static_cast<size_t>(rows.centroid[row]) * kTileQueries + slot);
      const auto weight = weighs_by_base ? base : one;
      const auto dot =
          hn::ConvertTo(d, hn::Load(di, dots + static_cast<size_t>(row) * kTileQueries + slot));
      const auto offset = hn::Add(base, hn::Mul(weight, hn::Set(d, rows.constant[row])));
      const auto score =
          hn::Add(offset, hn::Mul(hn::Set(d, rows.scale[row]), hn::Mul(dot_scale, dot)));
      alignas(8) uint8_t mask_bits[8] = {};
      hn::StoreMaskBits(d, hn::Ge(score, threshold), mask_bits);
      uint64_t bits;
      std::memcpy(&bits, mask_bits, sizeof bits);
      for (; bits != 0; bits &= bits - 1) {
        const auto at = static_cast<int>(slot) + std::countr_zero(bits);
        matches[count++] = {row, first_query + at, {dots[row * kTileQueries + at], 0}};
      }
    }
  }
  return count;
}

HWY_ATTR int matches_of_query_tiles(const int32_t* dots, int query_tiles,
                                    const QueryTileConstants* constants, const CentroidBases& bases,
                                    const float* thresholds, const CentroidRows& rows,
                                    DenseMatch* matches) {
  int count = 0;
  for (int query_tile = 0; query_tile < query_tiles; ++query_tile) {
    const int first = query_tile * kTileQueries;
    count += centroid_matches_of_tile(
        dots + first * kChunkRows, constants[query_tile],
        bases.bases + static_cast<size_t>(query_tile) * bases.per_tile, bases.weighs_by_base,
        thresholds + first, rows, first, matches + count);
  }
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(matches_of_query_tiles);

int find_centroid_matches(const int32_t* dots, int query_tiles, const QueryTileConstants* constants,
                          const CentroidBases& bases, const float* thresholds,
                          const CentroidRows& rows, DenseMatch* matches) {
  return HWY_DYNAMIC_DISPATCH(matches_of_query_tiles)(dots, query_tiles, constants, bases,
                                                      thresholds, rows, matches);
}

}  // namespace polarquant
#endif
