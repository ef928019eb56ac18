// SPDX-License-Identifier: MIT
// The coarse search of an inverted file: which of its centroids are nearest to a query. All are
// scored by integer levels of a code of a byte a dimension, the best of them by their floats.
//
// Threads: search may run at the same time on one object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/codec/codec.h"
#include "src/scan/code_blocks.h"
#include "src/scan/scan_codec.h"

namespace polarquant {

class CentroidSearch {
 public:
  /// centroids: (count, dim), count ≥ 1, borrowed and not changed while this lives. Throws
  /// bad_argument where they are not finite, or so unlike in length that no code holds all.
  CentroidSearch(int64_t count, int dim, Metric metric, const float* centroids);

  int64_t count() const { return blocks_.rows(); }
  const float* centroids() const { return centroids_; }
  /// Without the centroids.
  size_t memory_bytes() const;

  /// The nprobe nearest for each of nq queries (nq, dim), finite: their scores, inner product or
  /// squared L2 distance, and numbers (nq, nprobe), nearest first, ties to the lower number; −1
  /// where there are fewer. `threads` as core/parallel.h. They are the exact ones but where more
  /// than nprobe/8 + 2 others are as near as rounding to a byte can tell.
  void search(int64_t nq, const float* queries, int64_t nprobe, int threads, float* scores,
              int64_t* lists) const;

 private:
  const float* centroids_;
  std::unique_ptr<const Codec> codec_;
  ScanCodec scan_codec_;
  CodeBlocks blocks_;
};

}  // namespace polarquant
