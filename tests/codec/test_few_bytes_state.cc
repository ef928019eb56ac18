// SPDX-License-Identifier: MIT
// States of codecs of few bytes: their format, their centroids, and which are refused.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/codec/codec.h"
#include "src/codec/planned_quantizer.h"
#include "src/core/byte_stream.h"
#include "tests/codec/few_bytes.h"
#include "tests/codec/spread_rows.h"
#include "tests/support/catch.h"
#include "tests/support/older_state.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

constexpr size_t kVersionAt = 8;
constexpr size_t kFlagsAt = 16;
constexpr size_t kSpecAt = 20;  // its length before its text
constexpr size_t kChecksumBytes = 8;

void require_refused(std::vector<uint8_t> state, const char* text) {
  sign_again(state);
  require_error(StatusCode::corrupt_data, text,
                [&] { Codec::load_state(state.data(), state.size()); });
}

uint8_t version_of(const std::string& spec, CentroidFactors factors = CentroidFactors::balanced) {
  return few_bytes_spec(spec, factors).centroids > 0 && factors == CentroidFactors::balanced ? 6
                                                                                             : 5;
}

/// The last parts of a state with balanced factors and without margins are the shares, before them
/// the centroids.
constexpr size_t kSharesBytes = 2 * sizeof(float);
size_t shares_at(const std::vector<uint8_t>& state) {
  return state.size() - kChecksumBytes - kSharesBytes;
}
size_t centroids_at(const std::vector<uint8_t>& state, int count) {
  return shares_at(state) - static_cast<size_t>(count) * kFewDim * sizeof(float);
}

std::vector<uint8_t> with_float(std::vector<uint8_t> state, size_t at, float number) {
  std::memcpy(&state[at], &number, sizeof number);
  return state;
}

}  // namespace

TEST_CASE("states of codes of few bytes are of format 5 or 6, before training too", "[state]") {
  for (const auto& [spec, factors] : {std::pair("PolarB10", CentroidFactors::balanced),
                                      std::pair("PolarB10-km32", CentroidFactors::exact),
                                      std::pair("PolarB10-km32", CentroidFactors::balanced)}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
      CAPTURE(spec, static_cast<int>(metric));
      const Codec untrained(few_bytes_spec(spec, factors), kFewDim, metric, {});
      for (const std::vector<uint8_t>& state :
           {untrained.save_state(), few_bytes_codec(spec, metric, factors)->save_state()}) {
        CHECK(state[kVersionAt] == version_of(spec, factors));
        CHECK(state[kFlagsAt] == 0);
        const auto loaded = Codec::load_state(state.data(), state.size());
        CHECK(loaded->save_state() == state);
        CHECK(print_spec(loaded->spec()) == spec);
      }
      const auto loaded =
          Codec::load_state(untrained.save_state().data(), untrained.save_state().size());
      CHECK(!loaded->is_trained());
      CHECK(loaded->centroids() == nullptr);
      CHECK(loaded->state_id() == untrained.state_id());
      // It is trained as the one that was saved would have been.
      loaded->train(1000, lumpy_rows(1000, 1).data());
      CHECK(loaded->state_id() == few_bytes_codec(spec, metric, factors)->state_id());
    }
  }
  // No other codec is of this format.
  CHECK(Codec(parse_spec("Polar2-pca"), kFewDim, Metric::l2, {}).save_state()[kVersionAt] == 4);
}

TEST_CASE("a loaded codec of few bytes scores as the one that was saved", "[state]") {
  const std::vector<float> x = lumpy_rows(100, 3);
  for (const char* spec : {"PolarB10", "PolarB10-km32"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
      CAPTURE(spec, static_cast<int>(metric));
      Codec codec(parse_spec(spec), kFewDim, metric, {});
      codec.train(1000, lumpy_rows(1000, 1).data());
      const std::vector<uint8_t> state = codec.save_state();
      const auto loaded = Codec::load_state(state.data(), state.size());
      const std::vector<uint8_t> codes = codes_of(codec, x);
      CHECK(codes_of(*loaded, x) == codes);
      std::vector<float> scores(100);
      std::vector<float> loaded_scores(100);
      codec.score(codec.prepare_query(x.data()), {codes.data(), 100}, 0, 100, scores.data());
      loaded->score(loaded->prepare_query(x.data()), {codes.data(), 100}, 0, 100,
                    loaded_scores.data());
      CHECK(loaded_scores == scores);
      CHECK(loaded->drift(100, x.data()) == codec.drift(100, x.data()));
    }
  }
}

