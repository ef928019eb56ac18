// SPDX-License-Identifier: MIT
// Names of codes. Input: a byte for the dimensions, one for the metric, the name.
//
// What is accepted has a canonical name of the same state, encodes, decodes and searches, and its
// state is loaded again.
#include "tests/fuzz/fuzz.h"

using namespace polarquant::fuzz;

namespace {

constexpr int kDims[] = {1, 2, 3, 8, 16, 64, 65, 100, 128, 300};
constexpr polar_metric kMetrics[] = {0, 1, 2, -1, 3};

void check_canonical_name(const polar_codec* codec, int dim, polar_metric metric) {
  std::string name(polar_codec_spec(codec, nullptr, 0), '\0');
  polar_codec_spec(codec, name.data(), name.size() + 1);
  polar_codec* again = nullptr;
  expect_ok("create by its canonical name",
            polar_codec_create(name.c_str(), dim, metric, nullptr, &again));
  expect_ok("check_same_state", polar_codec_check_same_state(codec, again));
  polar_codec_destroy(again);
}

void check_rows(const polar_codec* codec, const std::vector<float>& x, int dim) {
  constexpr int64_t kRows = 3;
  size_t bytes = 0;
  expect_ok("encoded_bytes", polar_codec_encoded_bytes(codec, kRows, &bytes));
  std::vector<uint8_t> codes(bytes);
  if (!allow_failure("encode",
                     polar_codec_encode(codec, kRows, x.data(), nullptr, codes.data(), bytes))) {
    return;
  }
  std::vector<float> decoded(static_cast<size_t>(kRows * dim));
  expect_ok("decode",
            polar_codec_decode(codec, kRows, codes.data(), bytes, 0, nullptr, decoded.data()));
  float scores[kRows];
  int64_t ids[kRows];
  expect_ok("search", polar_codec_search(codec, 1, x.data(), kRows, codes.data(), bytes, kRows,
                                         nullptr, scores, ids));
}

void check_state(const polar_codec* codec) {
  size_t needed = 0;
  expect_ok("size of the state", polar_codec_save_state(codec, nullptr, 0, &needed));
  std::vector<uint8_t> state(needed);
  expect_ok("save_state", polar_codec_save_state(codec, state.data(), needed, &needed));
  polar_codec* loaded = nullptr;
  expect_ok("load_state", polar_codec_load_state(state.data(), needed, &loaded));
  expect_ok("check_same_state", polar_codec_check_same_state(codec, loaded));
  polar_codec_destroy(loaded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input input(data, bytes);
  const int dim = input.one_of(kDims);
  const polar_metric metric = input.one_of(kMetrics);
  const MemoryBudget budget(256 * kMiB);
  polar_codec* codec = nullptr;
  if (!allow_failure("create", polar_codec_create(input.remaining_text().c_str(), dim, metric,
                                                  nullptr, &codec))) {
    expect(codec == nullptr, "a codec that was refused");
    return 0;
  }
  check_canonical_name(codec, dim, metric);
  const std::vector<float> x = rows_of(2 * dim + 3, dim, 1);
  allow_failure("train", polar_codec_train(codec, 2 * dim + 3, x.data(), nullptr));
  check_rows(codec, x, dim);
  check_state(codec);
  polar_codec_destroy(codec);
  expect(!budget.was_exceeded(), "a code of few dimensions takes much memory");
  return 0;
}
