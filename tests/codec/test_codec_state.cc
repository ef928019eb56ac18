// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/codec/codec.h"
#include "tests/codec/clustered_rows.h"
#include "tests/codec/spread_rows.h"
#include "tests/support/catch.h"
#include "tests/support/older_state.h"

using namespace polarquant;
using polarquant::test::clustered_rows;
using polarquant::test::older_codec;
using polarquant::test::older_state;
using polarquant::test::require_error;
using polarquant::test::sign_again;
using polarquant::test::spread_rows;

namespace {

Codec make(const char* spec, int dim = 33, Metric metric = Metric::inner_product,
           const CodecOptions& options = {}) {
  return Codec(parse_spec(spec), dim, metric, options);
}

}  // namespace

TEST_CASE("a state comes back whole: same id, same codes", "[state]") {
  const std::vector<float> rows = clustered_rows(300, 33, 4, 1);
  for (const char* spec : {"Polar0.5", "Polar2", "Polar4+2", "Polar8", "Polar2-dense", "Polar2-pca",
                           "Polar4+2-pca", "PolarTree4.2", "PolarTree4.2-online", "PolarPair4x4",
                           "PolarPair4x4g128", "PolarScalar4", "PolarB8", "PolarB8-km8"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
      CAPTURE(spec);
      CodecOptions options;
      options.seed = 77;
      Codec codec(parse_spec(spec), 33, metric, options);
      codec.train(300, rows.data());
      const std::vector<uint8_t> state = codec.save_state();
      const std::unique_ptr<Codec> loaded = Codec::load_state(state.data(), state.size());
      CHECK(loaded->state_id() == codec.state_id());
      CHECK(loaded->difference(codec).empty());
      CHECK(loaded->save_state() == state);
      CHECK(loaded->origin() == StateOrigin::trained);
      std::vector<uint8_t> a(codec.layout().bytes(300));
      std::vector<uint8_t> b(loaded->layout().bytes(300));
      codec.encode(300, rows.data(), a.data(), 1);
      loaded->encode(300, rows.data(), b.data(), 1);
      CHECK(a == b);
    }
  }
}

TEST_CASE("a newer format is refused by name", "[state]") {
  std::vector<uint8_t> state = make("Polar2").save_state();
  state[8] = 7;
  sign_again(state);
  require_error(StatusCode::newer_format, "version 7 is newer than this library's 6",
                [&] { Codec::load_state(state.data(), state.size()); });
}

TEST_CASE("a basis is refused where it and the format do not fit or its rows are too long",
          "[state]") {
  constexpr int kDim = 200;
  const std::vector<float> rows = spread_rows(2000, kDim, 1.5, 1);
  Codec codec = make("Polar2-pca", kDim);
  codec.train(2000, rows.data());
  REQUIRE(codec.has_basis());
  // A state of format 2, as those of older libraries and of more than 4 bits a dimension are.
  const std::vector<uint8_t> state = older_state(codec);
  constexpr size_t kBasisBytes = size_t{kDim} * kDim * sizeof(int16_t);
  const size_t basis = state.size() - 8 - kBasisBytes;

  std::vector<uint8_t> older = state;
  older[8] = 1;  // after the magic
  sign_again(older);
  require_error(StatusCode::corrupt_data, "format version 1",
                [&] { Codec::load_state(older.data(), older.size()); });

  std::vector<uint8_t> longer = state;
  const int16_t one = kBasisOne;
  for (size_t j = 0; j < 2; ++j)
    std::memcpy(&longer[basis + (3 * kDim + j) * sizeof one], &one, sizeof one);
  sign_again(longer);
  require_error(StatusCode::corrupt_data, "row 3 is 1.7",
                [&] { Codec::load_state(longer.data(), longer.size()); });

  std::vector<uint8_t> without = make("Polar5", kDim).save_state();
  CHECK(without[8] == 1);  // as libraries before this format read it
  without[8] = 2;
  sign_again(without);
  require_error(StatusCode::corrupt_data, "format version 2, which has a basis, without one",
                [&] { Codec::load_state(without.data(), without.size()); });
}

