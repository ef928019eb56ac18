// SPDX-License-Identifier: MIT
// Saving and loading a codec's state: the same codec comes back, and damaged bytes do not.
#include <cstring>
#include <tuple>
#include <vector>

#include "src/core/checksum.h"
#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 20;

CodecHandle trained_codec(const char* spec, polar_metric metric) {
  CodecHandle codec = make_codec(spec, kDim, metric);
  const std::vector<float> x = normal_rows(300, kDim, 1, 0.5);
  require_ok(polar_codec_train(codec.get(), 300, x.data(), nullptr));
  return codec;
}

polar_status load(const std::vector<uint8_t>& state, CodecHandle* codec) {
  auto* loaded = reinterpret_cast<polar_codec*>(8);  // must become NULL or a codec
  // A copy of the exact size, so that a sanitizer sees a read past its end.
  const std::unique_ptr<uint8_t[]> bytes(new uint8_t[state.size()]);
  std::copy(state.begin(), state.end(), bytes.get());
  const polar_status status = polar_codec_load_state(bytes.get(), state.size(), &loaded);
  CHECK((loaded == nullptr) == (status != POLAR_OK));
  codec->reset(loaded);
  return status;
}

/// All of them.
auto fields_of(const polar_codec_info& info) {
  return std::tuple(info.struct_size, info.dim, info.metric, info.is_trained, info.state_origin,
                    info.group_rows, info.seed, info.code_bytes, info.factor_bytes,
                    info.tail_row_bytes, info.bits_per_dim, info.mse, info.centre_norm,
                    info.norm_unit, info.state_id);
}

}  // namespace

TEST_CASE("a loaded codec is the saved one", "[capi]") {
  for (const char* spec :
       {"Polar2", "Polar2-pca", "Polar4+2", "Polar8-dense", "PolarTree4.2-online", "PolarPair4x4",
        "PolarPair3x2g128", "PolarScalar3"}) {
    for (const polar_metric metric :
         {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE}) {
      INFO(spec << " metric " << metric);
      const CodecHandle codec = trained_codec(spec, metric);
      CodecHandle copy;
      require_ok(load(state_of(codec), &copy));
      require_ok(polar_codec_check_same_state(codec.get(), copy.get()));
      CHECK(fields_of(info_of(codec)) == fields_of(info_of(copy)));
      const std::vector<float> x = normal_rows(130, kDim, 2, 0.5);
      CHECK(encode(codec, 130, x) == encode(copy, 130, x));
      CHECK(state_of(copy) == state_of(codec));
    }
  }
}

TEST_CASE("save_state tells the size and refuses a smaller buffer", "[capi]") {
  const CodecHandle codec = trained_codec("Polar2", POLAR_METRIC_L2);
  const std::vector<uint8_t> state = state_of(codec);
  std::vector<uint8_t> buf(state.size(), 0xAB);
  size_t needed = 0;
  check_failed(polar_codec_save_state(codec.get(), buf.data(), state.size() - 1, &needed),
               POLAR_ERROR_BAD_ARGUMENT,
               {"cap: " + std::to_string(state.size() - 1) + " is not allowed; " +
                std::to_string(state.size()) + " or more"});
  CHECK(needed == state.size());
  CHECK(buf == std::vector<uint8_t>(state.size(), 0xAB));
}

TEST_CASE("a state that was cut or continued is refused", "[capi]") {
  std::vector<uint8_t> state = state_of(trained_codec("PolarPair4x4", POLAR_METRIC_L2));
  CodecHandle codec;
  for (size_t bytes = 0; bytes < state.size(); ++bytes) {
    const std::vector<uint8_t> prefix(state.begin(), state.begin() + static_cast<ptrdiff_t>(bytes));
    check_failed(load(prefix, &codec), POLAR_ERROR_CORRUPT_DATA, {"codec state"});
  }
  state.push_back(0);
  check_failed(load(state, &codec), POLAR_ERROR_CORRUPT_DATA, {"codec state"});
}

