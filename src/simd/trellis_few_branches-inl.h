// SPDX-License-Identifier: MIT
// A pair of the trellis search where states are at least as many as branches: 1 to 4 bits a pair.
//
// A register holds kLanes states; register q of a group of states holds each state's q-th branch.
// The trail holds the outcomes of comparisons, for two and four branches, else the winners.
#if defined(POLARQUANT_TRELLIS_FEW_BRANCHES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_TRELLIS_FEW_BRANCHES_INL_H_
#undef POLARQUANT_TRELLIS_FEW_BRANCHES_INL_H_
#else
#define POLARQUANT_TRELLIS_FEW_BRANCHES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "src/codec/trellis.h"
#include "src/simd/capabilities.h"

#if !POLAR_SIMD_SCALAR && !HWY_HAVE_SCALABLE

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

namespace few_branches {

using Lanes = hn::CappedTag<float, 16>;
using WinnerLanes = hn::RebindToSigned<Lanes>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Lanes()));
constexpr int kGroupsPerWord = 4;

/// The costs of states before a pair, in the order of the branches. Branch b leads into state a
/// from state (a·branches + b) mod states: every branches-th state for few branches, one state for
/// many.
template <int kStep>
HWY_ATTR HWY_INLINE void spread_costs(const float* costs, float* spread) {
  const Lanes d;
  if constexpr (kStep == 1) {
    for (int i = 0; i < 64; i += kLanes) {
      const auto v0 = hn::Load(d, costs + 2 * i);
      const auto v1 = hn::Load(d, costs + 2 * i + kLanes);
      hn::Store(hn::ConcatEven(d, v1, v0), d, spread + i);
      hn::Store(hn::ConcatOdd(d, v1, v0), d, spread + 64 + i);
    }
  } else if constexpr (kStep == 2) {
    for (int i = 0; i < 16; i += kLanes) {
      const auto v0 = hn::Load(d, costs + 4 * i);
      const auto v1 = hn::Load(d, costs + 4 * i + kLanes);
      const auto v2 = hn::Load(d, costs + 4 * i + 2 * kLanes);
      const auto v3 = hn::Load(d, costs + 4 * i + 3 * kLanes);
      const auto even0 = hn::ConcatEven(d, v1, v0);
      const auto even1 = hn::ConcatEven(d, v3, v2);
      const auto odd0 = hn::ConcatOdd(d, v1, v0);
      const auto odd1 = hn::ConcatOdd(d, v3, v2);
      hn::Store(hn::ConcatEven(d, even1, even0), d, spread + i);
      hn::Store(hn::ConcatEven(d, odd1, odd0), d, spread + 16 + i);
      hn::Store(hn::ConcatOdd(d, even1, even0), d, spread + 32 + i);
      hn::Store(hn::ConcatOdd(d, odd1, odd0), d, spread + 48 + i);
    }
  } else if constexpr (kStep == 3) {
    // Four states each: the columns of four rows of eight.
    const hn::FixedTag<float, 4> d4;
    for (int i = 0; i < 8; i += 4) {
      const auto row0 = hn::Load(d4, costs + i);
      const auto row1 = hn::Load(d4, costs + 8 + i);
      const auto row2 = hn::Load(d4, costs + 16 + i);
      const auto row3 = hn::Load(d4, costs + 24 + i);
      const auto low02 = hn::InterleaveLower(d4, row0, row2);
      const auto low13 = hn::InterleaveLower(d4, row1, row3);
      const auto high02 = hn::InterleaveUpper(d4, row0, row2);
      const auto high13 = hn::InterleaveUpper(d4, row1, row3);
      hn::Store(hn::InterleaveLower(d4, low02, low13), d4, spread + 4 * i);
      hn::Store(hn::InterleaveUpper(d4, low02, low13), d4, spread + 4 * i + 4);
      hn::Store(hn::InterleaveLower(d4, high02, high13), d4, spread + 4 * i + 8);
      hn::Store(hn::InterleaveUpper(d4, high02, high13), d4, spread + 4 * i + 12);
    }
  }
}

/// What register kBranch of group kGroup is added to; `costs` for 16 branches, else spread costs.
template <int kStep, int kBranch>
HWY_ATTR HWY_INLINE hn::Vec<Lanes> costs_before(const float* costs, int group) {
  const Lanes d;
  if constexpr (kStep <= 2) {
    constexpr int kRun = trellis_states(kStep) >> kStep;
    return hn::Load(d, costs + kBranch * kRun + group * kLanes % kRun);
  } else if constexpr (kStep == 3) {
    return hn::LoadDup128(d, costs + 4 * kBranch);
  } else {
    return hn::Set(d, costs[kBranch]);
  }
}

