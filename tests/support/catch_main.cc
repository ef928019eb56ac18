// SPDX-License-Identifier: MIT
// Catch2 version 2's main, compiled once for all test programs; version 3 brings its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
