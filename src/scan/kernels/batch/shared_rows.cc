// SPDX-License-Identifier: MIT
#include "src/scan/kernels/batch/shared_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

#include "src/scan/kernels/bounds/load_terms.h"
#include "src/scan/kernels/decode/decode_rows.h"
#include "src/scan/kernels/decode/squared_norms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/batch/shared_rows.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/dot_row-inl.h"
#include "src/simd/four_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_AVX2

/// Four rows' terms.
struct FourTerms {
  __m128 scale, constant, norm, squared_norm;

  HWY_ATTR HWY_INLINE explicit FourTerms(const SharedTerms* const (&rows)[4]) {
    __m128 columns[4];
    for (int j = 0; j < 4; ++j) columns[j] = _mm_load_ps(&rows[j]->terms.scale);
    _MM_TRANSPOSE4_PS(columns[0], columns[1], columns[2], columns[3]);
    scale = columns[0];
    constant = columns[1];
    norm = columns[2];
    squared_norm = columns[3];
  }
  static_assert(sizeof(ScanTerms) == sizeof(__m128));
};

#if POLAR_SIMD_VPOPCNT

HWY_ATTR HWY_INLINE __m128i load_two(const uint64_t* words) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(words));
}

/// Int8Query::other_sum of four rows: two words of each at a time.
template <int kWords>
HWY_ATTR HWY_INLINE __m128i other_sums(const Int8Query& query,
                                       const SharedTerms* const (&rows)[4]) {
  __m512i distances = _mm512_setzero_si512();
#pragma GCC unroll 2
  for (int word = 0; word < kWords; word += 2) {
    // The last word of an odd number has no weights beside it.
    const bool is_alone = word + 1 == kWords;
    const auto broadcast = [&](const uint64_t* row_words) HWY_ATTR {
      const auto own = static_cast<int64_t>(row_words[word]);
      return _mm512_broadcast_i64x2(is_alone ? _mm_cvtsi64_si128(own) : load_two(row_words + word));
    };
    __m512i row_words = _mm512_castsi128_si512(load_two(rows[0]->words + word));
    row_words = _mm512_inserti64x2(row_words, load_two(rows[1]->words + word), 1);
    row_words = _mm512_inserti64x2(row_words, load_two(rows[2]->words + word), 2);
    row_words = _mm512_inserti64x2(row_words, load_two(rows[3]->words + word), 3);
    const __m512i differ = _mm512_xor_si512(row_words, broadcast(query.sign_words));
    const auto count = [&](const uint64_t* weights) HWY_ATTR {
      return _mm512_popcnt_epi64(_mm512_and_si512(differ, broadcast(weights)));
    };
    const __m512i twos = count(query.twos_words);
    distances = _mm512_add_epi64(distances, count(query.ones_words));
    distances = _mm512_add_epi64(distances, _mm512_add_epi64(twos, twos));
  }
  distances = _mm512_add_epi64(distances, _mm512_bsrli_epi128(distances, 8));
  const __m512i sum_lanes = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m128i sums = _mm512_castsi512_si128(_mm512_permutexvar_epi32(sum_lanes, distances));
  return _mm_sub_epi32(_mm_set1_epi32(query.later_weight), _mm_add_epi32(sums, sums));
}

#else

template <int kWords>
HWY_ATTR HWY_INLINE __m128i other_sums(const Int8Query& query,
                                       const SharedTerms* const (&rows)[4]) {
  return _mm_setr_epi32(
      query.other_sum(rows[0]->words, kWords), query.other_sum(rows[1]->words, kWords),
      query.other_sum(rows[2]->words, kWords), query.other_sum(rows[3]->words, kWords));
}

#endif

