// SPDX-License-Identifier: MIT
#include "src/scan/kernels/sign_survivors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/sign_survivors.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/block_factors-inl.h"
#include "src/scan/kernels/sign_tables-inl.h"
#include "src/scan/kernels/weighted_counts-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A block as the first stage reads it.
struct SignBlock {
  const uint64_t* words;
  const uint8_t* factors;
  int room;
  uint64_t allowed;
  uint32_t first;  // of its rows in the tile
  /// When one query streams through memory, the front behind: fetched early, .1 of the time is
  /// saved.
  const uint8_t* next;
};

/// Blocks that a search goes through in one call, so that the query stays in registers.
struct SignBlocks {
  const BlockLayout& layout;
  const ScanTile& tile;
  int first;
  int end;
  bool fetch_next;

  HWY_ATTR HWY_INLINE SignBlock block(int i) const {
    const uint8_t* data = tile.front[i];
    return {reinterpret_cast<const uint64_t*>(data),
            data + layout.factors_offset(tile.room[i]),
            tile.room[i],
            tile.allowed[i],
            static_cast<uint32_t>(i * kBlockRows),
            fetch_next && i + 1 < end ? tile.front[i + 1] : nullptr};
  }
};

/// Blocks that queries are held against in turn: their fronts stay in a first-level cache, and
/// their factors are widened once.
constexpr int kSharedBlocks = 16;

#if HWY_TARGET == HWY_AVX3_DL

/// The factors of 16 rows, units left out.
struct Factors16 {
  __m512 scales;
  __m512 biases;
};

