// SPDX-License-Identifier: MIT
// The codec's kernels against its plain code, bit for bit, on every target this machine has.
#include "src/simd/targets.h"  // before highway
//
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "src/codec/codec.h"
#include "src/codec/trellis_codebooks.h"
#include "src/core/random.h"
#include "src/simd/simd_codec_kernels.h"
#include "tests/scan/every_target.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDims[] = {1,  2,  3,   7,   8,   31,  32,  33,  63,  64,
                         65, 96, 100, 127, 128, 129, 384, 768, 1000};

struct NamedKernels {
  std::string target;
  CodecKernels kernels;
};

/// The kernels of every target that is compiled and can run here.
std::vector<NamedKernels> all_kernels() {
  std::vector<NamedKernels> all;
  for (int64_t targets = hwy::SupportedTargets() & HWY_TARGETS; targets != 0;
       targets &= targets - 1) {
    const int64_t target = targets & -targets;
    const ForcedTarget forced(target);
    all.push_back({hwy::TargetName(target), simd_codec_kernels()});
  }
  return all;
}

std::vector<float> normal_numbers(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = static_cast<float>(random.normal());
  return numbers;
}

bool same_bits(const float* a, const float* b, int n) {
  return std::memcmp(a, b, static_cast<size_t>(n) * sizeof(float)) == 0;
}

/// `rows` as a caller may have them: at an address no better than a float's.
std::vector<uint8_t> encode_unaligned(const Codec& codec, const std::vector<float>& rows) {
  const auto n = static_cast<int64_t>(rows.size()) / codec.dim();
  AlignedVector<float> shifted(rows.size() + 1);
  std::copy(rows.begin(), rows.end(), shifted.begin() + 1);
  std::vector<uint8_t> codes(codec.layout().bytes(n), 0xa5);
  codec.encode(n, shifted.data() + 1, codes.data(), 1);
  return codes;
}

}  // namespace

TEST_CASE("each target runs its own kernels", "[scan][kernels]") {
  const std::vector<NamedKernels> all = all_kernels();
  REQUIRE(!all.empty());
  for (const NamedKernels& one : all) {
    const bool plain = one.target == hwy::TargetName(HWY_SCALAR);
    CHECK(one.kernels.rotation.target == (plain ? "plain" : one.target));
    CHECK(one.kernels.trellis.target == (plain ? "plain" : one.target));
  }
}

TEST_CASE("windows are the plain search's for every target, step and length", "[scan][kernels]") {
  for (const NamedKernels& one : all_kernels()) {
    for (int step = 1; step <= 8; ++step) {
      Random random(static_cast<uint64_t>(step));
      Cells cells;
      for (int cell = 0; cell < kCells; ++cell) {
        cells.x[cell] = static_cast<float>(random.normal());
        cells.y[cell] = static_cast<float>(random.normal());
      }
      const TrellisEncoder plain(cells, step);
      const TrellisEncoder fast(cells, step, one.kernels.trellis);
      for (const int dim : kDims) {
        const int pairs = (dim + 1) / 2;
        for (uint64_t seed = 0; seed < 3; ++seed) {
          const std::vector<float> numbers = normal_numbers(2 * pairs + 1, 100 * seed + dim);
          std::vector<float> weights(pairs + 1, 1.0F);
          if (dim % 2 != 0) weights.back() = 0;
          const TrellisPoints points = {&numbers[1], &numbers[1 + pairs], &weights[1], pairs};
          std::vector<uint8_t> expected(pairs + 1);
          std::vector<uint8_t> found(pairs + 1);
          plain.encode(points, &expected[1]);
          fast.encode(points, &found[1]);
          CAPTURE(one.target, step, dim, seed);
          REQUIRE(found == expected);
        }
      }
    }
  }
}

