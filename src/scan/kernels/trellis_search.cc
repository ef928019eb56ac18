// SPDX-License-Identifier: MIT
// The same float operations as the plain code's, in the same order and without fused ones, so that
// every target finds the same path. Of branches into a state that cost the same the lowest wins, as
// there.
#include "src/scan/kernels/trellis_search.h"

#include <algorithm>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/trellis_search.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

TrellisKernels trellis_kernels() { return {}; }

#else

using Lanes = hn::CappedTag<float, 16>;
using WinnerLanes = hn::RebindToSigned<Lanes>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Lanes()));
constexpr int kGroupsPerWord = 4;

/// How the 2^step branches into each state lie in registers. A group is kLanes states, or all
/// states `folds` times: then each copy of a state has its part of the branches, in an order in
/// which folding the register in halves brings neighbouring parts together, so that the lower of
/// equals wins. Register q of a group holds each lane's q-th branch.
struct Shape {
  constexpr explicit Shape(int step)
      : states(trellis_states(step)),
        branches(1 << step),
        groups(std::max(1, states / kLanes)),
        folds(std::max(1, kLanes / states)),
        registers(branches / folds),
        keeps_masks(branches <= 4),
        mask_bytes(groups * (std::max(8, kLanes) / 8)),
        words((groups + kGroupsPerWord - 1) / kGroupsPerWord),
        trail_row(keeps_masks ? 32 * ((mask_bytes * (branches - 1) + 31) / 32)
                              : words * kLanes * static_cast<int>(sizeof(int32_t))) {}

  /// Where arranged cells have the window.
  constexpr int place(int window) const {
    const int state = window / branches;
    const int branch = window % branches;
    const int lane = state % kLanes + reversed(branch / registers) * states;
    return (state / kLanes * registers + branch % registers) * kLanes + lane;
  }
  /// The first branch of a lane.
  constexpr int first_branch(int lane) const {
    return folds > 1 ? reversed(lane / states) * registers : 0;
  }
  /// The bits of a number under `folds` in reverse.
  constexpr int reversed(int part) const {
    int result = 0;
    for (int bit = 1; bit < folds; bit *= 2, part /= 2) result = 2 * result + part % 2;
    return result;
  }
  /// Where a row of winners has the branch that won a state, and in which byte of the word.
  constexpr uint32_t word(uint32_t state) const {
    return state / (kGroupsPerWord * kLanes) * kLanes + state % kLanes;
  }
  constexpr uint32_t shift(uint32_t state) const { return 8 * (state / kLanes % kGroupsPerWord); }
  /// Where a row of masks has a comparison for a state: comparison 1 is the last one, between the
  /// halves of the branches, 2i and 2i+1 those inside the halves that comparison i is between.
  constexpr uint32_t mask_byte(uint32_t comparison, uint32_t state) const {
    return (comparison - 1) * mask_bytes + state / std::min(8, kLanes);
  }
  constexpr uint32_t mask_bit(uint32_t state) const { return state % std::min(8, kLanes); }

  int states, branches, groups, folds, registers;
  /// What a pair leaves in the trail: the outcomes of comparisons, for few branches, else the
  /// winners.
  bool keeps_masks;
  int mask_bytes;  // of one comparison for all states
  int words;       // registers of winners; each 32-bit lane has a byte for each of four groups
  int trail_row;   // bytes of a pair
};

void arrange_cells(const Cells& cells, int step, Cells* arranged) {
  const Shape shape(step);
  for (int window = 0; window < kCells; ++window) {
    arranged->x[shape.place(window)] = cells.x[window];
    arranged->y[shape.place(window)] = cells.y[window];
  }
}

/// The costs of states before a pair, as the branches want them. Branch b leads into state a from
/// state (a·branches + b) mod states: every branches-th state for few branches, one state for many.
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

/// What register kBranch of group kGroup adds to; `costs` for many branches, else spread costs.
template <int kStep, int kBranch>
HWY_ATTR HWY_INLINE hn::Vec<Lanes> costs_before(const float* costs, int group) {
  const Lanes d;
  if constexpr (kStep <= 2) {
    constexpr int kRun = trellis_states(kStep) >> kStep;
    return hn::Load(d, costs + kBranch * kRun + group * kLanes % kRun);
  } else if constexpr (kStep == 3) {
    return hn::LoadDup128(d, costs + 4 * kBranch);
  } else {
    return hn::Set(d, costs[kBranch % trellis_states(kStep)]);
  }
}

