// SPDX-License-Identifier: MIT
// The codec calls of the C ABI: results as documented, for every family and metric, and any number
// of threads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 40;
constexpr int64_t kRows = 300;

const char* const kSpecs[] = {"Polar0.5",     "Polar2",           "Polar3.5-dense",
                              "Polar8",       "Polar4+2",         "PolarTree4.2.2",
                              "PolarPair4x4", "PolarPair4x4g128", "PolarScalar4"};
const polar_metric kMetrics[] = {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE};

polar_codec_options default_options() {
  polar_codec_options options;
  polar_codec_options_init(&options);
  return options;
}

struct Coded {
  Coded(const char* spec, polar_metric metric, const polar_codec_options* options = nullptr,
        int32_t dim = kDim)
      : codec(make_codec(spec, dim, metric, options)), x(normal_rows(kRows, dim, 1, 0.5)) {
    require_ok(polar_codec_train(codec.get(), kRows, x.data(), nullptr));
    codes = encode(codec, kRows, x);
  }
  std::vector<float> scores(const polar_query* query) const {
    std::vector<float> out(kRows);
    require_ok(polar_codec_score(codec.get(), query, kRows, codes.data(), codes.size(), nullptr,
                                 out.data()));
    return out;
  }
  QueryHandle prepare(const float* q) const {
    polar_query* query = nullptr;
    require_ok(polar_query_prepare(codec.get(), q, &query));
    return QueryHandle(query);
  }
  CodecHandle codec;
  std::vector<float> x;
  std::vector<uint8_t> codes;
};

struct Results {
  std::vector<float> scores;
  std::vector<int64_t> ids;
  bool operator==(const Results&) const = default;
};

Results search(const Coded& coded, int64_t nq, const float* queries, int64_t k,
               const polar_search_options* options = nullptr, int64_t rows = kRows) {
  Results results;
  results.scores.resize(static_cast<size_t>(nq * k));
  results.ids.resize(static_cast<size_t>(nq * k));
  size_t bytes = 0;
  require_ok(polar_codec_encoded_bytes(coded.codec.get(), rows, &bytes));
  require_ok(polar_codec_search(coded.codec.get(), nq, queries, rows, coded.codes.data(), bytes, k,
                                options, results.scores.data(), results.ids.data()));
  return results;
}

double exact_score(polar_metric metric, const float* q, const float* x) {
  if (metric == POLAR_METRIC_L2) return distance(q, x, kDim);
  const double product = dot(q, x, kDim);
  if (metric == POLAR_METRIC_INNER_PRODUCT) return product;
  return product / std::sqrt(dot(q, q, kDim) * dot(x, x, kDim));
}

}  // namespace

TEST_CASE("info and sizes agree with each other", "[capi]") {
  for (const char* spec : kSpecs) {
    INFO(spec);
    const Coded coded(spec, POLAR_METRIC_L2);
    const polar_codec_info info = info_of(coded.codec);
    CHECK(info.dim == kDim);
    CHECK(info.metric == POLAR_METRIC_L2);
    CHECK(info.is_trained == 1);
    CHECK(info.state_origin == 2);
    CHECK(info.seed == 1);
    const bool grouped = std::string(spec).ends_with("g128");
    CHECK(info.group_rows == (grouped ? 128 : 1));
    CHECK((info.tail_row_bytes != 0) == grouped);
    CHECK(info.factor_bytes < info.code_bytes);
    CHECK(info.bits_per_dim == 8.0 * static_cast<double>(info.code_bytes) /
                                   (static_cast<double>(info.group_rows) * kDim));
    const auto full = static_cast<size_t>(kRows / info.group_rows);
    const auto tail = static_cast<size_t>(kRows % info.group_rows);
    CHECK(coded.codes.size() == full * info.code_bytes + tail * info.tail_row_bytes);
    size_t bytes = 1;
    require_ok(polar_codec_encoded_bytes(coded.codec.get(), 0, &bytes));
    CHECK(bytes == 0);
    require_ok(polar_codec_memory_bytes(coded.codec.get(), &bytes));
    CHECK(bytes > kDim * sizeof(float));
    std::string text(polar_codec_spec(coded.codec.get(), nullptr, 0), '\0');
    polar_codec_spec(coded.codec.get(), text.data(), text.size() + 1);
    CHECK(text == spec);
  }
}