TEST_CASE("margins that training measured are part of the state, those of 1 are not", "[state]") {
  constexpr int kDim = 200;
  const std::vector<float> rows = spread_rows(2000, kDim, 1.5, 1);
  const auto trained = [&](SearchMargins margins, const char* spec = "Polar5-pca") {
    auto codec = std::make_unique<Codec>(parse_spec(spec), kDim, Metric::l2, CodecOptions());
    codec->train(2000, rows.data(), [&](Codec& copy, int64_t n, const float* x) {
      CHECK(copy.is_trained());
      CHECK(copy.has_basis());
      CHECK(n == 2000);
      CHECK(x == rows.data());
      std::vector<uint8_t> code(copy.layout().bytes(1));
      copy.encode(1, x, code.data(), 1);
      return margins;
    });
    CHECK(codec->search_margins() == margins);
    CHECK(!codec->has_encoded());
    return codec;
  };
  const auto without = trained({});
  CHECK(without->save_state()[8] == 2);  // after the magic
  const auto with = trained({1.5F, 1});
  const std::vector<uint8_t> state = with->save_state();
  CHECK(state[8] == 3);
  CHECK(state.size() == without->save_state().size() + 2 * sizeof(float));
  CHECK(with->difference(*without) == "trained tables");
  const auto loaded = Codec::load_state(state.data(), state.size());
  CHECK(loaded->search_margins() == SearchMargins{1.5F, 1});
  CHECK(loaded->state_id() == with->state_id());

  const size_t margins_at = state.size() - 8 - 2 * sizeof(float);
  const auto refused = [&](float sketch, float next, const char* text) {
    std::vector<uint8_t> changed = state;
    std::memcpy(&changed[margins_at], &sketch, sizeof sketch);
    std::memcpy(&changed[margins_at + sizeof sketch], &next, sizeof next);
    sign_again(changed);
    require_error(StatusCode::corrupt_data, text,
                  [&] { Codec::load_state(changed.data(), changed.size()); });
  };
  refused(.75F, 1, "search margins: 0.75 is not allowed; 1 to 4");
  refused(1, 4.5F, "search margins: 4.5 is not allowed; 1 to 4");
  refused(std::numeric_limits<float>::quiet_NaN(), 1, "search margins: nan is not allowed");
  refused(1, 1, "both are 1");

  // Where a state has flags, one says so.
  const auto short_without = trained({}, "Polar2-pca");
  const auto short_with = trained({1.5F, 1}, "Polar2-pca");
  const std::vector<uint8_t> short_state = short_with->save_state();
  CHECK(short_state[8] == 4);
  CHECK(short_state[16] == 3);
  CHECK(short_without->save_state()[16] == 1);
  CHECK(short_state.size() == short_without->save_state().size() + 2 * sizeof(float));
  const auto short_loaded = Codec::load_state(short_state.data(), short_state.size());
  CHECK(short_loaded->search_margins() == SearchMargins{1.5F, 1});
  CHECK(short_loaded->state_id() == short_with->state_id());
  CHECK(older_codec(*short_with)->search_margins() == SearchMargins{1.5F, 1});
}

TEST_CASE("states of before format 4 keep their floats, their codes and their bytes", "[state]") {
  const std::vector<float> rows = clustered_rows(300, 33, 4, 1);
  for (const char* spec :
       {"Polar2", "Polar4", "Polar2-pca", "PolarTree4.2", "PolarScalar4", "PolarPair4x4g128"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      CAPTURE(spec, static_cast<int>(metric));
      Codec codec(parse_spec(spec), 33, metric, {});
      codec.train(300, rows.data());
      const std::vector<uint8_t> state = older_state(codec);
      const std::unique_ptr<Codec> older = Codec::load_state(state.data(), state.size());
      CHECK(older->save_state() == state);
      CHECK(older->short_float() == ShortFloat::float16);
      CHECK(older->state_id() != codec.state_id());
      CHECK(codec.difference(*older) == "format of factors (wide16 and float16)");
      CHECK(older->difference(codec) == "format of factors (float16 and wide16)");
      // Both forms hold ordinary lengths: codes differ in these alone, and mean nearly the same.
      std::vector<uint8_t> codes(codec.layout().bytes(300));
      std::vector<uint8_t> older_codes(codes.size());
      codec.encode(300, rows.data(), codes.data(), 1);
      older->encode(300, rows.data(), older_codes.data(), 1);
      CHECK(codes != older_codes);
      std::vector<float> scores(300);
      std::vector<float> older_scores(300);
      codec.score(codec.prepare_query(rows.data()), {codes.data(), 300}, 0, 300, scores.data());
      older->score(older->prepare_query(rows.data()), {older_codes.data(), 300}, 0, 300,
                   older_scores.data());
      for (size_t i = 0; i < 300; ++i) REQUIRE(std::fabs(scores[i] - older_scores[i]) < 4);
      // A length that float16 cannot hold is refused as before; one that is too short for it is the
      // centre.
      std::vector<float> row(codec.centre().begin(), codec.centre().end());
      row[3] += 1e-5F;
      std::vector<uint8_t> code(older->layout().bytes(1));
      older->encode(1, row.data(), code.data(), 1);
      if (older->has_factors()) CHECK(code == std::vector<uint8_t>(code.size(), 0));
      row[3] += 1e7F;
      if (older->has_factors())
        require_error(StatusCode::bad_argument, "its distance to the centre is 1e+07",
                      [&] { older->encode(1, row.data(), code.data(), 1); });
      codec.encode(1, row.data(), code.data(), 1);
    }
  }
}