/// Which of kCount branches won, by the comparisons: all are read, so that none waits for another.
/// Comparison 1 is the last one, between the halves of the branches, 2i and 2i+1 those inside the
/// halves that comparison i is between.
template <class Branches, int kCount, int kComparison = 1>
HWY_INLINE uint32_t winner_of(const uint8_t* masks, uint32_t state) {
  if constexpr (kCount == 1) {
    return 0;
  } else {
    constexpr uint32_t kHalf = kCount / 2;
    const uint32_t low = winner_of<Branches, kHalf, 2 * kComparison>(masks, state);
    const uint32_t high = kHalf + winner_of<Branches, kHalf, 2 * kComparison + 1>(masks, state);
    uint32_t is_high = 0;
    if constexpr (Branches::kMaskBytes == sizeof(uint64_t) && kLanes >= 8) {
      // Its place does not depend on the state, so that it is read ahead.
      uint64_t bits = 0;
      std::memcpy(&bits, masks + (kComparison - 1) * sizeof bits, sizeof bits);
      is_high = static_cast<uint32_t>(bits >> state & 1U);
    } else {
      is_high = masks[Branches::mask_byte(kComparison, state)] >> Branches::mask_bit(state) & 1U;
    }
    return low ^ ((low ^ high) & (0U - is_high));
  }
}

}  // namespace few_branches

template <int kStep>
class FewBranches {
 public:
  using Lanes = few_branches::Lanes;
  using WinnerLanes = few_branches::WinnerLanes;
  static constexpr int kLanes = few_branches::kLanes;
  static constexpr int kStates = trellis_states(kStep);
  static constexpr int kBranches = 1 << kStep;
  static constexpr int kGroups = kStates / kLanes;
  static constexpr bool kKeepsMasks = kBranches <= 4;
  static constexpr int kMaskBytes = kGroups * (std::max(8, kLanes) / 8);  // of one comparison
  /// Registers of winners; each 32-bit lane has a byte for each of four groups.
  static constexpr int kWords =
      (kGroups + few_branches::kGroupsPerWord - 1) / few_branches::kGroupsPerWord;
  static constexpr int kTrailRow = kKeepsMasks
                                       ? 32 * ((kMaskBytes * (kBranches - 1) + 31) / 32)
                                       : kWords * kLanes * static_cast<int>(sizeof(int32_t));

  /// The place of a window in arranged cells.
  static constexpr int place(int window) {
    const int state = window / kBranches;
    return (state / kLanes * kBranches + window % kBranches) * kLanes + state % kLanes;
  }

  /// The number of each register's branch in all lanes, for each group of a word in its byte.
  /// Hidden from the compiler, which would make constants on the ports that the sums need.
  struct Numbers {
    Numbers() {
      for (int i = 0; i < few_branches::kGroupsPerWord * kBranches * kLanes; ++i) {
        const int number = i / kLanes % kBranches;
        branches[i] =
            static_cast<int32_t>(static_cast<uint32_t>(number) << (8 * (i / kLanes / kBranches)));
      }
    }
    alignas(64) int32_t branches[few_branches::kGroupsPerWord * kBranches * kLanes];
  };

  static HWY_ATTR HWY_INLINE void advance_pair(const Cells& cells, const Numbers& numbers, float x,
                                               float y, const float* before, float* after,
                                               uint8_t* trail) {
    const Lanes d;
    const auto px = hn::Set(d, x);
    const auto py = hn::Set(d, y);
    alignas(64) float spread[kStates];
    if constexpr (kStep <= 3) {
      few_branches::spread_costs<kStep>(before, spread);
      before = spread;
    }
    if constexpr (kKeepsMasks) {
      for (int group = 0; group < kGroups; ++group) {
        const int first = group * kBranches * kLanes;
        auto best = px;
        auto winner = hn::Zero(WinnerLanes());
        find_best<0, kBranches>(before, group, cells.x + first, cells.y + first, nullptr, px, py,
                                best, winner, trail + group * (kMaskBytes / kGroups));
        hn::Store(best, d, after + group * kLanes);
      }
    } else {
      constexpr int kTogether = std::min(kGroups, few_branches::kGroupsPerWord);
      for (int word = 0; word < kWords; ++word) {
        hn::Store(
            advance_groups<0, kTogether>(before, word * kTogether, cells, numbers, px, py, after),
            WinnerLanes(), reinterpret_cast<int32_t*>(trail) + word * kLanes);
      }
    }
  }

