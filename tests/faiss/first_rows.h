// SPDX-License-Identifier: MIT
// Rows and queries of the tests of first rows, and what they ask of indexes.
#pragma once

#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>

#include <algorithm>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "tests/faiss/stored_indexes.h"

namespace polarquant::test::first_rows {

inline constexpr int kDim = 64;
inline constexpr int64_t kLearn = IndexPolar::rows_to_learn;
inline constexpr int64_t kRows = 1500;
inline constexpr int64_t kK = 10;
inline constexpr ::faiss::MetricType kInnerProduct = ::faiss::METRIC_INNER_PRODUCT;
inline constexpr ::faiss::MetricType kL2 = ::faiss::METRIC_L2;

inline const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
inline const float* row(int64_t i) { return rows().data() + i * kDim; }
inline std::vector<float> some_rows(int64_t first, int64_t end) { return {row(first), row(end)}; }
inline const std::vector<float>& queries() {
  static const std::vector<float> values = clustered_rows(20, kDim, 2);
  return values;
}

/// Adds rows first … end−1, `piece` at a time.
inline void add_in_pieces(::faiss::Index& index, int64_t first, int64_t end, int64_t piece) {
  for (; first < end; first += piece) index.add(std::min(piece, end - first), row(first));
}

inline bool same(const IndexPolar& a, const IndexPolar& b) {
  return a.codec().save_state() == b.codec().save_state() &&
         a.rows_as_floats() == b.rows_as_floats() &&
         find(a, queries(), kRows) == find(b, queries(), kRows);
}

/// The IndexPolar inside, or null.
inline const IndexPolar* polar_in(const ::faiss::Index& index) {
  if (const auto* polar = dynamic_cast<const IndexPolar*>(&index)) return polar;
  if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index))
    return polar_in(*map->index);
  if (const auto* pre = dynamic_cast<const ::faiss::IndexPreTransform*>(&index))
    return polar_in(*pre->index);
  if (const auto* graph = dynamic_cast<const ::faiss::IndexHNSW*>(&index))
    return polar_in(*graph->storage);
  if (const auto* graph = dynamic_cast<const ::faiss::IndexNSG*>(&index))
    return polar_in(*graph->storage);
  if (const auto* refine = dynamic_cast<const ::faiss::IndexRefine*>(&index)) {
    const IndexPolar* base = polar_in(*refine->base_index);
    return base != nullptr ? base : polar_in(*refine->refine_index);
  }
  return nullptr;
}

}  // namespace polarquant::test::first_rows