template <bool kHalf>
HWY_ATTR HWY_INLINE Factors16 load_factors16(const uint8_t* stored, int row) {
  if constexpr (kHalf) {
    alignas(64) static constexpr uint16_t kScalesThenBiases[32] = {
        0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
        1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    const __m512i both = _mm512_permutexvar_epi16(_mm512_load_si512(kScalesThenBiases),
                                                  _mm512_loadu_si512(stored + 4 * row));
    return {_mm512_cvtph_ps(_mm512_castsi512_si256(both)),
            _mm512_cvtph_ps(_mm512_extracti64x4_epi64(both, 1))};
  } else {
    alignas(64) static constexpr uint32_t kEven[16] = {0,  2,  4,  6,  8,  10, 12, 14,
                                                       16, 18, 20, 22, 24, 26, 28, 30};
    const __m512i even = _mm512_load_si512(kEven);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512 low = _mm512_loadu_ps(stored + 8 * row);
    const __m512 high = _mm512_loadu_ps(stored + 8 * row + 64);
    return {_mm512_permutex2var_ps(low, even, high), _mm512_permutex2var_ps(low, odd, high)};
  }
}

/// A query's words, in all lanes.
template <int kWords>
struct FrontWords {
  __m512i signs[kWords];
  __m512i heavy[kWords];
  __m512i very_heavy;  // of the first

  explicit HWY_ATTR FrontWords(const ScanQuery& query)
      : very_heavy(_mm512_set1_epi64(static_cast<int64_t>(query.very_heavy_word))) {
    for (size_t word = 0; word < kWords; ++word) {
      signs[word] = _mm512_set1_epi64(static_cast<int64_t>(query.sign_words[word]));
      heavy[word] = _mm512_set1_epi64(static_cast<int64_t>(query.heavy_words[word]));
    }
  }

  /// Of a group's 8 rows, in 64-bit lanes.
  template <bool kThirdBit>
  HWY_ATTR HWY_INLINE __m512i distances(const uint64_t* group) const {
    __m512i all = _mm512_setzero_si512();
    __m512i of_heavy = all;
#pragma GCC unroll 4
    for (size_t word = 0; word < kWords; ++word) {
      const __m512i differ =
          _mm512_xor_si512(_mm512_load_si512(group + word * kGroupRows), signs[word]);
      const __m512i differ_heavy = _mm512_and_si512(differ, heavy[word]);
      all = _mm512_add_epi64(all, _mm512_popcnt_epi64(differ));
      of_heavy = _mm512_add_epi64(of_heavy, _mm512_popcnt_epi64(differ_heavy));
      if (kThirdBit && word == 0) {
        const __m512i count = _mm512_popcnt_epi64(_mm512_and_si512(differ, very_heavy));
        of_heavy = _mm512_add_epi64(of_heavy, _mm512_add_epi64(count, count));
      }
    }
    return _mm512_add_epi64(all, _mm512_add_epi64(of_heavy, of_heavy));
  }
};

// 16 rows at a time: two groups of 8 in 64-bit lanes, brought together as 32-bit lanes. For 4 words
// 8 each of loads with xor and `and`, 16 of popcount, 16 additions and 16 for the line, so 32
// cycles where two ports have 512-bit vectors. Zen 5 has four; but dot products of bytes, which add
// counts up at no cost elsewhere, take more than one's turn there: with them one query takes 1.07
// times as long.
template <int kWords, bool kThirdBit, bool kHalf, bool kL2>
HWY_ATTR void survivors_of_blocks(const SignBlocks& blocks, SurvivorSearch* search) {
  const FrontWords<kWords> query(*search->query);
  const SurvivorLine& line = search->line;
  const __m512 base = _mm512_set1_ps(line.base);
  const __m512 weight = _mm512_set1_ps(line.weight);
  const __m512 height = _mm512_set1_ps(line.height);
  const __m512 tilt = _mm512_set1_ps(line.tilt);
  const __m512 threshold = _mm512_set1_ps(line.threshold);
  const __m512i even_words =
      _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i sixteen = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  constexpr size_t kGroupWords = size_t{kWords} * kGroupRows;
  constexpr size_t kStepBytes = 2 * kGroupRows * (kWords * sizeof(uint64_t) + (kHalf ? 4 : 8));
  uint32_t* survivors = search->found.survivors + search->found.count;
  float* bounds = search->found.bounds + search->found.count;
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    const uint8_t* next = block.next;
    __m512i rows = _mm512_add_epi32(sixteen, _mm512_set1_epi32(static_cast<int>(block.first)));
    for (int row = 0; row < block.room; row += 2 * kGroupRows) {
      // A last group alone is paired with itself: the places behind it have no rows.
      const uint64_t* group0 = block.words + row / kGroupRows * kGroupWords;
      const uint64_t* group1 = row + kGroupRows < block.room ? group0 + kGroupWords : group0;
      const __m512i low = query.template distances<kThirdBit>(group0);
      const __m512i high = query.template distances<kThirdBit>(group1);
      if (next != nullptr) {
        for (size_t at = 0; at < kStepBytes; at += 64) _mm_prefetch(next + at, _MM_HINT_T0);
        next += kStepBytes;
      }
      const __m512i distances = _mm512_permutex2var_epi32(low, even_words, high);
      const __m512 distance = _mm512_cvtepi32_ps(distances);
      const Factors16 factors = load_factors16<kHalf>(block.factors, row);
      const __m512 norm = kL2 ? factors.biases : factors.scales;
      const __m512 constant = kL2 ? _mm512_mul_ps(factors.biases, factors.biases) : factors.biases;
      const __m512 offset = _mm512_add_ps(base, _mm512_mul_ps(weight, constant));
      const __m512 bound = _mm512_fmadd_ps(norm, _mm512_fnmadd_ps(tilt, distance, height), offset);
      const auto allowed = static_cast<__mmask16>(block.allowed >> row);
      const __mmask16 reached = _mm512_mask_cmp_ps_mask(allowed, bound, threshold, _CMP_GE_OQ);
      // Compressed in a register: the form that stores is slow on Zen 4.
      const __m512i found = _mm512_or_si512(rows, _mm512_slli_epi32(distances, kTileRowBits));
      _mm512_storeu_si512(survivors, _mm512_maskz_compress_epi32(reached, found));
      _mm512_storeu_ps(bounds, _mm512_maskz_compress_ps(reached, bound));
      const int count = __builtin_popcount(reached);
      survivors += count;
      bounds += count;
      rows = _mm512_add_epi32(rows, _mm512_set1_epi32(2 * kGroupRows));
    }
  }
  search->found.count = static_cast<int>(survivors - search->found.survivors);
}

using SurvivorsOfBlocks = void (*)(const SignBlocks&, SurvivorSearch*);

/// The kernel for 1 to kMaxFrontWords words.
template <bool kThirdBit, bool kHalf, bool kL2, int... kFewer>
SurvivorsOfBlocks kernel_for_words(int words, std::integer_sequence<int, kFewer...> /*fewer*/) {
  static constexpr SurvivorsOfBlocks kKernels[] = {
      &survivors_of_blocks<kFewer + 1, kThirdBit, kHalf, kL2>...};
  return kKernels[words - 1];
}
template <bool kThirdBit>
SurvivorsOfBlocks kernel_for_factors(int words, bool half, bool l2) {
  constexpr auto kFewer = std::make_integer_sequence<int, kMaxFrontWords>();
  if (half) {
    return l2 ? kernel_for_words<kThirdBit, true, true>(words, kFewer)
              : kernel_for_words<kThirdBit, true, false>(words, kFewer);
  }
  return l2 ? kernel_for_words<kThirdBit, false, true>(words, kFewer)
            : kernel_for_words<kThirdBit, false, false>(words, kFewer);
}
SurvivorsOfBlocks survivors_kernel(int words, bool third_bit, bool half, bool l2) {
  return third_bit ? kernel_for_factors<true>(words, half, l2)
                   : kernel_for_factors<false>(words, half, l2);
}

