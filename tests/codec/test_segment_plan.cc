// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <vector>

#include "src/codec/segment_plan.h"
#include "src/codec/trellis_quantizer.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

double error_of(int dim, const SegmentPlan& plan, const std::vector<double>& variances) {
  double error = 0;
  for (size_t i = 0; i < plan.size(); ++i) {
    const double mse = plan[i].twice_bits == 0 ? 1 : find_plan_rate(plan[i].twice_bits)->mse;
    error += variances[i] * segment_dims(dim, static_cast<int>(i)) * mse;
  }
  return error;
}

/// The least error of all plans whose rates do not rise, by trying them.
double least_error(int dim, const std::vector<double>& variances, size_t bytes, size_t segment = 0,
                   int most = 16) {
  if (segment == variances.size()) return 0;
  const int dims = segment_dims(dim, static_cast<int>(segment));
  double best = INFINITY;
  const auto try_rate = [&](int twice_bits, double mse) {
    const size_t used = segment_bytes(dims, twice_bits);
    if (used > bytes) return;
    best = std::min(best, variances[segment] * dims * mse +
                              least_error(dim, variances, bytes - used, segment + 1, twice_bits));
  };
  try_rate(0, 1);
  for (const Rate& rate : plan_rates())
    if (rate.twice_bits <= most) try_rate(rate.twice_bits, rate.mse);
  return best;
}

}  // namespace

TEST_CASE("rates remove error the more the more bits they have", "[plan]") {
  int twice_bits = 0;
  double mse = 1;
  for (const Rate& rate : plan_rates()) {
    CAPTURE(rate.twice_bits);
    CHECK(rate.twice_bits > twice_bits);
    CHECK(rate.mse < mse);
    // No code is better than Shannon's bound; these stay within 2.8 of it.
    const double shannon = std::pow(2.0, -rate.twice_bits);
    CHECK(rate.mse > shannon);
    CHECK(rate.mse < 2.8 * shannon);
    twice_bits = rate.twice_bits;
    mse = rate.mse;
  }
  CHECK(twice_bits == 16);
  CHECK(find_plan_rate(11) == nullptr);
}

TEST_CASE("a uniform plan takes the untrained code's bytes", "[plan]") {
  for (const int dim : {1, 2, 63, 64, 65, 100, 384, 1000}) {
    for (int twice_bits = 1; twice_bits <= 10; ++twice_bits) {
      CAPTURE(dim, twice_bits);
      const size_t untrained = TrellisPlanes(dim, trellis_codebook(twice_bits)).bytes();
      const size_t planned = plan_bytes(dim, uniform_plan(dim, twice_bits));
      CHECK(planned >= untrained);
      CHECK(planned <= untrained + 1);
    }
  }
}

TEST_CASE("equal variances get equal rates", "[plan]") {
  for (int twice_bits = 1; twice_bits <= 10; ++twice_bits) {
    CAPTURE(twice_bits);
    const std::vector<double> variances(6, 1.0);
    const size_t bytes = plan_bytes(384, uniform_plan(384, twice_bits));
    CHECK(allocate_rates(384, variances, bytes) == uniform_plan(384, twice_bits));
  }
}

TEST_CASE("an even plan has one rate wherever all segments can have it", "[plan]") {
  CHECK(even_plan(100, 8, plan_bytes(100, uniform_plan(100, 8))) == uniform_plan(100, 8));
  CHECK(even_plan(128, 12, 96) == uniform_plan(128, 12));
  CHECK(plan_mse(128, uniform_plan(128, 12)) == find_plan_rate(12)->mse);
  // The 36 last of 100 coordinates cannot have 6 bits: theirs go to the first 64.
  const SegmentPlan uneven = even_plan(100, 12, 75);
  CHECK(plan_bytes(100, uneven) <= 75);
  CHECK(uneven[0].twice_bits == 12);
  CHECK(uneven[1].twice_bits == 10);
  CHECK(uneven[0].scale == 1);
  CHECK(plan_mse(100, uneven) ==
        Approx(.64 * find_plan_rate(12)->mse + .36 * find_plan_rate(10)->mse));
}