/// The number of each register's branch in all lanes, for each group of a word in its byte. In
/// memory and not known to the compiler: it would make constants on the ports that the sums need.
template <int kStep>
struct BranchNumbers {
  static constexpr int kRegisters = Shape(kStep).registers;
  BranchNumbers() {
    for (int i = 0; i < kGroupsPerWord * kRegisters * kLanes; ++i) {
      const int number = i / kLanes % kRegisters;
      lanes[i] =
          static_cast<int32_t>(static_cast<uint32_t>(number) << (8 * (i / kLanes / kRegisters)));
    }
  }
  alignas(64) int32_t lanes[kGroupsPerWord * kRegisters * kLanes];
};

/// The least of kCount branches from kFirst on, and its number out of `numbers` or the comparisons.
template <int kStep, int kFirst, int kCount, int kComparison = 1>
HWY_ATTR HWY_INLINE void find_best(const float* costs, int group, const float* cells_x,
                                   const float* cells_y, const int32_t* numbers, hn::Vec<Lanes> px,
                                   hn::Vec<Lanes> py, hn::Vec<Lanes>& best,
                                   hn::Vec<WinnerLanes>& winner, uint8_t* masks) {
  constexpr Shape kShape(kStep);
  const Lanes d;
  const WinnerLanes di;
  if constexpr (kCount == 1) {
    const auto dx = hn::Sub(px, hn::Load(d, cells_x + kFirst * kLanes));
    const auto dy = hn::Sub(py, hn::Load(d, cells_y + kFirst * kLanes));
    const auto distance = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
    best = hn::Add(costs_before<kStep, kFirst>(costs, group), distance);
    if constexpr (!kShape.keeps_masks) winner = hn::Load(di, numbers + kFirst * kLanes);
  } else {
    constexpr int kHalf = kCount / 2;
    auto high = best;
    auto high_winner = winner;
    find_best<kStep, kFirst, kHalf, 2 * kComparison>(costs, group, cells_x, cells_y, numbers, px,
                                                     py, best, winner, masks);
    find_best<kStep, kFirst + kHalf, kHalf, 2 * kComparison + 1>(
        costs, group, cells_x, cells_y, numbers, px, py, high, high_winner, masks);
    const auto is_high = hn::Lt(high, best);
    best = hn::Min(high, best);
    if constexpr (kShape.keeps_masks) {
      hn::StoreMaskBits(d, is_high, masks + (kComparison - 1) * kShape.mask_bytes);
    } else {
      winner = hn::IfThenElse(hn::RebindMask(di, is_high), high_winner, winner);
    }
  }
}

/// The least of the copies of each state, `winner` with it: to the first kStates lanes.
template <int kStates, class D>
HWY_ATTR HWY_INLINE void fold(D d, hn::Vec<D> best, hn::Vec<hn::RebindToSigned<D> > winner,
                              float* costs, int32_t* trail) {
  constexpr int kWidth = static_cast<int>(hn::MaxLanes(d));
  const hn::RebindToSigned<D> di;
  if constexpr (kWidth > 4 && kWidth > kStates) {
    const hn::Half<D> half;
    const hn::RebindToSigned<hn::Half<D> > half_int;
    const auto low = hn::LowerHalf(half, best);
    const auto high = hn::UpperHalf(half, best);
    const auto is_high = hn::RebindMask(half_int, hn::Lt(high, low));
    fold<kStates>(
        half, hn::Min(high, low),
        hn::IfThenElse(is_high, hn::UpperHalf(half_int, winner), hn::LowerHalf(half_int, winner)),
        costs, trail);
  } else {
    if constexpr (kStates <= 2) {
      const auto high = hn::Shuffle1032(best);
      const auto is_high = hn::RebindMask(di, hn::Lt(high, best));
      best = hn::Min(high, best);
      winner = hn::IfThenElse(is_high, hn::Shuffle1032(winner), winner);
    }
    if constexpr (kStates == 1) {
      const auto high = hn::Shuffle2301(best);
      const auto is_high = hn::RebindMask(di, hn::Lt(high, best));
      best = hn::Min(high, best);
      winner = hn::IfThenElse(is_high, hn::Shuffle2301(winner), winner);
    }
    hn::Store(best, d, costs);
    hn::Store(winner, di, trail);
  }
}

/// Groups kGroup … of one word of the trail.
template <int kStep, int kGroup, int kGroups>
HWY_ATTR HWY_INLINE hn::Vec<WinnerLanes> advance_groups(const float* before, int first_group,
                                                        const Cells& cells, const int32_t* numbers,
                                                        hn::Vec<Lanes> px, hn::Vec<Lanes> py,
                                                        float* after) {
  constexpr Shape kShape(kStep);
  const Lanes d;
  const WinnerLanes di;
  const int group = first_group + kGroup;
  const int place = group * kShape.registers * kLanes;
  auto best = px;
  auto winner = hn::Zero(di);
  find_best<kStep, 0, kShape.registers>(before, group, cells.x + place, cells.y + place,
                                        numbers + kGroup * kShape.registers * kLanes, px, py, best,
                                        winner, nullptr);
  hn::Store(best, d, after + group * kLanes);
  if constexpr (kGroup + 1 == kGroups) {
    return winner;
  } else {
    return hn::Or(winner, advance_groups<kStep, kGroup + 1, kGroups>(before, first_group, cells,
                                                                     numbers, px, py, after));
  }
}