/// One stage, or the first of two; bounds of split stages read kWords sign words. The float
/// operations are those of similarity() and sum_bound() in their order.
template <bool kTwoStages, int kWords>
HWY_ATTR void find_matches_of(const ScanCodec& codec, const SharedRows& rows,
                              const ScoreGoal* goals, int goal, CandidateRows* candidates,
                              SharedMatches* matches) {
  const Int8Query& query = *goals[goal].query;
  const int padded_dim = codec.stages()[0].padded_dim();
  const __m128i bias = _mm_set1_epi32(kOperandBias * query.value_sum[0]);
  const __m128 base = _mm_set1_ps(query.score.base);
  const __m128 weight = _mm_set1_ps(query.score.weight);
  const __m128 dot_scale =
      _mm_set1_ps(kTwoStages ? query.first_stage.slope : query.score.dot_scale[0]);
  const __m128 other_slope = _mm_set1_ps(query.first_stage.other_slope);
  const __m128 margin = _mm_set1_ps(query.first_stage.margin);
  const __m128 squared_norm_slope = _mm_set1_ps(query.first_stage.squared_norm_slope);
  const __m128 least = _mm_set1_ps(kTwoStages ? goals[goal].bound : goals[goal].score);
  const __m128i in_goals = _mm_set1_epi32(goal);
  uint16_t* const all = candidates->rows;
  const int count = candidates->count;
  for (int i = count; i % 4 != 0; ++i) all[i] = all[count - 1];
  int found = matches->count;
  for (int i = 0; i < count; i += 4) {
    const uint8_t* values[4];
    const SharedTerms* terms[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      values[j] = rows.values(0, all[i + j]);
      terms[j] = reinterpret_cast<const SharedTerms*>(values[j] + padded_dim);
    }
    const __m128i dots = _mm_sub_epi32(four_dots(values, query.values, padded_dim), bias);
    __m128 sum = _mm_mul_ps(dot_scale, _mm_cvtepi32_ps(dots));
    const FourTerms four(terms);
    __m128 factor = four.scale;
    if constexpr (kTwoStages) {
      if constexpr (kWords > 0) {
        const __m128 others = _mm_cvtepi32_ps(other_sums<kWords>(query, terms));
        sum = _mm_add_ps(sum, _mm_mul_ps(other_slope, others));
      }
      sum = _mm_sub_ps(_mm_add_ps(sum, margin), _mm_mul_ps(squared_norm_slope, four.squared_norm));
      factor = four.norm;
    }
    const __m128 offset = _mm_add_ps(base, _mm_mul_ps(weight, four.constant));
    const FourMask match =
        not_below(_mm_add_ps(offset, _mm_mul_ps(factor, sum)), least, filled_places(i, count));
    const __m128i in_rows =
        _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(all + i)));
    // No branches: which rows reach is not predictable, and known late.
    write_some(matches->rows + found, match, in_rows);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(matches->goals + found), in_goals);
    write_some(matches->dots[0] + found, match, dots);
    found += count_of(match);
  }
  matches->count = found;
}

HWY_ATTR void find_matches(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                           int goal, CandidateRows* candidates, SharedMatches* matches) {
  if (codec.stages().size() == 1)
    return find_matches_of<false, 0>(codec, rows, goals, goal, candidates, matches);
  switch (codec.words_after_first_stage()) {
    case 0:
      return find_matches_of<true, 0>(codec, rows, goals, goal, candidates, matches);
    case 1:
      return find_matches_of<true, 1>(codec, rows, goals, goal, candidates, matches);
    case 2:
      return find_matches_of<true, 2>(codec, rows, goals, goal, candidates, matches);
    default:
      return find_matches_of<true, 3>(codec, rows, goals, goal, candidates, matches);
  }
}
static_assert(kMaxSketchWords == 4);

/// Four rows, each with its query. The float operations are those of similarity() in order.
HWY_ATTR void keep_matches(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                           SharedMatches* matches) {
  const Int8Stage& stage = codec.stages()[1];
  const int count = matches->count;
  for (int i = count; i % 4 != 0; ++i) {
    matches->rows[i] = matches->rows[count - 1];
    matches->goals[i] = matches->goals[count - 1];
  }
  int kept = 0;
  for (int i = 0; i < count; i += 4) {
    const SharedTerms* terms[4];
    const uint8_t* values[4];
    const int8_t* query_values[4];
    __m128 score[4];
    alignas(16) float least[4];
    alignas(16) int32_t value_sums[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const ScoreGoal& goal = goals[matches->goals[i + j]];
      const Int8Query& query = *goal.query;
      terms[j] = &rows.terms(matches->rows[i + j]);
      values[j] = rows.values(1, matches->rows[i + j]);
      query_values[j] = query.values + stage.first_position();
      score[j] = _mm_loadu_ps(&query.score.base);
      least[j] = goal.score;
      value_sums[j] = kOperandBias * query.value_sum[1];
    }
    _MM_TRANSPOSE4_PS(score[0], score[1], score[2], score[3]);  // base, weight, dot_scale
    const __m128i second = _mm_sub_epi32(dots_of_pairs(values, query_values, stage.padded_dim()),
                                         _mm_load_si128(reinterpret_cast<__m128i*>(value_sums)));
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(matches->dots[0] + i));
    const __m128 sum = _mm_add_ps(_mm_mul_ps(score[2], _mm_cvtepi32_ps(first)),
                                  _mm_mul_ps(score[3], _mm_cvtepi32_ps(second)));
    const FourTerms four(terms);
    const __m128 offset = _mm_add_ps(score[0], _mm_mul_ps(score[1], four.constant));
    const FourMask match = not_below(_mm_add_ps(offset, _mm_mul_ps(four.scale, sum)),
                                     _mm_load_ps(least), filled_places(i, count));
    write_some(matches->rows + kept, match,
               _mm_loadu_si128(reinterpret_cast<const __m128i*>(matches->rows + i)));
    write_some(matches->goals + kept, match,
               _mm_loadu_si128(reinterpret_cast<const __m128i*>(matches->goals + i)));
    write_some(matches->dots[0] + kept, match, first);
    write_some(matches->dots[1] + kept, match, second);
    kept += count_of(match);
  }
  matches->count = kept;
}

