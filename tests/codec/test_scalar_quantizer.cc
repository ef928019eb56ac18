// SPDX-License-Identifier: MIT
// PolarScalar against its source's error table and against the definition with an explicit matrix.
#include "src/codec/published/scalar_quantizer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/codec/bit_packing.h"
#include "src/codec/walsh_hadamard.h"
#include "src/core/checksum.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

/// H·x with the entries of the definition: ±1/√size, negative where i and j share an odd number of
/// bits.
std::vector<double> hadamard_product(const std::vector<double>& x) {
  std::vector<double> out(x.size(), 0.0);
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < x.size(); ++j) out[i] += std::popcount(i & j) % 2 == 1 ? -x[j] : x[j];
    out[i] /= std::sqrt(static_cast<double>(x.size()));
  }
  return out;
}

/// Stages 1 to 4 and back for one block, in double.
std::vector<double> reference_block(const std::vector<float>& block, int bits) {
  double norm = 0;
  for (const float value : block) norm += static_cast<double>(value) * static_cast<double>(value);
  norm = std::sqrt(norm);
  std::vector<double> z(128, 0.0);
  for (size_t i = 0; i < block.size(); ++i) z[i] = static_cast<double>(block[i]) / norm;
  z = hadamard_product(z);
  const std::vector<double>& levels = normal_codebook(bits).levels;
  for (double& value : z) {
    const double scaled = value * std::sqrt(128.0);
    value = *std::min_element(levels.begin(), levels.end(), [scaled](double a, double b) {
      return std::fabs(a - scaled) < std::fabs(b - scaled);
    }) / std::sqrt(128.0);
  }
  z = hadamard_product(z);
  const double stored = as_stored(norm);
  for (double& value : z) value *= stored;
  z.resize(block.size());
  return z;
}

}  // namespace

TEST_CASE("walsh_hadamard is the matrix of the definition and its own inverse", "[codec]") {
  for (int size = 1; size <= 4096; size *= 2) {
    const std::vector<float> x = gaussian_rows(1, size, 1);
    std::vector<float> y = x;
    walsh_hadamard(y.data(), size);
    if (size <= 256) {
      const std::vector<double> expected = hadamard_product({x.begin(), x.end()});
      for (size_t i = 0; i < y.size(); ++i) {
        REQUIRE(std::fabs(static_cast<double>(y[i]) - expected[i]) < 2e-6);
      }
    }
    walsh_hadamard(y.data(), size);
    CHECK(mean_squared_error(x, y) < 1e-12);
  }
}

TEST_CASE("PolarScalar has the published errors on the unit Gaussian", "[codec]") {
  const double published[] = {0.1175, 0.03454, 0.009497, 0.002499};
  for (int bits = 2; bits <= 5; ++bits) {
    const double error = coding_error(ScalarQuantizer(1024, bits), 300, 1024, 2);
    INFO(bits << " bits: " << error);
    CHECK(error <= 1.02 * published[bits - 2]);
    CHECK(error >= 0.97 * published[bits - 2]);
  }
  for (int bits = 6; bits <= 8; ++bits) {
    const double error = coding_error(ScalarQuantizer(1024, bits), 100, 1024, 2);
    CHECK(std::fabs(error / normal_codebook(bits).mse - 1) < 0.03);
  }
}

TEST_CASE("PolarScalar is its source's four stages, block by block, at any dimension", "[codec]") {
  for (const int dim : {1, 2, 3, 7, 100, 128, 129, 300}) {
    for (const int bits : {2, 3, 5, 8}) {
      const ScalarQuantizer quantizer(dim, bits);
      const int blocks = (dim + 127) / 128;
      CHECK(quantizer.code_bytes() == static_cast<size_t>(blocks * (2 + 16 * bits)));
      const std::vector<float> rows = gaussian_rows(3, dim, 3);
      const std::vector<float> decoded = round_trip(quantizer, rows, dim);
      for (int row = 0; row < 3; ++row) {
        for (int start = 0; start < dim; start += 128) {
          const auto first = rows.begin() + row * dim + start;
          const std::vector<float> block(first, first + std::min(128, dim - start));
          const std::vector<double> expected = reference_block(block, bits);
          for (size_t i = 0; i < block.size(); ++i) {
            const auto at = static_cast<size_t>(row * dim + start) + i;
            INFO("dim " << dim << ", " << bits << " bits, coordinate " << start << '+' << i);
            REQUIRE(std::fabs(static_cast<double>(decoded[at]) - expected[i]) < 2e-5);
          }
        }
      }
    }
  }
}

