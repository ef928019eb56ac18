// SPDX-License-Identifier: MIT
// The advisor on made-up vectors: what it measures, when training pays, and how it is stopped.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/advice/advice.h"
#include "src/advice/advice_candidates.h"
#include "src/advice/advice_sample.h"
#include "src/advice/recall.h"
#include "tests/codec/spread_rows.h"
#include "tests/scan/scan_rows.h"

namespace polarquant {
namespace {

using test::require_error;
using test::spread_rows;

constexpr int kDim = 128;
constexpr int64_t kRows = 3000;

/// The variance falls along the axes, as that of embeddings does.
const std::vector<float>& uneven_rows() {
  static const std::vector<float> rows = spread_rows(kRows, kDim, 2, 5);
  return rows;
}

Advice advise_on(const std::vector<float>& rows, const AdviceOptions& options,
                 Metric metric = Metric::inner_product, int dim = kDim) {
  return advise({metric, dim, static_cast<int64_t>(rows.size()) / dim, rows.data(), 0, nullptr},
                options);
}

AdviceOptions options_for(const std::vector<std::string>& specs) {
  AdviceOptions options;
  options.specs = specs;
  return options;
}

/// The k best rows by Codec::score.
std::vector<int64_t> best_by_score(const Codec& codec, const std::vector<uint8_t>& codes,
                                   int64_t rows, const float* query, int64_t k) {
  std::vector<float> scores(static_cast<size_t>(rows));
  codec.score(codec.prepare_query(query), {codes.data(), rows}, 0, rows, scores.data());
  std::vector<std::pair<float, int64_t>> order;
  for (int64_t row = 0; row < rows; ++row) {
    const float score = scores[static_cast<size_t>(row)];
    order.emplace_back(codec.higher_is_nearer() ? -score : score, row);
  }
  std::sort(order.begin(), order.end());
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < k; ++i) ids.push_back(order[static_cast<size_t>(i)].second);
  return ids;
}

}  // namespace

TEST_CASE("the advisor's recall is that of coding and sorting by hand", "[scan]") {
  const Metric metric = GENERATE(Metric::inner_product, Metric::l2, Metric::cosine);
  const std::vector<float> rows = spread_rows(700, 20, 1, 5);
  const std::string name = "PolarScalar3";  // searched exactly
  const Advice advice = advise_on(rows, options_for({name}), metric, 20);
  REQUIRE(advice.rows.size() == 1);

  const AdviceSample sample = split_sample({metric, 20, 700, rows.data(), 0, nullptr}, {});
  Codec codec(parse_spec(name), 20, metric, {});
  codec.train(sample.train_rows(), sample.train.data());
  std::vector<uint8_t> codes(codec.layout().bytes(sample.base_rows()));
  codec.encode(sample.base_rows(), sample.base.data(), codes.data(), 1);
  int64_t found = 0;
  for (int64_t q = 0; q < sample.nq(); ++q) {
    const float* query = sample.queries.data() + q * 20;
    std::vector<std::pair<double, int64_t>> exact;
    for (int64_t row = 0; row < sample.base_rows(); ++row) {
      double cost = 0;
      for (int j = 0; j < 20; ++j) {
        const double x = sample.base[static_cast<size_t>(row * 20 + j)];
        cost += metric == Metric::l2 ? (x - query[j]) * (x - query[j]) : -x * query[j];
      }
      exact.emplace_back(cost, row);
    }
    std::sort(exact.begin(), exact.end());
    std::vector<int64_t> wanted;
    for (int i = 0; i < 10; ++i) wanted.push_back(exact[static_cast<size_t>(i)].second);
    found += neighbours_found(best_by_score(codec, codes, sample.base_rows(), query, 10), wanted);
  }
  const AdviceRow& row = advice.rows[0];
  CHECK(row.recall.mean == Approx(static_cast<double>(found) / (10. * sample.nq())).epsilon(1e-12));
  CHECK(row.recall.mean > .5);
  CHECK(row.recall.mean < 1);
  CHECK(std::fabs(row.quarter_recall - row.recall.mean) < .1);
  CHECK(advice.total_rows == 700);
  CHECK(row.expected_recall <= row.recall.mean);
  CHECK(row.bytes == static_cast<double>(codec.layout().group_bytes));
  CHECK(row.error > 0);
  CHECK_FALSE(row.gain.has_value());
  CHECK(advice.queries == 70);
  CHECK(advice.base_rows == 315);
  CHECK(advice.train_rows == 315);
  CHECK(advice.held_out_queries);
}

