// SPDX-License-Identifier: MIT
// The plain code's float operations, in the same order and without fused ones, so that every target
// finds the same path. Of branches into a state that cost the same, the plain code's winner wins
// here too.
#include "src/simd/trellis_search.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/simd/trellis_search.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/trellis_few_branches-inl.h"
#include "src/simd/trellis_parallel_branches-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_SCALAR || HWY_HAVE_SCALABLE

TrellisKernels trellis_kernels() { return {}; }

#else

template <int kStep>
using Branches =
    std::conditional_t<parallel_windows(kStep) == 1, FewBranches<kStep>, ParallelBranches<kStep> >;

/// Calls `function` with the step as a constant.
template <class Function>
auto with_step(int step, const Function& function) {
  switch (step) {
    case 1:
      return function(std::integral_constant<int, 1>());
    case 2:
      return function(std::integral_constant<int, 2>());
    case 3:
      return function(std::integral_constant<int, 3>());
    case 4:
      return function(std::integral_constant<int, 4>());
    case 5:
      return function(std::integral_constant<int, 5>());
    case 6:
      return function(std::integral_constant<int, 6>());
    case 7:
      return function(std::integral_constant<int, 7>());
    default:
      return function(std::integral_constant<int, 8>());
  }
}

void arrange_cells(const Cells& cells, int step, Cells* arranged) {
  with_step(step, [&](auto constant) {
    for (int window = 0; window < kCells; ++window) {
      const int place = Branches<constant()>::place(window);
      arranged->x[place] = cells.x[window];
      arranged->y[place] = cells.y[window];
    }
  });
}

/// A pair with a weight other than 1: at most the last one of a vector.
template <int kStep>
void advance_weighted(const Cells& cells, TrellisPoint point, const float* before, float* after,
                      uint8_t* trail) {
  std::fill_n(trail, Branches<kStep>::kTrailRow, uint8_t{0});
  for (int state = 0; state < trellis_states(kStep); ++state) {
    const TrellisChoice choice =
        best_branch(cells, kStep, point, before, state, Branches<kStep>::place);
    after[state] = choice.total;
    Branches<kStep>::keep_branch(state, choice.branch, trail);
  }
}

template <int kStep>
HWY_ATTR void advance_by(const Cells& cells, const TrellisPoints& points, TrellisPass pass,
                         float* costs) {
  constexpr int kStates = trellis_states(kStep);
  // Stores of whole registers may pass the last state.
  alignas(64) float costs0[std::max(kStates, 16)];
  alignas(64) float costs1[std::max(kStates, 16)];
  std::copy_n(costs, kStates, costs0);
  static const typename Branches<kStep>::Numbers numbers;
  float* before = costs0;
  float* after = costs1;
  uint8_t* trail = pass.trail;
  for (int pair = pass.first; pair < pass.first + pass.count; ++pair) {
    if (points.weight_y[pair] == 1) {
      Branches<kStep>::advance_pair(cells, numbers, points.x[pair], points.y[pair], before, after,
                                    trail);
    } else {
      advance_weighted<kStep>(cells, points[pair], before, after, trail);
    }
    std::swap(before, after);
    trail += Branches<kStep>::kTrailRow;
  }
  std::copy_n(before, kStates, costs);
}

void advance(const Cells& cells, int step, const TrellisPoints& points, TrellisPass pass,
             float* costs) {
  with_step(step, [&](auto constant) { advance_by<constant()>(cells, points, pass, costs); });
}

template <int kStep>
int trace_by(TrellisPass pass, int last_state, uint8_t* windows) {
  auto state = static_cast<uint32_t>(last_state);
  const uint8_t* trail =
      pass.trail + static_cast<ptrdiff_t>(pass.count) * Branches<kStep>::kTrailRow;
  for (int i = pass.count - 1; i >= 0; --i) {
    trail -= Branches<kStep>::kTrailRow;
    const uint32_t window = state << kStep | Branches<kStep>::branch_into(state, trail);
    windows[i] = static_cast<uint8_t>(window);
    state = window % static_cast<uint32_t>(trellis_states(kStep));
  }
  return static_cast<int>(state);
}

int trace(const Cells& cells, int step, const TrellisPoints& points, TrellisPass pass, int state,
          uint8_t* windows) {
  (void)cells, (void)points;
  return with_step(step, [&](auto constant) { return trace_by<constant()>(pass, state, windows); });
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
