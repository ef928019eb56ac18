// SPDX-License-Identifier: MIT
// A folder that lives as long as its object, and bytes written into it: test files.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "src/core/platform/platform.h"
#include "src/core/status.h"

namespace polarquant::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::filesystem::path parent = std::filesystem::temp_directory_path();
    std::random_device random;
    do {
      path_ = parent / format_text("polarquant-test-{:08x}", random());
    } while (!std::filesystem::create_directory(path_));  // throws where none can be made
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const {
    return platform::name_of(path_ / platform::path_of(name));
  }
  /// Writes the file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream out(path_ / platform::path_of(name), std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    require(out.good(), StatusCode::io, "{}: cannot write it", name);
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

/// The values' bytes, one after another.
template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

/// A .npy file around `data`, its header padded as NumPy does.
inline std::string npy_bytes(const std::string& dict, const std::string& data, int major = 1) {
  const size_t fixed = major == 1 ? 10 : 12;
  std::string header = dict;
  while ((fixed + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(major);
  out += '\0';
  const auto length = static_cast<uint32_t>(header.size());
  out += bytes_of<uint32_t>({length}).substr(0, major == 1 ? 2 : 4);
  return out + header + data;
}

inline std::string npy_dict(const std::string& descr, const std::string& shape,
                            const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

}  // namespace polarquant::test