TEST_CASE("the centre is what was given or learned", "[capi]") {
  std::vector<float> centre(kDim, 7.0f);
  polar_codec_options options = default_options();
  const auto read = [&](const CodecHandle& codec) {
    std::vector<float> out(kDim, -1);
    require_ok(polar_codec_get_centre(codec.get(), out.data()));
    return out;
  };
  const std::vector<float> x = normal_rows(kRows, kDim, 1, 0.5);
  CodecHandle codec = make_codec("Polar2", kDim, POLAR_METRIC_L2);
  CHECK(read(codec) == std::vector<float>(kDim, 0.0f));
  require_ok(polar_codec_train(codec.get(), kRows, x.data(), nullptr));
  const double norm = std::sqrt(dot(read(codec).data(), read(codec).data(), kDim));
  CHECK(std::fabs(norm - 0.5 * std::sqrt(kDim)) < 0.1 * std::sqrt(kDim));
  CHECK(std::fabs(info_of(codec).centre_norm - norm) < 1e-6 * norm);

  options.learn_centre = 0;
  codec = make_codec("Polar2", kDim, POLAR_METRIC_L2, &options);
  require_ok(polar_codec_train(codec.get(), kRows, x.data(), nullptr));
  CHECK(read(codec) == std::vector<float>(kDim, 0.0f));

  options.centre = centre.data();
  options.learn_centre = 1;
  codec = make_codec("Polar2", kDim, POLAR_METRIC_L2, &options);
  centre.assign(kDim, 0.0f);  // the codec has its own copy
  require_ok(polar_codec_train(codec.get(), kRows, x.data(), nullptr));
  CHECK(read(codec) == std::vector<float>(kDim, 7.0f));
  CHECK(std::fabs(info_of(codec).centre_norm - 7 * std::sqrt(kDim)) < 1e-4);
}

TEST_CASE("scores estimate the metric", "[capi]") {
  for (const char* spec : {"Polar8", "Polar4+4", "PolarScalar8", "PolarPair8x8"}) {
    for (const polar_metric metric : kMetrics) {
      INFO(spec << " metric " << metric);
      const Coded coded(spec, metric);
      const std::vector<float> q = normal_rows(1, kDim, 2, 0.5);
      const std::vector<float> scores = coded.scores(coded.prepare(q.data()).get());
      const double size = metric == POLAR_METRIC_COSINE ? 1 : 1.25 * kDim;
      for (int64_t row = 0; row < kRows; ++row) {
        const double exact = exact_score(metric, q.data(), coded.x.data() + row * kDim);
        CHECK(std::fabs(scores[static_cast<size_t>(row)] - exact) < 0.05 * size);
      }
    }
  }
}

TEST_CASE("search gives the best of score, ties by lower id, for any number of threads", "[capi]") {
  constexpr int64_t kQueries = 7, kK = 12;
  for (const char* spec : kSpecs) {
    for (const polar_metric metric : kMetrics) {
      INFO(spec << " metric " << metric);
      polar_search_options options = searching_on(1);
      const Coded coded(spec, metric);
      const std::vector<float> queries = normal_rows(kQueries, kDim, 2, 0.5);
      const Results found = search(coded, kQueries, queries.data(), kK, &options);
      for (int64_t query = 0; query < kQueries; ++query) {
        const std::vector<float> scores =
            coded.scores(coded.prepare(queries.data() + query * kDim).get());
        std::vector<int64_t> order(kRows);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          const float score_a = scores[static_cast<size_t>(a)];
          const float score_b = scores[static_cast<size_t>(b)];
          return metric == POLAR_METRIC_L2 ? score_a < score_b : score_a > score_b;
        });
        for (int64_t i = 0; i < kK; ++i) {
          const auto at = static_cast<size_t>(query * kK + i);
          // Rows are ranked by int8 values: a row may stand for one that scores a little better.
          const float best = scores[static_cast<size_t>(order[static_cast<size_t>(i)])];
          REQUIRE(std::fabs(found.scores[at] - best) <= .02F * (1 + std::fabs(best)));
          REQUIRE(found.scores[at] == scores[static_cast<size_t>(found.ids[at])]);
        }
      }
      options.num_threads = 3;
      CHECK(search(coded, kQueries, queries.data(), kK, &options) == found);
      for (const int32_t threads : {1, 3}) {
        const polar_work_options working = working_on(threads);
        CHECK(encode(coded.codec, kRows, coded.x, &working) == coded.codes);
      }
    }
  }
}

