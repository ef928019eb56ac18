// SPDX-License-Identifier: MIT
// Viterbi search (Viterbi 1967; trellis source coding: Marcellin, Fischer 1990) over a shift
// register of 8 bits. All sums are float additions in one stated order, so every compiler finds one
// path.
#include "src/codec/trellis.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "src/core/aligned_buffer.h"

namespace polarquant {
namespace {

constexpr float kUnreachable = std::numeric_limits<float>::infinity();

// The plain kernels. A pair's trail is the cost of every state before it.

// The order of advance_by: branch by branch.
int place_by_branch(int window, int step) {
  return (window % (1 << step)) * trellis_states(step) + (window >> step);
}

void arrange_by_branch(const Cells& cells, int step, Cells* arranged) {
  for (int window = 0; window < kCells; ++window) {
    const int place = place_by_branch(window, step);
    arranged->x[place] = cells.x[window];
    arranged->y[place] = cells.y[window];
  }
}

// One pair. Window w = own·states + before leads from state `before` to state w >> step; branch =
// w mod 2^step tells apart the windows that lead there, before = branch mod states (few branches:
// with after·branches on top). Everything is laid out branch by branch, so that the minimum is over
// whole rows of `after`, which compilers turn into vector code. For a fixed branch, `before` runs
// through every branches-th state again and again (few branches), or is one state (many).
template <int kStep>
void advance_by(const Cells& cells, const TrellisPoints& points, int pair, const float* before,
                float* __restrict after) {
  constexpr int kBranches = 1 << kStep;
  constexpr int kStates = kCells / kBranches;
  constexpr int kParallel = parallel_windows(kStep);
  constexpr int kBefore = kBranches / kParallel;
  constexpr int kRun = kStates / kBefore;
  const float px = points.x[pair];
  const float py = points.y[pair];
  const float weight = points.weight_y[pair];
  std::fill_n(after, kStates, kUnreachable);
  for (int from = 0; from < kBefore; ++from) {
    uint32_t nearest[kStates];
    std::fill_n(nearest, kStates, std::numeric_limits<uint32_t>::max());
    for (int window = 0; window < kParallel; ++window) {
      const float* cell_x = cells.x + (window * kBefore + from) * kStates;
      const float* cell_y = cells.y + (window * kBefore + from) * kStates;
      for (int i = 0; i < kStates; ++i) {
        const float dx = px - cell_x[i];
        const float dy = py - cell_y[i];
        nearest[i] =
            std::min(nearest[i], rank_among_parallel(dx * dx + weight * (dy * dy), kStep, window));
      }
    }
    float before_run[kRun];
    for (int i = 0; i < kRun; ++i) before_run[i] = before[(i * kBefore + from) % kStates];
    for (int first = 0; first < kStates; first += kRun) {
      for (int i = 0; i < kRun; ++i) {
        const float total = before_run[i] + distance_of_rank(nearest[first + i], kStep);
        after[first + i] = total < after[first + i] ? total : after[first + i];
      }
    }
  }
}

void advance_plain(const Cells& cells, int step, const TrellisPoints& points, TrellisPass pass,
                   float* costs) {
  using Advance =
      void (*)(const Cells&, const TrellisPoints&, int, const float*, float* __restrict);
  static constexpr Advance kAdvance[] = {advance_by<1>, advance_by<2>, advance_by<3>,
                                         advance_by<4>, advance_by<5>, advance_by<6>,
                                         advance_by<7>, advance_by<8>};
  const auto states = static_cast<size_t>(trellis_states(step));
  for (int i = 0; i < pass.count; ++i) {
    auto* before = reinterpret_cast<float*>(pass.trail + i * trail_bytes(step));
    std::copy_n(costs, states, before);
    kAdvance[step - 1](cells, points, pass.first + i, before, costs);
  }
}

// Costs are not negative, so that their bits sort alike; two loops without branches on numbers.
int first_least(const float* costs, int count) {
  int32_t least = std::numeric_limits<int32_t>::max();
  for (int i = 0; i < count; ++i) least = std::min(least, std::bit_cast<int32_t>(costs[i]));
  int first = 0;
  while (std::bit_cast<int32_t>(costs[first]) != least) ++first;
  return first;
}

int trace_plain(const Cells& cells, int step, const TrellisPoints& points, TrellisPass pass,
                int state, uint8_t* windows) {
  for (int i = pass.count - 1; i >= 0; --i) {
    const auto* before = reinterpret_cast<const float*>(pass.trail + i * trail_bytes(step));
    // Found again from the costs before it, which is cheaper than keeping it for every state.
    const TrellisChoice choice =
        best_branch(cells, step, points[pass.first + i], before, state,
                    [step](int window) { return place_by_branch(window, step); });
    const int window = (state << step) | choice.branch;
    windows[i] = static_cast<uint8_t>(window);
    state = window & (trellis_states(step) - 1);
  }
  return state;
}

}  // namespace

CellBytes::CellBytes(const Cells& cells) {
  for (int cell = 0; cell < kCells; ++cell) {
    for (int byte = 0; byte < 4; ++byte) {
      x[byte][cell] = static_cast<uint8_t>(std::bit_cast<uint32_t>(cells.x[cell]) >> (8 * byte));
      y[byte][cell] = static_cast<uint8_t>(std::bit_cast<uint32_t>(cells.y[cell]) >> (8 * byte));
    }
  }
}

TrellisKernels::TrellisKernels()
    : arrange_cells(arrange_by_branch),
      advance(advance_plain),
      trace(trace_plain),
      decode_segments([](const CellBytes&, int, const TrellisCode&, float*) { return 0; }) {}

TrellisEncoder::TrellisEncoder(const Cells& cells, int step, const TrellisKernels& kernels,
                               int exact_pairs)
    : step_(step), exact_pairs_(exact_pairs), kernels_(kernels) {
  kernels_.arrange_cells(cells, step, &cells_);
}

int TrellisEncoder::ring_start_state(const TrellisPoints& points, uint8_t* trail,
                                     uint8_t* windows) const {
  const int reach = std::min(kWarmupPairs, points.pairs);
  alignas(64) float costs[kCells / 2] = {};
  kernels_.advance(cells_, step_, points, {points.pairs - reach, reach, trail}, costs);
  kernels_.advance(cells_, step_, points, {0, reach, trail}, costs);
  const int state = first_least(costs, states());
  return kernels_.trace(cells_, step_, points, {0, reach, trail}, state, windows);
}

float TrellisEncoder::encode_pinned(const TrellisPoints& points, int state, uint8_t* trail,
                                    uint8_t* windows) const {
  alignas(64) float costs[kCells / 2];
  std::fill_n(costs, states(), kUnreachable);
  costs[state] = 0;
  kernels_.advance(cells_, step_, points, {0, points.pairs, trail}, costs);
  kernels_.trace(cells_, step_, points, {0, points.pairs, trail}, state, windows);
  return costs[state];
}

// Tries start states until no other can do better: a lap that may start anywhere and ends in a
// state costs no more than the ring through that state (float additions keep the order), and the
// states are tried by this bound.
void TrellisEncoder::encode_best_ring(const TrellisPoints& points, uint8_t* trail,
                                      uint8_t* windows) const {
  alignas(64) float bounds[kCells / 2] = {};
  kernels_.advance(cells_, step_, points, {0, points.pairs, trail}, bounds);
  int starts[kCells / 2];
  std::iota(starts, starts + states(), 0);
  std::sort(starts, starts + states(),
            [&](int a, int b) { return bounds[a] != bounds[b] ? bounds[a] < bounds[b] : a < b; });
  uint8_t candidate[kExactPairs];
  float best = kUnreachable;
  for (int i = 0; i < states() && bounds[starts[i]] < best; ++i) {
    const float cost = encode_pinned(points, starts[i], trail, candidate);
    if (cost < best) {
      best = cost;
      std::copy_n(candidate, points.pairs, windows);
    }
  }
}

void TrellisEncoder::encode(const TrellisPoints& points, uint8_t* windows) const {
  thread_local AlignedVector<uint8_t> trail;
  trail.resize(static_cast<size_t>(points.pairs) * trail_bytes(step_));
  if (points.pairs <= exact_pairs_) {
    encode_best_ring(points, trail.data(), windows);
  } else {
    const int state = ring_start_state(points, trail.data(), windows);
    encode_pinned(points, state, trail.data(), windows);
  }
}

void pack_windows(const uint8_t* windows, int pairs, int step, uint8_t* ring) {
  // Eight pairs have `step` whole bytes.
  for (int first = 0; first < pairs; first += 8) {
    const int count = std::min(8, pairs - first);
    uint64_t bits = 0;
    for (int i = 0; i < count; ++i) {
      const auto own = static_cast<uint64_t>(windows[first + i] >> (kWindowBits - step));
      bits |= own << (i * step);
    }
    for (int bit = 0; bit < count * step; bit += 8) *ring++ = static_cast<uint8_t>(bits >> bit);
  }
}

int read_window(const uint8_t* ring, int pairs, int step, int pair) {
  const int bits = pairs * step;
  const int first = pair * step + step - kWindowBits;
  int window = 0;
  if (first >= 0 && first + kWindowBits <= bits) {
    const int low = ring[first / 8] >> (first % 8);
    const int high = first % 8 == 0 ? 0 : ring[first / 8 + 1] << (8 - first % 8);
    return (low | high) & 0xff;
  }
  for (int bit = 0; bit < kWindowBits; ++bit) {
    const int position = ((first + bit) % bits + bits) % bits;
    window |= ((ring[position / 8] >> (position % 8)) & 1) << bit;
  }
  return window;
}

void read_windows(const uint8_t* ring, int pairs, int step, int first, uint8_t* windows) {
  // Windows of two bytes that lie inside the ring; the first ones go round, the last byte may be
  // short.
  const int inside = (kWindowBits - 1) / step;
  const int bytes = (pairs * step + 7) / 8;
  int pair = first;
  for (; pair < std::min(inside, pairs); ++pair) {
    windows[pair - first] = static_cast<uint8_t>(read_window(ring, pairs, step, pair));
  }
  for (int bit = pair * step + step - kWindowBits; pair < pairs && bit / 8 + 1 < bytes;
       ++pair, bit += step) {
    windows[pair - first] =
        static_cast<uint8_t>((ring[bit / 8] | ring[bit / 8 + 1] << 8) >> (bit % 8));
  }
  for (; pair < pairs; ++pair) {
    windows[pair - first] = static_cast<uint8_t>(read_window(ring, pairs, step, pair));
  }
}

}  // namespace polarquant
