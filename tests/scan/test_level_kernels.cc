// SPDX-License-Identifier: MIT
// Levels of rows, and their dot products with queries one at a time, against plain code, on every
// target.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "src/scan/kernels/level_rows.h"
#include "src/scan/kernels/round_levels.h"
#include "src/scan/kernels/survivor_dots.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

/// Every step of windows, bytes, and signs of each kind.
const char* const kLevelSpecs[] = {
    "Polar0.5", "Polar1",   "Polar1.5", "Polar2",     "Polar2.5",   "Polar3",    "Polar3.5",
    "Polar4",   "Polar4.5", "Polar5",   "Polar8",     "Polar1+1",   "Polar1+3",  "Polar2+2",
    "Polar2+4", "Polar4+2", "Polar4+4", "Polar1-pca", "Polar4-pca", "Polar5-pca"};

void check_levels(const ScanRows& rows, const ScanTile& tile, const LevelStage& stage,
                  const std::vector<uint32_t>& which) {
  const auto lanes = static_cast<size_t>(stage.lanes());
  AlignedVector<int8_t> found(lanes * which.size() + 64, int8_t{99});
  decode_level_rows(tile, rows.scan, stage, which.data(), static_cast<int>(which.size()),
                    found.data());
  for (size_t i = lanes * which.size(); i < found.size(); ++i) REQUIRE(found[i] == 99);
  // Lanes that have a coordinate, of a part.
  std::vector<bool> coded(lanes);
  for (const LevelPart& part : stage.parts) {
    const int first = (part.first_segment - stage.first_segment) * kSegmentLanes;
    for (int j = 0; j < part.dim; ++j)
      coded[static_cast<size_t>(first + lane_of(j, part.dim))] = true;
  }
  std::vector<int8_t> expected(lanes);
  for (size_t i = 0; i < which.size(); ++i) {
    decode_levels(rows.scan, stage, place_of(tile, which[i]), expected.data());
    for (size_t lane = 0; lane < lanes; ++lane) {
      if (!coded[lane] || found[i * lanes + lane] == expected[lane]) continue;
      CAPTURE(which[i], lane, static_cast<int>(found[i * lanes + lane]),
              static_cast<int>(expected[lane]));
      FAIL("another level");
    }
  }
}

}  // namespace

TEST_CASE("the specs of these tests have every kind of stage", "[scan][kernels]") {
  std::set<int> steps;
  std::set<LevelPart::Signs> signs;
  std::set<LevelPart::Kind> kinds;
  for (const char* spec : kLevelSpecs) {
    const ScanRows rows(spec, 200, Metric::l2);
    for (const LevelStage& stage : rows.scan.stages()) {
      for (const LevelPart& part : stage.parts) {
        if (part.kind == LevelPart::Kind::windows) steps.insert(part.step_bits);
        kinds.insert(part.kind);
        signs.insert(part.signs);
      }
    }
  }
  CHECK(steps.size() >= 7);
  CHECK(signs.size() == 3);
  CHECK(kinds.size() == 3);
}

TEST_CASE("levels of rows are the plain ones", "[scan][kernels]") {
  for (const std::string spec : kLevelSpecs) {
    for (const int dim : kScanDims) {
      const ScanRows rows = made_up_rows(spec, dim, Metric::l2, 85);  // the last block: 21 of 24
      const ScanTile tile = tile_of(rows);
      const std::vector<uint32_t> which = {0, 1, 7, 8, 63, 64, 70, 71, 72, 84, 3, 3};
      on_every_target([&] {
        for (const LevelStage& stage : rows.scan.stages()) {
          CAPTURE(spec, dim);
          check_levels(rows, tile, stage, which);
        }
      });
    }
  }
}

TEST_CASE("windows of any step are the plain ones", "[scan][kernels]") {
  // Stages that no codec has need not have, over bytes of a code that has room for them: 8 a pair.
  for (const int dim : {1, 2, 3, 4, 5, 9, 15, 16, 17, 63, 64, 65, 100, 127, 129, 256, 384, 1000}) {
    const ScanRows rows = made_up_rows("Polar8", dim, Metric::l2, 70);
    const ScanTile tile = tile_of(rows);
    for (int step = 1; step <= 8; ++step) {
      Random random(static_cast<uint64_t>(step));
      LevelPart part;
      part.dim = dim;
      part.step_bits = step;
      for (int i = 0; i < 256; ++i) {
        part.x[i] = static_cast<int8_t>(static_cast<int>(random.below(255)) - 127);
        part.y[i] = static_cast<int8_t>(static_cast<int>(random.below(255)) - 127);
      }
      part.make_tables();
      const LevelStage stage = {{part}, 0, part.segments(), 1};
      const std::vector<uint32_t> which = {0, 5, 63, 64, 69};
      on_every_target([&] {
        CAPTURE(dim, step);
        check_levels(rows, tile, stage, which);
      });
    }
  }
}

