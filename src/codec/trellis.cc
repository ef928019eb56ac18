// SPDX-License-Identifier: MIT
// Viterbi search (Viterbi 1967; trellis source coding: Marcellin, Fischer 1990) over a shift register
// of 8 bits. All sums are float additions in one stated order, so every compiler finds one path.
#include "src/codec/trellis.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace polarquant {
namespace {

constexpr float kUnreachable = std::numeric_limits<float>::infinity();

}  // namespace

// One pair. Window w = own·states + before costs what state `before` did plus its cell's distance, and
// leads to state after = w >> step; branch = w mod 2^step tells apart the windows that lead there.
// Everything is laid out branch by branch, so that the minimum is over whole rows of `after`, which
// compilers turn into vector code. For fixed branch, before = (after·branches + branch) mod states
// runs through every branches-th state again and again (few branches), or is one state (many).
template <int kStep>
void TrellisEncoder::advance_by(const TrellisPoints& points, int pair, const float* before,
                                float* __restrict after) const {
  constexpr int kBranches = 1 << kStep;
  constexpr int kStates = kCells / kBranches;
  constexpr int kRun = kStates > kBranches ? kStates / kBranches : 1;
  const float px = points.x[pair];
  const float py = points.y[pair];
  const float weight = points.weight_y[pair];
  std::fill_n(after, kStates, kUnreachable);
  for (int branch = 0; branch < kBranches; ++branch) {
    float before_run[kRun];
    for (int i = 0; i < kRun; ++i) before_run[i] = before[(i * kBranches + branch) % kStates];
    const float* cell_x = cells_.x + branch * kStates;
    const float* cell_y = cells_.y + branch * kStates;
    for (int first = 0; first < kStates; first += kRun) {
      for (int i = 0; i < kRun; ++i) {
        const float dx = px - cell_x[first + i];
        const float dy = py - cell_y[first + i];
        const float total = before_run[i] + (dx * dx + weight * (dy * dy));
        after[first + i] = total < after[first + i] ? total : after[first + i];
      }
    }
  }
}

TrellisEncoder::TrellisEncoder(const Cells& cells, int step) : step_(step) {
  using Advance =
      void (TrellisEncoder::*)(const TrellisPoints&, int, const float*, float* __restrict) const;
  static constexpr Advance kAdvance[] = {
      &TrellisEncoder::advance_by<1>, &TrellisEncoder::advance_by<2>, &TrellisEncoder::advance_by<3>,
      &TrellisEncoder::advance_by<4>, &TrellisEncoder::advance_by<5>, &TrellisEncoder::advance_by<6>,
      &TrellisEncoder::advance_by<7>, &TrellisEncoder::advance_by<8>};
  advance_ = kAdvance[step - 1];
  for (int window = 0; window < kCells; ++window) {
    const int place = (window % (1 << step)) * states() + (window >> step);
    cells_.x[place] = cells.x[window];
    cells_.y[place] = cells.y[window];
  }
}

// The window that gave `state` its cost after this pair: found again from the costs before it, by the
// same float operations, instead of being kept for every state.
int TrellisEncoder::window_into(const TrellisPoints& points, int pair, const float* before,
                                int state) const {
  float best = kUnreachable;
  int best_window = state << step_;
  for (int branch = 0; branch < (1 << step_); ++branch) {
    const int window = (state << step_) | branch;
    const int place = branch * states() + state;
    const float dx = points.x[pair] - cells_.x[place];
    const float dy = points.y[pair] - cells_.y[place];
    const float total =
        before[window & (states() - 1)] + (dx * dx + points.weight_y[pair] * (dy * dy));
    if (total < best) {
      best = total;
      best_window = window;
    }
  }
  return best_window;
}

int TrellisEncoder::ring_start_state(const TrellisPoints& points) {
  const int reach = std::min(kWarmupPairs, points.pairs);
  const auto pair_at = [&](int i) { return (points.pairs - reach + i) % points.pairs; };
  std::fill_n(costs_after(0), states(), 0.0F);
  for (int i = 0; i < 2 * reach; ++i) {
    (this->*advance_)(points, pair_at(i), costs_after(i), costs_after(i + 1));
  }
  const float* last = costs_after(2 * reach);
  int state = static_cast<int>(std::min_element(last, last + states()) - last);
  for (int i = 2 * reach - 1; i >= reach; --i) {
    state = window_into(points, pair_at(i), costs_after(i), state) & (states() - 1);
  }
  return state;
}

float TrellisEncoder::encode_pinned(const TrellisPoints& points, int state, uint8_t* windows) {
  std::fill_n(costs_after(0), states(), kUnreachable);
  costs_after(0)[state] = 0;
  for (int pair = 0; pair < points.pairs; ++pair) {
    (this->*advance_)(points, pair, costs_after(pair), costs_after(pair + 1));
  }
  const float cost = costs_after(points.pairs)[state];
  for (int pair = points.pairs - 1; pair >= 0; --pair) {
    const int window = window_into(points, pair, costs_after(pair), state);
    windows[pair] = static_cast<uint8_t>(window);
    state = window & (states() - 1);
  }
  return cost;
}

// Tries start states until no other can do better: a lap that may start anywhere and ends in a state
// costs no more than the ring through that state (float additions keep the order), and the states
// are tried by this bound.
void TrellisEncoder::encode_best_ring(const TrellisPoints& points, uint8_t* windows) {
  std::fill_n(costs_after(0), states(), 0.0F);
  for (int pair = 0; pair < points.pairs; ++pair) {
    (this->*advance_)(points, pair, costs_after(pair), costs_after(pair + 1));
  }
  const float* last = costs_after(points.pairs);
  bounds_.assign(last, last + states());
  starts_.resize(states());
  std::iota(starts_.begin(), starts_.end(), 0);
  std::stable_sort(starts_.begin(), starts_.end(),
                   [&](int a, int b) { return bounds_[a] < bounds_[b]; });
  candidate_.resize(points.pairs);
  float best = kUnreachable;
  for (const int state : starts_) {
    if (bounds_[state] >= best) return;
    const float cost = encode_pinned(points, state, candidate_.data());
    if (cost < best) {
      best = cost;
      std::copy_n(candidate_.data(), points.pairs, windows);
    }
  }
}

void TrellisEncoder::encode(const TrellisPoints& points, uint8_t* windows) {
  const int steps = std::max(points.pairs, 2 * std::min(kWarmupPairs, points.pairs));
  costs_.resize(static_cast<size_t>(steps + 1) * states());
  if (points.pairs <= kExactPairs) {
    encode_best_ring(points, windows);
  } else {
    encode_pinned(points, ring_start_state(points), windows);
  }
}

void pack_windows(const uint8_t* windows, int pairs, int step, uint8_t* ring) {
  const int bits = pairs * step;
  std::fill_n(ring, (bits + 7) / 8, uint8_t{0});
  for (int pair = 0; pair < pairs; ++pair) {
    const int own = windows[pair] >> (kWindowBits - step);
    for (int bit = 0; bit < step; ++bit) {
      const int position = pair * step + bit;
      ring[position / 8] = static_cast<uint8_t>(ring[position / 8] | (((own >> bit) & 1) << (position % 8)));
    }
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

}  // namespace polarquant
