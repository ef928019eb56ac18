// SPDX-License-Identifier: MIT
// Catch2, version 2 (Debian 12) or 3, under one name, and a check for the library's own errors.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
using Catch::Approx;  // as version 2 has it
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
// Version 3's name.
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif

#include <string>
#include <utility>

#include "src/core/status.h"

namespace polarquant::test {

/// Calls f, which must throw an Error of this code whose text has `part` in it.
template <typename F>
void require_error(StatusCode code, const std::string& part, F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Error& error) {
    INFO("text: " << error.what());
    REQUIRE(std::string(status_name(error.code())) == status_name(code));
    REQUIRE(std::string(error.what()).find(part) != std::string::npos);
    return;
  }
  FAIL("no error; expected " << status_name(code) << " naming \"" << part << '"');
}

}  // namespace polarquant::test
