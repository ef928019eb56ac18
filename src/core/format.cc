// SPDX-License-Identifier: MIT
// fmt's header must come before any other that includes a part of it.
#define FMT_HEADER_ONLY
#include <fmt/format.h>

// clang-format off
#include "src/core/format.h"
// clang-format on

namespace polarquant {

std::string format_arguments(fmt::string_view format, fmt::format_args args) {
  return fmt::vformat(format, args);
}

}  // namespace polarquant