#else

struct BlockFactors {
  alignas(64) float norm[kBlockRows + kGroupRows];
  alignas(64) float constant[kBlockRows + kGroupRows];  // without the line's weight

  HWY_ATTR void load(const SignBlock& block, bool half, bool l2) {
    widen_factors(half, block.factors, block.room, norm, constant);
    if (!l2) return;
    for (int row = 0; row < block.room; ++row) {
      norm[row] = constant[row];
      constant[row] *= constant[row];
    }
  }
};

#if HWY_TARGET == HWY_SCALAR

template <int kWords>
void survivors_of_blocks(const SignBlocks& blocks, const BlockFactors* factors_of_blocks,
                         SurvivorSearch* search) {
  const SurvivorLine& line = search->line;
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    const BlockFactors& factors = *factors_of_blocks++;
    for (int row = 0; row < block.room; ++row) {
      if ((block.allowed >> row & 1) == 0) continue;
      const uint64_t* words =
          block.words + row / kGroupRows * kWords * kGroupRows + row % kGroupRows;
      int distance = 0;
      for (int word = 0; word < kWords; ++word) {
        const auto at = static_cast<size_t>(word);
        distance += word_distance(*search->query, at,
                                  words[word * kGroupRows] ^ search->query->sign_words[at]);
      }
      const float offset = line.base + line.weight * factors.constant[row];
      const float bound =
          factors.norm[row] * (line.height - line.tilt * static_cast<float>(distance)) + offset;
      if (!(bound >= line.threshold)) continue;
      search->found.survivors[search->found.count] =
          survivor_of(block.first + static_cast<uint32_t>(row), distance);
      search->found.bounds[search->found.count++] = bound;
    }
  }
}

#else

/// Which rows of a block reach a line: bits of one number, looked at when all are there, since
/// which rows do is not predictable.
template <class D32>
class LineOfBlock {
 public:
  static constexpr int kRows = static_cast<int>(hn::MaxLanes(D32()));

  HWY_ATTR HWY_INLINE explicit LineOfBlock(const SurvivorLine& line)
      : base_(hn::Set(Floats(), line.base)),
        weight_(hn::Set(Floats(), line.weight)),
        height_(hn::Set(Floats(), line.height)),
        tilt_(hn::Set(Floats(), line.tilt)),
        threshold_(hn::Set(Floats(), line.threshold)) {}

  /// Bits, from the row's place on, of the next kRows rows that reach the line.
  HWY_ATTR HWY_INLINE uint64_t reached(int row, hn::Vec<D32> distances,
                                       const BlockFactors& factors) {
    const Floats df;
    const hn::RebindToSigned<D32> di;
    const auto distance = hn::ConvertTo(df, hn::BitCast(di, distances));
    const auto offset = hn::Add(base_, hn::Mul(weight_, hn::Load(df, factors.constant + row)));
    const auto bound = hn::MulAdd(hn::Load(df, factors.norm + row),
                                  hn::NegMulAdd(tilt_, distance, height_), offset);
    hn::Store(bound, df, bounds_ + row);
    // Read back as wide as it was stored, so that it does not have to reach memory first.
    alignas(8) uint8_t bits[8];
    std::conditional_t<kRows == 16, uint16_t, uint8_t> mask;
    hn::StoreMaskBits(df, hn::Ge(bound, threshold_), bits);
    std::memcpy(&mask, bits, sizeof mask);
    return uint64_t{mask} << row;
  }

  /// Adds those of the block to `found`.
  HWY_INLINE void take(const SignBlock& block, uint64_t reached, const uint32_t* distances,
                       SurvivorList* found) const {
    for (reached &= block.allowed; reached != 0; reached &= reached - 1) {
      const int row = std::countr_zero(reached);
      found->survivors[found->count] =
          survivor_of(block.first + static_cast<uint32_t>(row), static_cast<int>(distances[row]));
      found->bounds[found->count++] = bounds_[row];
    }
  }

 private:
  using Floats = hn::RebindToFloat<D32>;

  hn::Vec<Floats> base_;
  hn::Vec<Floats> weight_;
  hn::Vec<Floats> height_;
  hn::Vec<Floats> tilt_;
  hn::Vec<Floats> threshold_;
  alignas(64) float bounds_[kBlockRows + kGroupRows];
};

