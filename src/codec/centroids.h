// SPDX-License-Identifier: MIT
// The centroids that the codes of PolarB…-km… are about: a row x is C + E, C the centroid nearest
// to it, and has the number of C in its code. docs/codec.md, "Codes about centroids", has the
// maths.
//
// With ŷ = s·Rᵀû what the planes give of E, and the term that is stored beside s, a row is taken
// for
//   inner product and cosine: (1 + t)·C + ŷ, with t = κ⟨C, E − ŷ⟩/‖C‖²;
//   L2: C + ŷ, of squared length ‖C‖² + n, with n = ‖x‖² − ‖C‖² − 2κ⟨C, E − ŷ⟩.
// Exact factors have κ = 1, so that ⟨C, x⟩, or ‖E‖, is exact, and the s that makes ⟨E, ŷ⟩ exact.
// Balanced ones have a κ below it, and an s between this one and that which makes ‖ŷ‖ = ‖E‖.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace polarquant {

struct CodecKernels;

/// κ of balanced factors.
inline constexpr double kBalancedShare = .6875;

/// Distances to all of some centroids.
class CentroidFinder {
 public:
  virtual ~CentroidFinder() = default;
  /// The number of the centroid at the least squared distance, ties to the lower number, of n ≥ 0
  /// rows x, (n, dim), finite; `threads` as core/parallel.h. May run on several threads at once.
  virtual void find(int64_t n, const float* x, int threads, int32_t* nearest) const = 0;
  /// −‖x−C‖² of every row and centroid, (n, count), on the calling thread. A fast one rounds to
  /// bytes: it errs by about .03/√dim of ‖x‖‖C‖.
  virtual void similarities(int64_t n, const float* x, float* out) const = 0;
};
/// Borrows the centroids, (count, dim).
using MakeCentroidFinder = std::unique_ptr<CentroidFinder> (*)(int64_t count, int dim,
                                                               const float* centroids);
/// Measures every distance in floats: slow, and the truth.
std::unique_ptr<CentroidFinder> plain_centroid_finder(int64_t count, int dim,
                                                      const float* centroids);

class Centroids {
 public:
  /// rows: (count, dim).
  Centroids(int dim, std::vector<float> rows);

  int dim() const { return dim_; }
  int count() const { return static_cast<int>(norms2_.size()); }
  const std::vector<float>& rows() const { return rows_; }
  const float* row(int number) const { return rows_.data() + at(number); }
  double norm2(int number) const { return norms2_[static_cast<size_t>(number)]; }
  const std::vector<double>& norms2() const { return norms2_; }
  double most_norm2() const;

 private:
  size_t at(int number) const { return static_cast<size_t>(number) * static_cast<size_t>(dim_); }

  int dim_;
  std::vector<float> rows_;
  std::vector<double> norms2_;
};

/// Rows for each centroid from which on a training does well, and the least that is taken.
inline constexpr int64_t kGoodRowsPerCentroid = 10;
inline constexpr int64_t kLeastRowsPerCentroid = 2;

/// `count` centroids of rows x, (n, dim), by Lloyd's iterations (k-means) from rows drawn by the
/// seed. Throws bad_argument for fewer than kLeastRowsPerCentroid rows each. The same bytes for the
/// same rows on every machine and number of threads. Time: count·dim·n steps of 8 bits each, twenty
/// times.
std::vector<float> train_centroids(int64_t n, int dim, const float* x, int count, uint64_t seed,
                                   const CodecKernels& kernels);

}  // namespace polarquant
