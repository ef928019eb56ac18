// SPDX-License-Identifier: MIT
// The folder "PATH.parts" of a file that is built in parts: the state that all parts share, and the
// parts, whole files numbered from 1. One at a time uses it: a lock says so to other processes too,
// and goes with the process that holds it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "src/io/system_file.h"

namespace polarquant {

class PartsFolder {
 public:
  enum class Opening { make, existing };
  /// Makes or opens the folder of `path` and locks it. Throws not_found where an existing one has
  /// no state, io where it cannot be made or is in use.
  PartsFolder(const std::string& path, Opening opening);

  std::string state_path() const;
  bool has_state() const;
  /// Whole parts: 1 to this number. Throws corrupt_data where one in between is missing.
  int64_t count() const;
  std::string part_path(int64_t number) const;

  /// Removes the state, then all parts and what was left of some. Throws io.
  void clear() const;
  /// The same, and the folder, unless others put something in it. Others may build here from then
  /// on.
  void remove();

 private:
  const std::string folder_;
  std::unique_ptr<SystemFile> lock_;
};

}  // namespace polarquant