TEST_CASE("training anew gives a state of before format 4 the wider floats", "[state]") {
  const std::vector<float> rows = clustered_rows(300, 33, 4, 1);
  for (const char* spec : {"Polar2", "PolarScalar4", "PolarTree4.2"}) {
    const auto codec = older_codec(make(spec));
    codec->train(300, rows.data());
    Codec expected = make(spec);
    expected.train(300, rows.data());
    CHECK(codec->state_id() == expected.state_id());
    CHECK(codec->difference(expected).empty());
  }
}

TEST_CASE("flags that no library writes are refused", "[state]") {
  for (const auto& [spec, flags] :
       {std::pair{"Polar2", 0}, {"Polar2", 2}, {"Polar2", 5}, {"Polar2", 3}, {"PolarTree4.2", 9}}) {
    std::vector<uint8_t> state = make(spec).save_state();
    REQUIRE(state[8] == 4);
    state[16] = static_cast<uint8_t>(flags);
    sign_again(state);
    CAPTURE(spec, flags);
    require_error(StatusCode::corrupt_data, "codec state",
                  [&] { Codec::load_state(state.data(), state.size()); });
  }
  // A codec without 16-bit floats has no use for the format.
  std::vector<uint8_t> state = make("Polar8").save_state();
  REQUIRE(state[8] == 1);
  state[8] = 4;
  const uint8_t wide[4] = {1, 0, 0, 0};
  state.insert(state.begin() + 16, wide, wide + 4);
  sign_again(state);
  require_error(StatusCode::corrupt_data, "has no 16-bit floats",
                [&] { Codec::load_state(state.data(), state.size()); });
}

TEST_CASE("a measurement that fails leaves the codec as it was", "[state]") {
  constexpr int kDim = 200;
  const std::vector<float> rows = spread_rows(2000, kDim, 1.5, 1);
  Codec codec = make("Polar2-pca", kDim);
  const uint64_t before = codec.state_id();
  require_error(StatusCode::out_of_memory, "none left", [&] {
    codec.train(2000, rows.data(), [](Codec&, int64_t, const float*) -> SearchMargins {
      fail(StatusCode::out_of_memory, "none left");
    });
  });
  CHECK(codec.state_id() == before);
  CHECK(!codec.is_trained());
}

TEST_CASE("difference names the part that differs", "[state]") {
  const std::vector<float> rows = clustered_rows(200, 33, 4, 1);
  const Codec codec = make("Polar2");
  CHECK(codec.difference(make("Polar2")).empty());
  CHECK(codec.difference(make("Polar4")) == "spec (Polar2 and Polar4)");
  CHECK(codec.difference(make("Polar2", 34)) == "dim (33 and 34)");
  CHECK(codec.difference(make("Polar2", 33, Metric::l2)) == "metric (0 and 1)");
  CodecOptions seeded;
  seeded.seed = 2;
  CHECK(codec.difference(make("Polar2", 33, Metric::inner_product, seeded)) == "seed (1 and 2)");
  CodecOptions scaled;
  scaled.norm_unit = 8;
  CHECK(codec.difference(make("Polar2", 33, Metric::inner_product, scaled)) ==
        "norm_unit (1 and 8)");
  CodecOptions centred;
  centred.centre = std::span<const float>(rows.data(), 33);
  CHECK(codec.difference(make("Polar2", 33, Metric::inner_product, centred)) == "centre");
  Codec pair_a = make("PolarPair4x4");
  Codec pair_b = make("PolarPair4x4");
  pair_a.train(150, rows.data());
  pair_b.train(200, rows.data());
  CHECK(pair_a.difference(pair_b) == "trained tables");
}

