// SPDX-License-Identifier: MIT
#include "src/io/atomic_file.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "src/core/platform/platform.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr int kNameAttempts = 100;
constexpr int kMaxLinks = 40;  // as Linux

/// The file that symbolic links lead to, which need not exist yet.
std::filesystem::path follow_links(const std::string& path) {
  std::filesystem::path found = platform::path_of(path);
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(found, error); ++links) {
    const std::filesystem::path target = std::filesystem::read_symlink(found, error);
    require(!error && links < kMaxLinks, StatusCode::io, "{}: cannot follow its links", path);
    found = found.parent_path() / target;
  }
  return found;
}

void require_file_name(const std::string& path) {
  require(!path.empty(), StatusCode::io, "path: \"\" is not allowed; a file's name is");
  std::error_code error;
  const std::filesystem::file_status status =
      std::filesystem::status(platform::path_of(path), error);
  require(!std::filesystem::exists(status) || std::filesystem::is_regular_file(status),
          StatusCode::io, "{}: is not a regular file; a file's name is allowed", path);
}

/// Short, so that a name is allowed wherever any is. Random, since process numbers are the same in
/// containers that share a folder.
std::string temporary_name() { return format_text(".polar-{:016x}", platform::random_number()); }

/// The first temporary name that `take` takes.
template <typename Take>
std::string first_free_name(const std::string& path, const Take& take) {
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    std::string name = temporary_name();
    if (take(name)) return name;
  }
  fail(StatusCode::io, "{}: cannot make it: its names are taken", path);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  require_file_name(path);
  const std::filesystem::path place = follow_links(path);
  name_ = platform::name_of(place.filename());
  folder_ = std::make_unique<FileFolder>(
      place.has_parent_path() ? platform::name_of(place.parent_path()) : std::string("."));
  // Refused now and not when all is written.
  const bool has_old = folder_->has(name_, path_);
  buffer_.reserve(kBufferBytes);
  make_temporary();  // last: where a constructor throws, no destructor removes it
  if (has_old) folder_->copy_rights(name_, *file_);
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  file_.reset();
  if (!temporary_.empty()) folder_->remove(temporary_);
}

void AtomicFile::make_temporary() {
  file_ = folder_->make_unnamed(path_);
  if (file_ != nullptr) return;
  temporary_ = first_free_name(path_, [&](const std::string& name) {
    file_ = folder_->make(name, path_);
    return file_ != nullptr;
  });
}

void AtomicFile::name_temporary() {
  temporary_ = first_free_name(
      path_, [&](const std::string& name) { return folder_->give_name(*file_, name, path_); });
}

void AtomicFile::write(const void* data, size_t bytes) {
  const auto* from = static_cast<const unsigned char*>(data);
  while (bytes > 0) {
    const size_t count = std::min(bytes, kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), from, from + count);
    if (buffer_.size() == kBufferBytes) flush();
    from += count;
    bytes -= count;
  }
}

void AtomicFile::flush() {
  file_->write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::overwrite_begin(const void* data, size_t bytes) {
  flush();
  file_->write_begin(data, bytes);
}

void AtomicFile::commit(const Check& check) {
  flush();
  file_->sync();
  const bool is_unnamed = temporary_.empty();
  if (is_unnamed) {
    if (check) check(file_source(FileFolder::open_unnamed(*file_, path_)));
    name_temporary();
  }
  file_->close();
  if (check && !is_unnamed) check(file_source(folder_->open(temporary_, path_)));
  folder_->replace(temporary_, name_, path_);
  committed_ = true;
  folder_->sync(path_);
}

}  // namespace polarquant
