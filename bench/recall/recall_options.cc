// SPDX-License-Identifier: MIT
#include "bench/recall/recall_options.h"

#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "bench/recall/matrix_reader.h"
#include "src/core/status.h"

namespace polarquant::bench {
namespace {

constexpr int kUsageError = 2;

constexpr char kExamples[] = R"(
Examples:
  polar-recall --base base.npy --query query.npy --metric ip --index "Polar2;Polar4;PQ96x8;SQ8;Flat"
  polar-recall --base glove-100-angular.hdf5 --index "Polar4;SQ4" -k 10 --threads 1 --mode both
  polar-recall --base sift_base.fvecs --query sift_query.fvecs --gt sift_groundtruth.ivecs \
               --metric l2 --index "IVF1024,PQ32x8;Polar2,RFlat" \
               --param nprobe=8 --param nprobe=32 --param k_factor_rf=4 --json result.json

An index is any string polarquant::index_factory takes: our names and those of FAISS.
A parameter goes to each index that knows it; one that none of the indexes knows is an error.
Exit status: 0; 1 when an index failed (the others are still measured); 2 for a mistake in the command
line or the data.)";

}  // namespace

std::vector<std::string> split_indexes(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    const size_t first = text.find_first_not_of(" \t\n", at);
    if (first < end) {
      const size_t last = text.find_last_not_of(" \t\n", end - 1);
      out.push_back(text.substr(first, last + 1 - first));
    }
    at = end + 1;
  }
  return out;
}

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  RecallOptions& options = parsed.options;
  DataRequest& data = options.data;
  MeasureOptions& measure = options.measure;
  std::string metric;
  std::string indexes;
  std::string mode = "batch";
  std::vector<std::string> params;
  measure.threads = omp_get_max_threads();

  CLI::App app(
      "Measures recall, bytes and speed of vector indexes, ours and FAISS's, by one program.",
      "polar-recall");
  app.footer(kExamples);
  app.add_option("--base", data.base,
                 "vectors to index: " + float_formats() +
                     "; an ann-benchmarks HDF5 file also gives queries, neighbours and metric")
      ->required();
  app.add_option("--query", data.query, "query vectors, same formats");
  app.add_option(
      "--gt", data.ground_truth,
      "true neighbours: " + id_formats() + "; computed when absent or when --nb cuts the base");
  app.add_option("--metric", metric, "ip, l2, or cos (vectors are normalized first)");
  app.add_option("--index", indexes, "index strings, separated by ';'")->required();
  app.add_option("--param", params,
                 "search parameters \"name=value,...\" by FAISS's names (nprobe, efSearch, "
                 "k_factor_rf) or ours (exactness); "
                 "given again, each is a row of its own")
      ->take_all();
  app.add_option("-k", measure.k, "neighbours to search for")->capture_default_str();
  app.add_option("--threads", measure.threads, "threads of OpenMP and BLAS")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--mode", mode, "all queries in a call, one a call, or both")
      ->check(CLI::IsMember({"batch", "one", "both"}))
      ->capture_default_str();
  app.add_option("--nb", data.max_base, "use only the first rows of the base");
  app.add_option("--nq", data.max_queries, "use only the first queries");
  app.add_option("--train-rows", measure.train_rows,
                 "train with the first rows of the base; default " +
                     std::to_string(kDefaultTrainRows) + ", or all if fewer")
      ->check(CLI::Range(int64_t{1}, INT64_MAX));
  app.add_option("--repeat", measure.repeat, "timed runs, whose median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--one-limit", measure.one_limit_s,
                 "seconds after which a run of one query a call stops")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", options.json_path, "write every figure to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = app.exit(error) == 0 ? 0 : kUsageError;
    return parsed;
  }

  if (!metric.empty()) data.distance = parse_distance(metric);
  data.k = measure.k;
  measure.batch = mode != "one";
  measure.one = mode != "batch";
  options.indexes = split_indexes(indexes);
  require(!options.indexes.empty(), StatusCode::bad_argument,
          "--index is '{}' (allowed: index strings separated by ';')", indexes);
  for (const std::string& text : params) options.param_sets.push_back(parse_params(text));
  if (options.param_sets.empty()) options.param_sets.emplace_back();
  return parsed;
}

}  // namespace polarquant::bench
