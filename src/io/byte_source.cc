// SPDX-License-Identifier: MIT
#include "src/io/byte_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/core/status.h"
#include "src/io/system_file.h"

namespace polarquant {
namespace {

[[noreturn]] void fail_truncated(uint64_t position, size_t missing) {
  fail(StatusCode::corrupt_data, "index file: ends at byte {}; {} more are needed", position,
       missing);
}

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::unique_ptr<SystemFile> file)
      : file_(std::move(file)), total_(file_->bytes()) {}

  void read(void* data, size_t bytes) override {
    auto* into = static_cast<uint8_t*>(data);
    while (bytes > 0) {
      const size_t count = file_->read_some(into, bytes);
      if (count == 0) fail_truncated(position_, bytes);
      into += count;
      bytes -= count;
      position_ += count;
    }
  }
  std::optional<uint64_t> total_bytes() const override { return total_; }

 private:
  std::unique_ptr<SystemFile> file_;
  uint64_t total_;
  uint64_t position_ = 0;
};

class CallbackSource final : public ByteSource {
 public:
  explicit CallbackSource(ReadSome read) : read_(std::move(read)) {}

  void read(void* data, size_t bytes) override {
    auto* into = static_cast<uint8_t*>(data);
    while (bytes > 0) {
      const size_t count = read_(into, bytes);
      require(count <= bytes, StatusCode::io, "read: it returned {} for {} bytes wanted", count,
              bytes);
      if (count == 0) fail_truncated(position_, bytes);
      into += count;
      bytes -= count;
      position_ += count;
    }
  }
  std::optional<uint64_t> total_bytes() const override { return std::nullopt; }

 private:
  ReadSome read_;
  uint64_t position_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(const uint8_t* data, size_t bytes) : data_(data), bytes_(bytes) {}

  void read(void* data, size_t bytes) override {
    if (bytes > bytes_ - position_) fail_truncated(bytes_, bytes - (bytes_ - position_));
    if (bytes > 0) std::memcpy(data, data_ + position_, bytes);
    position_ += bytes;
  }
  std::optional<uint64_t> total_bytes() const override { return bytes_; }

 private:
  const uint8_t* data_;
  size_t bytes_;
  size_t position_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> file_source(const std::string& path) {
  return file_source(std::make_unique<SystemFile>(path, SystemFile::Opening::read));
}

std::unique_ptr<ByteSource> file_source(std::unique_ptr<SystemFile> file) {
  return std::make_unique<FileSource>(std::move(file));
}

std::unique_ptr<ByteSource> callback_source(ReadSome read) {
  return std::make_unique<CallbackSource>(std::move(read));
}

std::unique_ptr<ByteSource> memory_source(const uint8_t* data, size_t bytes) {
  return std::make_unique<MemorySource>(data, bytes);
}

}  // namespace polarquant
