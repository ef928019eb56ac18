// SPDX-License-Identifier: MIT
// Shared fronts where tables have 16 entries: four coordinates an index (sign_tables-inl.h).
#if defined(POLARQUANT_SHARED_NIBBLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SHARED_NIBBLES_INL_H_
#undef POLARQUANT_SHARED_NIBBLES_INL_H_
#else
#define POLARQUANT_SHARED_NIBBLES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "src/scan/kernels/block_factors-inl.h"
#include "src/scan/kernels/shared_fronts.h"
#include "src/scan/kernels/sign_tables-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_AVX3_DL
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// By four signs of a query and, above them, which of its coordinates are heavy: the distances of
/// the 16 ways that a row's signs can be there.
struct NibbleDistances {
  alignas(16) uint8_t of[256][kTableEntries];

  constexpr NibbleDistances(int for_each, int more_for_heavy) : of() {
    for (unsigned query = 0; query < 256; ++query) {
      for (unsigned way = 0; way < kTableEntries; ++way) {
        const unsigned differ = (way ^ query) & 15;
        const int heavy = std::popcount(differ & query >> 4);
        of[query][way] =
            static_cast<uint8_t>(for_each * std::popcount(differ) + more_for_heavy * heavy);
      }
    }
  }
};
constexpr NibbleDistances kNibbleDistances(1, 2);
/// What a third bit, in the place of heavy ones, adds to them.
constexpr NibbleDistances kThirdNibbleDistances(0, 4);

/// Each four coordinates: signs, and above them which are heavy.
inline constexpr size_t kPartsOfWord = kNibblesPerWord;
inline void set_parts(uint64_t signs, uint64_t heavy, uint8_t* nibbles) {
  for (size_t i = 0; i < kPartsOfWord; ++i, signs >>= 4, heavy >>= 4)
    nibbles[i] = static_cast<uint8_t>((signs & 15) | (heavy & 15) << 4);
}

static_assert(sizeof(SignNibbles) == SharedFronts::kMostPlanes * kBlockRows);
inline const SignNibbles& nibbles_of(const SharedFronts& fronts, int block) {
  return reinterpret_cast<const SignNibbles*>(fronts.planes)[block];
}

HWY_ATTR inline void lay_out(const ScanCodec& codec, const ScanTile& tile, int first_block,
                             int end_block, SharedFronts* fronts) {
  const BlockLayout& layout = codec.layout();
  const bool l2 = codec.metric() == Metric::l2;
  fronts->blocks = end_block - first_block;
  fronts->most_inverse = 0;
  fronts->most_ratio = 0;
  for (int i = 0; i < fronts->blocks; ++i) {
    const uint8_t* front = tile.front[first_block + i];
    const int room = tile.room[first_block + i];
    reinterpret_cast<SignNibbles*>(fronts->planes)[i].load(reinterpret_cast<const uint64_t*>(front),
                                                           layout.front_words(), room);
    alignas(64) float scales[kBlockRows] = {};
    alignas(64) float biases[kBlockRows] = {};
    widen_factors(codec.factor_format().half, front + layout.factors_offset(room), room, scales,
                  biases);
    fronts->allowed[i] = tile.allowed[first_block + i];
    fronts->without_cut[i] = 0;
    for (int row = 0; row < kBlockRows; ++row) {
      const float norm = l2 ? biases[row] : scales[row];
      // Smaller ones' inverses could be infinite.
      const bool has_inverse = norm >= 1e-30F;
      const float inverse = has_inverse ? 1 / norm : 0;
      const float ratio = (l2 ? biases[row] * biases[row] : biases[row]) * inverse;
      fronts->without_cut[i] |= uint64_t{has_inverse ? 0U : 1U} << row;
      fronts->inverse_norms[i][row] = inverse;
      fronts->ratios[i][row] = ratio;
      fronts->most_inverse = std::max(fronts->most_inverse, inverse);
      fronts->most_ratio = std::max(fronts->most_ratio, std::fabs(ratio));
    }
  }
}

/// The distance up to which rows reach a threshold (DistanceCut of shared_sextets-inl.h), for as
/// many rows as fill a register with 16 bits each.
class NibbleCut {
 public:
  using D16 = hn::Repartition<int16_t, RowBytes>;
  using D32 = hn::Repartition<int32_t, RowBytes>;
  using Floats = hn::RebindToFloat<D32>;

  HWY_ATTR NibbleCut(const FrontQuery& query, const SharedFronts& fronts, float threshold) {
    const RowsCut cut(query, fronts, threshold);
    at_ = hn::Set(Floats(), cut.at);
    inverse_ = hn::Set(Floats(), cut.inverse);
    ratio_ = hn::Set(Floats(), cut.ratio);
  }

  /// In the order in which low or high halves of a register's bytes are widened.
  HWY_ATTR HWY_INLINE hn::Vec<D16> of(const float* inverses, const float* ratios) const {
    constexpr size_t kQuarter = hn::MaxLanes(D32());
    return hn::ReorderDemote2To(D16(), quarter(inverses, ratios),
                                quarter(inverses + kQuarter, ratios + kQuarter));
  }

