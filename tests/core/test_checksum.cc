// SPDX-License-Identifier: MIT
#include "src/core/checksum.h"

#include <cstdint>
#include <vector>

#include "tests/support/catch.h"

using polarquant::checksum64;

// The sanity buffer and the results of xxHash's own tests (xxHash 0.8, XXH3 64 bits, seed 0): one
// length from each of its code paths.
TEST_CASE("checksums are XXH3's published ones", "[core]") {
  std::vector<uint8_t> buffer(2240);
  uint64_t generator = 2654435761U;
  for (uint8_t& byte : buffer) {
    byte = static_cast<uint8_t>(generator >> 56);
    generator *= 11400714785074694797ULL;
  }
  CHECK(checksum64(nullptr, 0) == 0x2d06800538d394c2ULL);
  CHECK(checksum64(buffer.data(), 0) == 0x2d06800538d394c2ULL);
  CHECK(checksum64(buffer.data(), 1) == 0xc44bdff4074eecdbULL);
  CHECK(checksum64(buffer.data(), 6) == 0x27b56a84cd2d7325ULL);
  CHECK(checksum64(buffer.data(), 12) == 0xa713daf0dfbb77e7ULL);
  CHECK(checksum64(buffer.data(), 24) == 0xa3fe70bf9d3510ebULL);
  CHECK(checksum64(buffer.data(), 48) == 0x397da259ecba1f11ULL);
  CHECK(checksum64(buffer.data(), 80) == 0xbcdefbbb2c47c90aULL);
  CHECK(checksum64(buffer.data(), 195) == 0xcd94217ee362ec3aULL);
  CHECK(checksum64(buffer.data(), 403) == 0xcdeb804d65c6dea4ULL);
  CHECK(checksum64(buffer.data(), 512) == 0x617e49599013cb6bULL);
  CHECK(checksum64(buffer.data(), 2048) == 0xdd59e2c3a5f038e0ULL);
  CHECK(checksum64(buffer.data(), 2240) == 0x6e73a90539cf2948ULL);
}

TEST_CASE("a checksum does not depend on alignment and sees every bit", "[core]") {
  std::vector<uint8_t> buffer(300);
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<uint8_t>(i * 7);
  const uint64_t sum = checksum64(buffer.data(), 256);
  std::vector<uint8_t> shifted(301);
  std::copy(buffer.begin(), buffer.end(), shifted.begin() + 1);
  CHECK(checksum64(shifted.data() + 1, 256) == sum);
  for (int bit = 0; bit < 256 * 8; ++bit) {
    buffer[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    REQUIRE(checksum64(buffer.data(), 256) != sum);
    buffer[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
  }
}
