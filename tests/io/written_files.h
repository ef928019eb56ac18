// SPDX-License-Identifier: MIT
// What tests of files ask of them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "src/core/platform/platform.h"
#include "src/io/atomic_file.h"

namespace polarquant::test {

inline std::string contents(const std::string& path) {
  std::ifstream file(platform::path_of(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::ptrdiff_t files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(platform::path_of(folder)),
                       std::filesystem::directory_iterator());
}

inline void replace(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace polarquant::test
