// SPDX-License-Identifier: MIT
// Makes the codebooks of src/codec/trellis_codebooks.cc: Lloyd iterations whose assignment step is
// the encoder's own Viterbi search, on fresh samples each, with noise on the cells that falls to
// zero. Integer random numbers, float and double additions in one order: the same seed gives the
// same bytes on every machine and compiler.
#pragma once

#include <cstdint>
#include <functional>

#include "src/codec/trellis_codebooks.h"

namespace polarquant::training {

/// Fills `points` (2·pairs floats: all x, then all y) with one sample of the source.
using Source = std::function<void(float* points)>;

/// Pairs of one training vector: dim 1024, so that the ring's joint weighs little.
inline constexpr int kPairs = 512;

struct Schedule {
  int iterations = 300;
  int vectors_per_iteration = 384;
  int vectors_to_validate = 2048;
};

/// |x|, |y| of standard normals (quadrant) or x, y.
Source normal_source(bool quadrant, uint64_t seed);
/// gain·(u − û) of standard normals u coded by `first`, as |·| when `quadrant`.
Source residual_source(const TrellisCodebook& first, float gain, bool quadrant, uint64_t seed);

/// One training run. `expected_mse` sets the size of the noise: half the code's error at the start.
Cells train_cells(const Source& source, int step, double expected_mse, const Schedule& schedule,
                  uint64_t seed);
/// Error per dimension of `cells` on `vectors` samples of `source`.
double measure_mse(const Source& source, const Cells& cells, int step, int vectors);

}  // namespace polarquant::training
