// SPDX-License-Identifier: MIT
// The state calls of the C ABI: save, load, compare.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/handles.h"
#include "src/scan/search/fast_codec_kernels.h"

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_codec_save_state(const polar_codec* codec, uint8_t* buf, size_t cap,
                                               size_t* needed) {
  return run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_object("needed", needed);
    const std::vector<uint8_t> state = checked.save_state();
    *needed = state.size();
    if (buf == nullptr) return;
    require(cap >= state.size(), StatusCode::bad_argument, "cap: {} is not allowed; {} or more",
            cap, state.size());
    std::copy(state.begin(), state.end(), buf);
  });
}

extern "C" polar_status polar_codec_load_state(const uint8_t* data, size_t bytes,
                                               polar_codec** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    require_object("data", data);
    auto handle = std::make_unique<polar_codec>();
    handle->codec = Codec::load_state(data, bytes, fast_codec_kernels());
    *out = handle.release();
  });
}

extern "C" polar_status polar_codec_check_same_state(const polar_codec* a, const polar_codec* b) {
  return run_guarded([&] {
    const Codec& first = *require_object("a", a).codec;
    const Codec& second = *require_object("b", b).codec;
    const std::string difference = first.difference(second);
    require(difference.empty(), StatusCode::state_mismatch,
            "a, b: the codecs differ in {}; codes of equal states mix", difference);
  });
}
