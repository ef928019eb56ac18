// SPDX-License-Identifier: MIT
// fmt::format by way of one translation unit that has fmt's functions inside: the library needs no
// libfmt where it runs, and the compiler not five seconds for each file that makes a text.
#pragma once

#include <fmt/core.h>

#include <string>

namespace polarquant {

/// As fmt::vformat.
std::string format_arguments(fmt::string_view format, fmt::format_args args);

/// As fmt::format.
template <typename... Args>
std::string format_text(fmt::format_string<Args...> format, Args&&... args) {
  return format_arguments(format, fmt::make_format_args(args...));
}

}  // namespace polarquant