TEST_CASE("all candidates are measured, and more bytes find more", "[scan]") {
  const Advice advice = advise_on(uneven_rows(), {});
  REQUIRE(advice.rows.size() == advice_candidates().size());
  for (size_t i = 0; i < advice.rows.size(); ++i) {
    const AdviceRow& row = advice.rows[i];
    CAPTURE(row.spec, row.recall.mean, row.error, row.problem);
    CHECK(row.spec == advice_candidates()[i]);
    CHECK(row.problem.empty());
    CHECK(row.recall.margin > 0);
    CHECK(row.recall.margin < .03);
    CHECK(row.codec_bytes > 0);
    CHECK(row.needs_training == row.gain.has_value());
    for (size_t j = 0; j < i; ++j) {
      const AdviceRow& smaller = advice.rows[j];
      if (smaller.needs_training == row.needs_training && row.bytes >= 1.2 * smaller.bytes)
        CHECK(row.error < smaller.error);
    }
  }
  const AdviceRow& most = advice.rows.back();
  CHECK(most.spec == "Polar8");
  CHECK(most.recall.mean > .98);
  REQUIRE(advice.choice.row >= 0);
  CHECK(advice.choice.reason.find("best value") != std::string::npos);
}

TEST_CASE("of few bytes a code of as many is recommended", "[scan]") {
  AdviceOptions options;
  options.wish.bytes = 16;
  // 1,800 of them train 256 centroids.
  const Advice advice = advise_on(spread_rows(4000, kDim, 2, 5), options);
  const size_t few = few_bytes_candidates(kDim, 16, advice.train_rows).size();
  REQUIRE(few == 6);
  REQUIRE(advice.rows.size() == few + advice_candidates().size());
  for (const AdviceRow& row : advice.rows) {
    CAPTURE(row.spec, row.problem);
    CHECK(row.problem.empty());
  }
  REQUIRE(advice.choice.row >= 0);
  const AdviceRow& chosen = advice.rows[static_cast<size_t>(advice.choice.row)];
  CAPTURE(chosen.spec);
  CHECK(chosen.bytes <= 16);
  CHECK(chosen.spec.starts_with("PolarB16"));
}

TEST_CASE("training is recommended where it gains, and not where it does not", "[scan]") {
  AdviceOptions options = options_for({"Polar2-pca"});
  const Advice uneven = advise_on(uneven_rows(), options);
  REQUIRE(uneven.rows.size() == 2);  // Polar2 is measured too
  REQUIRE(uneven.rows[1].gain);
  CHECK(uneven.rows[1].pays);
  CHECK(uneven.rows[1].gain->mean > uneven.rows[1].gain->margin);
  CHECK(uneven.rows[1].gain->mean ==
        Approx(uneven.rows[1].recall.mean - uneven.rows[0].recall.mean));
  CHECK(uneven.rows[1].error < .8 * uneven.rows[0].error);
  CHECK(uneven.choice.row == 1);
  CHECK(uneven.choice.reason.find("Training gains") != std::string::npos);

  const Advice even = advise_on(spread_rows(kRows, kDim, 0, 5), options);
  REQUIRE(even.rows[1].gain);
  CHECK_FALSE(even.rows[1].pays);
  CHECK(even.choice.row == 0);
  CHECK(even.choice.reason.find("no more than noise") != std::string::npos);
}

TEST_CASE("advice does not depend on the number of threads", "[scan]") {
  AdviceOptions options = options_for({"Polar1.5-pca", "Polar2", "PolarPair4x4g128"});
  options.threads = 1;
  const Advice one = advise_on(uneven_rows(), options, Metric::l2);
  options.threads = 3;
  const Advice three = advise_on(uneven_rows(), options, Metric::l2);
  REQUIRE(one.rows.size() == 4);
  for (size_t i = 0; i < one.rows.size(); ++i) {
    CAPTURE(one.rows[i].spec, one.rows[i].problem);
    CHECK(one.rows[i].problem.empty());
    CHECK(one.rows[i].recall.mean == three.rows[i].recall.mean);
    CHECK(one.rows[i].recall.margin == three.rows[i].recall.margin);
    CHECK(one.rows[i].quarter_recall == three.rows[i].quarter_recall);
    CHECK(one.rows[i].error == three.rows[i].error);
  }
  CHECK(one.choice.reason == three.choice.reason);
}

TEST_CASE("more rows to come lower what is expected, where rows are clustered", "[scan]") {
  // 25 clusters: with few rows in each, the nearest ten are easy to tell apart from others.
  std::vector<float> rows = spread_rows(3000, 32, 0, 5);
  const std::vector<float> centres = spread_rows(25, 32, 0, 6);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = .3F * rows[i] + centres[i / 32 % 25 * 32 + i % 32];
  AdviceOptions options = options_for({"Polar2"});
  const double now = advise_on(rows, options, Metric::l2, 32).rows[0].expected_recall;
  options.total_rows = 1000000;
  const Advice later = advise_on(rows, options, Metric::l2, 32);
  CAPTURE(now, later.rows[0].expected_recall, later.rows[0].quarter_recall);
  CHECK(later.total_rows == 1000000);
  CHECK(later.rows[0].quarter_recall > later.rows[0].recall.mean);
  CHECK(later.rows[0].expected_recall < now - .02);
  CHECK(later.rows[0].expected_recall > 0);
}

