// SPDX-License-Identifier: MIT
// The functions that take most of a codec's time, as a table. The plain ones are the default and
// the truth; a layer above has faster ones, which give the same bits for the same arguments on
// every machine. So the choice of functions is no part of a codec's state.
#pragma once

#include "src/codec/centroids.h"
#include "src/codec/dot.h"
#include "src/codec/rotation.h"
#include "src/codec/trellis.h"
#include "src/codec/walsh_hadamard.h"

namespace polarquant {

struct CodecKernels {
  RotationKernels rotation;
  TrellisKernels trellis;
  void (*walsh_hadamard)(float* x, int size) = polarquant::walsh_hadamard;
  double (*dot_exact)(const float* a, const float* b, int n) = polarquant::dot_exact;
  float (*dot_float)(const float* a, const float* b, int n) = polarquant::dot_float;
  void (*add_multiple)(double factor, const float* x, int n,
                       double* sum) = polarquant::add_multiple;
  void (*subtract_multiple)(const float* a, float factor, const float* b, int n,
                            float* out) = polarquant::subtract_multiple;
  MakeCentroidFinder make_centroid_finder = polarquant::plain_centroid_finder;
};

}  // namespace polarquant
