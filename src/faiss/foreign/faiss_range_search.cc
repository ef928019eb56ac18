// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/faiss_range_search.h"

#include <faiss/IndexFlat.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/utils/distances.h>

#include <algorithm>
#include <vector>

#include "src/faiss/foreign/memory_check.h"

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

/// Puts what FAISS found after what is there, its rows numbered from first_row on.
void append(const RangeSearchResult& from, idx_t first_row, RangeFound* found) {
  const int64_t before = found->lims.back();
  for (size_t query = 1; query <= from.nq; ++query)
    found->lims.push_back(before + static_cast<int64_t>(from.lims[query]));
  const size_t count = from.lims[from.nq];
  found->scores.insert(found->scores.end(), from.distances, from.distances + count);
  found->ids.reserve(found->ids.size() + count);
  for (size_t i = 0; i < count; ++i) found->ids.push_back(first_row + from.labels[i]);
}

/// What the queries find in parts of a flat index, one part after the other.
void search_flat(const ::faiss::IndexFlat& index, const Queries& queries, idx_t rows_at_once,
                 RangeFound* found) {
  std::vector<RangeFound> parts;
  for (idx_t first = 0; first < index.ntotal; first += rows_at_once) {
    RangeSearchResult in_part(static_cast<size_t>(queries.n));
    search_rows(index, queries, first, std::min(rows_at_once, index.ntotal - first), &in_part);
    parts.push_back({.lims = {0}});
    append(in_part, first, &parts.back());
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

/// Puts what the queries find after what is there.
void search_parts(const ::faiss::Index& index, const Queries& all,
                  const ::faiss::SearchParametersIVF* params, RangeFound* found) {
  const auto nprobe = params != nullptr ? static_cast<idx_t>(params->nprobe) : 0;
  const RangePart part = part_of_range_search(index, all.n, nprobe);
  // Of about one size, so that the last ones are not too few for products of matrices.
  const idx_t parts = part.queries < all.n ? (all.n + part.queries - 1) / part.queries : 1;
  for (idx_t i = 0; i < parts; ++i) {
    const idx_t first = all.n * i / parts;
    const Queries queries = {all.n * (i + 1) / parts - first, all.x + first * index.d, all.radius};
    if (part.rows < index.ntotal) {
      search_flat(dynamic_cast<const ::faiss::IndexFlat&>(index), queries, part.rows, found);
    } else {
      RangeSearchResult in_part(static_cast<size_t>(queries.n));
      index.range_search(queries.n, queries.x, queries.radius, &in_part, params);
      append(in_part, 0, found);
    }
  }
}

}  // namespace

void search_range_in_parts(const ::faiss::Index& index, const SearchRequest& request,
                           const ::faiss::SearchParametersIVF* params, RangeFound* found) {
  *found = {.lims = {0}};
  const SearchGoal& goal = request.goal;
  if (goal.radii == nullptr)
    return search_parts(index, {request.nq, request.queries, goal.radius}, params, found);
  for (idx_t q = 0; q < request.nq; ++q)
    search_parts(index, {1, request.queries + q * index.d, goal.radii[q]}, params, found);
}

}  // namespace polarquant
