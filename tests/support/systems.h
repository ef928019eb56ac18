// SPDX-License-Identifier: MIT
// What tests see differently on different systems.
#pragma once

#include <cstdio>
#include <string>

#include "src/core/platform/platform.h"

namespace polarquant::test {

/// Whether a file may be replaced or removed while it is mapped (docs/install.md, Windows).
#ifdef _WIN32
inline constexpr bool kMappedFilesMayGo = false;
#else
inline constexpr bool kMappedFilesMayGo = true;
#endif

/// What the system says, and errors of ours pass on, when `path` is opened for reading and is not
/// there.
inline std::string text_of_missing(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  std::string text = platform::system_error_text();
  if (file != nullptr) {
    std::fclose(file);
    text = "no text: the file is there";
  }
  return text;
}

}  // namespace polarquant::test
