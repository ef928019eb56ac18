// SPDX-License-Identifier: MIT
// Texts of the system's own, which differ between systems and which errors of ours pass on.
#pragma once

#include <cstdio>
#include <string>

#include "src/core/platform/platform.h"

namespace polarquant::test {

/// What the system says when `path` is opened for reading and is not there.
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
