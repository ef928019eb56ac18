// SPDX-License-Identifier: MIT
// Dense scans of codes about centroids: from a chunk's dot products to the rows that reach a
// query's threshold, as dense_matches.h does where scores of all rows begin with the same number.
#pragma once

#include "src/scan/kernels/dense/dense_matches.h"

namespace polarquant {

/// Of the queries of some tiles.
struct CentroidBases {
  const float* bases;  // for each tile (centroids, 16): the queries' centroid_bases side by side
  size_t per_tile;
  bool weighs_by_base;  // as ScanQuery has it
};

/// Terms of a chunk's rows, (kChunkRows) each. A constant that is NaN keeps its row out.
struct CentroidRows {
  const float* scale;
  const float* constant;
  const int32_t* centroid;
};

/// Writes the (row, query) pairs whose similarity is at least the query's threshold, and returns
/// how many; as find_dense_matches.
int find_centroid_matches(const int32_t* dots, int query_tiles, const QueryTileConstants* constants,
                          const CentroidBases& bases, const float* thresholds,
                          const CentroidRows& rows, DenseMatch* matches);

}  // namespace polarquant