TEST_CASE("plans fit, fall, and are near the best there is", "[plan]") {
  for (const int dim : {64, 100, 200, 256, 300}) {
    for (const double decay : {.2, 1.0, 3.0}) {
      for (int twice_bits = 1; twice_bits <= 10; ++twice_bits) {
        CAPTURE(dim, decay, twice_bits);
        std::vector<double> variances;
        for (int i = 0; i < segments_of(dim); ++i) variances.push_back(std::exp(-decay * i));
        const size_t bytes = plan_bytes(dim, uniform_plan(dim, twice_bits));
        const SegmentPlan plan = allocate_rates(dim, variances, bytes);
        REQUIRE(plan.size() == variances.size());
        CHECK(plan_bytes(dim, plan) <= bytes);
        for (size_t i = 0; i < plan.size(); ++i) {
          CHECK(plan[i].scale == static_cast<float>(std::sqrt(variances[i])));
          if (i > 0) CHECK(plan[i].twice_bits <= plan[i - 1].twice_bits);
        }
        CHECK(error_of(dim, plan, variances) <= 1.25 * least_error(dim, variances, bytes));
      }
    }
  }
}

TEST_CASE("segments without variance get nothing", "[plan]") {
  const SegmentPlan plan = allocate_rates(192, std::vector<double>{3, 1e-12, 0}, 48);
  CHECK(plan[0].twice_bits == 12);
  CHECK(plan[1] == SegmentRate{0, 1});
  CHECK(plan[2] == SegmentRate{0, 1});
}

TEST_CASE("bytes that a plan leaves go to part of the next segment", "[plan]") {
  const auto with_part = [](int dim, size_t bytes, SegmentPlan plan) {
    code_part(dim, bytes, &plan);
    return plan;
  };
  // 64 coordinates at 2 bits take 16 bytes, at half a bit 4.
  const SegmentPlan first = {{4, 2}, {0, 1}, {0, .5F}, {0, .25F}};
  const SegmentPlan second = {{4, 2}, {kPartRate, 1}, {0, .5F}, {0, .25F}};
  CHECK(coded_dims(200, first, 16) == 64);
  CHECK(with_part(200, 16, first) == first);
  for (const size_t more : {1, 2, 3, 4}) {
    CAPTURE(more);
    const SegmentPlan plan = with_part(200, 16 + more, first);
    CHECK(plan == second);
    CHECK(coded_dims(200, plan, 16 + more) == 64 + 16 * static_cast<int>(more));
  }
  // The part may be all there is.
  const SegmentPlan none = {{0, 2}, {0, 1}, {0, 1}, {0, 1}};
  const SegmentPlan part = with_part(200, 1, none);
  CHECK(part[0] == SegmentRate{kPartRate, 2});
  CHECK(part[1].twice_bits == 0);
  CHECK(coded_dims(200, part, 1) == 16);
  CHECK(coded_dims(200, none, 1) == 0);
  // Where all segments have bits there is nothing to give.
  const SegmentPlan all(4, SegmentRate{1, 1});
  CHECK(with_part(200, 100, all) == all);
  CHECK(coded_dims(200, all, 100) == 200);
}

TEST_CASE("a short last segment can be coded in part", "[plan]") {
  // Its 37 coordinates take 3 bytes at half a bit.
  REQUIRE(segment_bytes(37, kPartRate) == 3);
  for (const size_t more : {1, 2, 3}) {
    CAPTURE(more);
    SegmentPlan plan = {{4, 1}, {0, 1}};
    code_part(101, 16 + more, &plan);
    CHECK(plan[1].twice_bits == kPartRate);
    CHECK(coded_dims(101, plan, 16 + more) == std::min(101, 64 + 16 * static_cast<int>(more)));
  }
  for (const int dim : {65, 72, 80}) {
    CAPTURE(dim);
    SegmentPlan plan = {{4, 1}, {0, 1}};
    code_part(dim, 17, &plan);
    CHECK(plan_bytes(dim, plan) == 17);
    CHECK(coded_dims(dim, plan, 17) == dim);
  }
}
