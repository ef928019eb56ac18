// SPDX-License-Identifier: MIT
// Values of rows, and their dot products with queries one at a time, against plain code, on every
// target.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "src/codec/magnitude_planes.h"
#include "src/scan/kernels/decode/candidate_dots.h"
#include "src/scan/kernels/decode/decode_rows.h"
#include "src/scan/kernels/decode/level_floats.h"
#include "src/simd/round_to_int8.h"
#include "src/simd/sign_words.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

/// Every step of windows, magnitudes, and signs of each kind.
const char* const kSpecs[] = {"Polar0.5",     "Polar1",   "Polar1.5",   "Polar2",     "Polar2.5",
                              "Polar3",       "Polar3.5", "Polar4",     "Polar4.5",   "Polar5",
                              "Polar8",       "Polar1+1", "Polar1+3",   "Polar2+2",   "Polar2+4",
                              "Polar4+2",     "Polar4+4", "Polar1-pca", "Polar4-pca", "Polar5-pca",
                              "Polar4+3-pca", "PolarB3",  "PolarB6"};

void check_values(const ScanRows& rows, const ScanTile& tile, const Int8Stage& stage,
                  const std::vector<uint32_t>& which) {
  const auto padded_dim = static_cast<size_t>(stage.padded_dim());
  AlignedVector<int8_t> found(padded_dim * which.size() + 64, int8_t{99});
  decode_int8_rows(tile, rows.scan, stage, which.data(), static_cast<int>(which.size()),
                   found.data());
  for (size_t i = padded_dim * which.size(); i < found.size(); ++i) REQUIRE(found[i] == 99);
  // Positions that have a coordinate, in a part.
  std::vector<bool> coded(padded_dim);
  for (const Int8Part& part : stage.parts) {
    const int first = (part.first_segment - stage.first_segment) * kSegmentDims;
    for (int j = 0; j < part.dim; ++j)
      coded[static_cast<size_t>(first + position_of(j, part.dim))] = true;
  }
  std::vector<int8_t> expected(padded_dim);
  for (size_t i = 0; i < which.size(); ++i) {
    decode_int8(rows.scan, stage, place_of(tile, which[i]), expected.data());
    for (size_t position = 0; position < padded_dim; ++position) {
      if (!coded[position] || found[i * padded_dim + position] == expected[position]) continue;
      CAPTURE(which[i], position, static_cast<int>(found[i * padded_dim + position]),
              static_cast<int>(expected[position]));
      FAIL("another level");
    }
  }
}

/// A part that no code need have, over bytes of a code that is long enough.
void check_part(const ScanRows& rows, const ScanTile& tile, const Int8Part& part) {
  const Int8Stage stage = {{part}, 0, part.segments(), 1};
  on_every_target([&] {
    CAPTURE(part.dim, part.step_bits);
    check_values(rows, tile, stage, {0, 5, 63, 64, 69});
  });
}

}  // namespace

TEST_CASE("the specs of these tests have every kind of stage", "[scan][kernels]") {
  std::set<int> steps;
  std::set<Int8Part::Signs> signs;
  std::set<Int8Part::Kind> kinds;
  for (const char* spec : kSpecs) {
    const ScanRows rows(spec, 200, Metric::l2);
    for (const Int8Stage& stage : rows.scan.stages()) {
      for (const Int8Part& part : stage.parts) {
        if (part.kind == Int8Part::Kind::windows) steps.insert(part.step_bits);
        kinds.insert(part.kind);
        signs.insert(part.signs);
      }
    }
  }
  CHECK(steps.size() >= 7);
  CHECK(signs.size() == 3);
  CHECK(kinds.size() == 2);
}

TEST_CASE("int8 values of rows are the plain ones", "[scan][kernels]") {
  for (const std::string spec : kSpecs) {
    for (const int dim : kScanDims) {
      const ScanRows rows = made_up_rows(spec, dim, Metric::l2, 85);  // the last block: 21 of 24
      const ScanTile tile = tile_of(rows);
      const std::vector<uint32_t> which = {0, 1, 7, 8, 63, 64, 70, 71, 72, 84, 3, 3};
      on_every_target([&] {
        for (const Int8Stage& stage : rows.scan.stages()) {
          CAPTURE(spec, dim);
          check_values(rows, tile, stage, which);
        }
      });
    }
  }
}

TEST_CASE("fields of magnitudes of any bits are the plain ones", "[scan][kernels]") {
  for (const int dim : {1, 2, 3, 17, 33, 63, 64, 65, 100, 127, 128, 129, 384, 1000}) {
    const ScanRows rows = made_up_rows("Polar8", dim, Metric::l2, 70);
    const ScanTile tile = tile_of(rows);
    for (int bits = kMinMagnitudeBits - 1; bits < kMaxMagnitudeBits; ++bits) {
      Random random(static_cast<uint64_t>(bits));
      Int8Part part;
      part.kind = Int8Part::Kind::magnitudes;
      part.dim = dim;
      part.step_bits = bits;
      for (int i = 0; i < 1 << bits; ++i) part.x[i] = static_cast<int8_t>(random.below(128));
      part.make_tables();
      check_part(rows, tile, part);
    }
  }
}

