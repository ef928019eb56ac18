// SPDX-License-Identifier: MIT
// Two indexes, an old and a new one, and what a folder holds after one is saved over the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#include "tests/capi/capi_support.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {

/// It takes several writes: 2.2 MB.
inline IndexHandle make_large_index(uint64_t seed) {
  constexpr int32_t kDim = 256;
  constexpr int64_t kRows = 8000;
  IndexHandle index = make_index("Polar8", kDim, POLAR_METRIC_L2);
  require_ok(polar_index_train(index.get(), kRows, normal_rows(kRows, kDim, 1).data(), nullptr));
  require_ok(polar_index_add(index.get(), kRows, normal_rows(kRows, kDim, seed).data(), nullptr));
  return index;
}

inline std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// An old and a new index, and the bytes of their files.
class OldAndNew {
 public:
  OldAndNew() {
    const TemporaryFolder folder;
    for (int i = 0; i < 2; ++i) {
      require_ok(polar_index_save(indexes_[i].get(), folder.file("index").c_str(), nullptr));
      bytes_[i] = file_bytes(folder.file("index"));
    }
  }
  const polar_index* old_one() const { return indexes_[0].get(); }
  const polar_index* new_one() const { return indexes_[1].get(); }
  const std::string& old_bytes() const { return bytes_[0]; }
  const std::string& new_bytes() const { return bytes_[1]; }

 private:
  IndexHandle indexes_[2] = {make_large_index(2), make_large_index(3)};
  std::string bytes_[2];
};

inline const OldAndNew& old_and_new() {
  static const OldAndNew made;
  return made;
}

}  // namespace polarquant::test