template <int kStep>
HWY_ATTR HWY_INLINE void advance_pair(const Cells& cells, const int32_t* numbers, float x, float y,
                                      const float* before, float* after, uint8_t* trail) {
  constexpr Shape kShape(kStep);
  const Lanes d;
  const WinnerLanes di;
  const auto px = hn::Set(d, x);
  const auto py = hn::Set(d, y);
  alignas(64) float spread[kStep <= 3 ? trellis_states(kStep) : 1];
  if constexpr (kStep <= 3) {
    spread_costs<kStep>(before, spread);
    before = spread;
  }
  if constexpr (kShape.folds > 1) {
    alignas(64) static constexpr struct FirstBranches {
      constexpr FirstBranches() {
        const Shape shape(kStep);
        for (int lane = 0; lane < kLanes; ++lane) of_lane[lane] = shape.first_branch(lane);
      }
      int32_t of_lane[kLanes] = {};
    } kFirstBranches;
    auto best = px;
    auto winner = hn::Zero(di);
    find_best<kStep, 0, kShape.registers>(before, 0, cells.x, cells.y, numbers, px, py, best,
                                          winner, nullptr);
    fold<kShape.states>(d, best, hn::Add(winner, hn::Load(di, kFirstBranches.of_lane)), after,
                        reinterpret_cast<int32_t*>(trail));
  } else if constexpr (kShape.keeps_masks) {
    for (int group = 0; group < kShape.groups; ++group) {
      const int place = group * kShape.registers * kLanes;
      auto best = px;
      auto winner = hn::Zero(di);
      find_best<kStep, 0, kShape.registers>(before, group, cells.x + place, cells.y + place,
                                            nullptr, px, py, best, winner,
                                            trail + group * (kShape.mask_bytes / kShape.groups));
      hn::Store(best, d, after + group * kLanes);
    }
  } else {
    constexpr int kGroups = std::min(kShape.groups, kGroupsPerWord);
    for (int word = 0; word < kShape.words; ++word) {
      hn::Store(
          advance_groups<kStep, 0, kGroups>(before, word * kGroups, cells, numbers, px, py, after),
          di, reinterpret_cast<int32_t*>(trail) + word * kLanes);
    }
  }
}

/// A pair with a weight other than 1: at most the last one of a vector.
void advance_weighted(const Cells& cells, int step, float x, float y, float weight,
                      const float* before, float* after, uint8_t* trail) {
  const Shape shape(step);
  std::fill_n(trail, shape.trail_row, uint8_t{0});
  for (int state = 0; state < shape.states; ++state) {
    float best = 0;
    int winner = -1;
    for (int branch = 0; branch < shape.branches; ++branch) {
      const int window = state * shape.branches + branch;
      const float dx = x - cells.x[shape.place(window)];
      const float dy = y - cells.y[shape.place(window)];
      const float total = before[window % shape.states] + (dx * dx + weight * (dy * dy));
      if (winner >= 0 && !(total < best)) continue;
      best = total;
      winner = branch;
    }
    after[state] = best;
    if (shape.keeps_masks) {
      int comparison = 1;
      for (int half = shape.branches / 2; half > 0; half /= 2) {
        const int is_high = winner / half % 2;
        uint8_t& byte = trail[shape.mask_byte(comparison, state)];
        byte = static_cast<uint8_t>(byte | is_high << shape.mask_bit(state));
        comparison = 2 * comparison + is_high;
      }
    } else {
      int32_t& word = reinterpret_cast<int32_t*>(trail)[shape.word(state)];
      word = static_cast<int32_t>(static_cast<uint32_t>(word) | static_cast<uint32_t>(winner)
                                                                    << shape.shift(state));
    }
  }
}

template <int kStep>
HWY_ATTR void advance_by(const Cells& cells, const TrellisPoints& points, TrellisPass pass,
                         float* costs, uint8_t* trail) {
  constexpr Shape kShape(kStep);
  // Stores of whole registers may pass the last state.
  alignas(64) float costs0[std::max(kShape.states, kLanes)];
  alignas(64) float costs1[std::max(kShape.states, kLanes)];
  std::copy_n(costs, kShape.states, costs0);
  const BranchNumbers<kStep> numbers;
  float* before = costs0;
  float* after = costs1;
  for (int pair = pass.first; pair < pass.first + pass.count; ++pair) {
    if (points.weight_y[pair] == 1) {
      advance_pair<kStep>(cells, numbers.lanes, points.x[pair], points.y[pair], before, after,
                          trail);
    } else {
      advance_weighted(cells, kStep, points.x[pair], points.y[pair], points.weight_y[pair], before,
                       after, trail);
    }
    std::swap(before, after);
    trail += kShape.trail_row;
  }
  std::copy_n(before, kShape.states, costs);
}

