// SPDX-License-Identifier: MIT
// A file opened for reading at 64-bit offsets, with its length known before anything is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "bench/recall/matrix.h"

namespace polarquant::bench {

/// Errors: Error io naming the file and the system's reason; corrupt_data for reads past its end.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  /// Fills `out` with exactly `bytes` bytes from `offset` on; `field` names them in the error.
  void read_at(uint64_t offset, void* out, uint64_t bytes, const char* field) const;

 private:
  std::string path_;
  uint64_t size_ = 0;
  int descriptor_ = -1;
};

/// XXH3 (64 bits, seed 0) of the whole file, as 16 hexadecimal digits.
std::string hash_file(const InputFile& file, const OnProgress& on_progress);

}  // namespace polarquant::bench
