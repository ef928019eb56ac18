// SPDX-License-Identifier: MIT
// What polar-recall shows of advice and of trained plans, on the bundled embeddings.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/recall/advice_report.h"
#include "bench/recall/ground_truth.h"
#include "bench/recall/measure.h"
#include "bench/recall/report.h"
#include "include/polarquant/faiss.h"
#include "src/advice/exact_search.h"
#include "src/core/random.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::bench {
namespace {

const ProgressFactory kSilent = [](const std::string&) { return OnProgress(); };

BenchmarkData bundled_base() {
  DataRequest request;
  request.base = "bench/data/base.npy";
  request.distance = Distance::inner_product;
  request.with_ground_truth = false;
  return load_benchmark_data(request, kSilent);
}

/// What print(file) writes.
template <typename Print>
std::string printed(const Print& print) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("table.txt");
  std::FILE* file = std::fopen(path.c_str(), "w+b");
  REQUIRE(file != nullptr);
  print(file);
  std::string text(static_cast<size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  REQUIRE(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a base alone is enough for advice", "[bench]") {
  const BenchmarkData data = bundled_base();
  CHECK(data.base.rows == 9000);
  CHECK(data.query.rows == 0);
  CHECK(data.ground_truth.rows == 0);
  CHECK_FALSE(data.base_file.xxh3.empty());
  CHECK(data.query_file.path.empty());

  AdviceOptions options;
  options.specs = {"Polar2", "Polar2-pca", "Polar4"};
  options.wish.recall = .5;
  options.threads = 2;
  const Advice advice = advise({Metric::inner_product, static_cast<int>(data.base.dim),
                                data.base.rows, data.base.values.data(), 0, nullptr},
                               options);
  REQUIRE(advice.rows.size() == 3);
  CHECK(advice.rows[0].recall.mean > .85);
  CHECK(advice.rows[1].recall.mean > advice.rows[0].recall.mean + .015);
  CHECK(advice.rows[1].pays);
  CHECK(advice.choice.row == 1);

  const std::string table =
      printed([&](std::FILE* out) { print_advice(out, data, options, advice); });
  INFO(table);
  CHECK(has(table, "9000 x 384 vectors"));
  CHECK(has(table, "900 rows as queries, 4050 rows searched, 4050 others trained on"));
  CHECK(has(table, "over 9000 rows"));
  CHECK(has(table, "--query"));
  CHECK(has(table, "> Polar2-pca "));
  CHECK(has(table, "  Polar4 "));
  CHECK(has(table, advice.choice.reason));

  const auto json = nlohmann::json::parse(
      advice_json({"polar-recall", "--advise"}, collect_run_info(), data, options, advice));
  CHECK(json["recommended"] == "Polar2-pca");
  CHECK(json["settings"]["wanted_recall"] == .5);
  CHECK(json["settings"]["allowed_bytes"].is_null());
  CHECK(json["data"]["base"]["rows"] == 9000);
  CHECK(json["data"]["query"].is_null());
  CHECK(json["sample"]["held_out_queries"] == true);
  CHECK(json["sample"]["total_rows"] == 9000);
  CHECK(json["rows"].size() == 3);
  CHECK(json["rows"][0]["bytes_per_vector"] == 100);
  CHECK(json["rows"][0]["training_gain"].is_null());
  CHECK(json["rows"][1]["training_gain"]["mean"] > .015);
  CHECK(json["rows"][1]["recall_at_k"]["mean"] == advice.rows[1].recall.mean);
}

TEST_CASE("what could not be measured, or chosen, is said", "[bench]") {
  BenchmarkData data;
  data.base.dim = 8;
  Advice advice;
  advice.rows.resize(1);
  advice.rows[0].spec = "Polar2-pca";
  advice.rows[0].problem = "too few rows";
  advice.choice.reason = "No code.";
  const std::string table = printed([&](std::FILE* out) { print_advice(out, data, {}, advice); });
  CHECK(has(table, "  Polar2-pca  too few rows\n"));
  const auto json = nlohmann::json::parse(advice_json({}, RunInfo(), data, {}, advice));
  CHECK(json["recommended"].is_null());
  CHECK(json["rows"][0]["error"] == "too few rows");
}

TEST_CASE("the library and the benchmark agree on exact neighbours", "[bench]") {
  const BenchmarkData data = bundled_base();
  FloatMatrix queries{.rows = 60, .dim = data.base.dim, .values = {}, .rows_in_source = 60};
  queries.values.assign(data.base.row(0), data.base.row(60));
  for (const bool l2 : {false, true}) {
    const IdMatrix by_product = exact_neighbours(data.base, queries, l2, 10, {});
    std::vector<int64_t> ids(600);
    exact_search({l2 ? Metric::l2 : Metric::inner_product, static_cast<int>(data.base.dim),
                  data.base.rows, data.base.values.data(), 60, queries.values.data()},
                 10, 2, {}, ids.data());
    CHECK(ids == by_product.values);
  }
}

TEST_CASE("a trained index says which dimensions have which rate", "[bench]") {
  const BenchmarkData data = bundled_base();
  const int dim = static_cast<int>(data.base.dim);
  const auto index = index_factory(dim, "IDMap,L2norm,Polar2-pca,RFlat");
  CHECK_FALSE(trained_plan(*index).has_value());
  index->train(2000, data.base.values.data());
  const std::optional<TrainedPlanInfo> plan = trained_plan(*index);
  REQUIRE(plan);
  CHECK(plan->has_basis);
  CHECK(plan->error < plan->untrained_error);
  REQUIRE(plan->plan.size() == 6);
  CHECK(plan->plan.front().twice_bits > plan->plan.back().twice_bits);
  CHECK_FALSE(trained_plan(*index_factory(dim, "Polar2")).has_value());
  CHECK_FALSE(trained_plan(*index_factory(dim, "Flat")).has_value());

  ReportRow row;
  row.index = "Polar2-pca";
  row.params = "-";
  row.plan = plan;
  row.build = {{1}, {1}};
  const MeasureOptions options;
  const std::string table = printed([&](std::FILE* out) {
    const Table trained(out, Distance::l2, options, {row.index}, {row.params});
    trained.print_header();
    trained.print_row(row);
  });
  CHECK(has(table, "bits of each 64 dimensions"));
  CHECK(has(table, "  " + print_plan(*plan) + "\n"));
  const auto json = nlohmann::json::parse(report_json({{}, RunInfo(), options}, data, {row}));
  const auto& segments = json["rows"][0]["plan"]["segments"];
  REQUIRE(segments.size() == 6);
  CHECK(segments[1]["first"] == 64);
  CHECK(segments[1]["dim"] == 64);
  CHECK(segments[0]["bits"] == plan->plan[0].twice_bits / 2.0);
  CHECK(json["rows"][0]["plan"]["has_basis"] == true);

  const std::string plain = printed(
      [&](std::FILE* out) { Table(out, Distance::l2, options, {"Polar2"}, {"-"}).print_header(); });
  CHECK_FALSE(has(plain, "bits of"));
}

TEST_CASE("a plan is printed by runs of equal rates", "[unit]") {
  TrainedPlanInfo info;
  info.dim = 300;
  info.has_basis = true;
  for (const int twice_bits : {12, 7, 7, 4, 0}) info.plan.push_back({twice_bits, 1});
  CHECK(print_plan(info) == "6 3.5x2 2 0");
  info.has_basis = false;
  info.plan = uniform_plan(300, 4);
  CHECK(print_plan(info) == "2x5 (no gain: untrained)");
}

}  // namespace polarquant::bench
