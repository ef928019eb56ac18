// SPDX-License-Identifier: MIT
#include "src/scan/kernels/bounds/sign_dots.h"

#include <algorithm>
#include <cstring>

#include "src/scan/kernels/decode/decode_rows.h"
#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/scan/model/row_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/bounds/sign_dots.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/bounds/bounds_of_four-inl.h"
#include "src/scan/kernels/bounds/first_stage_words-inl.h"
#include "src/scan/kernels/bounds/kept_rows-inl.h"
#include "src/scan/kernels/bounds/negative_values-inl.h"
#include "src/scan/kernels/decode/row_dots-inl.h"
#include "src/scan/kernels/decode/row_parts-inl.h"
#include "src/simd/capabilities.h"
#include "src/simd/dot_row-inl.h"
#include "src/simd/four_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A query's values for the words after the sketch.
const int8_t* values_after_sketch(const ScanCodec& codec, const ScanQuery& query) {
  return query.values.data() + static_cast<size_t>(codec.layout().sketch_words()) * kSegmentDims;
}

/// SignSums' other sum of a row at `distance`.
HWY_ATTR int32_t other_sum_of(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at,
                              int32_t distance) {
  const BlockLayout& layout = codec.layout();
  if (codec.has_split_stages()) {
    const int32_t first_stage_distance =
        words_distance(query, layout.sketch_word(at, 0), codec.first_stage_words());
    return sum_after_first_stage(query.later_weight, distance - first_stage_distance);
  }
  const int32_t negative =
      negative_int8(values_after_sketch(codec, query), codec.int8_words(),
                    [&](int word) HWY_ATTR { return layout.payload_word(at, word); });
  return query.sign_int8_sum - 2 * negative;
}

#if !POLAR_SIMD_VBMI

/// What first_stage_bound needs of all rows' values, into out.first_dots and the terms'
/// squared_norms: most of the time goes into decoding them.
HWY_ATTR void dot_first_stage(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                              const uint32_t* candidates, int count, const KeptRows& out) {
  const Int8Stage& stage = codec.stages()[0];
  AlignedVector<int8_t> values(static_cast<size_t>(stage.padded_dim()));
  const SignFetcher fetch_signs(codec);
  for (int i = 0; i < std::min(count, kFetchAhead); ++i)
    fetch_signs(place_of(tile, row_of(candidates[i])));
  for (int i = 0; i < count; ++i) {
    if (i + kFetchAhead < count) fetch_signs(place_of(tile, row_of(candidates[i + kFetchAhead])));
    const RowPlace at = place_of(tile, row_of(candidates[i]));
    decode_int8_rows(codec, stage, &at, 1, values.data());
    out.first_dots[i] = dot_row(query.values.data(), values.data(), stage.padded_dim());
    out.terms[i].squared_norm =
        static_cast<float>(dot_row(values.data(), values.data(), stage.padded_dim()));
  }
}

#endif

#if POLAR_SIMD_AVX2

HWY_INLINE const RowParts (&four_of(const RowParts* at))[4] {
  return *reinterpret_cast<const RowParts(*)[4]>(at);
}

/// Σ value·(±1) over the words after the sketch, for rows four by four. It is Σ values − 2·Σ of the
/// values whose sign bit is 1. Four rows share loads and the sum over lanes. A function of its own,
/// like FirstStageDots::dot, so that it stays in registers.
HWY_ATTR HWY_NOINLINE void sign_value_dots(const ScanCodec& codec, const ScanQuery& query,
                                           const RowParts* at, int count, int32_t* dots) {
  const BlockLayout& layout = codec.layout();
  const int8_t* const payload_values = values_after_sketch(codec, query);
  const __m128i all = _mm_set1_epi32(query.sign_int8_sum);
  for (int i = 0; i < count; i += 4) {
    DotSums sums[4] = {no_sums(), no_sums(), no_sums(), no_sums()};
    for (int word = 0; word < codec.int8_words(); ++word) {
      const NegativeInt8 values(payload_values + word * kSegmentDims);
      const WordOfRows signs(layout, layout.sketch_words() + word);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) sums[j] = values.add(sums[j], signs.word(at[i + j]));
    }
    const __m128i negative = sum_each(sums[0], sums[1], sums[2], sums[3]);
    _mm_store_si128(reinterpret_cast<__m128i*>(dots + i),
                    _mm_sub_epi32(all, _mm_add_epi32(negative, negative)));
  }
}

