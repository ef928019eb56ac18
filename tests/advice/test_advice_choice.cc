// SPDX-License-Identifier: MIT
// The advisor's candidates, sample and rules, without measuring anything.
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "src/advice/advice_candidates.h"
#include "src/advice/advice_choice.h"
#include "src/advice/advice_sample.h"
#include "tests/scan/scan_rows.h"

namespace polarquant {
namespace {

using test::normal_numbers;
using test::require_error;

constexpr int kDim = 128;

AdviceRow row(const std::string& spec, double bytes, double recall, double margin = .004) {
  AdviceRow out;
  out.spec = spec;
  out.bytes = bytes;
  out.recall = {recall, margin};
  out.expected_recall = recall;
  return out;
}

AdviceRow trained(const std::string& spec, double bytes, double recall, bool pays) {
  AdviceRow out = row(spec, bytes, recall);
  out.needs_training = true;
  out.gain = {.01, pays ? .005 : .02};
  out.pays = pays;
  return out;
}

std::vector<AdviceRow> measured() {
  return {row("Polar1", 20, .74),  trained("Polar1-pca", 20, .79, true),
          row("Polar2", 36, .87),  trained("Polar2-pca", 36, .91, true),
          row("Polar4", 68, .961), trained("Polar4-pca", 68, .965, false),
          row("Polar8", 136, .996)};
}

std::string chosen(const AdviceWish& wish, const std::vector<AdviceRow>& rows) {
  const AdviceChoice choice = choose(kDim, wish, rows);
  CAPTURE(choice.reason);
  if (choice.row < 0) {
    CHECK(choice.reason.find("No code") == 0);
    return "none";
  }
  std::string spec = rows[static_cast<size_t>(choice.row)].spec;
  CHECK(choice.reason.find(spec + ": ") == 0);
  return spec;
}

/// (n, dim), row i all i.
std::vector<float> numbered_rows(int64_t n, int dim) {
  std::vector<float> x;
  for (int64_t row = 0; row < n; ++row)
    x.insert(x.end(), static_cast<size_t>(dim), static_cast<float>(row));
  return x;
}

/// The numbers of a part's rows, each of which must be whole and be there once.
void take_numbers(const std::vector<float>& part, int dim, std::set<float>* taken) {
  for (size_t first = 0; first < part.size(); first += static_cast<size_t>(dim)) {
    for (int j = 1; j < dim; ++j) CHECK(part[first + static_cast<size_t>(j)] == part[first]);
    CHECK(taken->insert(part[first]).second);
  }
}

}  // namespace

TEST_CASE("every candidate is a code, by rising bytes, after its untrained one", "[scan]") {
  double bytes = 0;
  std::set<std::string> seen;
  for (const std::string name : advice_candidates()) {
    CAPTURE(name);
    const Spec spec = parse_spec(name);
    CHECK(print_spec(spec) == name);
    CHECK(seen.insert(name).second);
    if (spec != untrained_counterpart(spec))
      CHECK(seen.count(print_spec(untrained_counterpart(spec))) == 1);
    const Codec codec(spec, 384, Metric::l2, {});
    CHECK(static_cast<double>(codec.layout().group_bytes) >= bytes);
    bytes = static_cast<double>(codec.layout().group_bytes);
  }
  for (const char* flagship :
       {"Polar0.5", "Polar5-pca", "Polar2+2", "Polar4+2", "Polar4+2-pca", "Polar8"})
    CHECK(seen.count(flagship) == 1);
}

TEST_CASE("few bytes allowed bring codes of few bytes that fit the dimension", "[scan]") {
  using Names = std::vector<std::string>;
  CHECK(few_bytes_candidates(384, 0, 10000).empty());
  CHECK(few_bytes_candidates(384, 64.5, 10000).empty());
  CHECK(few_bytes_candidates(384, 2, 10000).empty());
  CHECK(few_bytes_candidates(384, 16.9, 10000) == Names{"PolarB8", "PolarB8-km1024", "PolarB12",
                                                        "PolarB12-km1024", "PolarB16",
                                                        "PolarB16-km1024"});
  // 40,960 rows, of which a tenth is held out.
  CHECK(few_bytes_candidates(2048, 8, 40960) == Names{"PolarB8", "PolarB8-km4096"});
  CHECK(few_bytes_candidates(384, 8, 1500) == Names{"PolarB8", "PolarB8-km256"});
  CHECK(few_bytes_candidates(384, 8, 1000) == Names{"PolarB8"});
  CHECK(few_bytes_candidates(384, 4, 10000) == Names{"PolarB4", "PolarB4-km1024"});
  // At most a byte for four dimensions, besides factors and the centroid's number.
  CHECK(few_bytes_candidates(24, 10, 10000) ==
        Names{"PolarB8", "PolarB8-km1024", "PolarB10-km1024"});
  for (const int dim : {1, 2, 24, 100, 384, 1536}) {
    for (int bytes = 1; bytes <= 64; ++bytes) {
      for (const std::string& name : few_bytes_candidates(dim, bytes, 10000)) {
        CAPTURE(dim, bytes, name);
        const Codec codec(parse_spec(name), dim, Metric::l2, {});
        CHECK(static_cast<int>(codec.layout().group_bytes) <= bytes);
      }
    }
  }
}

TEST_CASE("candidates given by name are measured once, with what they are compared to", "[scan]") {
  std::vector<std::string> names;
  for (const Spec& spec : candidate_specs({"Polar4", "Polar2-pca", "Polar2", "Polar4-hadamard"}))
    names.push_back(print_spec(spec));
  CHECK(names == std::vector<std::string>{"Polar4", "Polar2", "Polar2-pca"});
  require_error(StatusCode::bad_argument, "PQ8", [] { candidate_specs({"Polar2", "PQ8"}); });
}

TEST_CASE("a sample's parts are disjoint, random and of the stated sizes", "[scan]") {
  const int dim = 3;
  const std::vector<float> x = numbered_rows(1000, dim);
  const AdviceSample sample = split_sample({Metric::l2, dim, 1000, x.data(), 0, nullptr}, {});
  CHECK(sample.held_out_queries);
  CHECK(sample.nq() == 100);
  CHECK(sample.train_rows() == 450);
  CHECK(sample.base_rows() == 450);
  std::set<float> taken;
  take_numbers(sample.queries, dim, &taken);
  take_numbers(sample.train, dim, &taken);
  take_numbers(sample.base, dim, &taken);
  CHECK(taken.size() == 1000);

  const AdviceSample again = split_sample({Metric::l2, dim, 1000, x.data(), 0, nullptr}, {});
  CHECK(again.base == sample.base);
  AdviceSampleOptions other;
  other.seed = 2;
  CHECK(split_sample({Metric::l2, dim, 1000, x.data(), 0, nullptr}, other).base != sample.base);
}

TEST_CASE("a large sample is cut to what is asked for", "[scan]") {
  const int dim = 2;
  const std::vector<float> x = numbered_rows(40000, dim);
  const std::vector<float> queries = numbered_rows(50, dim);
  AdviceSampleOptions options;
  options.max_rows = 5000;
  options.max_queries = 20;
  const AdviceSample given =
      split_sample({Metric::l2, dim, 40000, x.data(), 50, queries.data()}, options);
  CHECK_FALSE(given.held_out_queries);
  CHECK(given.nq() == 20);
  CHECK(given.train_rows() == 10000);
  CHECK(given.base_rows() == 5000);
  CHECK(split_sample({Metric::l2, dim, 40000, x.data(), 0, nullptr}, options).nq() == 20);
}

TEST_CASE("samples of cosine are normalized", "[scan]") {
  std::vector<float> x = normal_numbers(4 * 300, 1);
  std::fill_n(x.begin(), 4, 0.0F);
  const AdviceSample sample = split_sample({Metric::cosine, 4, 300, x.data(), 0, nullptr}, {});
  int zeros = 0;
  for (const std::vector<float>* part : {&sample.queries, &sample.train, &sample.base}) {
    for (size_t i = 0; i < part->size(); i += 4) {
      double norm2 = 0;
      for (size_t j = i; j < i + 4; ++j) norm2 += static_cast<double>((*part)[j]) * (*part)[j];
      zeros += norm2 == 0 ? 1 : 0;
      if (norm2 != 0) CHECK(std::fabs(norm2 - 1) < 1e-5);
    }
  }
  CHECK(zeros <= 1);  // one row may be drawn by none
}

TEST_CASE("too few rows or queries are refused", "[scan]") {
  const std::vector<float> x = numbered_rows(400, 1);
  const auto split = [&](int64_t n, int64_t nq, int64_t k) {
    AdviceSampleOptions options;
    options.k = k;
    split_sample({Metric::l2, 1, n, x.data(), nq, x.data()}, options);
  };
  split(223, 0, 10);
  require_error(StatusCode::bad_argument, "n: 222 rows", [&] { split(222, 0, 10); });
  split(30, 0, 1);
  require_error(StatusCode::bad_argument, "30 or more", [&] { split(29, 0, 1); });
  split(200, 10, 10);
  require_error(StatusCode::bad_argument, "200 or more", [&] { split(199, 10, 10); });
  require_error(StatusCode::bad_argument, "nq: 9", [&] { split(400, 9, 10); });
}

TEST_CASE("means over queries have the margin of their spread", "[scan]") {
  const std::vector<int64_t> found = {10, 8, 6, 8};
  const QueryMean recall = mean_recall(found, 10);
  CHECK(recall.mean == Approx(.8));
  CHECK(recall.margin == Approx(1.96 * std::sqrt(.08 / 3 / 4)));
  // What is common to both takes no part in the gain.
  const QueryMean gain = mean_gain(found, std::vector<int64_t>{9, 7, 5, 7}, 10);
  CHECK(gain.mean == Approx(.1));
  CHECK(gain.margin == Approx(0).margin(1e-12));
  // Finding all says only so much.
  CHECK(mean_recall(std::vector<int64_t>(50, 4), 4).margin == Approx(3. / 200));
  CHECK(mean_recall(std::vector<int64_t>{3}, 4).margin == Approx(3. / 4));
}

TEST_CASE("what is missed grows with the rows as it grew from a quarter", "[scan]") {
  const auto expected = [](double quarter_recall, int64_t total) {
    std::vector<AdviceRow> rows = {row("A", 1, .7), row("B", 2, .9), row("C", 3, 0)};
    rows[0].quarter_recall = rows[1].quarter_recall = quarter_recall;
    rows[2].problem = "not measured";
    expect_recall(1000, 4000, total, &rows);
    return std::vector<double>{rows[0].expected_recall, rows[1].expected_recall};
  };
  // .2 missed by both, .1 in a quarter of the rows: odds 2.25-fold for four times the rows.
  const std::vector<double> grown = expected(.9, 64000);
  CHECK(grown[0] == Approx(1 / (1 + 2.25 * 2.25 * 3 / 7)));
  CHECK(grown[1] == Approx(1 / (1 + 2.25 * 2.25 / 9)));
  CHECK(expected(.9, 8000)[1] == Approx(1 / (1 + 1.5 / 9)));
  // Nothing grew, or shrank, or is to grow, or is known.
  for (const double quarter : {.8, .7, 1.}) CHECK(expected(quarter, 64000)[1] == Approx(.9));
  for (const int64_t total : {4000, 10}) CHECK(expected(.9, total)[1] == Approx(.9));
}

TEST_CASE("a wanted recall takes the fewest bytes that surely reach it", "[scan]") {
  CHECK(chosen({10, .7, 0}, measured()) == "Polar1-pca");
  CHECK(chosen({10, .906, 0}, measured()) == "Polar2-pca");
  CHECK(chosen({10, .907, 0}, measured()) == "Polar4");  // .91 ± .004 is not sure
  CHECK(chosen({10, .99, 0}, measured()) == "Polar8");
  CHECK(chosen({10, .999, 0}, measured()) == "none");
  CHECK(choose(kDim, {10, .999, 0}, measured()).reason.find("Polar8") != std::string::npos);
}

TEST_CASE("allowed bytes take the highest recall within them", "[scan]") {
  CHECK(chosen({10, 0, 20}, measured()) == "Polar1-pca");
  CHECK(chosen({10, 0, 67.9}, measured()) == "Polar2-pca");
  CHECK(chosen({10, 0, 68}, measured()) == "Polar4");  // training gains no more than noise
  CHECK(chosen({10, 0, 1e6}, measured()) == "Polar8");
  CHECK(chosen({10, 0, 19}, measured()) == "none");
}

TEST_CASE("both wishes must hold", "[scan]") {
  CHECK(chosen({10, .9, 36}, measured()) == "Polar2-pca");
  CHECK(chosen({10, .95, 36}, measured()) == "none");
  const std::string reason = choose(kDim, {10, .95, 36}, measured()).reason;
  CHECK(reason.find("68 bytes (Polar4)") != std::string::npos);
  CHECK(reason.find("Polar2-pca") != std::string::npos);
}

TEST_CASE("without a wish half a bit has to find one more of 100", "[scan]") {
  // In units of half a bit, 8 bytes of 128 dimensions: .79 at 2.5, .91 at 4.5, .961 at 8.5, .996 at
  // 17.
  CHECK(chosen({}, measured()) == "Polar4");
  std::vector<AdviceRow> flat = measured();
  flat[4].expected_recall = .94;  // three more for four half bits
  CHECK(chosen({}, flat) == "Polar2-pca");
  flat[6].expected_recall = 1.1;
  CHECK(chosen({}, flat) == "Polar8");
}

TEST_CASE("what was not measured is not chosen", "[scan]") {
  std::vector<AdviceRow> rows = measured();
  rows[4].problem = "too short";
  CHECK(chosen({10, .95, 0}, rows) == "Polar8");
  for (AdviceRow& each : rows) each.problem = "too short";
  CHECK(chosen({}, rows) == "none");
  CHECK(choose(kDim, {}, rows).reason.find("too short") != std::string::npos);
  CHECK(chosen({}, {}) == "none");
}

TEST_CASE("equal codes: fewer bytes, then the earlier row", "[scan]") {
  const std::vector<AdviceRow> rows = {row("A", 70, .96), row("B", 68, .96), row("C", 68, .96)};
  CHECK(chosen({10, 0, 100}, rows) == "B");
  CHECK(chosen({10, .5, 0}, rows) == "B");
}

}  // namespace polarquant
