// SPDX-License-Identifier: MIT
// Similarities of rounded vectors, and which of them are high, against plain loops.
#include "src/scan/kernels/dense/similarities.h"

#include <limits>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

constexpr int64_t kCounts[] = {1, 2, 3, 15, 16, 17, 63, 64, 65, 128, 1000, 4096};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("similarities of dot products are those of a plain loop", "[scan][lists][kernels]") {
  on_every_target([&] {
    for (const int64_t tiles : {1, 2, 3, 64}) {
      for (const int64_t stride : {16, 1024}) {
        CAPTURE(tiles, stride);
        const int64_t count = 16 * tiles;
        const std::vector<float> numbers = normal_numbers(2 * count + stride * tiles, 1);
        const AlignedVector<float> constants(numbers.begin(), numbers.begin() + count);
        const AlignedVector<float> steps(numbers.begin() + count, numbers.begin() + 2 * count);
        std::vector<int32_t> dots;
        for (auto number = numbers.begin() + 2 * count; number != numbers.end(); ++number)
          dots.push_back(static_cast<int32_t>(1e6F * *number));
        std::vector<float> found(static_cast<size_t>(count) + 1, 77.0F);
        const SimilarityTerms terms = {-3.5F, .7F, 1.3F, constants.data(), steps.data()};
        similarities_of_dots(terms, dots.data(), stride, tiles, found.data());
        for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
          const int32_t dot = dots[i / 16 * static_cast<size_t>(stride) + i % 16];
          const float constant = terms.base + terms.weight * constants[i];
          const float expected = constant + terms.unit * (steps[i] * static_cast<float>(dot));
          REQUIRE(same_bits(found[i], expected));
        }
        REQUIRE(found.back() == 77.0F);
      }
    }
  });
}

TEST_CASE("the range of floats passes over what is no number", "[scan][lists][kernels]") {
  on_every_target([] {
    for (const int64_t count : kCounts) {
      CAPTURE(count);
      std::vector<float> values = normal_numbers(count, 2);
      const auto check = [&] {
        FloatRange expected = {values[0], values[0]};
        for (const float value : values) {
          if (value < expected.least) expected.least = value;
          if (value > expected.most) expected.most = value;
        }
        const FloatRange found = range_of_floats(values.data(), count);
        CHECK(same_bits(found.least, expected.least));
        CHECK(same_bits(found.most, expected.most));
      };
      check();
      if (count == 1) continue;
      values.back() = kNan;
      check();
      values[1] = kNan;
      check();
      values.back() = std::numeric_limits<float>::infinity();
      check();
      values.back() = -std::numeric_limits<float>::infinity();
      check();
    }
    const float none[] = {kNan, 1, 2};
    CHECK(std::isnan(range_of_floats(none, 3).most));
  });
}

TEST_CASE("values that are not below a bar are found in order", "[scan][lists][kernels]") {
  on_every_target([] {
    for (const int64_t count : kCounts) {
      std::vector<float> values = normal_numbers(count, 3);
      if (count > 2) values[static_cast<size_t>(count) / 2] = kNan;
      for (const float bar : {-9.0F, -1.0F, 0.0F, 2.0F, values[0], 9.0F}) {
        CAPTURE(count, bar);
        std::vector<int64_t> expected;
        for (int64_t i = 0; i < count; ++i)
          if (!(values[static_cast<size_t>(i)] < bar)) expected.push_back(i);
        std::vector<int64_t> found = {5, 5, 5};
        find_not_below(bar, values.data(), count, &found);
        CHECK(found == expected);
      }
    }
  });
}

}  // namespace
}  // namespace polarquant::test