/// The two sums of sign_bound, of `count` rows.
struct SumsBySigns {
  static constexpr bool kHasFirstDots = false;
  const ScanCodec& codec;
  const ScanQuery& query;

  HWY_ATTR HWY_INLINE void sum(const RowParts* at, int /*first*/, const uint32_t* candidates,
                               int count, int32_t* sums, int32_t* other_sums,
                               float* /*squared_norms*/) const {
    for (int i = 0; i < count; ++i) sums[i] = query.sketch_weight - 2 * distance_of(candidates[i]);
    sign_value_dots(codec, query, at, count, other_sums);
  }
};

#if POLAR_SIMD_VBMI

/// The first sum of first_stage_bound, and the rows' squared_norms.
struct FirstStageDots {
  RowDots dots;

  HWY_ATTR FirstStageDots(const ScanCodec& codec, const ScanQuery& query, const KeptRows& /*rows*/)
      : dots(codec.layout(), codec.stages()[0], query) {}
  HWY_ATTR HWY_NOINLINE void dot(const RowParts* at, int /*first*/, int count, int32_t* sums,
                                 float* squared_norms) const {
    dots.fours(at, count, sums, squared_norms);
  }
};

#else

/// The first sum of first_stage_bound, and the rows' squared_norms, as dot_first_stage left them.
struct FirstStageDots {
  const KeptRows& rows;

  HWY_ATTR FirstStageDots(const ScanCodec& /*codec*/, const ScanQuery& /*query*/,
                          const KeptRows& kept)
      : rows(kept) {}
  HWY_ATTR HWY_INLINE void dot(const RowParts* /*at*/, int first, int count, int32_t* sums,
                               float* squared_norms) const {
    for (int i = 0; i < count; ++i) {
      sums[i] = rows.first_dots[first + i];
      squared_norms[i] = rows.terms[first + i].squared_norm;
    }
  }
};

#endif

/// The two sums of first_stage_bound. The sketch's distance after the first stage is its whole
/// distance, which is known, less that of the first stage's words, which were read for its values.
struct SumsByFirstStage {
  static constexpr bool kHasFirstDots = true;
  const ScanQuery& query;
  int words;
  FirstStageDots dots;

  HWY_ATTR SumsByFirstStage(const ScanCodec& codec, const ScanQuery& scan_query,
                            const KeptRows& rows)
      : query(scan_query), words(codec.first_stage_words()), dots(codec, scan_query, rows) {}

  HWY_ATTR HWY_INLINE void sum(const RowParts* at, int first, const uint32_t* candidates, int count,
                               int32_t* sums, int32_t* other_sums, float* squared_norms) const {
    const FirstStageWords own_words(at, count, words);
    dots.dot(at, first, count, sums, squared_norms);
    int32_t own[kFetchAhead];
    own_words.distances(query, own);
    for (int i = 0; i < count; ++i) {
      other_sums[i] =
          sum_after_first_stage(query.later_weight, distance_of(candidates[i]) - own[i]);
    }
  }
};

/// What is scored first of the rows that stay is fetched while others are looked at, unless a row's
/// payload is two lines or more, where that is slower (docs/dev/tuning.md, "Kernels").
constexpr size_t kPayloadNotFetched = 128;

