// SPDX-License-Identifier: MIT
// Tail-biting trellis codes over a sliding window of 8 bits: the cell plane of docs/codec.md.
//
// A sequence of `pairs` points in the plane is coded by `step` bits a point. The bits form a ring
// of pairs·step bits, bit i of the ring at bit i mod 8 of byte i/8. The window of pair t is the
// byte made of ring bits t·step+step−8 … t·step+step−1, the last one on top: the pair's own bits
// above the 8−step bits before them, which wrap round the ring's end for the first pairs. The
// window indexes a table of 256 cells. Encoding is a Viterbi search over the 2^(8−step) values of
// the bits before a pair; decoding reads one byte and one table row a pair.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace polarquant {

inline constexpr int kWindowBits = 8;
inline constexpr int kCells = 256;

/// The 256 cells a window chooses from.
struct Cells {
  alignas(64) float x[kCells];
  alignas(64) float y[kCells];
};

/// The bytes of cells' floats, by significance, lowest first: what kernels look up.
struct CellBytes {
  explicit CellBytes(const Cells& cells);

  alignas(64) uint8_t x[4][kCells];
  alignas(64) uint8_t y[4][kCells];
};

/// A vector's planes to be decoded: `signs` is the quadrant plane, or null, `ring` the cell plane.
struct TrellisCode {
  const uint8_t* signs;
  const uint8_t* ring;
  int dim;
};

/// weight_y is 0 for pairs whose second coordinate is absent, else 1.
struct TrellisPoint {
  float x;
  float y;
  float weight_y;
};
/// Points to code.
struct TrellisPoints {
  const float* x;
  const float* y;
  const float* weight_y;
  int pairs;

  TrellisPoint operator[](int pair) const { return {x[pair], y[pair], weight_y[pair]}; }
};

/// One pass of the search is pairs first … first+count−1, in order. What a pass keeps for the way
/// back lies in its trail, count·trail_bytes(step) bytes that only the same kernels can read.
struct TrellisPass {
  int first;
  int count;
  uint8_t* trail;
};

/// The largest part of the search, as functions that may be replaced by faster ones of the same
/// results (codec_kernels.h). These are the plain ones.
struct TrellisKernels {
  const char* target = "plain";
  /// Orders cells as the other functions want them.
  void (*arrange_cells)(const Cells& cells, int step, Cells* arranged);
  /// costs, one a state: before the pass, then after it. 64-byte aligned, as the trail is.
  void (*advance)(const Cells& arranged, int step, const TrellisPoints& points, TrellisPass pass,
                  float* costs);
  /// The windows, (count), of the path by which the pass came into `state`; returns where it began.
  int (*trace)(const Cells& arranged, int step, const TrellisPoints& points, TrellisPass pass,
               int state, uint8_t* windows);

  /// Decodes coordinates from the first on, as many whole segments as it likes; returns how many.
  /// Reads nothing beyond the planes.
  int (*decode_segments)(const CellBytes& cells, int step, const TrellisCode& code, float* u);

  TrellisKernels();
};

/// States between pairs: the values of the bits that the next window keeps.
constexpr int trellis_states(int step) { return 1 << (kWindowBits - step); }
/// Windows that lead from one state to the same next one: parallel transitions (Ungerboeck 1982).
/// Of the 2^step windows into a state, where those are more than states, windows j·states + i come
/// from state i, for every j. The nearest of them is taken before costs are looked at, so that most
/// of the search does not wait for the pair before.
constexpr int parallel_windows(int step) { return std::max(1, (1 << step) / trellis_states(step)); }

/// Nearest first, then the lowest `window` in [0, parallel_windows): a distance's lowest bits give
/// way to the window's number, so that a minimum of integers finds both. That is at most 2^-15 of
/// the distance (5 bits a dimension; 2^-19 for 4).
inline uint32_t rank_among_parallel(float distance, int step, int window) {
  const auto mask = static_cast<uint32_t>(parallel_windows(step) - 1);
  return (std::bit_cast<uint32_t>(distance) & ~mask) | static_cast<uint32_t>(window);
}
inline int window_of_rank(uint32_t rank, int step) {
  return static_cast<int>(rank & static_cast<uint32_t>(parallel_windows(step) - 1));
}
/// The cost that it adds to a path.
inline float distance_of_rank(uint32_t rank, int step) {
  return std::bit_cast<float>(rank & ~static_cast<uint32_t>(parallel_windows(step) - 1));
}

