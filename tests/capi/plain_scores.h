// SPDX-License-Identifier: MIT
// Scores of devices that are none, few different numbers made of a row's bytes and a query's, and
// the rows of lists that a query probes there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cuda/interface.h"
#include "tests/capi/plain_blocks.h"

namespace polarquant::cuda {

class Hash {
 public:
  void add(const void* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i)
      value_ = (value_ ^ static_cast<const uint8_t*>(bytes)[i]) * 0x100000001b3ULL;
  }
  /// 0 to below − 1; another number for each `use`.
  float number(uint64_t use, uint64_t below) const {
    uint64_t mixed = (value_ + use) * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<float>((mixed >> 33) % below);
  }

 private:
  uint64_t value_ = 0xcbf29ce484222325ULL;
};

struct FoundRow {
  int64_t row;
  float similarity;
  float score;
};

inline FoundRow score_row(const DeviceIndex& index, const SearchRequest& request, int64_t q,
                          int64_t row) {
  Hash hash;
  for (size_t word = 0; word < index.words(); ++word)
    hash.add(index.sketches.data() + index.word_offset(row, word), 8);
  hash.add(index.sketches.data() + index.factors_offset(row), index.factor_bytes());
  hash.add(index.payloads.data() + static_cast<size_t>(row) * index.code.payload_bytes,
           index.code.payload_bytes);
  const auto dim = static_cast<size_t>(index.code.dim);
  hash.add(request.rotated + static_cast<size_t>(q) * dim, dim * sizeof(float));
  return {row, hash.number(1, 50) - 25, hash.number(2, 40) - 20};
}

/// How near a list is to a query, larger is nearer.
inline double nearness(const DeviceIndex& index, const float* query, size_t list) {
  const auto dim = static_cast<size_t>(index.code.dim);
  double sum = 0;
  for (size_t j = 0; j < dim; ++j) {
    const double centroid = index.centroids[list * dim + j];
    const double difference = query[j] - centroid;
    sum += index.centroids_are_l2 ? -difference * difference : query[j] * centroid;
  }
  return sum;
}

/// Whether each row number is one of a list that the query probes, and no spare row after one.
inline std::vector<bool> probed_rows(const DeviceIndex& index, const SearchRequest& request,
                                     int64_t q) {
  const size_t count = index.list_rows.size();
  std::vector<bool> is_probed(static_cast<size_t>(index.rows), count == 0);
  if (count == 0) return is_probed;
  std::vector<std::pair<double, size_t>> lists;  // nearest first
  for (size_t list = 0; list < count; ++list)
    lists.emplace_back(-nearness(index, request.queries + q * index.code.dim, list), list);
  std::sort(lists.begin(), lists.end());
  std::vector<bool> has_list(count);
  int64_t probed = 0;
  int64_t kept = 0;  // of the filter's rows, where these are known
  for (const auto& [nearness_to_query, list] : lists) {
    const ListFilter* filter = request.list_filter;
    if (probed == request.nprobe || (filter != nullptr && kept >= request.wanted_rows)) break;
    if (filter != nullptr && filter[list].kept == 0) continue;
    has_list[list] = true;
    ++probed;
    if (filter != nullptr) kept += filter[list].kept;
  }
  size_t first = 0;
  for (size_t list = 0; list < count; ++list) {
    const auto rows = static_cast<size_t>(index.list_rows[list]);
    for (size_t row = first; row < first + rows; ++row) is_probed[row] = has_list[list];
    first += (rows + kBlockRows - 1) / kBlockRows * kBlockRows;
  }
  return is_probed;
}

}  // namespace polarquant::cuda
