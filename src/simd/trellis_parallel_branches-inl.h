// SPDX-License-Identifier: MIT
// A pair of the trellis search where branches are more than states: 5 to 8 bits a pair.
//
// First it finds the nearest window between each two states, as integers that hold its number too
// (rank_among_parallel), which waits for nothing of the pair before. Then it finds the least total
// into each state. Lanes are transitions, from state p to state a, register q of a group of them is
// each transition's q-th window. Where transitions are fewer than lanes, each has several, for
// parts of its windows.
#if defined(POLARQUANT_TRELLIS_PARALLEL_BRANCHES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_TRELLIS_PARALLEL_BRANCHES_INL_H_
#undef POLARQUANT_TRELLIS_PARALLEL_BRANCHES_INL_H_
#else
#define POLARQUANT_TRELLIS_PARALLEL_BRANCHES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "src/codec/trellis.h"
#include "src/simd/capabilities.h"

#if !POLAR_SIMD_SCALAR && !HWY_HAVE_SCALABLE

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int kStep>
class ParallelBranches {
  using Floats = hn::CappedTag<float, 16>;
  using Ints = hn::RebindToSigned<Floats>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));
  static constexpr int kStates = trellis_states(kStep);
  static constexpr int kWindows = parallel_windows(kStep);
  static constexpr int kTransitions = kStates * kStates;
  static constexpr int kCopies = std::max(1, kLanes / kTransitions);
  static constexpr int kGroups = std::max(1, kTransitions / kLanes);
  static constexpr int kRegisters = kWindows / kCopies;
  /// Parts of the states, where there are fewer lanes than states.
  static constexpr int kParts = std::max(1, kStates / kLanes);
  static constexpr int kGroupsOfPart = kGroups / kParts;
  /// The states before that a group's lanes come from.
  static constexpr int kSourcesOfGroup = std::max(1, kStates / kGroupsOfPart);

 public:
  static constexpr int kTrailRow = std::max(4, kStates) * static_cast<int>(sizeof(int32_t));

  /// The place of a window in arranged cells.
  static constexpr int place(int window) {
    const int after = window >> kStep;
    const int before = window % kStates;
    const int number = window % (1 << kStep) / kStates;
    const int group = before % kGroupsOfPart * kParts + after / kLanes;
    const int lane = reversed(before / kGroupsOfPart) * kStates + after % kLanes +
                     number / kRegisters * kTransitions;
    return (group * kRegisters + number % kRegisters) * kLanes + lane;
  }

  /// The number of each register's window. Hidden from the compiler, which would make constants on
  /// the ports that the sums need.
  struct Numbers {
    Numbers() {
      for (int i = 0; i < kRegisters * kLanes; ++i)
        windows[i] = i / kLanes + i % kLanes / kTransitions % kCopies * kRegisters;
    }
    alignas(64) int32_t windows[kRegisters * kLanes];
  };

  static HWY_ATTR HWY_INLINE void advance_pair(const Cells& cells, const Numbers& numbers, float x,
                                               float y, const float* before, float* after,
                                               uint8_t* trail) {
    auto* winners = reinterpret_cast<int32_t*>(trail);
    if constexpr (kStates == 1) {
      const Ints di;
      const auto rank =
          static_cast<uint32_t>(hn::GetLane(hn::MinOfLanes(di, nearest(cells, numbers, x, y, 0))));
      after[0] = before[0] + distance_of_rank(rank, kStep);
      winners[0] = window_of_rank(rank, kStep);
    } else {
      for (int part = 0; part < kParts; ++part)
        advance_part(cells, numbers, x, y, before, part, after, winners);
    }
  }

  static void keep_branch(int state, int branch, uint8_t* trail) {
    reinterpret_cast<int32_t*>(trail)[state] = branch / kStates + branch % kStates * kWindows;
  }

  static HWY_INLINE uint32_t branch_into(uint32_t state, const uint8_t* trail) {
    const uint32_t winner = reinterpret_cast<const uint32_t*>(trail)[state];
    return winner % kWindows * kStates + winner / kWindows;
  }

 private:
  /// A group's transitions without copies.
  using Once = hn::CappedTag<float, std::max(4, std::min(16, kTransitions))>;
  using OnceInts = hn::RebindToSigned<Once>;
  static constexpr int kOnceLanes = static_cast<int>(hn::MaxLanes(Once()));

  /// The bits of a number below kSourcesOfGroup in reverse: in this order folding in halves brings
  /// neighbours together, so that the lower of equals wins.
  static constexpr int reversed(int source) {
    int result = 0;
    for (int bit = 1; bit < kSourcesOfGroup; bit *= 2, source /= 2)
      result = 2 * result + source % 2;
    return result;
  }

  /// The rank of the nearest window of a group's transitions, for each copy.
  static HWY_ATTR HWY_INLINE hn::Vec<Ints> nearest(const Cells& cells, const Numbers& numbers,
                                                   float x, float y, int group) {
    const Floats d;
    const auto px = hn::Set(d, x);
    const auto py = hn::Set(d, y);
    const float* cells_x = cells.x + group * kRegisters * kLanes;
    const float* cells_y = cells.y + group * kRegisters * kLanes;
    constexpr int kUnrolled = std::min(kRegisters, 16);
    auto least = nearest_of<kUnrolled>(cells_x, cells_y, numbers.windows, px, py);
    for (int i = kUnrolled; i < kRegisters; i += kUnrolled) {
      least = hn::Min(least, nearest_of<kUnrolled>(cells_x + i * kLanes, cells_y + i * kLanes,
                                                   numbers.windows + i * kLanes, px, py));
    }
    return least;
  }

  template <int kCount>
  static HWY_ATTR HWY_INLINE hn::Vec<Ints> nearest_of(const float* cells_x, const float* cells_y,
                                                      const int32_t* numbers, hn::Vec<Floats> px,
                                                      hn::Vec<Floats> py) {
    const Floats d;
    const Ints di;
    if constexpr (kCount == 1) {
      const auto dx = hn::Sub(px, hn::Load(d, cells_x));
      const auto dy = hn::Sub(py, hn::Load(d, cells_y));
      const auto distance = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
      return hn::OrAnd(hn::Load(di, numbers), hn::BitCast(di, distance), hn::Set(di, -kWindows));
    } else {
      constexpr int kHalf = kCount / 2;
      const auto low = nearest_of<kHalf>(cells_x, cells_y, numbers, px, py);
      return hn::Min(low, nearest_of<kHalf>(cells_x + kHalf * kLanes, cells_y + kHalf * kLanes,
                                            numbers + kHalf * kLanes, px, py));
    }
  }

  /// The least of a transition's copies.
  template <class D>
  static HWY_ATTR HWY_INLINE hn::Vec<OnceInts> least_copy(D /*di*/, hn::Vec<D> ranks) {
    if constexpr (hn::MaxLanes(D()) == static_cast<size_t>(kOnceLanes)) {
      return ranks;
    } else {
      const hn::Half<D> half;
      return least_copy(half, hn::Min(hn::LowerHalf(half, ranks), hn::UpperHalf(half, ranks)));
    }
  }

  /// The states that a group's transitions come from, in its lanes: those of group `q` of a part.
  struct Sources {
    constexpr Sources() {
      for (int q = 0; q < kGroupsOfPart; ++q)
        for (int lane = 0; lane < kOnceLanes; ++lane) {
          const int state = reversed(lane / kStates) * kGroupsOfPart + q;
          states[q][lane] = state;
          winners[q][lane] = state * kWindows;
        }
    }
    alignas(64) int32_t states[kGroupsOfPart][kOnceLanes] = {};
    alignas(64) int32_t winners[kGroupsOfPart][kOnceLanes] = {};
  };

  /// The costs of all states, first to last, in as many lanes as they need.
  static HWY_ATTR HWY_INLINE hn::Vec<Once> load_costs(const float* costs) {
    const Once d;
    if constexpr (kStates == 4) {
      return hn::LoadDup128(d, costs);
    } else if constexpr (kStates < kOnceLanes && kOnceLanes > 4) {
      // What was stored in halves is not loaded whole, which would wait until it reaches memory.
      const hn::Half<Once> half;
      return hn::ZeroExtendVector(d, hn::Load(half, costs));
    } else {
      return hn::Load(d, costs);
    }
  }

  static HWY_ATTR HWY_INLINE void advance_part(const Cells& cells, const Numbers& numbers, float x,
                                               float y, const float* before, int part, float* after,
                                               int32_t* winners) {
    alignas(64) static constexpr Sources kSources;
    const Once d;
    const OnceInts di;
    auto best = hn::Zero(d);
    auto winner = hn::Zero(di);
    for (int q = 0; q < kGroupsOfPart; ++q) {
      const auto ranks = least_copy(Ints(), nearest(cells, numbers, x, y, q * kParts + part));
      const auto distance = hn::BitCast(d, hn::And(ranks, hn::Set(di, -kWindows)));
      const auto number = hn::And(ranks, hn::Set(di, kWindows - 1));
      auto costs = hn::Set(d, before[q]);
      if constexpr (kOnceLanes > kStates)
        costs =
            hn::TableLookupLanes(load_costs(before), hn::SetTableIndices(d, kSources.states[q]));
      const auto total = hn::Add(costs, distance);
      const auto from = hn::Or(number, hn::Load(di, kSources.winners[q]));
      if (q == 0) {
        best = total;
        winner = from;
      } else {
        const auto is_less = hn::Lt(total, best);
        best = hn::Min(total, best);
        winner = hn::IfThenElse(hn::RebindMask(di, is_less), from, winner);
      }
    }
    fold(d, best, winner, after + part * kLanes, winners + part * kLanes);
  }

  /// The least total into each state, to the first kStates lanes. Of equal ones the lower lane's.
  template <class D>
  static HWY_ATTR HWY_INLINE void fold(D d, hn::Vec<D> best, hn::Vec<hn::RebindToSigned<D> > winner,
                                       float* costs, int32_t* winners) {
    constexpr int kWidth = static_cast<int>(hn::MaxLanes(d));
    const hn::RebindToSigned<D> di;
    if constexpr (kWidth > 4 && kWidth > kStates) {
      const hn::Half<D> half;
      const hn::RebindToSigned<hn::Half<D> > half_int;
      const auto low = hn::LowerHalf(half, best);
      const auto high = hn::UpperHalf(half, best);
      const auto is_high = hn::RebindMask(half_int, hn::Lt(high, low));
      fold(
          half, hn::Min(high, low),
          hn::IfThenElse(is_high, hn::UpperHalf(half_int, winner), hn::LowerHalf(half_int, winner)),
          costs, winners);
    } else {
      if constexpr (kStates == 2) {
        const auto high = hn::Shuffle1032(best);
        const auto is_high = hn::RebindMask(di, hn::Lt(high, best));
        best = hn::Min(high, best);
        winner = hn::IfThenElse(is_high, hn::Shuffle1032(winner), winner);
      }
      hn::Store(best, d, costs);
      hn::Store(winner, di, winners);
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // targets with lanes

#endif  // per-target include guard