#else

HWY_ATTR int32_t dot_of(const ScanCodec& codec, const SharedRows& rows, const Int8Query& query,
                        size_t stage, uint32_t row) {
  const Int8Stage& int8 = codec.stages()[stage];
  return dot_row(query.values + int8.first_position(),
                 reinterpret_cast<const int8_t*>(rows.values(stage, row)), int8.padded_dim());
}

// No branches: which rows reach is not predictable. NaN is left to the search.
HWY_ATTR void find_matches(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                           int goal, CandidateRows* candidates, SharedMatches* matches) {
  const ScoreGoal& score_goal = goals[goal];
  const Int8Query& query = *score_goal.query;
  const bool two_stages = codec.stages().size() == 2;
  const int words = codec.words_after_first_stage();
  int found = matches->count;
  for (int i = 0; i < candidates->count; ++i) {
    const uint32_t row = candidates->rows[i];
    const SharedTerms& terms = rows.terms(row);
    const int32_t dot = dot_of(codec, rows, query, 0, row);
    matches->rows[found] = row;
    matches->goals[found] = goal;
    matches->dots[0][found] = dot;
    matches->dots[1][found] = 0;
    bool is_below;
    if (two_stages) {
      const int32_t other_sum = query.other_sum(terms.words, words);
      is_below =
          sum_bound(query.score, query.first_stage, terms.terms, dot, other_sum) < score_goal.bound;
    } else {
      is_below = similarity(query.score, terms.terms, dot) < score_goal.score;
    }
    found += is_below ? 0 : 1;
  }
  matches->count = found;
}