TEST_CASE("windows of any step are the plain ones", "[scan][kernels]") {
  for (const int dim : {1, 2, 3, 4, 5, 9, 15, 16, 17, 63, 64, 65, 100, 127, 129, 256, 384, 1000}) {
    const ScanRows rows = made_up_rows("Polar8", dim, Metric::l2, 70);
    const ScanTile tile = tile_of(rows);
    for (int step = 1; step <= 8; ++step) {
      Random random(static_cast<uint64_t>(step));
      Int8Part part;
      part.dim = dim;
      part.step_bits = step;
      for (int i = 0; i < 256; ++i) {
        part.x[i] = static_cast<int8_t>(static_cast<int>(random.below(255)) - 127);
        part.y[i] = static_cast<int8_t>(static_cast<int>(random.below(255)) - 127);
      }
      part.make_tables();
      check_part(rows, tile, part);
    }
  }
}

TEST_CASE("split levels as floats are those of the codec", "[scan][kernels]") {
  for (const int dim : kScanDims) {
    const ScanRows rows = made_up_rows("Polar8", dim, Metric::l2, 85);
    const ScanTile tile = tile_of(rows);
    REQUIRE(rows.scan.split_levels().size() == 256);
    on_every_target([&] {
      for (const uint32_t row : {0U, 7U, 64U, 84U}) {
        CAPTURE(dim, row);
        const auto size = static_cast<size_t>(dim);
        const BlockLayout& layout = rows.scan.layout();
        std::vector<uint8_t> code(layout.row_format_bytes());
        layout.get_row(place_of(tile, row), code.data());
        std::vector<float> expected(size);
        rows.codec->decode_for_score({code.data(), 1}, 0, expected.data());
        std::vector<float> found(size + 1, 9);
        decode_split_levels(layout, place_of(tile, row), rows.scan.split_levels().data(),
                            found.data());
        REQUIRE(std::equal(expected.begin(), expected.end(), found.begin(), same_bits));
        REQUIRE(found[size] == 9);
      }
    });
  }
  CHECK(ScanRows("Polar4", 100, Metric::l2).scan.split_levels().empty());
}

TEST_CASE("queries are rounded to the plain int8 values", "[scan][kernels]") {
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
          std::vector<int8_t> values(static_cast<size_t>(n) + 1, 99);
          round_to_int8(&x[static_cast<size_t>(first)], n, scale, values.data());
          float largest = 0;
          bool right = values.back() == 99;
          for (int j = 0; j < n; ++j) {
            const float value = x[static_cast<size_t>(first + j)];
            largest = std::max(largest, std::fabs(value));
            right = right && values[static_cast<size_t>(j)] == std::lrint(value * scale);
          }
          REQUIRE(right);
          REQUIRE(same_bits(largest_magnitude(&x[static_cast<size_t>(first)], n), largest));
        }
      }
    }
  });
}

namespace {

void check_weights(const int8_t* values, const SignWord& word, int dims,
                   const std::vector<float>& borders, const WordWeights& weights) {
  const float root = std::sqrt(static_cast<float>(word.squares) / static_cast<float>(dims));
  int sum = 0;
  int squares = 0;
  int along = 0;
  for (int j = 0; j < 64; ++j) {
    const int magnitude = std::abs(values[j]);
    int weight = 0;
    for (const float border : borders) weight += magnitude > std::floor(border * root) ? 1 : 0;
    REQUIRE(weights.weight_of(j) == weight);
    sum += weight;
    squares += weight * weight;
    along += weight * magnitude;
  }
  REQUIRE(weights.sum == sum);
  REQUIRE(weights.squares == squares);
  REQUIRE(weights.along == along);
}

}  // namespace

TEST_CASE("words of int8 values give the plain sums", "[scan][kernels]") {
  constexpr int kWords = 3;
  for (const bool extreme : {false, true}) {
    Random random(5);
    AlignedVector<int8_t> values(kWords * 64);
    for (int8_t& value : values) {
      const auto any = static_cast<int>(random.below(2 * kMaxInt8 + 1)) - kMaxInt8;
      value = static_cast<int8_t>(extreme ? (any < 0 ? -kMaxInt8 : kMaxInt8) : any);
    }
    for (const int dims : {64 * kWords, 64 * kWords - 1, 129}) {
      std::fill(values.begin() + dims, values.end(), int8_t{0});
      CAPTURE(extreme, dims);
      on_every_target([&] {
        SignWord words[kWords];
        sum_sign_words(values.data(), kWords, words);
        for (int w = 0; w < kWords; ++w) {
          SignWord expected;
          for (int j = 0; j < 64; ++j) {
            const int value = values[static_cast<size_t>(64 * w + j)];
            expected.negative |= static_cast<uint64_t>(value < 0) << j;
            expected.sum += value;
            expected.squares += value * value;
          }
          REQUIRE(words[w].negative == expected.negative);
          REQUIRE(words[w].sum == expected.sum);
          REQUIRE(words[w].squares == expected.squares);
        }
        for (const std::vector<float>& borders : {std::vector<float>{.35F, 1, 1.7F},
                                                  {0, 0, 0},
                                                  {.5F, 1, 99},
                                                  {.2F, .5F, .8F, 1.1F, 1.4F, 1.7F, 2}}) {
          for (const int count : {1, kWords}) {
            WordWeights weights[kWords];
            weigh_values(values.data(), words, count, dims, borders, weights);
            for (int w = 0; w < count; ++w)
              check_weights(&values[static_cast<size_t>(64 * w)], words[w],
                            std::min(64, dims - 64 * w), borders, weights[w]);
          }
        }
      });
    }
  }
}