/// Takes kFetchAhead rows together, and fetches the next ones before.
template <class Sums>
HWY_ATTR int keep_fours(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                        const SumBound& bound, const Sums& sums_of, float threshold,
                        uint32_t* candidates, int count, const KeptRows& out) {
  constexpr int kTogether = kFetchAhead;
  static_assert(kTogether % 4 == 0);
  const __m128 least = _mm_set1_ps(threshold);
  BoundsOfFour four(codec, query.score, bound);
  const int last = count;
  while (count % 4 != 0) candidates[count++] = candidates[last - 1];
  RowParts parts[2][kTogether];  // of the rows at hand and of those to come
  const SignFetcher fetch_signs(codec);
  const auto fetch_rows = [&](int first, RowParts* found) HWY_ATTR {
    for (int i = first; i < std::min(count, first + kTogether); ++i) {
      const RowPlace place = place_of(tile, row_of(candidates[i]));
      *found++ = RowParts(codec.layout(), place);
      fetch_signs(place);
    }
  };
  const Int8Stage& scored = codec.has_split_stages() ? codec.stages()[1] : codec.stages()[0];
  const size_t scored_payload = scored_bytes(codec.layout(), scored);
  const int fetched_kept = scored_payload > kPayloadNotFetched ? kFetchAhead : 0;
  int kept = 0;
  fetch_rows(0, parts[0]);
  for (int first = 0; first < count; first += kTogether) {
    const RowParts* at = parts[first / kTogether % 2];
    fetch_rows(first + kTogether, parts[(first / kTogether + 1) % 2]);
    const int kept_before = kept;
    const int some = std::min(count - first, kTogether);
    alignas(16) int32_t sums[kTogether];
    alignas(16) int32_t other_sums[kTogether];
    alignas(16) float squared_norms[kTogether];
    sums_of.sum(at, first, candidates + first, some, sums, other_sums, squared_norms);
    for (int i = 0; i < some; i += 4) {
      four.load(four_of(at + i));
      if constexpr (Sums::kHasFirstDots) four.set_squared_norms(_mm_load_ps(squared_norms + i));
      const __m128 bounds =
          four.bound(_mm_load_si128(reinterpret_cast<const __m128i*>(sums + i)),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(other_sums + i)));
      const FourMask reached = not_below(bounds, least, filled_places(first + i, last));
      const FourCandidates these = {candidates + first + i, other_sums + i,
                                    Sums::kHasFirstDots ? sums + i : nullptr};
      kept = keep_reached(these, four, reached, kept, out);
    }
    for (int i = kept_before; i < std::min(kept, fetched_kept); ++i)
      fetch_code(codec.layout(), place_of(tile, out.rows[i]), scored_payload);
  }
  return kept;
}

HWY_ATTR int keep_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                       float threshold, uint32_t* candidates, int count, const KeptRows& out) {
  return keep_fours(codec, tile, query, query.signs, SumsBySigns{codec, query}, threshold,
                    candidates, count, out);
}
// Where values do not stay in registers the dots of all rows come first: keep_fours reads them
// before it writes the kept ones in their place.
HWY_ATTR int keep_split_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                             float threshold, uint32_t* candidates, int count,
                             const KeptRows& out) {
#if !POLAR_SIMD_VBMI
  dot_first_stage(codec, tile, query, candidates, count, out);
#endif
  return keep_fours(codec, tile, query, query.first_stage, SumsByFirstStage(codec, query, out),
                    threshold, candidates, count, out);
}

HWY_ATTR void bound_singles(const ScanCodec& codec, const ScanQuery& query, RowPlace* at, int count,
                            float* bounds) {
  BoundsOfFour four(codec, query.score, query.signs);
  const int last = count;
  while (count % 4 != 0) at[count++] = at[last - 1];
  for (int first = 0; first < count; first += kFetchAhead) {
    const int some = std::min(count - first, kFetchAhead);
    RowParts rows[kFetchAhead];
    for (int i = 0; i < some; ++i) rows[i] = RowParts(codec.layout(), at[first + i]);
    alignas(16) int32_t value_dots[kFetchAhead];
    sign_value_dots(codec, query, rows, some, value_dots);
    for (int i = 0; i < some; i += 4) {
      four.load(four_of(rows + i));
      const __m128i sums = _mm_load_si128(reinterpret_cast<const __m128i*>(value_dots + i));
      _mm_storeu_ps(bounds + first + i, four.bound(_mm_setzero_si128(), sums));
    }
  }
}

