// SPDX-License-Identifier: MIT
#include "src/io/parts_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/core/platform/platform.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartBegin = "part-";
constexpr std::string_view kFileEnd = ".polar";
/// What a process that was killed leaves of a part (atomic_file.h).
constexpr std::string_view kTemporaryBegin = ".polar-";

/// 0 for names that are no part's.
int64_t part_number(const std::string& name) {
  if (!name.starts_with(kPartBegin) || !name.ends_with(kFileEnd)) return 0;
  const char* const begin = name.data() + kPartBegin.size();
  const char* const end = name.data() + name.size() - kFileEnd.size();
  int64_t number = 0;
  const auto read = std::from_chars(begin, end, number);
  return read.ec == std::errc() && read.ptr == end && number > 0 ? number : 0;
}

void require_done(const std::error_code& error, const std::string& path, const char* verb) {
  require(!error, StatusCode::io, "{}: cannot {} it: {}", path, verb, error.message());
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(platform::path_of(folder), error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(platform::name_of(entry->path().filename()));
  require_done(error, folder, "read");
  return names;
}

void remove_file(const std::string& path) {
  std::error_code error;
  fs::remove(platform::path_of(path), error);
  require_done(error, path, "remove");
}

}  // namespace

PartsFolder::PartsFolder(const std::string& path, Opening opening) : folder_(path + ".parts") {
  std::error_code error;
  if (opening == Opening::make) {
    fs::create_directory(platform::path_of(folder_), error);
    require_done(error, folder_, "make");
  } else {
    require(has_state(), StatusCode::not_found, "{}: there is no build to go on with", folder_);
  }
  lock_ = std::make_unique<SystemFile>(folder_ + "/lock", SystemFile::Opening::lock);
  require(lock_->lock(), StatusCode::io, "{}: is in use by another builder", folder_);
  // One that ended meanwhile may have removed what was there.
  require(opening == Opening::make || has_state(), StatusCode::not_found,
          "{}: there is no build to go on with", folder_);
}

std::string PartsFolder::state_path() const { return folder_ + "/state.polar"; }

bool PartsFolder::has_state() const {
  std::error_code error;
  return fs::exists(platform::path_of(state_path()), error);
}

int64_t PartsFolder::count() const {
  std::vector<int64_t> numbers;
  for (const std::string& name : names_in(folder_))
    if (const int64_t number = part_number(name)) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  for (size_t i = 0; i < numbers.size(); ++i) {
    require(numbers[i] == static_cast<int64_t>(i) + 1, StatusCode::corrupt_data,
            "{}: part {} of {} is missing", folder_, i + 1, numbers.back());
  }
  return static_cast<int64_t>(numbers.size());
}

std::string PartsFolder::part_path(int64_t number) const {
  return format_text("{}/{}{:06}{}", folder_, kPartBegin, number, kFileEnd);
}

// The state first: without it there is no build, whatever else is there.
void PartsFolder::clear() const {
  remove_file(state_path());
  for (const std::string& name : names_in(folder_)) {
    if (part_number(name) > 0 || name.starts_with(kTemporaryBegin))
      remove_file(folder_ + "/" + name);
  }
}

void PartsFolder::remove() {
  clear();
  remove_file(folder_ + "/lock");
  // On Windows its name is there until it is closed, and the folder not empty.
  lock_.reset();
  std::error_code error;
  fs::remove(platform::path_of(folder_), error);
}

}  // namespace polarquant
