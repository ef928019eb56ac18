// SPDX-License-Identifier: MIT
#include "src/core/aligned_buffer.h"

#include <cstdint>
#include <new>

#include "tests/support/catch.h"

using polarquant::AlignedAllocator;
using polarquant::AlignedVector;

TEST_CASE("aligned vectors start on 64-byte boundaries, also after they grew", "[core]") {
  AlignedVector<uint8_t> bytes;
  AlignedVector<double> numbers;
  for (int i = 1; i <= 3000; ++i) {
    bytes.push_back(static_cast<uint8_t>(i));
    numbers.push_back(i);
    REQUIRE(reinterpret_cast<uintptr_t>(bytes.data()) % polarquant::kAlignment == 0);
    REQUIRE(reinterpret_cast<uintptr_t>(numbers.data()) % polarquant::kAlignment == 0);
  }
  CHECK(bytes[2999] == 3000 % 256);
  CHECK(numbers[2999] == 3000);
  const AlignedVector<double> taken = std::move(numbers);
  CHECK(taken.size() == 3000);
}

TEST_CASE("an aligned allocation whose bytes wrap is refused", "[core]") {
  AlignedAllocator<uint64_t> allocator;
  CHECK_THROWS_AS(allocator.allocate(SIZE_MAX / 4), std::bad_array_new_length);
}
