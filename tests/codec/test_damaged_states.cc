// SPDX-License-Identifier: MIT
// States that are cut or changed, with their checksum put right or not.
#include <memory>
#include <vector>

#include "src/codec/codec.h"
#include "tests/codec/clustered_rows.h"
#include "tests/support/catch.h"
#include "tests/support/older_state.h"

using namespace polarquant;
using polarquant::test::clustered_rows;
using polarquant::test::sign_again;

namespace {

constexpr const char* kSmallSpecs[] = {
    "Polar2", "Polar2-pca", "PolarPair4x4", "PolarTree2.2-online", "PolarB4", "PolarB6-km3"};

}  // namespace

TEST_CASE("damaged states are refused at every cut and every flipped bit", "[state]") {
  const std::vector<float> rows = clustered_rows(200, 5, 4, 1);
  for (const char* spec : kSmallSpecs) {
    Codec codec(parse_spec(spec), 5, Metric::l2, {});
    codec.train(200, rows.data());
    const std::vector<uint8_t> state = codec.save_state();
    for (size_t length = 0; length < state.size(); ++length) {
      CAPTURE(spec, length);
      CHECK_THROWS_AS(Codec::load_state(state.data(), length), Error);
    }
    for (size_t bit = 0; bit < 8 * state.size(); ++bit) {
      std::vector<uint8_t> damaged = state;
      damaged[bit / 8] = static_cast<uint8_t>(damaged[bit / 8] ^ (1 << (bit % 8)));
      CAPTURE(spec, bit);
      CHECK_THROWS_AS(Codec::load_state(damaged.data(), damaged.size()), Error);
    }
  }
}

TEST_CASE("hostile states with a right checksum are refused or load into a valid codec",
          "[state]") {
  const std::vector<float> rows = clustered_rows(200, 5, 4, 1);
  for (const char* spec : kSmallSpecs) {
    Codec codec(parse_spec(spec), 5, Metric::l2, {});
    codec.train(200, rows.data());
    const std::vector<uint8_t> state = codec.save_state();
    for (size_t byte = 0; byte + 8 < state.size(); ++byte) {
      for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
        std::vector<uint8_t> changed = state;
        changed[byte] = static_cast<uint8_t>(value);
        sign_again(changed);
        try {
          const std::unique_ptr<Codec> loaded = Codec::load_state(changed.data(), changed.size());
          CHECK(loaded->dim() >= 1);
          CHECK(loaded->save_state().size() == changed.size());
        } catch (const Error& error) {
          CAPTURE(spec, byte, value, error.what());
          const bool named =
              error.code() == StatusCode::corrupt_data || error.code() == StatusCode::newer_format;
          CHECK(named);
        }
      }
    }
  }
}