TEST_CASE("queries are rounded to the plain levels", "[scan][kernels]") {
  std::vector<float> x;
  for (const float half : {.5F, 1.5F, 2.5F, 63.5F, 100.5F, 126.5F}) {
    for (const float value : {half, std::nextafter(half, 0.0F), std::nextafter(half, 999.0F)}) {
      x.insert(x.end(), {value, -value});
    }
  }
  for (const float value : {0.0F, -0.0F, 1e-40F, -1e-40F, 127.0F, -127.0F}) x.push_back(value);
  for (const float value : normal_numbers(200, 1)) x.push_back(20 * value);
  on_every_target([&] {
    for (const float scale : {1.0F, .77F, 1e-3F}) {
      for (int n = 1; n <= static_cast<int>(x.size()); n += n < 70 ? 1 : 17) {
        for (const int first : {0, 1}) {
          if (first + n > static_cast<int>(x.size())) continue;
          CAPTURE(scale, n, first);
          std::vector<int8_t> levels(static_cast<size_t>(n) + 1, 99);
          round_levels(&x[static_cast<size_t>(first)], n, scale, levels.data());
          float largest = 0;
          bool right = levels.back() == 99;
          for (int j = 0; j < n; ++j) {
            const float value = x[static_cast<size_t>(first + j)];
            largest = std::max(largest, std::fabs(value));
            right = right && levels[static_cast<size_t>(j)] == std::lrint(value * scale);
          }
          REQUIRE(right);
          REQUIRE(same_bits(largest_magnitude(&x[static_cast<size_t>(first)], n), largest));
        }
      }
    }
  });
}

TEST_CASE("queries are rounded to the plain signs and weights", "[scan][kernels]") {
  std::vector<float> x = normal_numbers(64, 2);
  x[3] = 0.0F;
  x[7] = -0.0F;
  x[20] = .75F;  // on the border: light
  x[21] = -.75F;
  on_every_target([&] {
    for (int n = 1; n <= 64; ++n) {
      for (const float heavy_from : {.75F, 0.0F, 99.0F}) {
        CAPTURE(n, heavy_from);
        const float* first = x.data() + 64 - n;
        std::vector<float> weights(static_cast<size_t>(n) + 1, 77.0F);
        const SignBits bits = weigh_signs(first, n, heavy_from, weights.data());
        SignBits expected;
        bool right = weights.back() == 77.0F;
        for (int j = 0; j < n; ++j) {
          const bool is_heavy = std::fabs(first[j]) > heavy_from;
          expected.negative |= static_cast<uint64_t>(first[j] < 0) << j;
          expected.heavy |= static_cast<uint64_t>(is_heavy) << j;
          right = right && same_bits(weights[static_cast<size_t>(j)],
                                     std::copysign(is_heavy ? 3.0F : 1.0F, first[j]));
        }
        REQUIRE(right);
        REQUIRE(bits.negative == expected.negative);
        REQUIRE(bits.heavy == expected.heavy);
      }
    }
  });
}

TEST_CASE("dot products of levels are exact", "[scan][kernels]") {
  for (const int dim : kScanDims) {
    const ScanRows rows("Polar2", dim, Metric::l2);
    const LevelStage& stage = rows.scan.stages()[0];
    const auto lanes = static_cast<size_t>(rows.scan.lanes());
    for (const bool extreme : {false, true}) {
      Random random(2);
      const auto level = [&] {
        const auto value = static_cast<int>(random.below(2 * kMaxLevel + 1)) - kMaxLevel;
        return static_cast<int8_t>(extreme ? kMaxLevel : value);
      };
      ScanQuery query;
      query.levels.resize(lanes);
      for (int8_t& value : query.levels) value = extreme ? int8_t{-kMaxLevel} : level();
      AlignedVector<int8_t> levels(5 * lanes);
      for (int8_t& value : levels) value = level();
      on_every_target([&] {
        CAPTURE(dim, extreme);
        int32_t dots[5];
        dot_level_rows(stage, query, levels.data(), 5, dots);
        for (size_t i = 0; i < 5; ++i)
          REQUIRE(dots[i] == level_dot(stage, query, levels.data() + i * lanes));
      });
    }
  }
}

TEST_CASE("survivors' dot products are the plain ones", "[scan][kernels]") {
  for (const std::string spec : kLevelSpecs) {
    for (const int dim : kScanDims) {
      const ScanRows rows = made_up_rows(spec, dim, Metric::inner_product, 85);
      const ScanTile tile = tile_of(rows);
      const ScanQuery query = rows.query(3, 1);
      std::vector<int8_t> levels(static_cast<size_t>(rows.scan.lanes()));
      AlignedVector<int8_t> scratch(levels.size());
      const std::vector<uint32_t> some = {84, 0, 8, 63, 64, 17, 71, 72, 1};
      for (const LevelStage& stage : rows.scan.stages()) {
        std::vector<int32_t> expected;
        for (const uint32_t row : some) {
          decode_levels(rows.scan, stage, place_of(tile, row), levels.data());
          expected.push_back(level_dot(stage, query, levels.data()));
        }
        on_every_target([&] {
          for (int count = 0; count <= static_cast<int>(some.size()); ++count) {
            CAPTURE(spec, dim, count);
            std::vector<uint32_t> which(some.begin(), some.begin() + count);
            which.resize(static_cast<size_t>(count) + 4, 1000000);  // room, of any contents
            std::vector<int32_t> dots(which.size());
            survivor_dots(tile, rows.scan, stage, query, which.data(), count, scratch.data(),
                          dots.data());
            REQUIRE(std::equal(dots.begin(), dots.begin() + count, expected.begin()));
          }
        });
      }
    }
  }
}

}  // namespace polarquant::test