/// Distances of the rows of a vector, in 64-bit lanes.
template <int kWords, bool kThirdBit>
HWY_ATTR HWY_INLINE hn::Vec<WordLanes> distances(const uint64_t* words, const ScanQuery& query) {
  const WordLanes d64;
  auto sums = hn::Zero(ByteLanes());
#pragma GCC unroll 4
  for (int word = 0; word < kWords; ++word) {
    const auto at = static_cast<size_t>(word);
    const auto differ =
        hn::Xor(hn::Set(d64, query.sign_words[at]), hn::Load(d64, words + at * kGroupRows));
    sums = hn::Add(sums, WeightedCounts(query.heavy_words[at]).of(differ));
    if (kThirdBit && word == 0)
      sums = hn::Add(sums, fourfold_counts(differ, query.very_heavy_word));
  }
  return hn::SumsOf8(sums);
}

// Two vectors of 64-bit lanes at a time, brought together as 32-bit lanes.
template <int kWords, bool kThirdBit>
HWY_ATTR void survivors_of_words(const SignBlocks& blocks, const BlockFactors* factors_of_blocks,
                                 SurvivorSearch* search) {
  const hn::Repartition<uint32_t, WordLanes> d32;
  constexpr int kVectorRows = static_cast<int>(hn::MaxLanes(WordLanes()));
  LineOfBlock<decltype(d32)> line(search->line);
  alignas(64) uint32_t distances_of_rows[kBlockRows + kGroupRows];
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    const BlockFactors& factors = *factors_of_blocks++;
    const auto words_of = [&](int row) {
      return block.words + static_cast<size_t>(row / kGroupRows) * kWords * kGroupRows +
             row % kGroupRows;
    };
    uint64_t reached = 0;
    for (int row = 0; row < block.room; row += 2 * kVectorRows) {
      // A last group alone is paired with itself: the places behind it have no rows.
      const int second = row + kVectorRows < block.room ? row + kVectorRows : row;
      const auto low = distances<kWords, kThirdBit>(words_of(row), *search->query);
      const auto high = distances<kWords, kThirdBit>(words_of(second), *search->query);
      const auto both = hn::ConcatEven(d32, hn::BitCast(d32, high), hn::BitCast(d32, low));
      hn::Store(both, d32, distances_of_rows + row);
      reached |= line.reached(row, both, factors);
    }
    line.take(block, reached, distances_of_rows, &search->found);
  }
}

template <int kWords>
HWY_ATTR void survivors_of_blocks(const SignBlocks& blocks, const BlockFactors* factors,
                                  SurvivorSearch* search) {
  if (search->query->very_heavy_word != 0) {
    survivors_of_words<kWords, true>(blocks, factors, search);
  } else {
    survivors_of_words<kWords, false>(blocks, factors, search);
  }
}

/// The same for several queries, by tables.
HWY_ATTR void survivors_by_tables(const SignBlocks& blocks, const BlockFactors* factors,
                                  const SignNibbles* nibbles, const SignTables& tables,
                                  SurvivorSearch* search) {
  using D32 = hn::Repartition<uint32_t, RowBytes>;
  LineOfBlock<D32> line(search->line);
  alignas(64) uint32_t distances_of_rows[kBlockRows];
  for (int i = blocks.first; i < blocks.end; ++i, ++factors, ++nibbles) {
    const SignBlock block = blocks.block(i);
    look_up_distances(tables, *nibbles, blocks.layout.front_words(), distances_of_rows);
    uint64_t reached = 0;
    for (int row = 0; row < block.room; row += LineOfBlock<D32>::kRows)
      reached |= line.reached(row, hn::Load(D32(), distances_of_rows + row), *factors);
    line.take(block, reached, distances_of_rows, &search->found);
  }
}

/// Queries from which on a block's signs are laid out for tables: that takes about as long as
/// tables then save for one query.
constexpr int kMinTableQueries = 2;
/// Blocks that lie so in a first-level cache.
constexpr int kNibbleBlocks = 4;

