// SPDX-License-Identifier: MIT
#include "src/capi/error_text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "polarquant/polarquant.h"
#include "src/core/status.h"

namespace polarquant::capi {
namespace {

struct LastError {
  std::string text;
  const char* fixed = nullptr;  // stands for `text` when that could not be stored

  std::string_view view() const noexcept {
    if (fixed != nullptr) return fixed;  // no "?:", which would make a temporary string of both
    return text;
  }
};

LastError& last_error() noexcept {
  thread_local LastError error;
  return error;
}

bool is_continuation(char c) noexcept { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

/// Bytes of the UTF-8 character at the front of `text`, 0 when there is none: RFC 3629, which also
/// forbids overlong forms, surrogates and anything above U+10FFFF.
size_t character_bytes(std::string_view text) noexcept {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<ptrdiff_t>(bytes),
                   is_continuation)) {
    return 0;
  }
  const auto second = static_cast<uint8_t>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool no_character = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || no_character ? 0 : bytes;
}

void replace_invalid_utf8(std::string& text) noexcept {
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = character_bytes(std::string_view(text).substr(i));
    if (bytes == 0) text[i] = '?';
    i += std::max<size_t>(bytes, 1);
  }
}

}  // namespace

void set_last_error(std::string_view text) noexcept {
  LastError& error = last_error();
  try {
    error.text.assign(text);
    replace_invalid_utf8(error.text);
    error.fixed = nullptr;
  } catch (...) {
    error.fixed = "out of memory while storing the text of an error";
  }
}

size_t copy_text(std::string_view text, char* buf, size_t cap) noexcept {
  if (buf == nullptr || cap == 0) return text.size();
  size_t length = std::min(text.size(), cap - 1);
  if (length < text.size()) {
    while (length > 0 && is_continuation(text[length])) --length;
  }
  std::memcpy(buf, text.data(), length);
  buf[length] = 0;
  return text.size();
}

}  // namespace polarquant::capi

extern "C" const char* polar_status_name(polar_status status) {
  return polarquant::status_name(static_cast<polarquant::StatusCode>(status));
}

extern "C" size_t polar_last_error(char* buf, size_t cap) {
  return polarquant::capi::copy_text(polarquant::capi::last_error().view(), buf, cap);
}
