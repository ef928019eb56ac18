// SPDX-License-Identifier: MIT
// The advisor through the C ABI.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 64;
constexpr int64_t kRows = 1500;

struct DestroyAdvice {
  void operator()(polar_advice* advice) const { polar_advice_destroy(advice); }
};
using AdviceHandle = std::unique_ptr<polar_advice, DestroyAdvice>;

const std::vector<float>& sample() {
  static const std::vector<float> rows = normal_rows(kRows, kDim, 1);
  return rows;
}

polar_advice_options options_of(std::vector<const char*>* specs) {
  polar_advice_options options;
  polar_advice_options_init(&options);
  options.specs = specs->data();
  options.num_specs = static_cast<int64_t>(specs->size());
  return options;
}

AdviceHandle make_advice(const polar_advice_options* options) {
  polar_advice* advice = nullptr;
  require_ok(polar_advice_create(kDim, POLAR_METRIC_L2, kRows, sample().data(), 0, nullptr, options,
                                 &advice));
  return AdviceHandle(advice);
}

polar_advice_info info_of(const AdviceHandle& advice) {
  polar_advice_info info = {};
  info.struct_size = sizeof info;
  require_ok(polar_advice_get_info(advice.get(), &info));
  return info;
}

polar_advice_row row_of(const AdviceHandle& advice, int64_t i) {
  polar_advice_row row = {};
  row.struct_size = sizeof row;
  require_ok(polar_advice_get_row(advice.get(), i, &row));
  return row;
}

}  // namespace

TEST_CASE("advice can be read, row by row", "[capi]") {
  std::vector<const char*> specs = {"Polar2", "Polar4", "Polar3-pca", "Polar8"};
  polar_advice_options options = options_of(&specs);
  options.wanted_recall = .9;
  const AdviceHandle advice = make_advice(&options);
  const polar_advice_info info = info_of(advice);
  CHECK(info.rows == 5);  // Polar3 is measured beside Polar3-pca
  CHECK(info.held_out_queries == 1);
  CHECK(info.queries == 150);
  CHECK(info.train_rows == 675);
  CHECK(info.base_rows == 675);

  const char* names[] = {"Polar2", "Polar4", "Polar3", "Polar3-pca", "Polar8"};
  for (int64_t i = 0; i < info.rows; ++i) {
    const polar_advice_row row = row_of(advice, i);
    CAPTURE(row.spec, row.problem, row.recall);
    CHECK(std::string(row.spec) == names[i]);
    CHECK(std::string(row.problem).empty());
    const CodecHandle codec = make_codec(row.spec, kDim, POLAR_METRIC_L2);
    CHECK(row.bytes_per_vector == static_cast<double>(info_of(codec).code_bytes));
    CHECK(row.needs_training == (info_of(codec).is_trained == 0 ? 1 : 0));
    CHECK(row.recall > .5);
    CHECK(row.recall <= 1);
    CHECK(row.recall_margin > 0);
    CHECK(row.quarter_recall > .5);
    CHECK(row.expected_recall <= row.recall);
    CHECK(row.expected_recall > .5 * row.recall);
    CHECK(row.error > 0);
    CHECK(row.codec_bytes > 0);
    CHECK(row.is_recommended == (i == info.recommended ? 1 : 0));
    // Isotropic rows: training finds nothing.
    CHECK(row.pays == (row.needs_training == 1 ? 0 : 1));
    CHECK(row.gain == 0);
  }
  REQUIRE(info.recommended >= 0);
  const polar_advice_row taken = row_of(advice, info.recommended);
  CHECK(taken.expected_recall - taken.recall_margin >= .9);
  CHECK(std::string(info.reason).find(taken.spec) == 0);
}

TEST_CASE("default options name the candidates", "[capi]") {
  const AdviceHandle advice = make_advice(nullptr);
  const polar_advice_info info = info_of(advice);
  CHECK(info.rows > 20);
  CHECK(std::string(row_of(advice, 0).spec) == "Polar0.5");
  CHECK(std::string(row_of(advice, info.rows - 1).spec) == "Polar8");
  CHECK(std::strlen(info.reason) > 20);
}

