// SPDX-License-Identifier: MIT
// Seeded rows in clusters, as embeddings lie, and what the FAISS tests measure on them.
#pragma once

#include <faiss/Index.h>
#include <faiss/IndexFlat.h>
#include <faiss/impl/FaissException.h>

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/core/random.h"
#include "tests/support/catch.h"

namespace polarquant::test {

/// n rows of dim floats around 20 centres, off the origin by .5 in every coordinate. Rows and
/// queries of equal seed_of_centres and different seed are of one distribution.
inline std::vector<float> clustered_rows(int64_t n, int dim, uint64_t seed,
                                         uint64_t seed_of_centres = 99) {
  constexpr uint64_t kCentres = 20;
  Random centre_random(seed_of_centres);
  std::vector<float> centres(kCentres * static_cast<size_t>(dim));
  for (float& v : centres) v = static_cast<float>(0.5 + centre_random.normal());
  Random random(seed);
  std::vector<float> rows(static_cast<size_t>(n) * static_cast<size_t>(dim));
  for (size_t row = 0; row < static_cast<size_t>(n); ++row) {
    const float* centre = centres.data() + random.below(kCentres) * static_cast<size_t>(dim);
    for (size_t i = 0; i < static_cast<size_t>(dim); ++i) {
      rows[row * static_cast<size_t>(dim) + i] =
          static_cast<float>(centre[i] + 0.6 * random.normal());
    }
  }
  return rows;
}

struct Found {
  std::vector<float> distances;
  std::vector<int64_t> labels;

  bool operator==(const Found&) const = default;
};

inline Found find(const ::faiss::Index& index, const std::vector<float>& queries, int64_t k,
                  const ::faiss::SearchParameters* params = nullptr) {
  const auto nq = static_cast<int64_t>(queries.size()) / index.d;
  Found found{std::vector<float>(static_cast<size_t>(nq * k)),
              std::vector<int64_t>(static_cast<size_t>(nq * k))};
  index.search(nq, queries.data(), k, found.distances.data(), found.labels.data(), params);
  return found;
}

/// The share of `truth`'s labels that `found` has for the same query.
inline double recall(const Found& found, const Found& truth, int64_t k) {
  size_t matches = 0;
  for (size_t begin = 0; begin < truth.labels.size(); begin += static_cast<size_t>(k)) {
    const auto first = truth.labels.begin() + static_cast<ptrdiff_t>(begin);
    const std::unordered_set<int64_t> wanted(first, first + k);
    for (size_t i = begin; i < begin + static_cast<size_t>(k); ++i) {
      matches += wanted.count(found.labels[i]);
    }
  }
  return static_cast<double>(matches) / static_cast<double>(truth.labels.size());
}

inline Found find_exactly(const std::vector<float>& rows, const std::vector<float>& queries,
                          int dim, int64_t k, ::faiss::MetricType metric) {
  ::faiss::IndexFlat flat(dim, metric);
  flat.add(static_cast<int64_t>(rows.size()) / dim, rows.data());
  return find(flat, queries, k);
}

/// Calls f, which must throw a FaissException whose text has `part` in it.
template <typename F>
void require_faiss_error(const std::string& part, F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const ::faiss::FaissException& error) {
    INFO("text: " << error.what());
    REQUIRE(std::string(error.what()).find(part) != std::string::npos);
    return;
  }
  FAIL("no FaissException; expected one naming \"" << part << '"');
}

}  // namespace polarquant::test
