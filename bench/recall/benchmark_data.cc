// SPDX-License-Identifier: MIT
#include "bench/recall/benchmark_data.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bench/recall/ground_truth.h"
#include "bench/recall/hdf5_reader.h"
#include "bench/recall/input_file.h"
#include "bench/recall/matrix_reader.h"
#include "src/core/status.h"

namespace polarquant::bench {
namespace {

struct DistanceRow {
  const char* name;
  Distance distance;
  ::faiss::MetricType metric;
  Metric codec_metric;
};
constexpr DistanceRow kDistances[] = {
    {"ip", Distance::inner_product, ::faiss::METRIC_INNER_PRODUCT, Metric::inner_product},
    {"l2", Distance::l2, ::faiss::METRIC_L2, Metric::l2},
    {"cos", Distance::cosine, ::faiss::METRIC_INNER_PRODUCT, Metric::cosine},
};

const DistanceRow& row_of(Distance distance) {
  return *std::find_if(std::begin(kDistances), std::end(kDistances),
                       [&](const DistanceRow& row) { return row.distance == distance; });
}

struct AttributeRow {
  const char* name;
  Distance distance;
};
// "normalized" (VIBE): unit vectors, for which the three rank alike.
constexpr AttributeRow kAttributes[] = {
    {"angular", Distance::cosine},
    {"cosine", Distance::cosine},
    {"euclidean", Distance::l2},
    {"l2", Distance::l2},
    {"ip", Distance::inner_product},
    {"dot", Distance::inner_product},
    {"normalized", Distance::inner_product},
};

SourceFile describe(const std::string& path, const char* what, const ProgressFactory& progress) {
  const InputFile file(path);
  return {path, file.size(), hash_file(file, progress(std::string("hashing ") + what))};
}

/// Decides the distance, and whether the HDF5 file's own neighbours were made by it.
Distance choose_distance(const DataRequest& request, const std::optional<std::string>& attribute,
                         bool* neighbours_hold, std::string* note) {
  std::optional<Distance> file_distance;
  if (attribute) file_distance = distance_of_attribute(*attribute);
  if (!request.distance) {
    if (attribute) {
      require(
          file_distance.has_value(), StatusCode::unsupported,
          "{}: attribute distance '{}' is none this program measures (allowed: angular, cosine, "
          "euclidean, l2, ip, dot, normalized; or give --metric)",
          request.base, *attribute);
      return *file_distance;
    }
    fail(StatusCode::bad_argument, "--metric is missing (allowed: ip, l2, cos)");
  }
  const bool any_ranks_alike = attribute && *attribute == "normalized";
  *neighbours_hold = any_ranks_alike || file_distance == request.distance;
  if (attribute && !*neighbours_hold) {
    *note = fmt::format("the file's neighbours are by '{}', --metric is {}", *attribute,
                        distance_name(*request.distance));
  }
  return *request.distance;
}

void check_counts(const DataRequest& request, const FloatMatrix& base, const FloatMatrix& query) {
  require(base.dim == query.dim, StatusCode::bad_argument,
          "{}: dimension {} (allowed: {}, that of {})",
          request.query.empty() ? request.base : request.query, query.dim, base.dim, request.base);
  require(request.k <= base.rows, StatusCode::bad_argument,
          "-k is {} (allowed: 1 to {}, the base rows used)", request.k, base.rows);
}

void require_limit(int64_t rows, const char* option) {
  require(rows == kAllRows || rows >= 1, StatusCode::bad_argument, "{} is {} (allowed: 1 and more)",
          option, rows);
}

}  // namespace

const char* distance_name(Distance distance) { return row_of(distance).name; }
::faiss::MetricType faiss_metric(Distance distance) { return row_of(distance).metric; }
Metric codec_metric(Distance distance) { return row_of(distance).codec_metric; }

Distance parse_distance(const std::string& text) {
  for (const DistanceRow& row : kDistances) {
    if (text == row.name) return row.distance;
  }
  fail(StatusCode::bad_argument, "--metric is '{}' (allowed: ip, l2, cos)", text);
}

std::optional<Distance> distance_of_attribute(const std::string& text) {
  for (const AttributeRow& row : kAttributes) {
    if (text == row.name) return row.distance;
  }
  return std::nullopt;
}

void normalize_rows(FloatMatrix& matrix) {
  for (int64_t r = 0; r < matrix.rows; ++r) {
    float* row = matrix.row(r);
    double square = 0;
    for (int64_t c = 0; c < matrix.dim; ++c) square += static_cast<double>(row[c]) * row[c];
    if (square == 0) continue;
    const double scale = 1 / std::sqrt(square);
    for (int64_t c = 0; c < matrix.dim; ++c) row[c] = static_cast<float>(row[c] * scale);
  }
}

void check_ground_truth(const IdMatrix& truth, int64_t query_rows_in_source, int64_t base_rows,
                        int64_t k, const std::string& name) {
  require(truth.rows_in_source == query_rows_in_source, StatusCode::bad_argument,
          "{}: {} rows of neighbours (allowed: {}, one for each query)", name, truth.rows_in_source,
          query_rows_in_source);
  require(truth.k >= k, StatusCode::bad_argument,
          "{}: {} neighbours a row, but -k is {} (allowed: up to {})", name, truth.k, k, truth.k);
  std::vector<int64_t> sorted(static_cast<size_t>(k));
  for (int64_t r = 0; r < truth.rows; ++r) {
    const int64_t* ids = truth.row(r);
    for (int64_t i = 0; i < k; ++i) {
      require(ids[i] >= 0 && ids[i] < base_rows, StatusCode::bad_argument,
              "{}: row {} column {} is id {} (allowed: 0 to {})", name, r, i, ids[i],
              base_rows - 1);
    }
    std::partial_sort_copy(ids, ids + k, sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      fail(StatusCode::bad_argument, "{}: row {} holds id {} twice (allowed: different ids)", name,
           r, *twice);
    }
  }
}

BenchmarkData load_benchmark_data(const DataRequest& request, const ProgressFactory& progress) {
  require(request.k >= 1, StatusCode::bad_argument, "-k is {} (allowed: 1 and more)", request.k);
  require_limit(request.max_base, "--nb");
  require_limit(request.max_queries, "--nq");
  const bool one_file = is_hdf5(request.base);
  const bool has_query = one_file || !request.query.empty();
  require(has_query || !request.with_ground_truth, StatusCode::bad_argument,
          "--query is missing (only an HDF5 base has queries in it)");

  BenchmarkData data;
  bool neighbours_hold = true;
  std::optional<std::string> attribute;
  bool file_has_neighbours = false;
  if (one_file) {
    const Hdf5File file(request.base);
    attribute = file.distance();
    file_has_neighbours = request.with_ground_truth && file.holds(MatrixRole::ground_truth);
  }
  std::string note;
  data.distance = choose_distance(request, attribute, &neighbours_hold, &note);

  const std::string query_path = request.query.empty() ? request.base : request.query;
  if (has_query) {
    data.query = read_float_matrix(query_path, MatrixRole::query, request.max_queries,
                                   progress("reading queries"));
  }
  data.base =
      read_float_matrix(request.base, MatrixRole::base, request.max_base, progress("reading base"));
  if (has_query) check_counts(request, data.base, data.query);

  // The file's own neighbours belong to its own queries only.
  std::string truth_path = request.ground_truth;
  if (truth_path.empty() && file_has_neighbours && request.query.empty()) {
    if (neighbours_hold) {
      truth_path = request.base;
    } else {
      data.note = note;
    }
  }
  if (!truth_path.empty() && data.base.rows < data.base.rows_in_source) {
    data.note = "--nb cuts the base, so the neighbours in " + truth_path + " no longer hold";
    truth_path.clear();
  }
  if (!truth_path.empty()) {
    data.ground_truth = read_id_matrix(truth_path, MatrixRole::ground_truth, data.query.rows,
                                       progress("reading ground truth"));
    check_ground_truth(data.ground_truth, data.query.rows_in_source, data.base.rows, request.k,
                       truth_path);
    data.ground_truth_file = describe(truth_path, "ground truth", progress);
  }
  data.base_file = describe(request.base, "base", progress);
  if (has_query) {
    data.query_file =
        query_path == request.base ? data.base_file : describe(query_path, "queries", progress);
  }

  if (data.distance == Distance::cosine) {
    normalize_rows(data.base);
    normalize_rows(data.query);
  }
  if (truth_path.empty() && request.with_ground_truth) {
    data.ground_truth = exact_neighbours(data.base, data.query, data.distance == Distance::l2,
                                         request.k, progress("exact neighbours"));
  }
  return data;
}

}  // namespace polarquant::bench
