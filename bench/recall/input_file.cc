// SPDX-License-Identifier: MIT
#include "bench/recall/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <vector>

#include "src/core/status.h"

namespace polarquant::bench {
namespace {

std::string system_reason() { return std::generic_category().message(errno); }

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(StatusCode::io, "{}: cannot open: {}", path, system_reason());
  struct stat info = {};
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor_);
    fail(StatusCode::io, "{}: not a regular file; a file is needed", path);
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read_at(uint64_t offset, void* out, uint64_t bytes, const char* field) const {
  if (offset > size_ || bytes > size_ - offset) {
    fail(StatusCode::corrupt_data, "{}: {} needs bytes {} to {}, but the file has {} bytes", path_,
         field, offset, offset + bytes, size_);
  }
  auto* at = static_cast<char*>(out);
  while (bytes > 0) {
    // One call moves at most 2 GiB on Linux.
    const uint64_t chunk = std::min<uint64_t>(bytes, uint64_t{1} << 30);
    const ssize_t got = ::pread(descriptor_, at, chunk, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      fail(StatusCode::io, "{}: reading {} at byte {}: {}", path_, field, offset,
           got < 0 ? system_reason() : "the file became shorter");
    }
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
}

std::string hash_file(const InputFile& file, const OnProgress& on_progress) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              &XXH3_freeState);
  require(state != nullptr, StatusCode::out_of_memory, "hash state: no memory");
  XXH3_64bits_reset(state.get());
  constexpr uint64_t kChunk = uint64_t{1} << 22;
  std::vector<unsigned char> buffer(std::min(kChunk, file.size()));
  for (uint64_t at = 0; at < file.size();) {
    const uint64_t bytes = std::min(kChunk, file.size() - at);
    file.read_at(at, buffer.data(), bytes, "data to hash");
    XXH3_64bits_update(state.get(), buffer.data(), bytes);
    at += bytes;
    if (on_progress) on_progress(static_cast<int64_t>(at), static_cast<int64_t>(file.size()));
  }
  return fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

}  // namespace polarquant::bench