TEST_CASE("difference tells centroids apart", "[state]") {
  const std::vector<float> x = lumpy_rows(2000, 1);
  CodecOptions options;
  options.norm_unit = 8;
  Codec a(parse_spec("PolarB10-km32"), kFewDim, Metric::l2, options);
  Codec b(parse_spec("PolarB10-km32"), kFewDim, Metric::l2, options);
  const Codec untrained(parse_spec("PolarB10-km32"), kFewDim, Metric::l2, options);
  a.train(1000, x.data());
  b.train(1000, x.data() + 1000 * kFewDim);
  CHECK(a.difference(b) == "centroids");
  CHECK_FALSE(a.difference(untrained).empty());
  const auto older = few_bytes_codec("PolarB10-km32", Metric::l2, CentroidFactors::exact);
  CHECK(a.difference(*older) == "format version (6 and 5)");
  CHECK(a.difference(*few_bytes_codec("PolarB10-km7", Metric::l2)) ==
        "spec (PolarB10-km32 and PolarB10-km7)");
  CHECK(a.difference(*few_bytes_codec("PolarB10", Metric::l2)) ==
        "spec (PolarB10-km32 and PolarB10)");
}

TEST_CASE("margins are told by a flag in states of few bytes", "[state]") {
  const std::vector<float> x = lumpy_rows(1000, 1);
  for (const char* spec : {"PolarB10", "PolarB10-km32"}) {
    CAPTURE(spec);
    Codec codec(parse_spec(spec), kFewDim, Metric::l2, {});
    codec.train(1000, x.data(), [](Codec& copy, int64_t n, const float*) {
      CHECK(copy.is_trained());
      CHECK(n == 1000);
      return SearchMargins{1.5F, 1};
    });
    const std::vector<uint8_t> state = codec.save_state();
    CHECK(state[kVersionAt] == version_of(spec));
    CHECK(state[kFlagsAt] == 2);
    const auto loaded = Codec::load_state(state.data(), state.size());
    CHECK(loaded->search_margins() == SearchMargins{1.5F, 1});
    CHECK(loaded->state_id() == codec.state_id());
    CHECK(codes_of(*loaded, x) == codes_of(*few_bytes_codec(spec, Metric::l2), x));
  }
}

TEST_CASE("states of few bytes that no library writes are refused", "[state]") {
  for (const char* spec : {"PolarB10", "PolarB10-km32"}) {
    const std::vector<uint8_t> state = few_bytes_codec(spec, Metric::l2)->save_state();
    for (const int flags : {1, 3, 4, 255}) {
      CAPTURE(spec, flags);
      std::vector<uint8_t> changed = state;
      changed[kFlagsAt] = static_cast<uint8_t>(flags);
      require_refused(changed, "flags");
    }
    std::vector<uint8_t> older = state;
    older[kVersionAt] = 4;
    older[kFlagsAt] = 1;
    require_refused(older, "of format version 4, but PolarB10");
    older = state;
    older[kVersionAt] = 2;
    older.erase(older.begin() + kFlagsAt, older.begin() + kSpecAt);
    require_refused(older, "of format version 2, but PolarB10");
  }
  // Nor another codec of this format.
  std::vector<uint8_t> other = Codec(parse_spec("Polar2"), kFewDim, Metric::l2, {}).save_state();
  other[kVersionAt] = 5;
  other[kFlagsAt] = 0;
  require_refused(other, "of format version 5, but Polar2");
  other = few_bytes_codec("PolarB10", Metric::l2)->save_state();
  other[kVersionAt] = 6;
  require_refused(other, "of format version 6, but PolarB10");
  // One format has other bytes of planes than the other.
  other = few_bytes_codec("PolarB10-km32", Metric::l2)->save_state();
  other[kVersionAt] = 5;
  require_refused(other, "codec state");
  other = few_bytes_codec("PolarB10-km32", Metric::l2, CentroidFactors::exact)->save_state();
  other[kVersionAt] = 6;
  require_refused(other, "codec state");
}

