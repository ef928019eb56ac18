// SPDX-License-Identifier: MIT
// How the advisor splits its sample: into queries, rows to train on and rows to search, none of
// which is in two parts.
#pragma once

#include <cstdint>
#include <vector>

#include "src/advice/exact_search.h"

namespace polarquant {

struct AdviceSampleOptions {
  int64_t k = 10;
  int64_t max_rows = 20000;  // to search
  int64_t max_queries = 1000;
  uint64_t seed = 1;
};

struct AdviceSample {
  int dim = 0;
  bool held_out_queries = false;  // they are rows of the sample; else the caller's
  std::vector<float> queries;     // (nq, dim)
  std::vector<float> train;       // (train rows, dim)
  std::vector<float> base;        // (base rows, dim), in random order

  int64_t nq() const { return rows_of(queries); }
  int64_t train_rows() const { return rows_of(train); }
  int64_t base_rows() const { return rows_of(base); }

 private:
  int64_t rows_of(const std::vector<float>& part) const {
    return static_cast<int64_t>(part.size()) / dim;
  }
};

/// Recall@k over fewer rows than this for each neighbour says nothing.
inline constexpr int64_t kLeastRowsPerNeighbour = 10;
/// Fewer queries say nothing either.
inline constexpr int64_t kLeastQueries = 10;

/// Draws the parts from the rows and queries, at random by the seed. With nq = 0 a tenth of the
/// rows, max_queries at most, become the queries. Of the rows that are left up to half are for
/// training, at most the larger of 20·dim and 10,000 (training does well from 10·dim on), and up to
/// max_rows of the others are the base. For cosine every row is normalized. Throws bad_argument for
/// too few rows or queries.
AdviceSample split_sample(const RowsAndQueries& vectors, const AdviceSampleOptions& options);

}  // namespace polarquant