TEST_CASE("queries of the caller's are taken as they are", "[scan]") {
  const std::vector<float> queries = spread_rows(30, kDim, 2, 77);
  const Advice advice = advise({Metric::l2, kDim, kRows, uneven_rows().data(), 30, queries.data()},
                               options_for({"Polar4"}));
  CHECK_FALSE(advice.held_out_queries);
  CHECK(advice.queries == 30);
  CHECK(advice.base_rows == kRows / 2);
  CHECK(advice.rows[0].recall.mean > .8);
}

TEST_CASE("a code that cannot be measured says why, and the others go on", "[scan]") {
  // 200 rows to train on for 128 dimensions.
  const std::vector<float> rows(uneven_rows().begin(), uneven_rows().begin() + 446 * kDim);
  const Advice advice = advise_on(rows, options_for({"Polar2-pca", "Polar4"}));
  CHECK(advice.rows[0].problem.empty());
  CHECK(advice.rows[1].problem.find("training rows") != std::string::npos);
  CHECK_FALSE(advice.rows[1].gain.has_value());
  CHECK(advice.rows[2].problem.empty());
  CHECK(advice.choice.row >= 0);

  // One row by a seed that does not train on it: far out of the others' reach it is coded all the
  // same; too long for scores it is not.
  AdviceOptions options = options_for({"Polar2"});
  const auto advice_on_row_of = [&](float length) {
    std::vector<float> far(rows);
    far[0] = length;
    const auto is_searched = [&](uint64_t seed) {
      AdviceSampleOptions sample_options;
      sample_options.seed = seed;
      const std::vector<float> base =
          split_sample({Metric::inner_product, kDim, 446, far.data(), 0, nullptr}, sample_options)
              .base;
      return std::find(base.begin(), base.end(), length) != base.end();
    };
    while (!is_searched(options.seed)) ++options.seed;
    return advise_on(far, options);
  };
  CHECK(advice_on_row_of(1e8F).rows[0].problem.empty());
  const Advice refused = advice_on_row_of(1e19F);
  CAPTURE(refused.rows[0].problem);
  CHECK(refused.rows[0].problem.find("cannot be coded") != std::string::npos);
  CHECK(refused.choice.row == -1);
}

TEST_CASE("progress rises to 1, and stops the advisor", "[scan]") {
  AdviceOptions options = options_for({"Polar1", "Polar2-pca"});
  std::vector<double> told;
  options.progress = [&](double done) {
    told.push_back(done);
    return true;
  };
  advise_on(uneven_rows(), options);
  REQUIRE(told.size() > 5);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.front() > 0);
  CHECK(told.back() == Approx(1));

  for (const size_t stop_after : {size_t{1}, told.size() / 2, told.size()}) {
    size_t calls = 0;
    options.progress = [&](double) { return ++calls < stop_after; };
    require_error(StatusCode::cancelled, "advise", [&] { advise_on(uneven_rows(), options); });
    CHECK(calls == stop_after);
  }
}

TEST_CASE("the advisor's options are checked", "[scan]") {
  const auto refused = [](const char* text, void (*change)(AdviceOptions*)) {
    AdviceOptions options;
    change(&options);
    require_error(StatusCode::bad_argument, text, [&] { advise_on(uneven_rows(), options); });
  };
  refused("k: 0", [](AdviceOptions* o) { o->wish.k = 0; });
  refused("k: 2001", [](AdviceOptions* o) { o->wish.k = 2001; });
  refused("n: 3000", [](AdviceOptions* o) { o->wish.k = 500; });
  refused("max_rows: 9", [](AdviceOptions* o) { o->max_rows = 9; });
  refused("max_rows: 9223", [](AdviceOptions* o) { o->max_rows = INT64_MAX; });
  refused("max_queries: 9", [](AdviceOptions* o) { o->max_queries = 9; });
  refused("total_rows: -1", [](AdviceOptions* o) { o->total_rows = -1; });
  refused("wanted_recall: 1.1", [](AdviceOptions* o) { o->wish.recall = 1.1; });
  refused("wanted_recall: nan", [](AdviceOptions* o) { o->wish.recall = NAN; });
  refused("allowed_bytes: -1", [](AdviceOptions* o) { o->wish.bytes = -1; });
  refused("allowed_bytes: inf", [](AdviceOptions* o) { o->wish.bytes = INFINITY; });
  refused("Polar9", [](AdviceOptions* o) { o->specs = {"Polar9"}; });
}

}  // namespace polarquant