TEST_CASE("training learns the centre and unit, as far as it may, once", "[state]") {
  const std::vector<float> rows = clustered_rows(200, 33, 40, 1);
  const auto centre_is_zero = [](const Codec& codec) {
    for (const float value : codec.centre())
      if (value != 0) return false;
    return true;
  };
  SECTION("few rows: centre and unit") {
    Codec codec = make("Polar2");
    codec.train(99, rows.data());
    CHECK_FALSE(centre_is_zero(codec));
    CHECK(codec.norm_unit() > 1);
    CHECK(codec.origin() == StateOrigin::trained);
  }
  SECTION("turned off: the unit alone") {
    CodecOptions options;
    options.learn_centre = false;
    Codec codec = make("Polar2", 33, Metric::l2, options);
    codec.train(200, rows.data());
    CHECK(centre_is_zero(codec));
    CHECK(codec.norm_unit() == 32);
  }
  SECTION("after encode: refused") {
    Codec codec = make("Polar2");
    std::vector<uint8_t> code(200);
    std::vector<float> unit_row(33, 0.1F);
    codec.encode(1, unit_row.data(), code.data(), 1);
    const uint64_t id = codec.state_id();
    require_error(StatusCode::state_mismatch, "train", [&] { codec.train(200, rows.data()); });
    CHECK(codec.state_id() == id);
  }
  SECTION("codecs of vectors never learn a centre") {
    Codec codec = make("PolarScalar4");
    codec.train(200, rows.data());
    CHECK(centre_is_zero(codec));
  }
}

TEST_CASE("bad options and training rows are refused and change nothing", "[state]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  require_error(StatusCode::bad_argument, "dim: 0", [] { make("Polar2", 0); });
  require_error(StatusCode::bad_argument, "dim: 65536", [] { make("Polar2", 65536); });
  require_error(StatusCode::bad_argument, "metric: 7",
                [] { make("Polar2", 3, static_cast<Metric>(7)); });
  CodecOptions options;
  std::vector<float> centre(33, 0.0F);
  centre[4] = nan;
  options.centre = centre;
  require_error(StatusCode::bad_argument, "centre: column 4",
                [&] { make("Polar2", 33, Metric::l2, options); });
  options.centre = std::span<const float>(centre.data(), 3);
  require_error(StatusCode::bad_argument, "3 numbers",
                [&] { make("Polar2", 33, Metric::l2, options); });
  for (const double unit : {-1.0, 1e30, 1e-30, static_cast<double>(nan)}) {
    CodecOptions bad_unit;
    bad_unit.norm_unit = unit;
    CAPTURE(unit);
    require_error(StatusCode::bad_argument, "norm_unit",
                  [&] { make("Polar2", 33, Metric::l2, bad_unit); });
  }
  Codec codec = make("Polar2");
  const uint64_t id = codec.state_id();
  std::vector<float> rows = clustered_rows(10, 33, 4, 1);
  require_error(StatusCode::bad_argument, "n: 0", [&] { codec.train(0, rows.data()); });
  rows[5 * 33 + 2] = nan;
  require_error(StatusCode::bad_argument, "row 5 column 2", [&] { codec.train(10, rows.data()); });
  CHECK(codec.state_id() == id);
}

TEST_CASE("a query of another state is refused", "[state]") {
  const std::vector<float> rows = clustered_rows(200, 33, 4, 1);
  Codec a = make("Polar2");
  Codec b = make("Polar2");
  b.train(200, rows.data());
  std::vector<uint8_t> codes(b.layout().bytes(1));
  b.encode(1, rows.data(), codes.data(), 1);
  float score = 0;
  require_error(StatusCode::state_mismatch, "query", [&] {
    b.score(a.prepare_query(rows.data()), {codes.data(), 1}, 0, 1, &score);
  });
}
