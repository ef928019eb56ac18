// SPDX-License-Identifier: MIT
// Fields of every width at every bit, and that no byte beside them is touched.
#include "src/codec/bit_packing.h"

#include <cmath>
#include <vector>

#include "src/core/random.h"
#include "tests/support/catch.h"

using namespace polarquant;

TEST_CASE("fields of 1 to 16 bits come back, least significant bit first", "[codec]") {
  Random random(1);
  for (int width = 1; width <= 16; ++width) {
    constexpr size_t kFields = 101;
    std::vector<uint32_t> values;
    // Exactly as long as the fields need: a sanitizer sees any access past them.
    std::vector<uint8_t> bytes(bytes_of_bits(kFields * static_cast<size_t>(width)), 0);
    for (size_t i = 0; i < kFields; ++i) {
      values.push_back(static_cast<uint32_t>(random.below(uint64_t{1} << width)));
      write_bits(bytes.data(), i * static_cast<size_t>(width), width, values.back());
    }
    for (size_t i = 0; i < kFields; ++i) {
      REQUIRE(read_bits(bytes.data(), i * static_cast<size_t>(width), width) == values[i]);
      for (int bit = 0; bit < width; ++bit) {
        const size_t at = i * static_cast<size_t>(width) + static_cast<size_t>(bit);
        REQUIRE(((bytes[at / 8] >> (at % 8)) & 1U) == ((values[i] >> bit) & 1U));
      }
    }
  }
}

TEST_CASE("runs of fields are the fields one by one", "[codec]") {
  Random random(2);
  for (int width = 1; width <= 16; ++width) {
    for (const size_t first : {0, 3, 7, 16}) {
      for (const int count : {0, 1, 2, 7, 8, 9, 31, 64, 101}) {
        const auto step = static_cast<size_t>(width);
        // Exactly as long as the fields need: a sanitizer sees any access past them.
        std::vector<uint8_t> bytes(bytes_of_bits(first + static_cast<size_t>(count) * step));
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
        std::vector<uint16_t> fields(static_cast<size_t>(count));
        read_fields(bytes.data(), first, width, count, fields.data());
        for (size_t i = 0; i < fields.size(); ++i) {
          CAPTURE(width, first, count, i);
          REQUIRE(fields[i] == read_bits(bytes.data(), first + i * step, width));
        }
      }
    }
  }
}

TEST_CASE("a field leaves its neighbours alone, whatever the value's high bits", "[codec]") {
  for (int width = 1; width <= 16; ++width) {
    for (size_t first = 0; first < 8; ++first) {
      std::vector<uint8_t> bytes(4, 0);
      write_bits(bytes.data(), first, width, 0xffffffffU);
      for (size_t bit = 0; bit < 32; ++bit) {
        const bool inside = bit >= first && bit < first + static_cast<size_t>(width);
        REQUIRE((((bytes[bit / 8] >> (bit % 8)) & 1U) != 0) == inside);
      }
    }
  }
  CHECK(bytes_of_bits(0) == 0);
  CHECK(bytes_of_bits(1) == 1);
  CHECK(bytes_of_bits(8) == 1);
  CHECK(bytes_of_bits(9) == 2);
}