/// The best way to a state, and from which one; `branch`: the window's part below its bits.
struct TrellisChoice {
  float total = std::numeric_limits<float>::infinity();
  int branch = 0;
};
/// The cost after a point, from the costs before it. `place(window)` is where `cells` have a
/// window. This is the definition: functions that do all states faster must give the same bits.
template <class Place>
TrellisChoice best_branch(const Cells& cells, int step, TrellisPoint point, const float* before,
                          int state, const Place& place) {
  const int parallel = parallel_windows(step);
  const int sources = (1 << step) / parallel;
  TrellisChoice best;
  for (int source = 0; source < sources; ++source) {
    uint32_t nearest = std::numeric_limits<uint32_t>::max();
    for (int number = 0; number < parallel; ++number) {
      const int at = place((state << step) + number * sources + source);
      const float dx = point.x - cells.x[at];
      const float dy = point.y - cells.y[at];
      const float distance = dx * dx + point.weight_y * (dy * dy);
      nearest = std::min(nearest, rank_among_parallel(distance, step, number));
    }
    const int branch = window_of_rank(nearest, step) * sources + source;
    const int state_before = ((state << step) + branch) % trellis_states(step);
    const float total = before[state_before] + distance_of_rank(nearest, step);
    if (total < best.total) best = {total, branch};
  }
  return best;
}

/// The most that a pass may keep of each pair.
constexpr size_t trail_bytes(int step) {
  return std::max<size_t>(64, sizeof(float) * static_cast<size_t>(trellis_states(step)));
}

class TrellisEncoder {
 public:
  /// `cells` is copied; step in [1, 8]; exact_pairs: up to kExactPairs, see encode.
  TrellisEncoder(const Cells& cells, int step, const TrellisKernels& kernels = TrellisKernels(),
                 int exact_pairs = kExactPairs);
  const TrellisKernels& kernels() const { return kernels_; }
  int exact_pairs() const { return exact_pairs_; }

  /// The window of every pair on a path of least squared error; windows has points.pairs entries.
  /// Ties take the lowest window among parallel ones, then the lowest state before. Thread-safe.
  ///
  /// Up to exact_pairs pairs the path is the best ring there is. Beyond, the start state is the one
  /// that the best free path round the ring's joint passes, and the path is the best that starts
  /// and ends there.
  void encode(const TrellisPoints& points, uint8_t* windows) const;

  /// The best ring takes 2 to 3 times as long (.5 bits: 16 times). For rings of 12 pairs the state
  /// found at the joint gives 15 to 38 % more error up to 2 bits, for 32 pairs .7 to 4 %, for 64
  /// pairs .3 to 1.3 %.
  static constexpr int kExactPairs = 32;
  /// Where most rings are short: encode takes a third of the time, for .001 to .007 less recall@10.
  static constexpr int kFewExactPairs = 24;
  /// Pairs on either side of the joint that the search for the start state looks at. At dim 384, 16
  /// of them cost .2 to .6 % more error than 32, and 48 gain at most .3 % (1-bit steps; else 0).
  static constexpr int kWarmupPairs = 32;

 private:
  int states() const { return trellis_states(step_); }
  int ring_start_state(const TrellisPoints& points, uint8_t* trail, uint8_t* windows) const;
  float encode_pinned(const TrellisPoints& points, int state, uint8_t* trail,
                      uint8_t* windows) const;
  void encode_best_ring(const TrellisPoints& points, uint8_t* trail, uint8_t* windows) const;

  int step_;
  int exact_pairs_;
  TrellisKernels kernels_;
  Cells cells_;  // as the kernels arrange them
};

/// Writes the ring of bits of windows of consecutive pairs: ⌈pairs·step/8⌉ bytes, padding bits 0.
void pack_windows(const uint8_t* windows, int pairs, int step, uint8_t* ring);
/// The window of pair `pair` of a ring of pairs·step bits.
int read_window(const uint8_t* ring, int pairs, int step, int pair);
/// The windows of the pairs from `first` on.
void read_windows(const uint8_t* ring, int pairs, int step, int first, uint8_t* windows);

}  // namespace polarquant