TEST_CASE("a state with any bit flipped is refused", "[capi]") {
  for (const char* spec : {"Polar2", "PolarTree4.2-online"}) {
    const std::vector<uint8_t> state = state_of(trained_codec(spec, POLAR_METRIC_INNER_PRODUCT));
    int accepted = 0;
    for (size_t bit = 0; bit < 8 * state.size(); ++bit) {
      std::vector<uint8_t> flipped = state;
      flipped[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
      CodecHandle codec;
      const polar_status status = load(flipped, &codec);
      // A flipped version number is a newer format as far as anyone can tell.
      if (status != POLAR_ERROR_CORRUPT_DATA && status != POLAR_ERROR_NEWER_FORMAT) ++accepted;
    }
    CHECK(accepted == 0);
  }
}

namespace {

// Where docs/format.md puts the fields of a "Polar2" state.
constexpr size_t kVersionAt = 8;
constexpr size_t kOriginAt = 12;
constexpr size_t kReservedAt = 15;
constexpr size_t kFlagsAt = 16;
constexpr size_t kSpecAt = 24;
constexpr size_t kDimAt = kSpecAt + 6;
constexpr size_t kMetricAt = kDimAt + 4;
constexpr size_t kUnitAt = kMetricAt + 4 + 8;
constexpr size_t kCentreAt = kUnitAt + 4 + 8;

template <typename T>
std::vector<uint8_t> with_field(std::vector<uint8_t> state, size_t at, T value) {
  std::memcpy(state.data() + at, &value, sizeof value);
  return state;
}

/// The state with a checksum that fits its bytes: what someone who knows the format can make.
std::vector<uint8_t> with_checksum(std::vector<uint8_t> state) {
  const uint64_t sum = polarquant::checksum64(state.data(), state.size() - sizeof(uint64_t));
  std::memcpy(state.data() + state.size() - sizeof sum, &sum, sizeof sum);
  return state;
}

}  // namespace

TEST_CASE("a state of a newer format is refused as that", "[capi]") {
  const std::vector<uint8_t> state = state_of(trained_codec("Polar2", POLAR_METRIC_L2));
  CodecHandle codec;
  check_failed(load(with_field(state, kVersionAt, uint32_t{7}), &codec), POLAR_ERROR_NEWER_FORMAT,
               {"version 7", "6"});
  check_failed(load(with_checksum(with_field(state, kVersionAt, uint32_t{0})), &codec),
               POLAR_ERROR_CORRUPT_DATA, {"version 0"});
}

TEST_CASE("a state with a fitting checksum and a field that is not allowed is refused", "[capi]") {
  const std::vector<uint8_t> state = state_of(trained_codec("Polar2", POLAR_METRIC_L2));
  const auto refused = [&](std::vector<uint8_t> changed, const std::string& part) {
    CodecHandle codec;
    check_failed(load(with_checksum(std::move(changed)), &codec), POLAR_ERROR_CORRUPT_DATA, {part});
  };
  refused(with_field(state, kOriginAt, uint8_t{3}), "origin 3");
  refused(with_field(state, kReservedAt, uint8_t{1}), "flags");
  refused(with_field(state, kFlagsAt, uint32_t{0}), "flags 0");
  refused(with_field(state, kFlagsAt, uint32_t{4}), "flags 4");
  refused(with_field(state, kSpecAt, 'Q'), "Qolar2");
  refused(with_field(state, kSpecAt - 4, uint32_t{0xFFFFFFFF}), "spec");
  refused(with_field(state, kDimAt, uint32_t{0}), "centre");
  refused(with_field(state, kDimAt, uint32_t{65536}), "dim 65536");
  refused(with_field(state, kDimAt, uint32_t{kDim + 1}), "centre");
  refused(with_field(state, kMetricAt, int32_t{3}), "metric");
  refused(with_field(state, kUnitAt, int32_t{61}), "unit exponent 61");
  refused(with_field(state, kUnitAt, INT32_MIN), "unit exponent");
  refused(with_field(state, kCentreAt - 8, uint64_t{1} << 62), "centre");
  refused(with_field(state, kCentreAt, kNan), "centre");
  std::vector<uint8_t> longer = state;
  longer.push_back(0);
  refused(longer, "1 bytes follow");
}

TEST_CASE("a state with a fitting checksum and any bit flipped loads or is refused", "[capi]") {
  for (const char* spec : {"Polar2", "PolarTree4.2-online", "PolarPair3x2"}) {
    const std::vector<uint8_t> state = state_of(trained_codec(spec, POLAR_METRIC_L2));
    const std::vector<float> x = normal_rows(2, kDim, 3);
    for (size_t bit = 0; bit < 8 * (state.size() - sizeof(uint64_t)); ++bit) {
      std::vector<uint8_t> flipped = state;
      flipped[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
      CodecHandle codec;
      const polar_status status = load(with_checksum(flipped), &codec);
      if (status == POLAR_OK) {
        // Another codec, but a whole one: it codes or refuses, and reads any bytes.
        const polar_codec_info info = info_of(codec);
        std::vector<uint8_t> codes(2 * info.code_bytes, 0xA5);
        std::vector<float> decoded(static_cast<size_t>(2 * info.dim));
        REQUIRE(info.dim == kDim);
        require_ok(polar_codec_decode(codec.get(), 2, codes.data(), codes.size(), 0, nullptr,
                                      decoded.data()));
        polar_codec_encode(codec.get(), 2, x.data(), nullptr, codes.data(), codes.size());
      } else {
        CHECK((status == POLAR_ERROR_CORRUPT_DATA || status == POLAR_ERROR_NEWER_FORMAT));
      }
    }
  }
}
