// SPDX-License-Identifier: MIT
#include "src/codec/byte_quantizer.h"

#include <cmath>
#include <limits>

#include "src/core/checksum.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

TEST_CASE("Polar8 has the error it promises on the unit Gaussian", "[codec]") {
  const ByteQuantizer quantizer(1024);
  CHECK(std::fabs(quantizer.mse() / 4.12e-5 - 1) < 0.01);
  CHECK(std::fabs(coding_error(quantizer, 200, 1024, 1) / quantizer.mse() - 1) < 0.03);
}

TEST_CASE("Polar8: one byte a coordinate, any dimension", "[codec]") {
  for (const int dim : {1, 2, 3, 7, 100, 129}) {
    const ByteQuantizer quantizer(dim);
    CHECK(quantizer.code_bytes() == static_cast<size_t>(dim));
    CHECK(quantizer.input() == Quantizer::Input::direction);
    CHECK(quantizer.group_rows() == 1);
    CHECK(quantizer.memory_bytes() > 0);
    const std::vector<float> rows = gaussian_rows(5, dim, 2);
    const std::vector<uint8_t> codes = encode_rows(quantizer, rows, dim);
    // What is decoded is a level, and codes to itself.
    CHECK(encode_rows(quantizer, decode_rows(quantizer, codes, dim), dim) == codes);
  }
}

TEST_CASE("Polar8: bytes are level indices in ascending order", "[codec]") {
  const ByteQuantizer quantizer(256);
  std::vector<uint8_t> code(256);
  for (size_t i = 0; i < 256; ++i) code[i] = static_cast<uint8_t>(i);
  const std::vector<float> levels = decode_rows(quantizer, code, 256);
  for (size_t i = 0; i < 256; ++i) {
    CHECK(levels[i] == static_cast<float>(normal_codebook(8).levels[i]));
  }
  CHECK(encode_rows(quantizer, levels, 256) == code);
}

TEST_CASE("Polar8: far values take the outermost levels", "[codec]") {
  const ByteQuantizer quantizer(4);
  const float largest = std::numeric_limits<float>::max();
  const std::vector<uint8_t> codes = encode_rows(quantizer, {-largest, largest, -0.0F, 0.0F}, 4);
  CHECK(codes == std::vector<uint8_t>{0, 255, 127, 127});
}

TEST_CASE("Polar8: the bytes are pinned", "[codec]") {
  const std::vector<uint8_t> codes =
      encode_rows(ByteQuantizer(129), gaussian_rows(20, 129, 3), 129);
  CHECK(checksum64(codes.data(), codes.size()) == 0xda6c7f31f2f7b87bULL);
}
