// SPDX-License-Identifier: MIT
#include "tests/fuzz/fuzz.h"

#include <cstdio>

#include "src/core/random.h"

namespace polarquant::fuzz {

void found(const std::string& what) {
  std::fprintf(stderr, "found: %s\n", what.c_str());
  std::abort();
}

void expect(bool holds, const std::string& what) {
  if (!holds) found(what);
}

std::string last_error() {
  std::string text(polar_last_error(nullptr, 0), '\0');
  polar_last_error(text.data(), text.size() + 1);
  return text;
}

bool allow_failure(const char* call, polar_status status) {
  if (status == POLAR_ERROR_INTERNAL) found(std::string(call) + " says: " + last_error());
  if (status != POLAR_OK && last_error().empty()) found(std::string(call) + " gives no text");
  return status == POLAR_OK;
}

void expect_ok(const char* call, polar_status status) {
  if (status != POLAR_OK) {
    found(std::string(call) + ": " + polar_status_name(status) + ": " + last_error());
  }
}

std::vector<float> rows_of(int64_t n, int dim, uint64_t seed) {
  Random random(seed);
  std::vector<float> x(static_cast<size_t>(n) * static_cast<size_t>(dim));
  for (float& value : x) value = static_cast<float>(2 * random.uniform() - 1);
  return x;
}

}  // namespace polarquant::fuzz