TEST_CASE("of equal paths every target takes the plain search's", "[scan][kernels]") {
  // Cells and points on a coarse grid: most totals are equal to others, exactly.
  for (const NamedKernels& one : all_kernels()) {
    for (int step = 1; step <= 8; ++step) {
      for (const int values : {1, 2, 3}) {
        Random random(static_cast<uint64_t>(10 * step + values));
        const auto number = [&] {
          return static_cast<float>(random.next() % static_cast<uint64_t>(values));
        };
        Cells cells;
        for (int cell = 0; cell < kCells; ++cell) {
          cells.x[cell] = number();
          cells.y[cell] = number();
        }
        for (const int pairs : {1, 2, 5, 20, 33, 100}) {
          std::vector<float> x(pairs);
          std::vector<float> y(pairs);
          std::vector<float> weights(pairs);
          for (int i = 0; i < pairs; ++i)
            x[i] = number(), y[i] = number(), weights[i] = i % 5 == 4 ? 0.0F : 1.0F;
          const TrellisPoints points = {x.data(), y.data(), weights.data(), pairs};
          std::vector<uint8_t> expected(pairs);
          std::vector<uint8_t> found(pairs);
          TrellisEncoder(cells, step).encode(points, expected.data());
          TrellisEncoder(cells, step, one.kernels.trellis).encode(points, found.data());
          CAPTURE(one.target, step, values, pairs);
          REQUIRE(found == expected);
        }
      }
    }
  }
}

TEST_CASE("codes are decoded to the plain floats, and nothing after them is read",
          "[scan][kernels]") {
  for (const NamedKernels& one : all_kernels()) {
    for (const char* spec : {"Polar0.5", "Polar1", "Polar1.5", "Polar2", "Polar2.5", "Polar3",
                             "Polar3.5", "Polar4", "Polar4.5", "Polar5", "Polar2+2", "Polar1+3"}) {
      for (const int dim : {1, 63, 64, 65, 100, 127, 128, 129, 190, 192, 200, 256, 384, 1000}) {
        Codec plain(parse_spec(spec), dim, Metric::l2, CodecOptions{});
        Codec fast(parse_spec(spec), dim, Metric::l2, CodecOptions{});
        fast.use_kernels(one.kernels);
        const std::vector<float> x = normal_numbers(3 * dim, static_cast<uint64_t>(dim));
        plain.train(3, x.data());
        fast.train(3, x.data());
        // Of the size of the codes, for the address sanitizer.
        std::vector<uint8_t> codes(plain.layout().bytes(3));
        plain.encode(3, x.data(), codes.data(), 1);
        std::vector<float> expected(static_cast<size_t>(dim));
        std::vector<float> found(static_cast<size_t>(dim));
        for (int64_t row = 0; row < 3; ++row) {
          plain.decode_for_score({codes.data(), 3}, row, expected.data());
          fast.decode_for_score({codes.data(), 3}, row, found.data());
          CAPTURE(one.target, spec, dim, row);
          REQUIRE(same_bits(found.data(), expected.data(), dim));
        }
      }
    }
  }
}

TEST_CASE("rotations are the plain ones, bit for bit", "[scan][kernels]") {
  std::vector<int> dims(std::begin(kDims), std::end(kDims));
  dims.insert(dims.end(), {256, 511, 512, 513, 1024, 1536, 2048, 4097, 65535});
  for (const NamedKernels& one : all_kernels()) {
    for (const int dim : dims) {
      for (const RotationKind kind : {RotationKind::hadamard, RotationKind::dense}) {
        if (kind == RotationKind::dense && dim > 200) continue;
        const Rotation plain(kind, dim, 5);
        Rotation fast(kind, dim, 5);
        fast.use_kernels(one.kernels.rotation);
        const std::vector<float> x = normal_numbers(dim + 1, static_cast<uint64_t>(dim));
        for (const int shift : {0, 1}) {
          AlignedVector<float> expected(x.begin(), x.end());
          AlignedVector<float> found = expected;
          CAPTURE(one.target, dim, static_cast<int>(kind), shift);
          plain.apply(&expected[shift]);
          fast.apply(&found[shift]);
          REQUIRE(same_bits(expected.data(), found.data(), dim + 1));
          plain.apply_transpose(&expected[shift]);
          fast.apply_transpose(&found[shift]);
          REQUIRE(same_bits(expected.data(), found.data(), dim + 1));
        }
      }
    }
  }
}