TEST_CASE("no code may be what was asked for", "[capi]") {
  std::vector<const char*> specs = {"Polar1"};
  polar_advice_options options = options_of(&specs);
  options.allowed_bytes = 5;
  const AdviceHandle advice = make_advice(&options);
  CHECK(info_of(advice).recommended == -1);
  CHECK(std::string(info_of(advice).reason).find("No code") == 0);
  CHECK(row_of(advice, 0).is_recommended == 0);
}

TEST_CASE("advice is the same with queries of the caller's and any number of threads", "[capi]") {
  std::vector<const char*> specs = {"Polar2", "Polar2-pca"};
  polar_advice_options options = options_of(&specs);
  const std::vector<float> queries = normal_rows(40, kDim, 9);
  double recall[2] = {};
  for (const int32_t threads : {1, 3}) {
    options.num_threads = threads;
    polar_advice* made = nullptr;
    require_ok(polar_advice_create(kDim, POLAR_METRIC_COSINE, kRows, sample().data(), 40,
                                   queries.data(), &options, &made));
    const AdviceHandle advice(made);
    CHECK(info_of(advice).held_out_queries == 0);
    CHECK(info_of(advice).queries == 40);
    recall[threads / 2] = row_of(advice, 0).recall;
  }
  CHECK(recall[0] > .5);
  CHECK(recall[0] == recall[1]);
}

TEST_CASE("a code that cannot be measured tells its problem", "[capi]") {
  std::vector<const char*> specs = {"Polar2-pca"};
  const polar_advice_options options = options_of(&specs);
  polar_advice* made = nullptr;
  require_ok(polar_advice_create(kDim, POLAR_METRIC_L2, 250, sample().data(), 0, nullptr, &options,
                                 &made));
  const AdviceHandle advice(made);
  const polar_advice_row row = row_of(advice, 1);
  CHECK(std::string(row.spec) == "Polar2-pca");
  CHECK(std::string(row.problem).find("128") != std::string::npos);  // rows it needs
  CHECK(row.bytes_per_vector == 0);
  CHECK(row.recall == 0);
  CHECK(info_of(advice).recommended == 0);
}

TEST_CASE("progress is told, and stops the advisor", "[capi]") {
  struct Told {
    int calls = 0;
    double last = 0;
    int stop_after = 0;
  } told;
  std::vector<const char*> specs = {"Polar2"};
  polar_advice_options options = options_of(&specs);
  options.progress = [](void* user, double done) -> int32_t {
    auto* heard = static_cast<Told*>(user);
    heard->last = done;
    return ++heard->calls == heard->stop_after ? 1 : 0;
  };
  options.progress_user = &told;
  make_advice(&options);
  CHECK(told.calls > 2);
  CHECK(told.last == Approx(1));

  told = {0, 0, 2};
  polar_advice* advice = reinterpret_cast<polar_advice*>(&told);
  check_failed(polar_advice_create(kDim, POLAR_METRIC_L2, kRows, sample().data(), 0, nullptr,
                                   &options, &advice),
               POLAR_ERROR_CANCELLED, {"advise"});
  CHECK(advice == nullptr);
  CHECK(told.calls == 2);
}

