// SPDX-License-Identifier: MIT
// The command line's texts: index lists and parameters; and the JSON report's fields.
#include <faiss/impl/FaissException.h>
#include <faiss/index_factory.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/recall/index_params.h"
#include "bench/recall/recall_options.h"
#include "bench/recall/report.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::bench {
namespace {

using test::require_error;

ParsedCommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "polar-recall");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

TEST_CASE("index lists are split at semicolons", "[unit]") {
  REQUIRE(split_indexes("Polar2; IVF16,PQ4 ;;Flat;") ==
          std::vector<std::string>{"Polar2", "IVF16,PQ4", "Flat"});
  REQUIRE(split_indexes(" ; ").empty());
}

TEST_CASE("parameters are names and numbers", "[unit]") {
  REQUIRE(parse_params("").empty());
  REQUIRE(print_params(parse_params("nprobe=8,k_factor_rf=2.5")) == "nprobe=8,k_factor_rf=2.5");
  REQUIRE(print_params({}) == "-");
  for (const char* bad : {"nprobe", "nprobe=", "=8", "nprobe=8,,", "nprobe=x", "nprobe=-1",
                          "nprobe=1e999", "nprobe=8x"}) {
    INFO(bad);
    require_error(StatusCode::bad_argument, "--param", [&] { parse_params(bad); });
  }
}

TEST_CASE("parameters reach the part of an index that knows them", "[unit]") {
  const std::unique_ptr<::faiss::Index> index(::faiss::index_factory(16, "IVF4,SQ8,RFlat"));
  REQUIRE(apply_param(*index, {"nprobe", 2}));
  REQUIRE(apply_param(*index, {"k_factor_rf", 2}));
  REQUIRE_FALSE(apply_param(*index, {"efSearch", 2}));
  REQUIRE_FALSE(apply_param(*index, {"nprob", 2}));
  REQUIRE(print_params(parse_params("exactness=inf")) == "exactness=inf");
  REQUIRE_THROWS_AS(apply_param(*index, {"nprobe", 0}), ::faiss::FaissException);
}

TEST_CASE("a command line becomes options", "[unit]") {
  const ParsedCommandLine parsed =
      parse({"--base",   "b.npy",    "--query",   "q.npy",
             "--metric", "cos",      "--index",   "Polar2;Flat",
             "-k",       "5",        "--threads", "3",
             "--mode",   "both",     "--param",   "nprobe=1,k_factor_rf=2",
             "--param",  "nprobe=2", "--nb",      "100",
             "--builds", "5"});
  REQUIRE(parsed.exit_status == -1);
  const RecallOptions& options = parsed.options;
  REQUIRE(options.data.distance == Distance::cosine);
  REQUIRE(options.data.k == 5);
  REQUIRE(options.data.max_base == 100);
  REQUIRE(options.data.max_queries == kAllRows);
  REQUIRE(options.indexes.size() == 2);
  REQUIRE(options.param_sets.size() == 2);
  REQUIRE(options.param_sets[0].size() == 2);
  REQUIRE(options.measure.threads == 3);
  REQUIRE(options.measure.batch);
  REQUIRE(options.measure.one);
  REQUIRE(options.measure.builds == 5);
}

TEST_CASE("mistakes in the command line are named", "[unit]") {
  REQUIRE(parse({"--base", "b.npy"}).exit_status == 2);
  REQUIRE(parse({"--base", "b.npy", "--index", "Flat", "--mode", "fast"}).exit_status == 2);
  REQUIRE(parse({"--base", "b.npy", "--index", "Flat", "--threads", "0"}).exit_status == 2);
  REQUIRE(parse({"--base", "b.npy", "--index", "Flat", "--builds", "0"}).exit_status == 2);
  require_error(StatusCode::bad_argument, "--metric is 'hamming'", [] {
    parse({"--base", "b.npy", "--index", "Flat", "--metric", "hamming"});
  });
  require_error(StatusCode::bad_argument, "--index", [] {
    parse({"--base", "b", "--index", ";"});
  });
}

TEST_CASE("advice has options of its own", "[unit]") {
  const ParsedCommandLine all = parse({"--advise", "--base", "b.npy", "--metric", "l2"});
  REQUIRE(all.exit_status == -1);
  REQUIRE(all.options.advise);
  REQUIRE(all.options.indexes.empty());
  REQUIRE_FALSE(all.options.data.with_ground_truth);
  REQUIRE(all.options.advice.wish.recall == 0);
  REQUIRE(all.options.advice.wish.bytes == 0);

  const ParsedCommandLine some = parse({"--advise",
                                        "--base",
                                        "b.npy",
                                        "--metric",
                                        "l2",
                                        "--index",
                                        "Polar2;Polar2-pca",
                                        "--want-recall",
                                        "0.9",
                                        "--max-bytes",
                                        "100",
                                        "--sample-rows",
                                        "500",
                                        "--sample-queries",
                                        "50",
                                        "--total-rows",
                                        "9000",
                                        "--seed",
                                        "7",
                                        "--threads",
                                        "2",
                                        "-k",
                                        "3"});
  REQUIRE(some.exit_status == -1);
  REQUIRE(some.options.indexes.size() == 2);
  const AdviceOptions& advice = some.options.advice;
  REQUIRE(advice.wish.recall == .9);
  REQUIRE(advice.wish.bytes == 100);
  REQUIRE(advice.max_rows == 500);
  REQUIRE(advice.max_queries == 50);
  REQUIRE(advice.seed == 7);
  REQUIRE(advice.total_rows == 9000);
  REQUIRE(some.options.measure.k == 3);
}