TEST_CASE("search pads with id -1 and the worst score", "[capi]") {
  for (const polar_metric metric : kMetrics) {
    const Coded coded("Polar2", metric);
    const float worst = metric == POLAR_METRIC_L2 ? kInfinity : -kInfinity;
    for (const int64_t rows : {int64_t{0}, int64_t{3}}) {
      const Results found = search(coded, 2, coded.x.data(), 5, nullptr, rows);
      for (int64_t query = 0; query < 2; ++query) {
        for (int64_t i = 0; i < 5; ++i) {
          const auto at = static_cast<size_t>(query * 5 + i);
          CHECK((found.ids[at] == -1) == (i >= rows));
          CHECK((found.scores[at] == worst) == (i >= rows));
        }
      }
    }
  }
}

TEST_CASE("equal rows are found in the order of their ids", "[capi]") {
  const CodecHandle codec = make_codec("Polar2", kDim, POLAR_METRIC_L2);
  std::vector<float> x;
  for (int i = 0; i < 9; ++i) {
    const std::vector<float> row = normal_rows(1, kDim, 1);
    x.insert(x.end(), row.begin(), row.end());
  }
  const std::vector<uint8_t> codes = encode(codec, 9, x);
  std::vector<float> scores(9);
  std::vector<int64_t> ids(9);
  require_ok(polar_codec_search(codec.get(), 1, x.data(), 9, codes.data(), codes.size(), 9, nullptr,
                                scores.data(), ids.data()));
  CHECK(ids == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("cosine does not see lengths", "[capi]") {
  const Coded coded("Polar3", POLAR_METRIC_COSINE);
  std::vector<float> longer = coded.x;
  for (size_t i = 0; i < longer.size(); ++i) longer[i] *= 1024.0f;
  CHECK(encode(coded.codec, kRows, longer) == coded.codes);
  CHECK(coded.scores(coded.prepare(longer.data()).get()) ==
        coded.scores(coded.prepare(coded.x.data()).get()));
}

TEST_CASE("a query made from a code scores as its vector would", "[capi]") {
  for (const polar_metric metric : kMetrics) {
    const Coded coded("Polar8", metric);
    const double size = metric == POLAR_METRIC_COSINE ? 1 : 1.25 * kDim;
    polar_query* made = nullptr;
    require_ok(polar_query_prepare_from_code(coded.codec.get(), kRows, coded.codes.data(),
                                             coded.codes.size(), 17, &made));
    const std::vector<float> scores = coded.scores(QueryHandle(made).get());
    std::vector<float> pairs(static_cast<size_t>(kRows));
    const size_t code_bytes = info_of(coded.codec).code_bytes;
    require_ok(polar_codec_score_codes(coded.codec.get(), 1, coded.codes.data() + 17 * code_bytes,
                                       code_bytes, kRows, coded.codes.data(), coded.codes.size(),
                                       nullptr, pairs.data()));
    for (size_t row = 0; row < static_cast<size_t>(kRows); ++row) {
      const double exact =
          exact_score(metric, coded.x.data() + 17 * kDim, coded.x.data() + row * kDim);
      CHECK(std::fabs(scores[row] - exact) < 0.02 * size);
      CHECK(std::fabs(pairs[row] - exact) < 0.02 * size);
    }
  }
}

TEST_CASE("scores between codes are symmetric", "[capi]") {
  constexpr int64_t kSome = 40;
  for (const char* spec : kSpecs) {
    INFO(spec);
    const Coded coded(spec, POLAR_METRIC_L2);
    const std::vector<uint8_t> codes =
        encode(coded.codec, kSome, {coded.x.begin(), coded.x.begin() + kSome * kDim});
    std::vector<float> scores(kSome * kSome);
    require_ok(polar_codec_score_codes(coded.codec.get(), kSome, codes.data(), codes.size(), kSome,
                                       codes.data(), codes.size(), nullptr, scores.data()));
    int64_t unequal = 0;
    for (int64_t i = 0; i < kSome; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        unequal += scores[static_cast<size_t>(i * kSome + j)] !=
                   scores[static_cast<size_t>(j * kSome + i)];
      }
    }
    CHECK(unequal == 0);
  }
}

TEST_CASE("combine is the weighted sum of what decode gives", "[capi]") {
  constexpr int64_t kWeights = 3;
  for (const char* spec : kSpecs) {
    INFO(spec);
    const Coded coded(spec, POLAR_METRIC_INNER_PRODUCT);
    std::vector<float> decoded(kRows * kDim);
    require_ok(polar_codec_decode(coded.codec.get(), kRows, coded.codes.data(), coded.codes.size(),
                                  POLAR_RECONSTRUCTION_LEAST_ERROR, nullptr, decoded.data()));
    const std::vector<float> weights = normal_rows(kWeights, kRows, 5);
    std::vector<float> out(kWeights * kDim);
    require_ok(polar_codec_combine(coded.codec.get(), kRows, coded.codes.data(), coded.codes.size(),
                                   kWeights, weights.data(), nullptr, out.data()));
    for (int64_t w = 0; w < kWeights; ++w) {
      std::vector<float> expected(kDim);
      for (int64_t j = 0; j < kDim; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < kRows; ++i) {
          sum += static_cast<double>(weights[static_cast<size_t>(w * kRows + i)]) *
                 decoded[static_cast<size_t>(i * kDim + j)];
        }
        expected[static_cast<size_t>(j)] = static_cast<float>(sum);
      }
      CHECK(distance(out.data() + w * kDim, expected.data(), kDim) <
            1e-9 * dot(expected.data(), expected.data(), kDim));
    }
    std::vector<float> none(kDim, 1.0f);
    require_ok(
        polar_codec_combine(coded.codec.get(), 0, nullptr, 0, 1, nullptr, nullptr, none.data()));
    CHECK(none == std::vector<float>(kDim, 0.0f));
  }
}