  /// Writes the branch that won a state; the trail's row was 0.
  static void keep_branch(int state, int branch, uint8_t* trail) {
    if constexpr (kKeepsMasks) {
      int comparison = 1;
      for (int half = kBranches / 2; half > 0; half /= 2) {
        const int is_high = branch / half % 2;
        uint8_t& byte = trail[mask_byte(comparison, state)];
        byte = static_cast<uint8_t>(byte | is_high << mask_bit(state));
        comparison = 2 * comparison + is_high;
      }
    } else {
      auto& word = reinterpret_cast<uint32_t*>(trail)[word_of(state)];
      word |= static_cast<uint32_t>(branch) << shift_of(state);
    }
  }

  static HWY_INLINE uint32_t branch_into(uint32_t state, const uint8_t* trail) {
    if constexpr (kKeepsMasks) {
      return few_branches::winner_of<FewBranches, kBranches>(trail, state);
    } else {
      return reinterpret_cast<const uint32_t*>(trail)[word_of(state)] >> shift_of(state) & 0xffU;
    }
  }

  /// The place in a row of masks of a state's comparison.
  static constexpr uint32_t mask_byte(uint32_t comparison, uint32_t state) {
    return (comparison - 1) * kMaskBytes + state / std::min(8, kLanes);
  }
  static constexpr uint32_t mask_bit(uint32_t state) { return state % std::min(8, kLanes); }

 private:
  static constexpr uint32_t word_of(uint32_t state) {
    return state / (few_branches::kGroupsPerWord * kLanes) * kLanes + state % kLanes;
  }
  static constexpr uint32_t shift_of(uint32_t state) {
    return 8 * (state / kLanes % few_branches::kGroupsPerWord);
  }

  /// The least of kCount branches from kFirst on, and its number from `numbers` or the comparisons.
  template <int kFirst, int kCount, int kComparison = 1>
  static HWY_ATTR HWY_INLINE void find_best(const float* costs, int group, const float* cells_x,
                                            const float* cells_y, const int32_t* numbers,
                                            hn::Vec<Lanes> px, hn::Vec<Lanes> py,
                                            hn::Vec<Lanes>& best, hn::Vec<WinnerLanes>& winner,
                                            uint8_t* masks) {
    const Lanes d;
    const WinnerLanes di;
    if constexpr (kCount == 1) {
      const auto dx = hn::Sub(px, hn::Load(d, cells_x + kFirst * kLanes));
      const auto dy = hn::Sub(py, hn::Load(d, cells_y + kFirst * kLanes));
      const auto distance = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
      best = hn::Add(few_branches::costs_before<kStep, kFirst>(costs, group), distance);
      if constexpr (!kKeepsMasks) winner = hn::Load(di, numbers + kFirst * kLanes);
    } else {
      constexpr int kHalf = kCount / 2;
      auto high = best;
      auto high_winner = winner;
      find_best<kFirst, kHalf, 2 * kComparison>(costs, group, cells_x, cells_y, numbers, px, py,
                                                best, winner, masks);
      find_best<kFirst + kHalf, kHalf, 2 * kComparison + 1>(costs, group, cells_x, cells_y, numbers,
                                                            px, py, high, high_winner, masks);
      const auto is_high = hn::Lt(high, best);
      best = hn::Min(high, best);
      if constexpr (kKeepsMasks) {
        hn::StoreMaskBits(d, is_high, masks + (kComparison - 1) * kMaskBytes);
      } else {
        winner = hn::IfThenElse(hn::RebindMask(di, is_high), high_winner, winner);
      }
    }
  }

  /// Groups from kGroup on of one word of the trail.
  template <int kGroup, int kTogether>
  static HWY_ATTR HWY_INLINE hn::Vec<WinnerLanes> advance_groups(
      const float* before, int first_group, const Cells& cells, const Numbers& numbers,
      hn::Vec<Lanes> px, hn::Vec<Lanes> py, float* after) {
    const int group = first_group + kGroup;
    const int first = group * kBranches * kLanes;
    auto best = px;
    auto winner = hn::Zero(WinnerLanes());
    find_best<0, kBranches>(before, group, cells.x + first, cells.y + first,
                            numbers.branches + kGroup * kBranches * kLanes, px, py, best, winner,
                            nullptr);
    hn::Store(best, Lanes(), after + group * kLanes);
    if constexpr (kGroup + 1 == kTogether) {
      return winner;
    } else {
      return hn::Or(winner, advance_groups<kGroup + 1, kTogether>(before, first_group, cells,
                                                                  numbers, px, py, after));
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // targets with lanes

#endif  // per-target include guard
