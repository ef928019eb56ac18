// SPDX-License-Identifier: MIT
// Writes which of four candidates stay, with what the next stages need of them: without branches,
// since which do is not predictable. For x86 targets from AVX2 on.
#if defined(POLARQUANT_KEPT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_KEPT_ROWS_INL_H_
#undef POLARQUANT_KEPT_ROWS_INL_H_
#else
#define POLARQUANT_KEPT_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/scan/kernels/bounds/bounds_of_four-inl.h"
#include "src/scan/kernels/bounds/sign_dots.h"
#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/simd/capabilities.h"
#include "src/simd/four_rows-inl.h"

#if POLAR_SIMD_AVX2
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Four candidates, with the numbers that KeptRows has of each.
struct FourCandidates {
  const uint32_t* candidates;
  const int32_t* other_sums;
  const int32_t* first_dots;  // or null
};

/// Writes those of `reached` after `kept` others, and returns how many there are then. What it
/// writes after these does not count; KeptRows has space for it.
HWY_ATTR HWY_INLINE int keep_reached(const FourCandidates& four, const BoundsOfFour& terms,
                                     FourMask reached, int kept, const KeptRows& out) {
#if POLAR_SIMD_VPOPCNT
  const __m128i candidates = _mm_loadu_si128(reinterpret_cast<const __m128i*>(four.candidates));
  const __m128i other_sums = _mm_loadu_si128(reinterpret_cast<const __m128i*>(four.other_sums));
  const __m128i distances = _mm_srli_epi32(candidates, kTileRowBits);
  const __m256i sums =
      _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi32(distances, other_sums)),
                              _mm_unpackhi_epi32(distances, other_sums), 1);
  write_some(out.rows + kept, reached, _mm_and_si128(candidates, _mm_set1_epi32(kTileRows - 1)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.sums + kept),
                      _mm256_maskz_compress_epi64(reached, sums));
  terms.store_some(reached, out.terms + kept);
  if (four.first_dots != nullptr)
    write_some(out.first_dots + kept, reached,
               _mm_loadu_si128(reinterpret_cast<const __m128i*>(four.first_dots)));
  return kept + count_of(reached);
#else
  ScanTerms four_terms[4];
  terms.store(four_terms);
  for (int j = 0; j < 4; ++j) {
    out.rows[kept] = row_of(four.candidates[j]);
    out.sums[kept] = {distance_of(four.candidates[j]), four.other_sums[j]};
    out.terms[kept] = four_terms[j];
    if (four.first_dots != nullptr) out.first_dots[kept] = four.first_dots[j];
    kept += reached >> j & 1;
  }
  return kept;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
