// SPDX-License-Identifier: MIT
// Errors of a file's contents, which do not know where it lies, with its path.
#pragma once

#include <string>

#include "src/core/status.h"

namespace polarquant::capi {

/// What call() returns. Its errors begin with the path.
template <typename Call>
auto with_path(const std::string& path, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    const std::string text = error.what();
    fail(error.code(), "{}{}", text.starts_with(path) ? "" : path + ": ", text);
  }
}

}  // namespace polarquant::capi
