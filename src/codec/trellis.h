// SPDX-License-Identifier: MIT
// Tail-biting trellis codes over a sliding window of 8 bits: the cell plane of docs/codec.md.
//
// A sequence of `pairs` points in the plane is coded by `step` bits a point. The bits form a ring of
// pairs·step bits, bit i of the ring at bit i mod 8 of byte i/8. The window of pair t is the byte
// made of ring bits t·step+step−8 … t·step+step−1, the last one on top: the pair's own bits above the
// 8−step bits before them, which wrap round the ring's end for the first pairs. The window indexes a
// table of 256 cells. Encoding is a Viterbi search over the 2^(8−step) values of the bits before a
// pair; decoding reads one byte and one table row a pair.
#pragma once

#include <cstdint>
#include <vector>

#include "src/core/aligned_buffer.h"

namespace polarquant {

inline constexpr int kWindowBits = 8;
inline constexpr int kCells = 256;

/// The 256 cells a window chooses from.
struct Cells {
  alignas(64) float x[kCells];
  alignas(64) float y[kCells];
};

/// Points to code. weight_y is 0 for pairs whose second coordinate is absent, else 1.
struct TrellisPoints {
  const float* x;
  const float* y;
  const float* weight_y;
  int pairs;
};

class TrellisEncoder {
 public:
  /// `cells` is copied; step in [1, 8].
  TrellisEncoder(const Cells& cells, int step);

  /// The window of every pair on a path of least squared error; windows has points.pairs entries.
  /// Ties take the lowest window. An encoder keeps its working memory: one per thread.
  ///
  /// Up to kExactPairs pairs the path is the best ring there is. Beyond, the start state is the one
  /// that the best free path round the ring's joint passes, and the path is the best that starts and
  /// ends there.
  void encode(const TrellisPoints& points, uint8_t* windows);

  /// The best ring takes 2 to 3 times as long (.5 bits: 16 times). For rings of 12 pairs the state
  /// found at the joint gives 15 to 38 % more error up to 2 bits, for 32 pairs .7 to 4 %, for 64
  /// pairs .3 to 1.3 %.
  static constexpr int kExactPairs = 32;
  /// Pairs on either side of the joint that the search for the start state looks at. At dim 384, 16
  /// of them cost .2 to .6 % more error than 32, and 48 gain at most .3 % (1-bit steps; else 0).
  static constexpr int kWarmupPairs = 32;

 private:
  int states() const { return 1 << (kWindowBits - step_); }
  /// Costs of all states after `step` pairs of the current run.
  float* costs_after(int step) { return &costs_[static_cast<size_t>(step) * states()]; }
  template <int kStep>
  void advance_by(const TrellisPoints& points, int pair, const float* before,
                  float* __restrict after) const;
  int window_into(const TrellisPoints& points, int pair, const float* before, int state) const;
  int ring_start_state(const TrellisPoints& points);
  float encode_pinned(const TrellisPoints& points, int state, uint8_t* windows);
  void encode_best_ring(const TrellisPoints& points, uint8_t* windows);

  Cells cells_;  // branch by branch: see advance_by
  int step_;
  void (TrellisEncoder::*advance_)(const TrellisPoints&, int, const float*, float* __restrict) const;
  AlignedVector<float> costs_;
  std::vector<uint8_t> candidate_;
  std::vector<float> bounds_;
  std::vector<int> starts_;
};

/// Writes the ring of bits that windows of consecutive pairs stand for: ⌈pairs·step/8⌉ bytes,
/// padding bits 0.
void pack_windows(const uint8_t* windows, int pairs, int step, uint8_t* ring);
/// The window of pair `pair` of a ring of pairs·step bits.
int read_window(const uint8_t* ring, int pairs, int step, int pair);

}  // namespace polarquant
