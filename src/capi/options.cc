// SPDX-License-Identifier: MIT
#include "src/capi/options.h"

#include <algorithm>
#include <cstring>

#include "src/capi/argument_checks.h"

namespace polarquant::capi {
namespace {

constexpr double kLeastUnit = 0x1p-40;
constexpr double kLargestUnit = 0x1p40;

polar_codec_options default_codec_options() {
  auto options = sized<polar_codec_options>();
  options.seed = 1;
  options.learn_centre = 1;
  return options;
}

size_t require_struct_size(const char* name, const void* given, size_t first_bytes) {
  uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  require(size >= first_bytes && size <= kMaxStructBytes, StatusCode::bad_argument,
          "{}.struct_size: {} is not allowed; the struct's sizeof, {} to {}", name, size,
          first_bytes, kMaxStructBytes);
  return size;
}

}  // namespace

void read_struct(const char* name, const void* from, size_t first_bytes, void* into,
                 size_t known_bytes) {
  const size_t given_bytes = require_struct_size(name, from, first_bytes);
  const auto* bytes = static_cast<const uint8_t*>(from);
  for (size_t i = known_bytes; i < given_bytes; ++i) {
    require(bytes[i] == 0, StatusCode::bad_argument,
            "{}: byte {} is {}; 0 is allowed beyond the {} bytes this library knows", name, i,
            bytes[i], known_bytes);
  }
  std::memcpy(into, from, std::min(given_bytes, known_bytes));
}

void write_struct(const char* name, const void* from, size_t first_bytes, void* into,
                  size_t known_bytes) {
  fill_struct(from, known_bytes, into, require_struct_size(name, into, first_bytes));
}

void fill_struct(const void* from, size_t known_bytes, void* into, size_t given_bytes) {
  if (into == nullptr || given_bytes < sizeof(uint32_t)) return;
  const bool is_size = given_bytes <= kMaxStructBytes;
  if (is_size) {
    const size_t copied = std::min(given_bytes, known_bytes);
    std::memcpy(into, from, copied);
    std::memset(static_cast<uint8_t*>(into) + copied, 0, given_bytes - copied);
  }
  const uint32_t struct_size = is_size ? static_cast<uint32_t>(given_bytes) : 0;
  std::memcpy(into, &struct_size, sizeof struct_size);
}

polar_codec_options read_codec_options(const polar_codec_options* given, int32_t dim) {
  const polar_codec_options options = read_over(default_codec_options(), "options", given);
  if (options.centre != nullptr) require_finite("options.centre", options.centre, 1, dim);
  // Written so that a NaN is refused too.
  require(options.norm_unit == 0 ||
              (options.norm_unit >= kLeastUnit && options.norm_unit <= kLargestUnit),
          StatusCode::bad_argument,
          "options.norm_unit: {} is not allowed; 0 (learned) or 2^-40 to 2^40", options.norm_unit);
  require(options.learn_centre == 0 || options.learn_centre == 1, StatusCode::bad_argument,
          "options.learn_centre: {} is not allowed; 0 or 1", options.learn_centre);
  return options;
}

}  // namespace polarquant::capi

extern "C" void polar_codec_options_init_sized(polar_codec_options* options, size_t struct_size) {
  polarquant::capi::fill_over(polarquant::capi::default_codec_options(), options, struct_size);
}
