// SPDX-License-Identifier: MIT
// Trained plans through the C ABI: training, what the plan says, drift, and an index of such codes.
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 100;

/// Normal rows whose first 20 coordinates have nearly all the variance.
std::vector<float> uneven_rows(int64_t n, uint64_t seed) {
  std::vector<float> x = normal_rows(n, kDim, seed);
  for (size_t i = 0; i < x.size(); ++i)
    if (i % kDim >= 20) x[i] *= .1F;
  return x;
}

polar_codec_plan plan_of(const CodecHandle& codec, std::vector<polar_segment>* segments) {
  polar_codec_plan plan = {};
  plan.struct_size = sizeof plan;
  require_ok(polar_codec_get_plan(codec.get(), &plan, segments->data(),
                                  static_cast<int64_t>(segments->size())));
  return plan;
}

}  // namespace

TEST_CASE("a trained plan can be read", "[capi]") {
  const CodecHandle codec = make_codec("Polar2-pca", kDim, POLAR_METRIC_L2);
  CHECK(info_of(codec).is_trained == 0);
  const std::vector<float> x = uneven_rows(1000, 1);
  require_ok(polar_codec_train(codec.get(), 1000, x.data(), nullptr));
  CHECK(info_of(codec).is_trained == 1);
  CHECK(info_of(codec).code_bytes ==
        info_of(make_codec("Polar2", kDim, POLAR_METRIC_L2)).code_bytes);

  std::vector<polar_segment> segments(3, polar_segment{-1, -1, -1, -1});
  const polar_codec_plan plan = plan_of(codec, &segments);
  CHECK(plan.has_basis == 1);
  CHECK(plan.segments == 2);
  CHECK(plan.error > 0);
  CHECK(plan.error < .5 * plan.untrained_error);
  CHECK(segments[0].first == 0);
  CHECK(segments[0].dim == 64);
  CHECK(segments[0].bits > 2);
  CHECK(segments[0].scale > 1);
  CHECK(segments[1].first == 64);
  CHECK(segments[1].dim == 36);
  CHECK(segments[1].bits < 2);
  CHECK(segments[1].scale < 1);
  CHECK(segments[2].first == -1);  // there are two

  std::vector<polar_segment> none;
  CHECK(plan_of(codec, &none).segments == 2);

  double drift = 0;
  const std::vector<float> same = uneven_rows(200, 2);
  require_ok(polar_codec_drift(codec.get(), 200, same.data(), nullptr, &drift));
  CHECK(drift == Approx(1).margin(.2));
  for (const int32_t threads : {1, 3}) {
    const polar_work_options options = working_on(threads);
    double again = 0;
    require_ok(polar_codec_drift(codec.get(), 200, same.data(), &options, &again));
    CHECK(again == drift);
  }
  const std::vector<float> other = normal_rows(200, kDim, 3);
  require_ok(polar_codec_drift(codec.get(), 200, other.data(), nullptr, &drift));
  CHECK(drift > 3);
}

TEST_CASE("plan calls refuse what is wrong", "[capi]") {
  polar_codec_plan plan = {};
  plan.struct_size = sizeof plan;
  polar_segment segment = {};
  double drift = -1;
  const std::vector<float> x = uneven_rows(1000, 1);
  const CodecHandle plain = make_codec("Polar2", kDim, POLAR_METRIC_L2);
  check_failed(polar_codec_get_plan(plain.get(), &plan, &segment, 1), POLAR_ERROR_UNSUPPORTED,
               {"codec", "Polar2", "-pca"});
  check_failed(polar_codec_drift(plain.get(), 1, x.data(), nullptr, &drift),
               POLAR_ERROR_UNSUPPORTED, {"codec", "Polar2"});
  const CodecHandle codec = make_codec("Polar2-pca", kDim, POLAR_METRIC_L2);
  check_failed(polar_codec_get_plan(codec.get(), &plan, &segment, 1), POLAR_ERROR_NOT_TRAINED,
               {"Polar2-pca"});
  check_failed(polar_codec_drift(codec.get(), 1, x.data(), nullptr, &drift),
               POLAR_ERROR_NOT_TRAINED, {"Polar2-pca"});
  check_failed(polar_codec_train(codec.get(), 199, x.data(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"n: 199", "200", "1000"});
  require_ok(polar_codec_train(codec.get(), 1000, x.data(), nullptr));
  check_failed(polar_codec_get_plan(nullptr, &plan, &segment, 1), POLAR_ERROR_BAD_ARGUMENT,
               {"codec"});
  check_failed(polar_codec_get_plan(codec.get(), nullptr, &segment, 1), POLAR_ERROR_BAD_ARGUMENT,
               {"plan"});
  check_failed(polar_codec_get_plan(codec.get(), &plan, nullptr, 1), POLAR_ERROR_BAD_ARGUMENT,
               {"segments"});
  check_failed(polar_codec_get_plan(codec.get(), &plan, &segment, -1), POLAR_ERROR_BAD_ARGUMENT,
               {"cap", "-1"});
  plan.struct_size = 4;
  check_failed(polar_codec_get_plan(codec.get(), &plan, &segment, 1), POLAR_ERROR_BAD_ARGUMENT,
               {"plan.struct_size", "4"});
  check_failed(polar_codec_drift(codec.get(), 0, x.data(), nullptr, &drift),
               POLAR_ERROR_BAD_ARGUMENT, {"n: 0"});
  check_failed(polar_codec_drift(codec.get(), 1, nullptr, nullptr, &drift),
               POLAR_ERROR_BAD_ARGUMENT, {"x"});
  check_failed(polar_codec_drift(codec.get(), 1, x.data(), nullptr, nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"drift"});
  std::vector<float> bad(x.begin(), x.begin() + kDim);
  bad[5] = kNan;
  check_failed(polar_codec_drift(codec.get(), 1, bad.data(), nullptr, &drift),
               POLAR_ERROR_BAD_ARGUMENT, {"row 0 column 5"});
  CHECK(drift == -1);
}