TEST_CASE("shares that training cannot have made are refused", "[state]") {
  const std::vector<uint8_t> state = few_bytes_codec("PolarB10-km32", Metric::l2)->save_state();
  const size_t square = shares_at(state);
  const size_t step = square + sizeof(float);
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (const float number : {kNone, -1.0F, 0x1p125F, std::numeric_limits<float>::infinity()}) {
    CAPTURE(number);
    require_refused(with_float(state, square, number), "shares: ");
    require_refused(with_float(state, step, number), "shares: ");
  }
  require_refused(with_float(state, step, 0), "shares: ");
  require_refused(with_float(state, step, 1e-40F), "shares: ");
  // Others are other states.
  for (const size_t at : {square, step}) {
    std::vector<uint8_t> another = with_float(state, at, .125F);
    sign_again(another);
    const auto loaded = Codec::load_state(another.data(), another.size());
    CHECK_FALSE(few_bytes_codec("PolarB10-km32", Metric::l2)->difference(*loaded).empty());
  }
  // Inner products have no squares.
  std::vector<uint8_t> inner = few_bytes_codec("PolarB10-km32", Metric::cosine)->save_state();
  require_refused(with_float(inner, shares_at(inner), .5F), "shares: ");
}

TEST_CASE("centroids that training cannot have made are refused", "[state]") {
  const std::vector<uint8_t> state = few_bytes_codec("PolarB10-km32", Metric::l2)->save_state();
  const size_t at = centroids_at(state, 32);
  const auto with_number = [&](float number) {
    return with_float(state, at + 5 * sizeof number, number);
  };
  require_refused(with_number(std::numeric_limits<float>::quiet_NaN()), "not all are finite");
  require_refused(with_number(-std::numeric_limits<float>::infinity()), "not all are finite");
  require_refused(with_number(1e30F), "centroids: one has norm 1e+30");
  // Another finite number is another state.
  std::vector<uint8_t> another = with_number(2.5F);
  sign_again(another);
  const auto loaded = Codec::load_state(another.data(), another.size());
  CHECK(few_bytes_codec("PolarB10-km32", Metric::l2)->difference(*loaded) == "centroids");

  // One centroid fewer, and more bytes than a state has.
  std::vector<uint8_t> fewer = state;
  const auto first = fewer.begin() + static_cast<ptrdiff_t>(at);
  fewer.erase(first, first + kFewDim * sizeof(float));
  require_refused(fewer, "codec state");
  std::vector<uint8_t> longer = state;
  longer.insert(longer.end() - 8, 4, uint8_t{0});
  require_refused(longer, "codec state");

  // None at all beside a plan, and centroids without a plan.
  const Codec untrained(parse_spec("PolarB10-km32"), kFewDim, Metric::l2, {});
  const std::vector<uint8_t> empty = untrained.save_state();
  ByteWriter none;
  none.put_array(std::vector<float>());
  const size_t count_bytes = none.bytes().size();
  std::vector<uint8_t> without(state.begin(),
                               state.begin() + static_cast<ptrdiff_t>(at - count_bytes));
  without.insert(without.end(), none.bytes().begin(), none.bytes().end());
  without.insert(without.end(), kChecksumBytes, uint8_t{0});
  require_refused(without, "a plan without centroids, or the other way round");
  std::vector<uint8_t> only(empty.begin(),
                            empty.end() - static_cast<ptrdiff_t>(kChecksumBytes + count_bytes));
  only.insert(only.end(), state.begin() + static_cast<ptrdiff_t>(at - count_bytes), state.end());
  require_refused(only, "a plan without centroids, or the other way round");
}

// A file may have a plan whose last segment with bits has no byte left for it.
TEST_CASE("a plan with a part of no bytes is refused, or codes nothing of it", "[state][plan]") {
  PlannedQuantizer quantizer(200, 16, SizeIn::bytes);
  try {
    quantizer.set_plan({{4, 1}, {1, 1}, {0, 1}, {0, 1}}, {});
  } catch (const Error& error) {
    CHECK(error.code() == StatusCode::bad_argument);
    return;
  }
  PlannedQuantizer expected(200, 16, SizeIn::bytes);
  expected.set_plan({{4, 1}, {0, 1}, {0, 1}, {0, 1}}, {});
  const std::vector<float> x = spread_rows(1, 200, 0, 1);
  std::vector<uint8_t> code(16);
  std::vector<uint8_t> expected_code(16);
  quantizer.encode(x.data(), code.data());
  expected.encode(x.data(), expected_code.data());
  CHECK(code == expected_code);
  std::vector<float> y(200);
  quantizer.decode(code.data(), 0, y.data());
  for (size_t j = 64; j < 200; ++j) CHECK(y[j] == 0);
}