TEST_CASE("advice calls refuse what is wrong", "[capi]") {
  polar_advice* advice = nullptr;
  const auto create = [&](void (*change)(polar_advice_options*), const char* part) {
    polar_advice_options options;
    polar_advice_options_init(&options);
    change(&options);
    check_failed(polar_advice_create(kDim, POLAR_METRIC_L2, kRows, sample().data(), 0, nullptr,
                                     &options, &advice),
                 POLAR_ERROR_BAD_ARGUMENT, {part});
    CHECK(advice == nullptr);
  };
  using Options = polar_advice_options;
  create([](Options* o) { o->struct_size = 8; }, "options.struct_size: 8");
  create([](Options* o) { o->num_threads = -1; }, "num_threads: -1");
  create([](Options* o) { o->k = 0; }, "k: 0");
  create([](Options* o) { o->k = 100; }, "n: 1500");
  create([](Options* o) { o->k = INT64_MAX; }, "k: 9223372036854775807");
  create([](Options* o) { o->wanted_recall = 2; }, "wanted_recall: 2");
  create([](Options* o) { o->wanted_recall = kNan; }, "wanted_recall: nan");
  create([](Options* o) { o->allowed_bytes = -1; }, "allowed_bytes: -1");
  create([](Options* o) { o->max_rows = 0; }, "max_rows: 0");
  create([](Options* o) { o->max_queries = 0; }, "max_queries: 0");
  create([](Options* o) { o->total_rows = -1; }, "total_rows: -1");
  create([](Options* o) { o->num_specs = -1; }, "num_specs: -1");
  create([](Options* o) { o->num_specs = 1; }, "options.specs: NULL");
  static const char* const null_name[] = {"Polar2", nullptr};
  create([](Options* o) { o->specs = null_name, o->num_specs = 2; }, "options.specs: NULL");
  static const char* const wrong_name[] = {"Polar2-pcb"};
  create([](Options* o) { o->specs = wrong_name, o->num_specs = 1; }, "pcb");

  const auto fails = [&](int32_t dim, polar_metric metric, int64_t n, const float* x, int64_t nq,
                         const float* queries, const std::vector<std::string>& parts) {
    check_failed(polar_advice_create(dim, metric, n, x, nq, queries, nullptr, &advice),
                 POLAR_ERROR_BAD_ARGUMENT, parts);
    CHECK(advice == nullptr);
  };
  const float* x = sample().data();
  fails(0, POLAR_METRIC_L2, kRows, x, 0, nullptr, {"dim: 0"});
  fails(kDim, 3, kRows, x, 0, nullptr, {"metric: 3"});
  fails(kDim, POLAR_METRIC_L2, 0, x, 0, nullptr, {"n: 0"});
  fails(kDim, POLAR_METRIC_L2, 100, x, 0, nullptr, {"n: 100", "223"});
  fails(kDim, POLAR_METRIC_L2, kRows, nullptr, 0, nullptr, {"x: NULL"});
  fails(kDim, POLAR_METRIC_L2, kRows, x, -1, x, {"nq: -1"});
  fails(kDim, POLAR_METRIC_L2, kRows, x, 3, x, {"nq: 3", "10"});
  fails(kDim, POLAR_METRIC_L2, kRows, x, 20, nullptr, {"queries: NULL"});
  std::vector<float> bad = sample();
  bad[kDim * 7 + 3] = kNan;
  fails(kDim, POLAR_METRIC_L2, kRows, bad.data(), 0, nullptr, {"x: row 7 column 3"});
  fails(kDim, POLAR_METRIC_L2, kRows, x, 20, bad.data(), {"queries: row 7 column 3"});
  check_failed(polar_advice_create(kDim, POLAR_METRIC_L2, kRows, x, 0, nullptr, nullptr, nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"out"});

  std::vector<const char*> specs = {"Polar2"};
  const polar_advice_options options = options_of(&specs);
  const AdviceHandle made = make_advice(&options);
  polar_advice_info info = {};
  polar_advice_row row = {};
  check_failed(polar_advice_get_info(made.get(), &info), POLAR_ERROR_BAD_ARGUMENT,
               {"info.struct_size: 0"});
  check_failed(polar_advice_get_row(made.get(), 0, &row), POLAR_ERROR_BAD_ARGUMENT,
               {"filled.struct_size: 0"});
  info.struct_size = sizeof info;
  row.struct_size = sizeof row;
  check_failed(polar_advice_get_info(nullptr, &info), POLAR_ERROR_BAD_ARGUMENT, {"advice: NULL"});
  check_failed(polar_advice_get_info(made.get(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"info: NULL"});
  check_failed(polar_advice_get_row(nullptr, 0, &row), POLAR_ERROR_BAD_ARGUMENT, {"advice: NULL"});
  check_failed(polar_advice_get_row(made.get(), 0, nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"filled: NULL"});
  for (const int64_t outside : {int64_t{-1}, int64_t{1}, INT64_MAX})
    check_failed(polar_advice_get_row(made.get(), outside, &row), POLAR_ERROR_BAD_ARGUMENT,
                 {"row: " + std::to_string(outside)});
  polar_advice_destroy(nullptr);
}