TEST_CASE("the two reconstructions are along one line through the centre", "[capi]") {
  const Coded coded("Polar2", POLAR_METRIC_L2);
  std::vector<float> least(kRows * kDim), unbiased(kRows * kDim), centre(kDim);
  const auto decode = [&](polar_reconstruction kind, std::vector<float>& out) {
    require_ok(polar_codec_decode(coded.codec.get(), kRows, coded.codes.data(), coded.codes.size(),
                                  kind, nullptr, out.data()));
  };
  decode(POLAR_RECONSTRUCTION_LEAST_ERROR, least);
  decode(POLAR_RECONSTRUCTION_UNBIASED, unbiased);
  require_ok(polar_codec_get_centre(coded.codec.get(), centre.data()));
  const double shrink = 1 - info_of(coded.codec).mse;
  double error_least = 0, error_unbiased = 0;
  for (size_t i = 0; i < least.size(); ++i) {
    const double mean = centre[i % kDim];
    CHECK(std::fabs(least[i] - mean - shrink * (unbiased[i] - mean)) < 1e-4);
    error_least += std::pow(least[i] - coded.x[i], 2);
    error_unbiased += std::pow(unbiased[i] - coded.x[i], 2);
  }
  CHECK(error_least < error_unbiased);
  CHECK(error_least < 0.15 * kRows * kDim);
}

TEST_CASE("empty calls succeed and need no buffers", "[capi]") {
  const Coded coded("Polar2", POLAR_METRIC_L2);
  polar_codec* c = coded.codec.get();
  require_ok(polar_codec_encode(c, 0, nullptr, nullptr, nullptr, 0));
  require_ok(polar_codec_decode(c, 0, nullptr, 0, 0, nullptr, nullptr));
  require_ok(polar_codec_search(c, 0, nullptr, kRows, coded.codes.data(), coded.codes.size(), 1,
                                nullptr, nullptr, nullptr));
  require_ok(
      polar_codec_score(c, coded.prepare(coded.x.data()).get(), 0, nullptr, 0, nullptr, nullptr));
  require_ok(polar_codec_score_codes(c, 0, nullptr, 0, 0, nullptr, 0, nullptr, nullptr));
  require_ok(polar_codec_combine(c, 0, nullptr, 0, 0, nullptr, nullptr, nullptr));
}

TEST_CASE("many threads may use one codec at a time", "[capi]") {
  const Coded coded("Polar2", POLAR_METRIC_INNER_PRODUCT);
  const Results expected = search(coded, 4, coded.x.data(), 10);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        Results found = expected;
        std::vector<uint8_t> codes(coded.codes.size());
        const bool ok = polar_codec_encode(coded.codec.get(), kRows, coded.x.data(), nullptr,
                                           codes.data(), codes.size()) == POLAR_OK &&
                        polar_codec_search(coded.codec.get(), 4, coded.x.data(), kRows,
                                           codes.data(), codes.size(), 10, nullptr,
                                           found.scores.data(), found.ids.data()) == POLAR_OK;
        if (!ok || codes != coded.codes || !(found == expected)) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}