TEST_CASE("weights of whatever word add up to what sums of bytes are made for", "[scan][kernels]") {
  const std::vector<float> borders = {.35F, 1, 1.7F};
  std::vector<float> three_bit_borders;
  for (int i = 0; i < 7; ++i) three_bit_borders.push_back((static_cast<float>(i) + .5F) * .33F);
  Random random(7);
  int most = 0;
  int three_bit_most = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    // Some far, some near, some 0: from all alike to one alone.
    AlignedVector<int8_t> values(64);
    const int far = static_cast<int>(random.below(64)) + 1;
    const int near_value = static_cast<int>(random.below(128));
    const int near = static_cast<int>(random.below(static_cast<uint64_t>(65 - far)));
    for (int j = 0; j < 64; ++j) {
      const int value = j < far ? kMaxInt8 : j < far + near ? near_value : 0;
      values[static_cast<size_t>(j)] = static_cast<int8_t>(random.below(2) == 0 ? value : -value);
    }
    SignWord word;
    sum_sign_words(values.data(), 1, &word);
    WordWeights weights;
    weigh_values(values.data(), &word, 1, 64, borders, &weights);
    most = std::max(most, weights.sum);
    weigh_values(values.data(), &word, 1, 64, three_bit_borders, &weights);
    three_bit_most = std::max(three_bit_most, weights.sum);
  }
  CHECK(most > 120);
  CHECK(most <= 127);
  CHECK(three_bit_most > 180);
  CHECK(three_bit_most <= 255);
}

TEST_CASE("dot products of int8 values are exact", "[scan][kernels]") {
  for (const int dim : kScanDims) {
    const ScanRows rows("Polar2", dim, Metric::l2);
    const Int8Stage& stage = rows.scan.stages()[0];
    const auto padded_dim = static_cast<size_t>(rows.scan.padded_dim());
    for (const bool extreme : {false, true}) {
      Random random(2);
      const auto random_value = [&] {
        const auto value = static_cast<int>(random.below(2 * kMaxInt8 + 1)) - kMaxInt8;
        return static_cast<int8_t>(extreme ? kMaxInt8 : value);
      };
      ScanQuery query;
      query.values.resize(padded_dim);
      for (int8_t& value : query.values) value = extreme ? int8_t{-kMaxInt8} : random_value();
      AlignedVector<int8_t> values(5 * padded_dim);
      for (int8_t& value : values) value = random_value();
      on_every_target([&] {
        CAPTURE(dim, extreme);
        int32_t dots[5];
        dot_int8_rows(stage, query, values.data(), 5, dots);
        for (size_t i = 0; i < 5; ++i)
          REQUIRE(dots[i] == int8_dot(stage, query, values.data() + i * padded_dim));
      });
    }
  }
}

TEST_CASE("candidates' dot products are the plain ones", "[scan][kernels]") {
  for (const std::string spec : kSpecs) {
    for (const int dim : kScanDims) {
      const ScanRows rows = made_up_rows(spec, dim, Metric::inner_product, 85);
      const ScanTile tile = tile_of(rows);
      const ScanQuery query = rows.query(3, 1);
      std::vector<int8_t> values(static_cast<size_t>(rows.scan.padded_dim()));
      AlignedVector<int8_t> scratch(values.size());
      const std::vector<uint32_t> some = {84, 0, 8, 63, 64, 17, 71, 72, 1};
      for (const Int8Stage& stage : rows.scan.stages()) {
        std::vector<int32_t> expected;
        for (const uint32_t row : some) {
          decode_int8(rows.scan, stage, place_of(tile, row), values.data());
          expected.push_back(int8_dot(stage, query, values.data()));
        }
        on_every_target([&] {
          for (int count = 0; count <= static_cast<int>(some.size()); ++count) {
            CAPTURE(spec, dim, count);
            std::vector<uint32_t> which(some.begin(), some.begin() + count);
            which.resize(static_cast<size_t>(count) + 4, 1000000);  // four more, of any contents
            std::vector<int32_t> dots(which.size());
            candidate_dots(tile, rows.scan, stage, query, which.data(), count, scratch.data(),
                           dots.data());
            REQUIRE(std::equal(dots.begin(), dots.begin() + count, expected.begin()));
          }
        });
      }
    }
  }
}

}  // namespace polarquant::test
