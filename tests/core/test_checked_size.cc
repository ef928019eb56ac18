// SPDX-License-Identifier: MIT
#include "src/core/checked_size.h"

#include <cstdint>

#include "tests/support/catch.h"

using polarquant::checked_add;
using polarquant::checked_mul;
using polarquant::StatusCode;
using polarquant::test::require_error;

namespace {
constexpr int64_t kInt64Max = INT64_MAX;
}

TEST_CASE("checked sizes are exact up to the largest size", "[core]") {
  CHECK(checked_mul(int64_t{3}, 4, "codes") == 12);
  CHECK(checked_mul(int64_t{0}, kInt64Max, "codes") == 0);
  CHECK(checked_mul(SIZE_MAX, 1, "codes") == SIZE_MAX);
  CHECK(checked_mul(size_t{1} << 32, (size_t{1} << 32) - 1, "codes") == SIZE_MAX - 0xffffffffU);
  CHECK(checked_add(SIZE_MAX - 1, 1, "codes") == SIZE_MAX);
  CHECK(checked_add(int64_t{-1}, size_t{5}, "codes") == 4);
}

TEST_CASE("checked sizes refuse what wraps or is negative, by name", "[core]") {
  require_error(StatusCode::bad_argument,
                "codes: ", [] { checked_mul(size_t{1} << 32, size_t{1} << 32, "codes"); });
  require_error(StatusCode::bad_argument, "-1 x 8", [] { checked_mul(int64_t{-1}, 8, "codes"); });
  require_error(StatusCode::bad_argument, "scores",
                [] { checked_mul(kInt64Max, kInt64Max, "scores"); });
  require_error(StatusCode::bad_argument, "codes", [] { checked_add(SIZE_MAX, 1, "codes"); });
  require_error(StatusCode::bad_argument, "codes", [] { checked_add(int64_t{-2}, 1, "codes"); });
}
