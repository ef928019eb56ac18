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
                           "PolarB3",
                           "PolarB16",
                           "PolarB2048",
                           "PolarB16-km4096",
                           "PolarB8-km2",
                           "PolarB8-km65536",
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
  CHECK(print_spec(parse_spec("PolarB16-pca")) == "PolarB16");
  CHECK(print_spec(parse_spec("PolarB16-pca-km4096")) == "PolarB16-km4096");
  CHECK(print_spec(parse_spec("PolarB16-km4096-pca")) == "PolarB16-km4096");
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
  bad("Polar6", "B…");
  bad("PolarB", "\"\" is not allowed there; bytes of a code: 3 to 2048");
  bad("PolarB2", "\"2\"");
  bad("PolarB2049", "bytes of a code: 3 to 2048");
  bad("PolarB016", "\"016\"");
  bad("PolarB16 ", "\"16 \"");
  bad("PolarB+16", "\"+16\"");
  bad("PolarB16-km", "\"km\" is not allowed there; centroids: -km2 to -km65536");
  bad("PolarB16-km1", "\"km1\"");
  bad("PolarB16-km0", "\"km0\"");
  bad("PolarB16-km65537", "\"km65537\"");
  bad("PolarB16-km016", "\"km016\"");
  bad("PolarB16-km99999999999999999999", "centroids: -km2 to -km65536");
  bad("PolarB16-norot", "\"norot\" is not allowed there; options: -km<n>");
  bad("PolarB16-dense", "\"dense\"");
  bad("PolarB16-hadamard", "\"hadamard\"");
  bad("PolarB16-online", "\"online\"");
  bad("PolarB16-", "options: -km<n>");
  bad("Polar2-km16", "\"km16\"");
  bad("Polar2-pca-km16", "\"km16\"");
  bad("PolarTree4.2-km16", "\"km16\"");
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

TEST_CASE("a code's bytes have to fit the dimension", "[spec]") {
  const auto make = [](const char* name, int dim) { return make_quantizer(parse_spec(name), dim); };
  // Of the bytes two are for factors, three for these and the number of a centroid.
  for (const int dim : {1, 2, 16, 19}) {
    CAPTURE(dim);
    CHECK(make("PolarB3", dim)->code_bytes() == 1);
    CHECK(make("PolarB6", dim)->code_bytes() == 4);
    require_error(StatusCode::bad_argument, "3 to 6 bytes, of which 2 are for factors;",
                  [&] { make("PolarB7", dim); });
  }
  CHECK(make("PolarB27", 100)->code_bytes() == 25);
  require_error(StatusCode::bad_argument, "PolarB28: at dim 100 codes have 3 to 27 bytes",
                [&] { make("PolarB28", 100); });
  CHECK(make("PolarB4-km16", 100)->code_bytes() == 1);
  CHECK(make("PolarB29-km16", 100)->code_bytes() == 26);
  for (const char* name : {"PolarB3-km16", "PolarB30-km16"}) {
    CAPTURE(name);
    require_error(StatusCode::bad_argument,
                  "4 to 29 bytes, of which 3 are for factors and the centroid",
                  [&] { make(name, 100); });
  }
  CHECK(make("PolarB2048", 8192)->code_bytes() == 2046);
  require_error(StatusCode::bad_argument, "dim: 8193", [&] { make("PolarB16", 8193); });
}

TEST_CASE("a code about centroids has one about the mean beside it", "[spec]") {
  const Spec spec = parse_spec("PolarB16-km4096");
  CHECK(spec.centroids == 4096);
  CHECK(spec.rotation == RotationKind::pca);
  CHECK(print_spec(without_centroids(spec)) == "PolarB16");
  CHECK(factor_bytes_of(spec) == 3);
  CHECK(factor_bytes_of(without_centroids(spec)) == 2);
  CHECK(parse_spec("PolarB16").centroids == 0);
}
