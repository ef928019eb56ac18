// SPDX-License-Identifier: MIT
#include <string>

#include "src/codec/spec.h"
#include "tests/support/catch.h"

using namespace polarquant;
using polarquant::test::require_error;

TEST_CASE("every row's example parses, prints itself and makes a quantizer", "[spec]") {
  for (const SpecHelp& help : spec_help()) {
    CAPTURE(help.example);
    const Spec spec = parse_spec(help.example);
    CHECK(print_spec(spec) == help.example);
    CHECK(make_quantizer(spec, 100)->code_bytes() > 0);
  }
}

TEST_CASE("parse and print round-trip", "[spec]") {
  for (const char* text : {"Polar0.5",
                           "Polar1",
                           "Polar1.5",
                           "Polar2",
                           "Polar2.5",
                           "Polar3",
                           "Polar3.5",
                           "Polar4",
                           "Polar4.5",
                           "Polar5",
                           "Polar8",
                           "Polar8-norot",
                           "Polar2-dense",
                           "Polar0.5-pca",
                           "Polar4-pca",
                           "Polar1+1",
                           "Polar2+2",
                           "Polar4+2-norot",
                           "Polar4+2-pca",
                           "PolarTree4",
                           "PolarTree4.2.2.2-online",
                           "PolarTree8.1-online-dense",
                           "PolarPair4x4",
                           "PolarPair3x2-hadamard",
                           "PolarPair4x2g128",
                           "PolarPair4x4g128-dense",
                           "PolarScalar2",
                           "PolarScalar8-hadamard"}) {
    CAPTURE(text);
    CHECK(print_spec(parse_spec(text)) == text);
  }
}

TEST_CASE("options that are the default are not printed", "[spec]") {
  CHECK(print_spec(parse_spec("Polar2-hadamard")) == "Polar2");
  CHECK(print_spec(parse_spec("PolarPair4x4-norot")) == "PolarPair4x4");
}

TEST_CASE("a wrong name gets an error that names the bad part and what is allowed", "[spec]") {
  const auto bad = [](const char* text, const char* part) {
    CAPTURE(text);
    require_error(StatusCode::bad_argument, part, [&] { parse_spec(text); });
  };
  bad("", "names begin with Polar");
  bad("PQ8", "\"PQ8\"");
  bad("polar2", "names begin with Polar");
  bad("Polar", "bits a dimension: 0.5 1 1.5");
  bad("Polar6", "\"6\"");
  bad("Polar02", "\"02\"");
  bad("Polar2.0", "\"2.0\"");
  bad("Polar-2", "\"\"");
  bad("Polar2 ", "\"2 \"");
  bad("Polar2+8", "two stages: 1+1");
  bad("Polar+", "two stages");
  bad("Polar2+2+2", "two stages");
  bad("Polar2-", "options: -hadamard -dense -norot");
  bad("Polar2-fast", "\"fast\"");
  bad("Polar2-online", "\"online\"");
  bad("Polar2-fast", "-norot -pca");
  bad("Polar8-pca", "\"pca\"");
  bad("Polar4+4-pca", "up to 7 bits");
  bad("PolarTree4.2-pca", "\"pca\"");
  bad("PolarTree", "bits: 1 to 8");
  bad("PolarTree4..2", "bits: 1 to 8");
  bad("PolarTree4.9", "\"9\"");
  bad("PolarTree4.-1", "bits: 1 to 8");
  bad("PolarPair44", "4x4");
  bad("PolarPair0x4", "\"0\"");
  bad("PolarPair4x99999999999999999999", "bits: 1 to 8");
  bad("PolarPair4x4g64", "\"4g64\"");
  bad("PolarScalar1", "bits: 2 to 8");
  bad("PolarScalar", "bits: 2 to 8");
}