HWY_ATTR void advance(const Cells& cells, int step, const TrellisPoints& points, TrellisPass pass,
                      float* costs, uint8_t* trail) {
  switch (step) {
    case 1:
      return advance_by<1>(cells, points, pass, costs, trail);
    case 2:
      return advance_by<2>(cells, points, pass, costs, trail);
    case 3:
      return advance_by<3>(cells, points, pass, costs, trail);
    case 4:
      return advance_by<4>(cells, points, pass, costs, trail);
    case 5:
      return advance_by<5>(cells, points, pass, costs, trail);
    case 6:
      return advance_by<6>(cells, points, pass, costs, trail);
    case 7:
      return advance_by<7>(cells, points, pass, costs, trail);
    default:
      return advance_by<8>(cells, points, pass, costs, trail);
  }
}

/// Which of kCount branches won, by the comparisons: all are read, so that none waits for another.
template <int kStep, int kCount, int kComparison = 1>
HWY_INLINE uint32_t winner_of(const uint8_t* masks, uint32_t state) {
  if constexpr (kCount == 1) {
    return 0;
  } else {
    constexpr Shape kShape(kStep);
    constexpr uint32_t kHalf = kCount / 2;
    const uint32_t low = winner_of<kStep, kHalf, 2 * kComparison>(masks, state);
    const uint32_t high = kHalf + winner_of<kStep, kHalf, 2 * kComparison + 1>(masks, state);
    uint32_t is_high = 0;
    if constexpr (kShape.mask_bytes == sizeof(uint64_t) && kLanes >= 8) {
      // Where it is does not depend on the state, so that it is read ahead.
      uint64_t bits = 0;
      std::memcpy(&bits, masks + (kComparison - 1) * sizeof bits, sizeof bits);
      is_high = static_cast<uint32_t>(bits >> state & 1U);
    } else {
      is_high = masks[kShape.mask_byte(kComparison, state)] >> kShape.mask_bit(state) & 1U;
    }
    return low ^ ((low ^ high) & (0U - is_high));
  }
}

template <int kStep>
int trace_by(TrellisPass pass, const uint8_t* trail, int last_state, uint8_t* windows) {
  constexpr Shape kShape(kStep);
  auto state = static_cast<uint32_t>(last_state);
  trail += static_cast<ptrdiff_t>(pass.count) * kShape.trail_row;
  for (int i = pass.count - 1; i >= 0; --i) {
    trail -= kShape.trail_row;
    uint32_t branch = 0;
    if constexpr (kShape.keeps_masks) {
      branch = winner_of<kStep, kShape.branches>(trail, state);
    } else {
      const auto word =
          static_cast<uint32_t>(reinterpret_cast<const int32_t*>(trail)[kShape.word(state)]);
      branch = word >> kShape.shift(state) & 0xffU;
    }
    const uint32_t window = state << kStep | branch;
    windows[i] = static_cast<uint8_t>(window);
    state = window % static_cast<uint32_t>(kShape.states);
  }
  return static_cast<int>(state);
}

int trace(const Cells& cells, int step, const TrellisPoints& points, TrellisPass pass,
          const uint8_t* trail, int state, uint8_t* windows) {
  (void)cells, (void)points;
  switch (step) {
    case 1:
      return trace_by<1>(pass, trail, state, windows);
    case 2:
      return trace_by<2>(pass, trail, state, windows);
    case 3:
      return trace_by<3>(pass, trail, state, windows);
    case 4:
      return trace_by<4>(pass, trail, state, windows);
    case 5:
      return trace_by<5>(pass, trail, state, windows);
    case 6:
      return trace_by<6>(pass, trail, state, windows);
    case 7:
      return trace_by<7>(pass, trail, state, windows);
    default:
      return trace_by<8>(pass, trail, state, windows);
  }
}

TrellisKernels trellis_kernels() {
  TrellisKernels kernels;
  kernels.target = hwy::TargetName(HWY_TARGET);
  kernels.arrange_cells = arrange_cells;
  kernels.advance = advance;
  kernels.trace = trace;
  return kernels;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(trellis_kernels);

TrellisKernels simd_trellis_kernels() { return HWY_DYNAMIC_DISPATCH(trellis_kernels)(); }

}  // namespace polarquant
#endif