HWY_ATTR void keep_matches(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                           SharedMatches* matches) {
  int kept = 0;
  for (int i = 0; i < matches->count; ++i) {
    const uint32_t row = matches->rows[i];
    const ScoreGoal& score_goal = goals[matches->goals[i]];
    const int32_t first = matches->dots[0][i];
    const int32_t second = dot_of(codec, rows, *score_goal.query, 1, row);
    matches->rows[kept] = row;
    matches->goals[kept] = matches->goals[i];
    matches->dots[0][kept] = first;
    matches->dots[1][kept] = second;
    const float score = similarity(score_goal.query->score, rows.terms(row).terms, first, second);
    kept += score < score_goal.score ? 0 : 1;
  }
  matches->count = kept;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(find_matches);
HWY_EXPORT(keep_matches);

SharedRows::SharedRows(const ScanCodec& codec) {
  constexpr size_t kMostBytes = size_t{512} << 10;
  const std::vector<Int8Stage>& stages = codec.stages();
  terms_offset_ = static_cast<size_t>(stages[0].padded_dim());
  for (size_t i = 0; i < stages.size(); ++i)
    stride_[i] = static_cast<size_t>(stages[i].padded_dim());
  stride_[0] += sizeof(SharedTerms);
  const size_t block_bytes = kBlockRows * (stride_[0] + stride_[1]);
  most_blocks_ =
      std::clamp(static_cast<int>(kMostBytes / block_bytes), 1, SharedSketches::kMostBlocks);
  for (size_t i = 0; i < stages.size(); ++i)
    values_[i].resize(static_cast<size_t>(most_blocks_ * kBlockRows) * stride_[i]);
}

void set_value_query(const ScanCodec& codec, const ScanQuery& query, Int8Query* values) {
  values->values = query.values.data();
  values->score = query.score;
  values->first_stage = query.first_stage;
  values->later_weight = query.later_weight;
  const int words = codec.words_after_first_stage();
  const int first = codec.first_stage_words();
  std::copy_n(query.sign_words.begin() + first, words, values->sign_words);
  std::copy_n(query.ones_words.begin() + first, words, values->ones_words);
  std::copy_n(query.twos_words.begin() + first, words, values->twos_words);
  for (size_t i = 0; i < codec.stages().size(); ++i) {
    const Int8Stage& stage = codec.stages()[i];
    values->value_sum[i] = 0;
    for (int segment = stage.first_segment; segment < stage.first_segment + stage.segments;
         ++segment)
      values->value_sum[i] += query.words[static_cast<size_t>(segment)].sum;
  }
}

namespace {

void decode_terms(const ScanCodec& codec, const ScanTile& tile, int block, uint32_t first,
                  SharedRows* rows) {
  alignas(64) float scale[kBlockRows];
  alignas(64) float constant[kBlockRows];
  alignas(64) float bias[kBlockRows];
  load_block_terms(codec, tile.sketch[block], tile.capacity[block], scale, constant, bias);
  const float* norm = codec.metric() == Metric::l2 ? bias : scale;
  const int words = codec.words_after_first_stage();
  for (uint64_t left = tile.allowed[block]; left != 0; left &= left - 1) {
    const auto row = static_cast<uint32_t>(std::countr_zero(left));
    SharedTerms& terms = rows->terms_of(first + row);
    terms.terms = {scale[row], constant[row], norm[row], 0};
    const RowPlace at = place_of(tile, static_cast<uint32_t>(block * kBlockRows) + row);
    for (int word = 0; word < words; ++word)
      terms.words[word] = *codec.layout().sketch_word(at, codec.first_stage_words() + word);
    rows->max_scale = std::max(rows->max_scale, scale[row]);
    rows->max_constant = std::max(rows->max_constant, std::fabs(constant[row]));
  }
}

/// Decodes rows row … row+count−1 of the block to rows from `first` + row on of the shared ones.
void decode_int8(const ScanCodec& codec, const ScanTile& tile, int block, int row, int count,
                 uint32_t first, SharedRows* rows) {
  RowPlace at[kBlockRows];
  for (int i = 0; i < count; ++i)
    at[i] = place_of(tile, static_cast<uint32_t>(block * kBlockRows + row + i));
  const uint32_t to = first + static_cast<uint32_t>(row);
  for (size_t stage = 0; stage < codec.stages().size(); ++stage) {
    const Int8Stage& int8 = codec.stages()[stage];
    decode_int8_rows(codec, int8, at, count, rows->stride(stage), rows->values_of(stage, to));
    if (stage == 0 && codec.has_split_stages()) {
      float squared_norms[kBlockRows];
      int8_squared_norms(rows->values_of(0, to), int8.padded_dim(), count, rows->stride(0),
                         squared_norms);
      for (int i = 0; i < count; ++i)
        rows->terms_of(to + static_cast<uint32_t>(i)).terms.squared_norm = squared_norms[i];
    }
    set_operand_rows(rows->values_of(stage, to), count, int8.padded_dim(), rows->stride(stage));
  }
}

}  // namespace

void decode_shared_rows(const ScanCodec& codec, const ScanTile& tile, int first_block,
                        int end_block, SharedRows* rows) {
  rows->first_row = static_cast<uint32_t>(first_block * kBlockRows);
  rows->max_scale = 0;
  rows->max_constant = 0;
  fetch_payloads(codec.layout(), tile, first_block);
  for (int block = first_block; block < end_block; ++block) {
    if (block + 1 < end_block) fetch_payloads(codec.layout(), tile, block + 1);
    const auto first = static_cast<uint32_t>((block - first_block) * kBlockRows);
    decode_terms(codec, tile, block, first, rows);
    for (uint64_t left = tile.allowed[block]; left != 0;) {
      // Runs of rows, so that a filter's rows are decoded alone and all others in one go.
      const int row = std::countr_zero(left);
      const int count = std::countr_one(left >> row);
      decode_int8(codec, tile, block, row, count, first, rows);
      left = count == kBlockRows ? 0 : left & ~(((uint64_t{1} << count) - 1) << row);
    }
  }
}

void find_shared_matches(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                         int goal, CandidateRows* candidates, SharedMatches* matches) {
  HWY_DYNAMIC_DISPATCH(find_matches)(codec, rows, goals, goal, candidates, matches);
}
void keep_by_second_stage(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                          SharedMatches* matches) {
  HWY_DYNAMIC_DISPATCH(keep_matches)(codec, rows, goals, matches);
}

}  // namespace polarquant
#endif
