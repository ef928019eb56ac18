// SPDX-License-Identifier: MIT
// Where the bytes of a file come from, front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/io/system_file.h"

namespace polarquant {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills all of `data`; throws corrupt_data at the end of the bytes, io when reading fails.
  virtual void read(void* data, size_t bytes) = 0;
  /// How many bytes there are in all, where that is known before they are read.
  virtual std::optional<uint64_t> total_bytes() const = 0;
};

/// Throws io when it cannot be opened or is no regular file.
std::unique_ptr<ByteSource> file_source(const std::string& path);
std::unique_ptr<ByteSource> file_source(std::unique_ptr<SystemFile> file);

/// Fills up to `bytes` bytes and returns how many; 0 at the end.
using ReadSome = std::function<size_t(void* data, size_t bytes)>;
std::unique_ptr<ByteSource> callback_source(ReadSome read);

/// Borrows the bytes.
std::unique_ptr<ByteSource> memory_source(const uint8_t* data, size_t bytes);

}  // namespace polarquant