HWY_ATTR void find_by_tables(const ScanCodec& codec, const ScanTile& tile, int first_block,
                             int end_block, SurvivorSearch* searches, int count) {
  constexpr int kMostTables = 8;
  if (count > kMostTables) {
    find_by_tables(codec, tile, first_block, end_block, searches + kMostTables,
                   count - kMostTables);
    count = kMostTables;
  }
  const BlockLayout& layout = codec.layout();
  const bool half = codec.factor_format().half;
  const bool l2 = codec.metric() == Metric::l2;
  SignTables tables[kMostTables];
  for (int i = 0; i < count; ++i) tables[i].make(*searches[i].query);
  BlockFactors factors[kNibbleBlocks];
  SignNibbles nibbles[kNibbleBlocks];
  for (int first = first_block; first < end_block; first += kNibbleBlocks) {
    const SignBlocks blocks = {layout, tile, first, std::min(end_block, first + kNibbleBlocks),
                               false};
    for (int i = first; i < blocks.end; ++i) {
      const SignBlock block = blocks.block(i);
      factors[i - first].load(block, half, l2);
      nibbles[i - first].load(block.words, layout.front_words(), block.room);
    }
    // Near when the queries are done with these.
    for (int i = blocks.end; i < std::min(end_block, blocks.end + kNibbleBlocks); ++i)
      fetch(tile.front[i], layout.front_bytes(tile.room[i]));
    for (int search = 0; search < count; ++search)
      survivors_by_tables(blocks, factors, nibbles, tables[search], searches + search);
  }
}

#endif

using SurvivorsOfBlocks = void (*)(const SignBlocks&, const BlockFactors*, SurvivorSearch*);

/// The kernel for 1 to kMaxFrontWords words.
SurvivorsOfBlocks survivors_kernel(int words) {
  static constexpr SurvivorsOfBlocks kKernels[] = {&survivors_of_blocks<1>, &survivors_of_blocks<2>,
                                                   &survivors_of_blocks<3>,
                                                   &survivors_of_blocks<4>};
  static_assert(std::size(kKernels) == kMaxFrontWords);
  return kKernels[words - 1];
}

#endif

HWY_ATTR void find_survivors(const ScanCodec& codec, const ScanTile& tile, int first_block,
                             int end_block, SurvivorSearch* searches, int count) {
  const BlockLayout& layout = codec.layout();
  const bool half = codec.factor_format().half;
  const bool l2 = codec.metric() == Metric::l2;
#if HWY_TARGET == HWY_AVX3_DL
  const auto kernel = survivors_kernel(layout.front_words(), codec.has_third_bit(), half, l2);
  const int together = count == 1 ? end_block - first_block : kSharedBlocks;
  for (int first = first_block; first < end_block; first += together) {
    const SignBlocks blocks = {layout, tile, first, std::min(end_block, first + together),
                               count == 1};
    for (int search = 0; search < count; ++search) kernel(blocks, searches + search);
  }
#else
#if HWY_TARGET != HWY_SCALAR
  if (count >= kMinTableQueries) {
    find_by_tables(codec, tile, first_block, end_block, searches, count);
    return;
  }
#endif
  const auto kernel = survivors_kernel(layout.front_words());
  BlockFactors factors[kSharedBlocks];
  for (int first = first_block; first < end_block; first += kSharedBlocks) {
    const SignBlocks blocks = {layout, tile, first, std::min(end_block, first + kSharedBlocks),
                               count == 1};
    for (int i = first; i < blocks.end; ++i) factors[i - first].load(blocks.block(i), half, l2);
    for (int search = 0; search < count; ++search) kernel(blocks, factors, searches + search);
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(find_survivors);

SurvivorLine survivor_line(const ScanCodec& codec, const ScanQuery& query, float threshold) {
  // What roundings can take from the bound.
  constexpr float kMargin = 2e-6F;
  const auto most = query.front.slope * static_cast<float>(query.front_weight);
  // Sums keep the order of those in dot_bound, so that most roundings are the same.
  float height = most + query.front.margin;
  height += kMargin * (height + most);

  const FactorFormat& format = codec.factor_format();
  const bool l2 = codec.metric() == Metric::l2;
  const float norm_unit = l2 ? format.bias_unit : format.scale_unit;
  SurvivorLine line;
  line.base = query.score.base;
  line.weight =
      query.score.weight * (l2 ? -(format.bias_unit * format.bias_unit) : format.bias_unit);
  line.tilt = 2 * query.front.slope * norm_unit;
  line.height = height * norm_unit;
  line.threshold = std::isfinite(threshold) ? threshold : std::numeric_limits<float>::lowest();
  return line;
}

void find_sign_survivors(const ScanCodec& codec, const ScanTile& tile, int first_block,
                         int end_block, SurvivorSearch* searches, int count) {
  for (int i = 0; i < count; ++i) {
    searches[i].line = survivor_line(codec, *searches[i].query, searches[i].threshold);
  }
  HWY_DYNAMIC_DISPATCH(find_survivors)(codec, tile, first_block, end_block, searches, count);
}

}  // namespace polarquant
#endif
