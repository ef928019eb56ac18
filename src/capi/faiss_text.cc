// SPDX-License-Identifier: MIT
#include "src/capi/faiss_text.h"

#include <algorithm>
#include <cstddef>

namespace polarquant::capi {
namespace {

constexpr std::string_view kBegin = "Error in ";
constexpr std::string_view kCondition = "Error: '";
constexpr std::string_view kFailed = "' failed";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether it is FILE:LINE.
bool is_place(std::string_view text) {
  const size_t colon = text.rfind(':');
  return colon != text.npos && colon + 1 < text.size() && text.find(' ') == text.npos &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(colon) + 1, text.end(), is_digit);
}

/// Where the thrown text begins, after " at FILE:LINE: "; npos without such a place.
size_t after_place(std::string_view text) {
  constexpr std::string_view kAt = " at ";
  for (size_t at = text.find(kAt); at != text.npos; at = text.find(kAt, at + 1)) {
    const size_t begin = at + kAt.size();
    const size_t end = text.find(": ", begin);
    if (end != text.npos && is_place(text.substr(begin, end - begin))) return end + 2;
  }
  return text.npos;
}

void append_reason(std::string_view thrown, std::string* out) {
  const size_t failed = thrown.find(kFailed);
  if (thrown.substr(0, kCondition.size()) != kCondition || failed == thrown.npos) {
    out->append(thrown);
    return;
  }
  std::string_view remaining = thrown.substr(failed + kFailed.size());
  if (remaining.substr(0, 2) == ": " && remaining.size() > 2) {
    out->append(remaining.substr(2));
    return;
  }
  out->append("FAISS requires ");
  out->append(thrown.substr(kCondition.size(), failed - kCondition.size()));
  out->append(remaining);
}

}  // namespace

std::string without_faiss_places(std::string_view text) {
  const size_t begin = text.find(kBegin);
  const size_t thrown = begin == text.npos ? begin : after_place(text.substr(begin));
  if (thrown == text.npos) return std::string(text);
  std::string out(text.substr(0, begin));
  // One inside another has its own.
  append_reason(without_faiss_places(text.substr(begin + thrown)), &out);
  return out;
}

}  // namespace polarquant::capi
