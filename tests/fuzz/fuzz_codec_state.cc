// SPDX-License-Identifier: MIT
// States of codecs, their last eight bytes, the checksum, made right.
//
// What is loaded is saved and loaded as the same state, and encodes, decodes and searches whatever
// its tables say.
#include "src/core/checksum.h"
#include "tests/fuzz/fuzz.h"

using namespace polarquant::fuzz;

namespace {

constexpr size_t kChecksumBytes = 8;

std::vector<uint8_t> with_checksum(const uint8_t* data, size_t bytes) {
  std::vector<uint8_t> state(data, data + bytes);
  // A few keep theirs: a wrong checksum must be seen.
  if (bytes < kChecksumBytes || state.back() % 8 == 7) return state;
  const size_t covered = bytes - kChecksumBytes;
  const uint64_t sum = polarquant::checksum64(state.data(), covered);
  std::memcpy(state.data() + covered, &sum, sizeof sum);
  return state;
}

/// Dense rotations of many dimensions take minutes to make, as they may.
bool is_slow(const std::vector<uint8_t>& state) {
  constexpr size_t kSpecAt = 20;
  if (state.size() < kSpecAt) return false;
  const std::string text(
      state.begin() + kSpecAt,
      state.begin() + static_cast<ptrdiff_t>(std::min<size_t>(state.size(), 220)));
  return text.find("-dense") != std::string::npos;
}

polar_codec_info info_of(const polar_codec* codec) {
  polar_codec_info info = {};
  info.struct_size = sizeof info;
  expect_ok("get_info", polar_codec_get_info(codec, &info));
  return info;
}

void check_saved_again(const polar_codec* codec) {
  size_t needed = 0;
  expect_ok("size of the state", polar_codec_save_state(codec, nullptr, 0, &needed));
  std::vector<uint8_t> state(needed);
  expect_ok("save_state", polar_codec_save_state(codec, state.data(), needed, &needed));
  polar_codec* again = nullptr;
  expect_ok("load what was saved", polar_codec_load_state(state.data(), needed, &again));
  expect_ok("check_same_state", polar_codec_check_same_state(codec, again));
  expect(info_of(codec).state_id == info_of(again).state_id, "another state_id after loading");
  polar_codec_destroy(again);
}

void use_codec(polar_codec* codec) {
  const polar_codec_info info = info_of(codec);
  if (info.dim > 1200) return;
  const int64_t n = info.group_rows > 1 ? 130 : 3;
  const std::vector<float> x = rows_of(n, info.dim, 5);
  polar_codec_plan plan = {};
  plan.struct_size = sizeof plan;
  polar_segment segments[64];
  allow_failure("get_plan", polar_codec_get_plan(codec, &plan, segments, 64));
  double drift = 0;
  allow_failure("drift", polar_codec_drift(codec, n, x.data(), nullptr, &drift));
  size_t bytes = 0;
  expect_ok("encoded_bytes", polar_codec_encoded_bytes(codec, n, &bytes));
  std::vector<uint8_t> codes(bytes);
  if (!allow_failure("encode",
                     polar_codec_encode(codec, n, x.data(), nullptr, codes.data(), bytes)))
    return;
  std::vector<float> decoded(x.size());
  allow_failure("decode",
                polar_codec_decode(codec, n, codes.data(), bytes, 1, nullptr, decoded.data()));
  std::vector<float> scores(static_cast<size_t>(n * n));
  polar_query* query = nullptr;
  if (allow_failure("query",
                    polar_query_prepare_from_code(codec, n, codes.data(), bytes, n - 1, &query))) {
    allow_failure("score",
                  polar_codec_score(codec, query, n, codes.data(), bytes, nullptr, scores.data()));
  }
  polar_query_destroy(query);
  int64_t ids[8];
  allow_failure("search", polar_codec_search(codec, 2, x.data(), n, codes.data(), bytes, 4, nullptr,
                                             scores.data(), ids));
  allow_failure("score_codes",
                polar_codec_score_codes(codec, n, codes.data(), bytes, n, codes.data(), bytes,
                                        nullptr, scores.data()));
  allow_failure("train", polar_codec_train(codec, n, x.data(), nullptr));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::vector<uint8_t> state = with_checksum(data, bytes);
  if (is_slow(state)) return 0;
  polar_codec* codec = nullptr;
  {
    const MemoryBudget budget(64 * kMiB + 16 * bytes);
    const bool works =
        allow_failure("load_state", polar_codec_load_state(state.data(), state.size(), &codec));
    expect(!budget.was_exceeded(), "a state takes more memory than its size says");
    expect(works == (codec != nullptr), "a codec and a status that do not fit");
    if (!works) return 0;
  }
  check_saved_again(codec);
  use_codec(codec);
  polar_codec_destroy(codec);
  return 0;
}
