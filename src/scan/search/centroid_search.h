// SPDX-License-Identifier: MIT
// The coarse search of an inverted file: which of its centroids are nearest to a query. All are
// scored by their coordinates rounded to bytes, the best of them by their floats. Where many
// queries want one centroid each, as rows that are put into lists do, fewer numbers bound the
// scores first (leading_axes.h).
//
// Threads: search may run at the same time on one object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/codec/codec.h"
#include "src/scan/search/byte_vectors.h"
#include "src/scan/search/made_later.h"
#include "src/scan/search/plan.h"

namespace polarquant {

class ByteQueries;
class LeadingAxes;

struct CentroidRequest {
  int64_t nq = 0;
  const float* queries = nullptr;  // (nq, dim), finite; borrowed
  int64_t nprobe = 1;
  int threads = 0;  // as core/parallel.h
  /// The numbers of the centroids that are looked at, rising; null: all.
  const std::vector<int32_t>* among = nullptr;
};

class CentroidSearch {
 public:
  /// centroids: (count, dim), count ≥ 1, borrowed and not changed while this lives. Throws
  /// bad_argument where they are not finite.
  CentroidSearch(int64_t count, int dim, Metric metric, const float* centroids);
  ~CentroidSearch();

  int64_t count() const { return count_; }
  const float* centroids() const { return centroids_; }
  /// Memory without the centroids.
  size_t memory_bytes() const;

  /// The nprobe nearest for each query: their scores, inner product or squared L2 distance, and
  /// numbers (nq, nprobe), nearest first, ties to the lower number; −1 where there are fewer. They
  /// are exact, except for rounding errors of more than five standard deviations.
  void search(const CentroidRequest& request, float* scores, int64_t* lists) const;
  /// The similarity of each of nq queries to each centroid, (nq, count), by rounded coordinates, on
  /// the calling thread: an inner product or minus a squared distance.
  void similarities(int64_t nq, const float* queries, float* out) const;

 private:
  /// Centroids by fewer numbers, whose products bound the similarities from above.
  struct Reduced;

  float take_residual(int64_t list, float* v) const;
  std::shared_ptr<const Reduced> reduced(const CentroidRequest& request) const;
  void prepare(int64_t nq, const float* queries, const LeadingAxes* axes, ByteQueries* to) const;
  void fetch_centroid(int64_t list) const;
  void choose(const CentroidRequest& request, int64_t query, std::span<const float> similarity,
              float margin, float* scores, int64_t* lists) const;
  bool choose_nearest(const float* q, std::span<const float> bounds, float margin, float* score,
                      int64_t* list) const;
  void search_reduced(const CentroidRequest& request, const Reduced& reduced, float* scores,
                      int64_t* lists) const;
  void search_all(const CentroidRequest& request, float* scores, int64_t* lists) const;

  const float* centroids_;
  int64_t count_;
  Codec codec_;  // prepares queries; nothing is coded
  NearestPlan nearest_plan_;
  /// Centroid c about their mean m, rotated, with ⟨m, c−m⟩ for inner product, −‖c−m‖² for L2.
  ByteVectors vectors_;
  MadeLater<Reduced> reduced_;
};

}  // namespace polarquant
