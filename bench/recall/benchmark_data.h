// SPDX-License-Identifier: MIT
// What one run measures on: base, queries, ground truth and distance, read, checked against each
// other and, for cosine, normalized.
#pragma once

#include <faiss/MetricType.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bench/recall/matrix.h"
#include "src/codec/factors.h"

namespace polarquant::bench {

/// By what neighbours are near. Cosine is inner product over vectors normalized once, at loading.
enum class Distance { inner_product, l2, cosine };

/// "ip", "l2", "cos".
const char* distance_name(Distance distance);
/// Throws bad_argument naming the text and what is allowed.
Distance parse_distance(const std::string& text);
/// From ann-benchmarks' names: "angular", "euclidean", …; nullopt for those we do not measure.
std::optional<Distance> distance_of_attribute(const std::string& text);
::faiss::MetricType faiss_metric(Distance distance);
Metric codec_metric(Distance distance);

/// One input file as the JSON names it.
struct SourceFile {
  std::string path;
  uint64_t bytes = 0;
  std::string xxh3;
};

struct DataRequest {
  std::string base;          ///< file; an HDF5 file may supply query and ground truth too
  std::string query;         ///< "" only when base is HDF5
  std::string ground_truth;  ///< "" : from the HDF5 file, or computed
  std::optional<Distance> distance;
  int64_t max_base = kAllRows;
  int64_t max_queries = kAllRows;
  int64_t k = 10;
  /// Whether true neighbours are read or computed; without, a base can do without queries too.
  bool with_ground_truth = true;
};

struct BenchmarkData {
  FloatMatrix base;
  FloatMatrix query;
  IdMatrix ground_truth;  ///< (query.rows, k)
  Distance distance = Distance::inner_product;
  SourceFile base_file;
  SourceFile query_file;
  /// Absent when the ground truth was computed.
  std::optional<SourceFile> ground_truth_file;
  /// Why a ground truth that was there is not used; "" when there is nothing to say.
  std::string note;
};

/// Makes the progress display of one step of loading: "reading base", "hashing base", …
using ProgressFactory = std::function<OnProgress(const std::string& label)>;

/// Errors: those of the readers; bad_argument when the parts do not fit together.
BenchmarkData load_benchmark_data(const DataRequest& request, const ProgressFactory& progress);

/// Scales every row to length 1, in double; rows of length 0 stay as they are.
void normalize_rows(FloatMatrix& matrix);

/// Throws bad_argument unless truth has one row per query of the file, at least k ids a row, and
/// the first k of each row are different ids of [0, base_rows).
void check_ground_truth(const IdMatrix& truth, int64_t query_rows_in_source, int64_t base_rows,
                        int64_t k, const std::string& name);

}  // namespace polarquant::bench