#else

HWY_ATTR void bound_singles(const ScanCodec& codec, const ScanQuery& query, RowPlace* at, int count,
                            float* bounds) {
  for (int i = 0; i < count; ++i) {
    const SignSums sums = {0, other_sum_of(codec, query, at[i], 0)};
    bounds[i] = sign_bound(query, load_terms(codec, at[i]), sums);
  }
}

/// `bound(i, kept)`: the bound of candidate i, whose terms and sums are at place `kept`.
template <class Bound>
HWY_ATTR int keep_each(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                       const Bound& bound, float threshold, const uint32_t* candidates, int count,
                       const KeptRows& out) {
  int kept = 0;
  const SignFetcher fetch_signs(codec);
  for (int i = 0; i < std::min(count, kFetchAhead); ++i)
    fetch_signs(place_of(tile, row_of(candidates[i])));
  for (int i = 0; i < count; ++i) {
    if (i + kFetchAhead < count) fetch_signs(place_of(tile, row_of(candidates[i + kFetchAhead])));
    const uint32_t row = row_of(candidates[i]);
    const RowPlace at = place_of(tile, row);
    // As dot_first_stage left it.
    const float squared_norm = codec.has_split_stages() ? out.terms[i].squared_norm : 0;
    out.rows[kept] = row;
    out.terms[kept] = load_terms(codec, at);
    out.terms[kept].squared_norm = squared_norm;
    const int32_t distance = distance_of(candidates[i]);
    out.sums[kept] = {distance, other_sum_of(codec, query, at, distance)};
    kept += bound(i, kept) < threshold ? 0 : 1;
  }
  return kept;
}

HWY_ATTR int keep_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                       float threshold, uint32_t* candidates, int count, const KeptRows& out) {
  const auto bound = [&](int, int kept) {
    return sign_bound(query, out.terms[kept], out.sums[kept]);
  };
  return keep_each(codec, tile, query, bound, threshold, candidates, count, out);
}

HWY_ATTR int keep_split_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                             float threshold, uint32_t* candidates, int count,
                             const KeptRows& out) {
  dot_first_stage(codec, tile, query, candidates, count, out);
  const auto bound = [&](int i, int kept) {
    out.first_dots[kept] = out.first_dots[i];
    return first_stage_bound(query, out.terms[kept], out.first_dots[kept], out.sums[kept]);
  };
  return keep_each(codec, tile, query, bound, threshold, candidates, count, out);
}

#endif

HWY_ATTR SignSums sums_of_row(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at) {
  const BlockLayout& layout = codec.layout();
  const int32_t distance = words_distance(query, layout.sketch_word(at, 0), layout.sketch_words());
  return {distance, other_sum_of(codec, query, at, distance)};
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(keep_rows);
HWY_EXPORT(keep_split_rows);
HWY_EXPORT(bound_singles);
HWY_EXPORT(sums_of_row);

int keep_by_signs(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                  float threshold, uint32_t* candidates, int count, const KeptRows& kept) {
  return HWY_DYNAMIC_DISPATCH(keep_rows)(codec, tile, query, threshold, candidates, count, kept);
}

int keep_by_first_stage(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                        float threshold, uint32_t* candidates, int count, const KeptRows& kept) {
  return HWY_DYNAMIC_DISPATCH(keep_split_rows)(codec, tile, query, threshold, candidates, count,
                                               kept);
}

void single_sign_bounds(const ScanCodec& codec, const ScanQuery& query, RowPlace* at, int count,
                        float* bounds) {
  HWY_DYNAMIC_DISPATCH(bound_singles)(codec, query, at, count, bounds);
}

SignSums sign_sums(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at) {
  return HWY_DYNAMIC_DISPATCH(sums_of_row)(codec, query, at);
}

}  // namespace polarquant
#endif
