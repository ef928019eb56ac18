// SPDX-License-Identifier: MIT
// What is the same on all systems.
#include "src/io/system_file.h"

#include <utility>

#include "src/core/platform/platform.h"
#include "src/core/status.h"

namespace polarquant {

void fail_by_system(const std::string& path, const char* verb) {
  const std::string reason = platform::system_error_text();
  fail(StatusCode::io, "{}: cannot {} it: {}", path, verb, reason);
}

SystemFile::SystemFile(intptr_t handle, std::string path)
    : path_(std::move(path)), handle_(handle) {}

}  // namespace polarquant