TEST_CASE("transforms are the plain ones, bit for bit", "[scan][kernels]") {
  for (const NamedKernels& one : all_kernels()) {
    for (int size = 1; size <= 4096; size *= 2) {
      const std::vector<float> x = normal_numbers(size + 1, static_cast<uint64_t>(size));
      AlignedVector<float> expected(x.begin(), x.end());
      AlignedVector<float> found = expected;
      CAPTURE(one.target, size);
      walsh_hadamard(&expected[1], size);
      one.kernels.walsh_hadamard(&found[1], size);
      REQUIRE(same_bits(expected.data(), found.data(), size + 1));
    }
  }
}

namespace {

/// Rows of a basis, (dim, dim), one number after the start: as long as any may be, the first along
/// the diagonal, where sums are the largest that vectors of equal numbers have.
std::vector<int16_t> longest_rows(int dim) {
  const std::vector<float> directions = normal_numbers(dim * dim, 3);
  std::vector<int16_t> rows(1);
  for (int row = 0; row < dim; ++row) {
    std::vector<double> x(directions.begin() + row * dim, directions.begin() + (row + 1) * dim);
    if (row == 0) std::fill(x.begin(), x.end(), 1.0);
    const double length = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    for (const double value : x)
      rows.push_back(static_cast<int16_t>(value / length * kLongestBasisRow * kBasisOne));
  }
  return rows;
}

}  // namespace

TEST_CASE("products with a basis are the plain ones, bit for bit", "[scan][kernels]") {
  for (const int dim : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 129, 200}) {
    constexpr int64_t kMost = 11;
    const std::vector<int16_t> rows = longest_rows(dim);
    std::vector<float> x = normal_numbers(kMost * dim + 1, 4);
    std::fill_n(&x[1], dim, -2.5F);
    std::fill_n(&x[1 + dim], dim, 0.0F);
    std::fill_n(&x[1 + 2 * dim], dim, 1e-40F);  // nothing that a float can be divided by
    AlignedVector<float> expected(static_cast<size_t>(kMost * dim));
    AlignedVector<float> found(expected.size());
    const RotationKernels plain;
    for (const NamedKernels& one : all_kernels()) {
      CAPTURE(one.target, dim);
      for (int64_t count = 0; count <= kMost; ++count) {
        for (const int wanted : std::set<int>{0, 1, dim / 2, dim - 1, dim}) {
          CAPTURE(count, wanted);
          std::fill(expected.begin(), expected.end(), 7.0F);
          std::fill(found.begin(), found.end(), 7.0F);
          plain.multiply(&rows[1], dim, wanted, count, &x[1], expected.data());
          one.kernels.rotation.multiply(&rows[1], dim, wanted, count, &x[1], found.data());
          REQUIRE(same_bits(expected.data(), found.data(), static_cast<int>(kMost) * dim));
          // In place, as rotations are applied.
          std::copy_n(&x[1], count * dim, found.begin());
          for (int64_t n = 0; n < count; ++n)
            std::copy_n(&x[1] + n * dim + wanted, dim - wanted, expected.data() + n * dim + wanted);
          one.kernels.rotation.multiply(&rows[1], dim, wanted, count, found.data(), found.data());
          REQUIRE(same_bits(expected.data(), found.data(), static_cast<int>(count) * dim));
        }
      }
      plain.multiply_transpose(&rows[1], dim, &x[1], expected.data());
      one.kernels.rotation.multiply_transpose(&rows[1], dim, &x[1], found.data());
      REQUIRE(same_bits(expected.data(), found.data(), dim));
    }
  }
}

TEST_CASE("dot products are the plain ones, bit for bit", "[scan][kernels]") {
  for (const NamedKernels& one : all_kernels()) {
    for (int n = 0; n <= 100; ++n) {
      const std::vector<float> a = normal_numbers(n + 1, 1);
      const std::vector<float> b = normal_numbers(n + 2, 2);
      CAPTURE(one.target, n);
      REQUIRE(std::bit_cast<uint64_t>(one.kernels.dot_exact(&a[1], b.data(), n)) ==
              std::bit_cast<uint64_t>(dot_exact(&a[1], b.data(), n)));
      REQUIRE(std::bit_cast<uint32_t>(one.kernels.dot_float(&a[1], b.data(), n)) ==
              std::bit_cast<uint32_t>(dot_float(&a[1], b.data(), n)));
    }
  }
}

