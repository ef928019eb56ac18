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
               --param nprobe=8 --param nprobe=32 --param k_factor_rf=4 --json result.json --html result.html
  polar-recall --advise --base base.npy --metric cos
  polar-recall --advise --base base.npy --query query.npy --metric ip --want-recall 0.95
  polar-recall --advise --base base.npy --metric l2 --max-bytes 128 --index "Polar2;Polar2-pca;Polar2+2"

An index is any string polarquant::index_factory takes: our names and those of FAISS.
With --advise an index is one of our codes' names; without --index all that a user would choose among
are measured, and the one to take is marked (docs/choosing.md).
A parameter goes to each index that knows it; one that none of the indexes knows is an error.
Exit status: 0; 1 when an index failed (the others are still measured) or --advise found no code; 2 for a mistake in the command
line or the data.)";

/// `others` say nothing to the advisor, and are refused with it.
void add_advice_options(CLI::App* app, const std::vector<CLI::Option*>& others,
                        RecallOptions* options) {
  AdviceOptions& advice = options->advice;
  CLI::Option* advise =
      app->add_flag("--advise", options->advise,
                    "say which of our codes to take for these vectors, measured on a sample; "
                    "without --query rows are held out as queries");
  for (CLI::Option* other : others) advise->excludes(other);
  app->add_option("--want-recall", advice.wish.recall,
                  "with --advise: the recall@k to reach with the fewest bytes")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(advise);
  app->add_option("--max-bytes", advice.wish.bytes,
                  "with --advise: the bytes a vector may take, for the highest recall")
      ->check(CLI::PositiveNumber)
      ->needs(advise);
  app->add_option("--sample-rows", advice.max_rows, "with --advise: rows searched at most")
      ->check(CLI::Range(10, INT32_MAX))
      ->capture_default_str()
      ->needs(advise);
  app->add_option("--sample-queries", advice.max_queries, "with --advise: queries at most")
      ->check(CLI::Range(10, INT32_MAX))
      ->capture_default_str()
      ->needs(advise);
  app->add_option("--total-rows", advice.total_rows,
                  "with --advise: rows there will be, if the base is a part of them")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->needs(advise);
  app->add_option("--seed", advice.seed, "with --advise: draws the sample")
      ->capture_default_str()
      ->needs(advise);
}

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
  CLI::Option* truth = app.add_option(
      "--gt", data.ground_truth,
      "true neighbours: " + id_formats() + "; computed when absent or when --nb cuts the base");
  app.add_option("--metric", metric, "ip, l2, or cos (vectors are normalized first)");
  const CLI::Option* index = app.add_option(
      "--index", indexes, "index strings, separated by ';'; required but for --advise");
  CLI::Option* param =
      app.add_option("--param", params,
                     "search parameters \"name=value,...\" by FAISS's names (nprobe, efSearch, "
                     "k_factor_rf) or ours (exactness, search_L); "
                     "given again, each is a row of its own");
  param->take_all();
  app.add_option("-k", measure.k, "neighbours to search for")->capture_default_str();
  app.add_option("--threads", measure.threads, "threads of OpenMP and BLAS")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  CLI::Option* mode_option =
      app.add_option("--mode", mode, "all queries in a call, one a call, or both")
          ->check(CLI::IsMember({"batch", "one", "both"}))
          ->capture_default_str();
  app.add_option("--nb", data.max_base, "use only the first rows of the base");
  app.add_option("--nq", data.max_queries, "use only the first queries");
  CLI::Option* train_rows =
      app.add_option("--train-rows", measure.train_rows,
                     "train with the first rows of the base; default " +
                         std::to_string(kDefaultTrainRows) + ", or all if fewer")
          ->check(CLI::Range(int64_t{1}, INT64_MAX));
  CLI::Option* repeat =
      app.add_option("--repeat", measure.repeat, "timed runs, whose median counts")
          ->check(CLI::Range(1, 1000))
          ->capture_default_str();
  CLI::Option* builds =
      app.add_option("--builds", measure.builds,
                     "times that each index is built, in turn with the others; medians are shown")
          ->check(CLI::Range(1, 1000))
          ->capture_default_str();
  CLI::Option* one_limit = app.add_option("--one-limit", measure.one_limit_s,
                                          "seconds after which a run of one query a call stops")
                               ->check(CLI::PositiveNumber)
                               ->capture_default_str();
  app.add_option("--json", options.json_path, "write every figure to this file");
  app.add_option("--html", options.html_path,
                 "write a page for a browser, one file: charts, and a table of the figures");
  add_advice_options(&app, {truth, param, mode_option, train_rows, repeat, builds, one_limit},
                     &options);
  try {
    app.parse(argc, argv);
    if (!options.advise && index->count() == 0) throw CLI::RequiredError("--index");
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = app.exit(error) == 0 ? 0 : kUsageError;
    return parsed;
  }

  require(options.json_path.empty() || options.json_path != options.html_path,
          StatusCode::bad_argument, "--json and --html are both {}: it would be written twice",
          options.json_path);
  if (!metric.empty()) data.distance = parse_distance(metric);
  data.k = measure.k;
  measure.batch = mode != "one";
  measure.one = mode != "batch";
  options.indexes = split_indexes(indexes);
  data.with_ground_truth = !options.advise;
  require(!options.indexes.empty() || (options.advise && indexes.empty()), StatusCode::bad_argument,
          "--index is '{}' (allowed: index strings separated by ';')", indexes);
  for (const std::string& text : params) options.param_sets.push_back(parse_params(text));
  if (options.param_sets.empty()) options.param_sets.emplace_back();
  return parsed;
}

}  // namespace polarquant::bench
