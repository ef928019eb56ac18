// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/faiss_range_search.h"

#include <faiss/IndexFlat.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/utils/distances.h>

#include <algorithm>
#include <vector>

#include "src/faiss/foreign/memory_check.h"
#include "src/faiss/index/range_result.h"

namespace polarquant {
namespace {

using ::faiss::RangeSearchResult;

struct Queries {
  idx_t n;
  const float* x;
  float radius;
};

void search_rows(const ::faiss::IndexFlat& index, const Queries& queries, idx_t first, idx_t count,
                 RangeSearchResult* found) {
  const auto d = static_cast<size_t>(index.d);
  const float* rows = index.get_xb() + static_cast<size_t>(first) * d;
  const auto search = index.metric_type == ::faiss::METRIC_INNER_PRODUCT
                          ? ::faiss::range_search_inner_product
                          : ::faiss::range_search_L2sqr;
  search(queries.x, rows, d, static_cast<size_t>(queries.n), static_cast<size_t>(count),
         queries.radius, found, nullptr);
}

/// What the queries find in parts of a flat index, one part after the other.
void search_flat(const ::faiss::IndexFlat& index, const Queries& queries, idx_t rows_at_once,
                 RangeFound* found) {
  std::vector<RangeFound> parts;
  for (idx_t first = 0; first < index.ntotal; first += rows_at_once) {
    RangeSearchResult in_part(static_cast<size_t>(queries.n));
    search_rows(index, queries, first, std::min(rows_at_once, index.ntotal - first), &in_part);
    RangeFound& part = parts.emplace_back();
    part.lims.assign(in_part.lims, in_part.lims + queries.n + 1);
    const auto count = part.lims.back();
    part.scores.assign(in_part.distances, in_part.distances + count);
    for (int64_t i = 0; i < count; ++i) part.ids.push_back(first + in_part.labels[i]);
  }
  for (size_t query = 0; query < static_cast<size_t>(queries.n); ++query) {
    for (const RangeFound& part : parts) {
      const auto begin = part.lims[query];
      const auto end = part.lims[query + 1];
      found->scores.insert(found->scores.end(), part.scores.begin() + begin,
                           part.scores.begin() + end);
      found->ids.insert(found->ids.end(), part.ids.begin() + begin, part.ids.begin() + end);
    }
    found->lims.push_back(std::ssize(found->ids));
  }
}

void search_other(const ::faiss::Index& index, const Queries& queries,
                  const ::faiss::SearchParametersIVF* params, RangeFound* found) {
  RangeSearchResult in_part(static_cast<size_t>(queries.n));
  index.range_search(queries.n, queries.x, queries.radius, &in_part, params);
  const int64_t before = found->lims.back();
  for (idx_t query = 1; query <= queries.n; ++query)
    found->lims.push_back(before + static_cast<int64_t>(in_part.lims[query]));
  const size_t count = in_part.lims[queries.n];
  found->scores.insert(found->scores.end(), in_part.distances, in_part.distances + count);
  found->ids.insert(found->ids.end(), in_part.labels, in_part.labels + count);
}

}  // namespace

void search_range_in_parts(const ::faiss::Index& index, idx_t n, const float* x, float radius,
                           const ::faiss::SearchParametersIVF* params, RangeSearchResult* result) {
  const auto nprobe = params != nullptr ? static_cast<idx_t>(params->nprobe) : 0;
  const RangePart part = part_of_range_search(index, n, nprobe);
  if (part.queries == n && part.rows == index.ntotal) {
    index.range_search(n, x, radius, result, params);
    return;
  }
  const auto* flat = dynamic_cast<const ::faiss::IndexFlat*>(&index);
  // Of about one size, so that the last ones are not too few for products of matrices.
  const idx_t parts = (n + part.queries - 1) / part.queries;
  RangeFound found;
  found.lims.push_back(0);
  for (idx_t i = 0; i < parts; ++i) {
    const idx_t first = n * i / parts;
    const Queries queries = {n * (i + 1) / parts - first, x + first * index.d, radius};
    if (flat != nullptr) {
      search_flat(*flat, queries, part.rows, &found);
    } else {
      search_other(index, queries, params, &found);
    }
  }
  write_range_result(found, result);
}

}  // namespace polarquant