TEST_CASE("PolarScalar: a zero block is all zero bytes and does not touch its neighbour",
          "[codec]") {
  const ScalarQuantizer quantizer(256, 3);
  std::vector<float> row = gaussian_rows(1, 256, 4);
  std::fill(row.begin(), row.begin() + 128, 0.0F);
  const std::vector<uint8_t> code = encode_rows(quantizer, row, 256);
  CHECK((code[0] == 0 && code[1] == 0));
  for (size_t byte = 4; byte < 4 + 48; ++byte) REQUIRE(code[byte] == 0);
  const std::vector<float> decoded = decode_rows(quantizer, code, 256);
  for (size_t i = 0; i < 128; ++i) REQUIRE(decoded[i] == 0);
  CHECK(mean_squared_error({row.begin() + 128, row.end()}, {decoded.begin() + 128, decoded.end()}) <
        0.05);
  // A norm under half the smallest number of 16 bits counts as zero.
  CHECK(encode_rows(quantizer, std::vector<float>(256, 1e-22F), 256) ==
        std::vector<uint8_t>(quantizer.code_bytes(), 0));
}

TEST_CASE("PolarScalar keeps the norm of any length it can hold, and refuses others", "[codec]") {
  for (const float scale : {1e-4F, 1.0F, 100.0F, 5000.0F}) {
    std::vector<float> row = gaussian_rows(1, 128, 5);
    for (float& value : row) value *= scale;
    const std::vector<float> decoded = round_trip(ScalarQuantizer(128, 4), row, 128);
    CHECK(mean_squared_error(row, decoded) < 0.013 * static_cast<double>(scale * scale));
  }
  for (const ShortFloat form : {ShortFloat::float16, ShortFloat::wide16}) {
    ScalarQuantizer quantizer(300, 8);
    quantizer.set_short_float(form);
    const auto most = static_cast<float>(max_short_float(form));
    std::vector<float> row(300, 0.0F);
    row[299] = most;
    const std::vector<float> decoded = round_trip(quantizer, row, 300);
    CHECK(std::fabs(decoded[299] / most - 1) < 0.02F);
    for (const float large : {most * 1.01F, 1e30F, 3.4e38F}) {
      row[299] = large;
      row[298] = large;
      require_error(StatusCode::bad_argument, "256 to 299",
                    [&] { (void)encode_rows(quantizer, row, 300); });
      require_error(StatusCode::bad_argument,
                    form == ShortFloat::float16 ? "0 to 65504" : "0 to 1.84287e+19",
                    [&] { (void)encode_rows(quantizer, row, 300); });
    }
  }
}

TEST_CASE("PolarScalar: any bytes decode to finite numbers", "[codec]") {
  const ScalarQuantizer quantizer(129, 5);
  for (const int fill : {0xff, 0x7c, 0xfc, 0x00}) {
    for (const float value : decode_rows(
             quantizer, std::vector<uint8_t>(quantizer.code_bytes(), static_cast<uint8_t>(fill)),
             129)) {
      REQUIRE(std::isfinite(value));
    }
  }
}

TEST_CASE("PolarScalar refuses other bit widths by name", "[codec]") {
  for (const int bits : {-1, 0, 1, 9}) {
    require_error(StatusCode::bad_argument, "2 to 8", [&] { ScalarQuantizer(128, bits); });
  }
}

TEST_CASE("PolarScalar: the bytes are pinned", "[codec]") {
  for (const auto& [form, sum] : {std::pair{ShortFloat::float16, 0x71ea2a4c147fc81bULL},
                                  std::pair{ShortFloat::wide16, 0xb135c94fea2d4c5fULL}}) {
    ScalarQuantizer quantizer(300, 3);
    quantizer.set_short_float(form);
    const std::vector<uint8_t> codes = encode_rows(quantizer, gaussian_rows(20, 300, 6), 300);
    CHECK(checksum64(codes.data(), codes.size()) == sum);
  }
}