 private:
  HWY_ATTR HWY_INLINE hn::Vec<D32> quarter(const float* inverses, const float* ratios) const {
    const Floats df;
    const auto cut =
        hn::MulAdd(inverse_, hn::Load(df, inverses), hn::MulAdd(ratio_, hn::Load(df, ratios), at_));
    // Where it is not a number, any distance will do.
    const auto most = hn::Set(df, RowsCut::kMost);
    return hn::ConvertTo(D32(), hn::IfThenElse(hn::Lt(cut, most), cut, most));
  }

  hn::Vec<Floats> at_, inverse_, ratio_;
};

/// Bits of the lanes of 16 bits, in the order of rows: with two halves these take turns by four.
HWY_ATTR HWY_INLINE uint64_t bits_of_rows(hn::Mask<NibbleCut::D16> mask) {
  const NibbleCut::D16 d;
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  if (hn::MaxLanes(d) == 8) return bits;
  return static_cast<uint64_t>((bits & 0xF00F) | (bits & 0x00F0) << 4 | (bits & 0x0F00) >> 4);
}

/// Registers that a table is loaded for: those of `kBlocks` blocks, some rows at a time.
template <int kBlocks, bool kThirdBit>
HWY_ATTR HWY_INLINE void reach_cut(const ScanCodec& codec, const SharedFronts& fronts,
                                   const FrontQuery& query, const NibbleCut& cut, int first_block,
                                   uint64_t* reached) {
  constexpr int kRegisterRows = static_cast<int>(hn::MaxLanes(RowBytes()));
  constexpr int kOfBlock = 2;
  const NibbleCut::D16 d16;
  const auto table = [&](int at) HWY_ATTR {
    const auto distances = hn::LoadDup128(RowBytes(), kNibbleDistances.of[query.parts[at]]);
    if (!kThirdBit || at >= kNibblesPerWord) return distances;
    return hn::Add(distances,
                   hn::LoadDup128(RowBytes(), kThirdNibbleDistances.of[query.third_parts[at]]));
  };
  for (int first = 0; first < kBlockRows; first += kOfBlock * kRegisterRows) {
    const uint8_t* rows[kBlocks * kOfBlock];
    for (int i = 0; i < kBlocks * kOfBlock; ++i)
      rows[i] = nibbles_of(fronts, first_block + i / kOfBlock).rows[0] + first +
                i % kOfBlock * kRegisterRows;
    SignSumsOfRows<kBlocks * kOfBlock> sums;
    sums.add_up(table, rows, codec.layout().front_words());
#pragma GCC unroll 4
    for (int i = 0; i < kBlocks * kOfBlock; ++i) {
      constexpr int kHalf = kRegisterRows / 2;
      const int block = first_block + i / kOfBlock;
      const int row = first + i % kOfBlock * kRegisterRows;
      const float* inverses = fronts.inverse_norms[block] + row;
      const float* ratios = fronts.ratios[block] + row;
      const auto low = hn::Gt(hn::BitCast(d16, sums.low[i]), cut.of(inverses, ratios));
      const auto high =
          hn::Gt(hn::BitCast(d16, sums.high[i]), cut.of(inverses + kHalf, ratios + kHalf));
      reached[i / kOfBlock] |= bits_of_rows(hn::Not(low)) << row;
      reached[i / kOfBlock] |= bits_of_rows(hn::Not(high)) << (row + kHalf);
    }
  }
}

template <bool kThirdBit>
HWY_ATTR HWY_INLINE void pick_rows_of(const ScanCodec& codec, const SharedFronts& fronts,
                                      const FrontQuery& query, float threshold,
                                      PickedRows* picked) {
  const NibbleCut cut(query, fronts, threshold);
  uint64_t reached[SharedFronts::kMostBlocks] = {};
  int block = 0;
  for (; block + 2 <= fronts.blocks; block += 2)
    reach_cut<2, kThirdBit>(codec, fronts, query, cut, block, reached + block);
  if (block < fronts.blocks)
    reach_cut<1, kThirdBit>(codec, fronts, query, cut, block, reached + block);
  int count = 0;
  for (block = 0; block < fronts.blocks; ++block) {
    uint64_t rows = (reached[block] | fronts.without_cut[block]) & fronts.allowed[block];
    for (; rows != 0; rows &= rows - 1)
      picked->rows[count++] = static_cast<uint16_t>(block * kBlockRows + std::countr_zero(rows));
  }
  picked->count = count;
}

HWY_ATTR inline void pick(const ScanCodec& codec, const SharedFronts& fronts,
                          const FrontPick* picks, int count) {
  for (int i = 0; i < count; ++i) {
    const auto& pick_rows =
        picks[i].query->has_third_bit ? pick_rows_of<true> : pick_rows_of<false>;
    pick_rows(codec, fronts, *picks[i].query, picks[i].threshold, picks[i].picked);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