TEST_CASE("multiples are added to sums exactly as in plain code", "[scan][kernels]") {
  for (const NamedKernels& one : all_kernels()) {
    for (const int n : {0, 1, 3, 4, 7, 8, 9, 31, 100, 384}) {
      CAPTURE(one.target, n);
      const std::vector<float> x = normal_numbers(n + 1, 3);
      const std::vector<float> start = normal_numbers(n + 2, 4);
      // One more, which stays as it is.
      std::vector<double> expected(start.begin(), start.end());
      std::vector<double> found = expected;
      add_multiple(1 / 3.0, x.data() + 1, n, expected.data() + 1);
      one.kernels.add_multiple(1 / 3.0, x.data() + 1, n, found.data() + 1);
      REQUIRE(std::memcmp(found.data(), expected.data(), found.size() * sizeof(double)) == 0);
    }
  }
}

TEST_CASE("multiples are subtracted exactly as in plain code", "[scan][kernels]") {
  for (const NamedKernels& one : all_kernels()) {
    for (const int n : {0, 1, 3, 4, 7, 8, 9, 31, 100, 384}) {
      CAPTURE(one.target, n);
      const std::vector<float> a = normal_numbers(n + 1, 3);
      const std::vector<float> b = normal_numbers(n + 1, 4);
      for (const float factor : {1.0F, 1 / 3.0F}) {
        // One more, which stays as it is.
        std::vector<float> expected(static_cast<size_t>(n) + 2, 77.0F);
        std::vector<float> found = expected;
        subtract_multiple(a.data() + 1, factor, b.data(), n, expected.data() + 1);
        one.kernels.subtract_multiple(a.data() + 1, factor, b.data(), n, found.data() + 1);
        REQUIRE(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("whole codes are the plain codec's bytes", "[scan][kernels]") {
  const std::vector<NamedKernels> all = all_kernels();
  for (const std::string spec :
       {"Polar0.5", "Polar1", "Polar1.5", "Polar2", "Polar2.5", "Polar3", "Polar3.5", "Polar4",
        "Polar4.5", "Polar5", "Polar8", "Polar1+1", "Polar2+2", "Polar3+3", "Polar4+2", "Polar4+4",
        "Polar2-dense", "PolarTree4.2.2.2", "PolarScalar4"}) {
    for (const int dim : kDims) {
      if (spec == "Polar2-dense" && dim > 200) continue;
      if (spec == "PolarTree4.2.2.2" && dim < 16) continue;
      CAPTURE(spec, dim);
      const int64_t n = 3;
      std::vector<float> rows = normal_numbers(n * dim, 9);
      Codec plain(parse_spec(spec), dim, Metric::l2, CodecOptions{});
      plain.train(n, rows.data());
      const std::vector<uint8_t> expected = encode_unaligned(plain, rows);
      std::vector<float> decoded(rows.size());
      plain.decode({expected.data(), n}, 0, n, Reconstruction::least_error, decoded.data());
      for (const NamedKernels& one : all) {
        CAPTURE(one.target);
        Codec fast(parse_spec(spec), dim, Metric::l2, CodecOptions{});
        fast.use_kernels(one.kernels);
        fast.train(n, rows.data());
        REQUIRE(fast.state_id() == plain.state_id());
        REQUIRE(encode_unaligned(fast, rows) == expected);
        std::vector<float> decoded_fast(rows.size());
        fast.decode({expected.data(), n}, 0, n, Reconstruction::least_error, decoded_fast.data());
        REQUIRE(same_bits(decoded.data(), decoded_fast.data(), static_cast<int>(rows.size())));
      }
    }
  }
}

}  // namespace polarquant::test
