// SPDX-License-Identifier: MIT
// The codec calls of the C ABI: make, describe, train, encode, decode, combine.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/error_text.h"
#include "src/capi/exception_wall.h"
#include "src/capi/handles.h"
#include "src/capi/options.h"
#include "src/capi/row_blocks.h"
#include "src/capi/work_call.h"
#include "src/core/format.h"
#include "src/scan/search/fast_codec_kernels.h"
#include "src/scan/search/measure_margins.h"

namespace polarquant::capi {
namespace {

double norm(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

polar_codec_info describe(const Codec& codec) {
  const CodeLayout& layout = codec.layout();
  polar_codec_info info = {};
  info.dim = codec.dim();
  info.metric = static_cast<polar_metric>(codec.metric());
  info.is_trained = codec.is_trained() ? 1 : 0;
  info.state_origin = static_cast<int32_t>(codec.origin());
  info.group_rows = layout.group_rows;
  info.seed = codec.seed();
  info.code_bytes = layout.group_bytes;
  info.factor_bytes = codec.has_factors() ? codec.factor_format().bytes() : 0;
  info.tail_row_bytes = layout.tail_row_bytes;
  info.bits_per_dim = 8.0 * static_cast<double>(layout.group_bytes) /
                      (static_cast<double>(layout.group_rows) * codec.dim());
  info.mse = codec.mse();
  info.centre_norm = norm(codec.centre());
  info.norm_unit = codec.norm_unit();
  info.state_id = codec.state_id();
  return info;
}

std::string help_text() {
  std::string text;
  for (const SpecHelp& row : spec_help()) {
    text += format_text("{}\n    {}\n    example: {}\n", row.form, row.meaning, row.example);
  }
  return text;
}

Reconstruction require_reconstruction(polar_reconstruction kind) {
  require(kind == POLAR_RECONSTRUCTION_LEAST_ERROR || kind == POLAR_RECONSTRUCTION_UNBIASED,
          StatusCode::bad_argument, "kind: {} is not allowed; 0 (least error) or 1 (unbiased)",
          kind);
  return static_cast<Reconstruction>(kind);
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_codec_create(const char* spec, int32_t dim, polar_metric metric,
                                           const polar_codec_options* options, polar_codec** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    const Spec parsed = parse_spec(require_name("spec", spec));
    require_dim(dim);
    const Metric checked_metric = require_metric(metric);
    const polar_codec_options given = read_codec_options(options, dim);
    CodecOptions codec_options;
    codec_options.seed = given.seed;
    if (given.centre != nullptr) codec_options.centre = {given.centre, static_cast<size_t>(dim)};
    codec_options.learn_centre = given.learn_centre != 0;
    codec_options.norm_unit = given.norm_unit;
    auto handle = std::make_unique<polar_codec>();
    handle->codec = std::make_unique<Codec>(parsed, dim, checked_metric, codec_options);
    handle->codec->use_kernels(fast_codec_kernels());
    *out = handle.release();
  });
}

extern "C" void polar_codec_destroy(polar_codec* codec) { delete codec; }

extern "C" size_t polar_spec_help(char* buf, size_t cap) {
  size_t length = copy_text("", buf, cap);
  run_guarded([&] { length = copy_text(help_text(), buf, cap); });
  return length;
}

extern "C" polar_status polar_codec_get_info(const polar_codec* codec, polar_codec_info* info) {
  return run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_object("info", info);
    const polar_codec_info full = describe(checked);
    write_over("info", full, info);
  });
}

extern "C" size_t polar_codec_spec(const polar_codec* codec, char* buf, size_t cap) {
  size_t length = copy_text("", buf, cap);
  run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    length = copy_text(print_spec(checked.spec()), buf, cap);
  });
  return length;
}

extern "C" polar_status polar_codec_get_centre(const polar_codec* codec, float* centre) {
  return run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_object("centre", centre);
    const std::span<const float> held = checked.centre();
    std::fill_n(centre, checked.dim(), 0.0f);
    std::copy(held.begin(), held.end(), centre);
  });
}

extern "C" polar_status polar_codec_memory_bytes(const polar_codec* codec, size_t* bytes) {
  return run_guarded([&] {
    const polar_codec& checked = require_object("codec", codec);
    require_object("bytes", bytes) = sizeof checked + checked.codec->memory_bytes();
  });
}

extern "C" polar_status polar_codec_train(polar_codec* codec, int64_t n, const float* x,
                                          const polar_work_options* options) {
  return run_work("train", options, [&] {
    Codec& checked = *require_object("codec", codec).codec;
    require_count("n", n, 1);
    require_array("x", x, n, checked.dim(), sizeof(float));
    checked.train(n, x, measure_margins);
  });
}

extern "C" polar_status polar_codec_encoded_bytes(const polar_codec* codec, int64_t n,
                                                  size_t* bytes) {
  return run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_object("bytes", bytes);
    require_count("n", n, 0);
    *bytes = checked.layout().bytes(n);
  });
}

extern "C" polar_status polar_codec_encode(const polar_codec* codec, int64_t n, const float* x,
                                           const polar_work_options* options, uint8_t* codes,
                                           size_t codes_bytes) {
  return run_work("encode", options, [&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_codes(checked, "n", n, "codes", codes, codes_bytes);
    require_trained(checked);
    require_array("x", x, n, checked.dim(), sizeof(float));
    checked.encode(n, x, codes, 0);
  });
}

extern "C" polar_status polar_codec_decode(const polar_codec* codec, int64_t n,
                                           const uint8_t* codes, size_t codes_bytes,
                                           polar_reconstruction kind,
                                           const polar_work_options* options, float* x) {
  return run_work("decode", options, [&] {
    const Codec& checked = *require_object("codec", codec).codec;
    const CodeRows rows = require_codes(checked, "n", n, "codes", codes, codes_bytes);
    require_trained(checked);
    const Reconstruction checked_kind = require_reconstruction(kind);
    require_array("x", x, n, checked.dim(), sizeof(float));
    for_row_blocks(n, [&](int64_t first, int64_t count) {
      checked.decode(rows, first, count, checked_kind, x + first * checked.dim());
    });
  });
}

extern "C" polar_status polar_codec_combine(const polar_codec* codec, int64_t n,
                                            const uint8_t* codes, size_t codes_bytes, int64_t nw,
                                            const float* weights, const polar_work_options* options,
                                            float* out) {
  return run_work("combine", options, [&] {
    const Codec& checked = *require_object("codec", codec).codec;
    const CodeRows rows = require_codes(checked, "n", n, "codes", codes, codes_bytes);
    require_trained(checked);
    require_count("nw", nw, 0);
    require_finite("weights", weights, nw, n);
    require_array("out", out, nw, checked.dim(), sizeof(float));
    parallel_for(nw, thread_count(0, nw), [&](int64_t w, int) {
      checked.combine(rows, weights + w * n, out + w * checked.dim());
    });
  });
}