TEST_CASE("mistakes with advice are named", "[unit]") {
  const auto status = [](std::vector<const char*> more) {
    std::vector<const char*> arguments = {"--base", "b.npy", "--metric", "l2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse(arguments).exit_status;
  };
  REQUIRE(status({"--index", "Polar2"}) == -1);
  REQUIRE(status({"--index", "Polar2", "--want-recall", "0.9"}) == 2);
  REQUIRE(status({"--index", "Polar2", "--max-bytes", "100"}) == 2);
  REQUIRE(status({"--index", "Polar2", "--seed", "7"}) == 2);
  for (const char* bad : {"1.5", "-1", "high"}) {
    INFO(bad);
    REQUIRE(status({"--advise", "--want-recall", bad}) == 2);
  }
  REQUIRE(status({"--advise", "--max-bytes", "0"}) == 2);
  REQUIRE(status({"--advise", "--sample-rows", "9"}) == 2);
  REQUIRE(status({"--advise", "--gt", "g.npy"}) == 2);
  REQUIRE(status({"--advise", "--param", "nprobe=8"}) == 2);
  REQUIRE(status({"--advise", "--mode", "both"}) == 2);
  REQUIRE(status({"--advise", "--train-rows", "100"}) == 2);
  REQUIRE(status({"--advise", "--repeat", "2"}) == 2);
  REQUIRE(status({"--advise", "--builds", "2"}) == 2);
  require_error(StatusCode::bad_argument, "--index is", [&] {
    status({"--advise", "--index", ";"});
  });
  require_error(StatusCode::bad_argument, "written twice", [&] {
    status({"--advise", "--json", "r", "--html", "r"});
  });
}

TEST_CASE("the report holds what a reader needs, and no bytes it cannot print", "[unit]") {
  BenchmarkData data;
  data.base_file = {"b\xff.npy", 12, "00ff"};
  ReportRow measured;
  measured.index = "Flat";
  measured.cost = {64, "IndexFlatCodes"};
  measured.build = {{3, 1, 2}, {5, 7, 6}};
  measured.search.batch.runs_qps = {1, 2, 3};
  measured.search.batch.median_qps = 2;
  ReportRow failed;
  failed.index = "Nothing";
  failed.error = "unknown";
  const ReportContext context{{"polar-recall", "--base"}, collect_run_info(), MeasureOptions()};
  const auto json = nlohmann::json::parse(report_json(context, data, {measured, failed}));
  for (const char* key : {"library_version", "git_commit", "compiler", "compiler_flags", "cpu",
                          "command_line", "settings", "data", "rows"}) {
    INFO(key);
    REQUIRE(json.contains(key));
  }
  REQUIRE(json["data"]["base"]["xxh3"] == "00ff");
  REQUIRE(json["rows"][0]["bytes_per_vector"] == 64);
  REQUIRE(json["rows"][0]["train_s"] == 2);
  REQUIRE(json["rows"][0]["add_s"] == 6);
  REQUIRE(json["rows"][0]["build"]["runs_train_s"].size() == 3);
  REQUIRE(json["rows"][0]["build"]["runs_add_s"][1] == 7);
  REQUIRE(json["rows"][0]["qps_batch"] == 2);
  REQUIRE(json["rows"][0]["qps_one"].is_null());
  REQUIRE(json["rows"][0]["batch"]["runs_qps"].size() == 3);
  REQUIRE(json["rows"][1]["error"] == "unknown");

  const test::TemporaryFolder folder;
  write_report(folder.file("r.json"), "{}");
  REQUIRE(std::filesystem::file_size(folder.file("r.json")) == 2);
  std::filesystem::create_symlink("r.json", folder.file("link"));
  DataRequest inputs;
  inputs.base = folder.write("base.npy", "vectors");
  require_writable(folder.file("link"), inputs);
  write_report(folder.file("link"), "[1]");
  REQUIRE(std::filesystem::is_symlink(folder.file("link")));
  REQUIRE(std::filesystem::file_size(folder.file("r.json")) == 3);
  require_writable("/dev/null", inputs);
  write_report("/dev/null", "{}");
  require_error(StatusCode::io, "cannot open",
                [&] { require_writable(folder.file("none/r.json"), inputs); });
  std::filesystem::create_hard_link(folder.file("base.npy"), folder.file("hard"));
  for (const char* name : {"base.npy", "./base.npy", "hard"}) {
    require_error(StatusCode::bad_argument, "is what is read",
                  [&] { require_writable(folder.file(name), inputs); });
  }
  REQUIRE(std::filesystem::file_size(folder.file("base.npy")) == 7);
}

}  // namespace polarquant::bench
