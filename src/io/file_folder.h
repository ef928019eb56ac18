// SPDX-License-Identifier: MIT
// A folder in which files are made and take each other's names, each by one step of the system.
//
// On POSIX systems names are looked up in the open folder: a deep path costs nothing, and a folder
// that is moved meanwhile takes its files with it. On Windows it cannot be moved while a file in it
// is open.
#pragma once

#include <memory>
#include <string>

#include "src/io/system_file.h"

namespace polarquant {

class FileFolder {
 public:
  /// Throws io where there is none.
  explicit FileFolder(const std::string& folder);
  ~FileFolder();
  FileFolder(const FileFolder&) = delete;
  FileFolder& operator=(const FileFolder&) = delete;

  /// Whether there is a file, or folder, of this name. Throws io, with `path`, where the folder can
  /// have none, as of too long a name, or none that could be replaced.
  bool has(const std::string& name, const std::string& path) const;
  /// A new file, to write it; null where the name is taken. Throws io.
  std::unique_ptr<SystemFile> make(const std::string& name, const std::string& path) const;
  /// A new file without a name, to write it, which is gone with the process that has it; null
  /// where the system has none, as Linux does on most file systems. Throws io.
  std::unique_ptr<SystemFile> make_unnamed(const std::string& path) const;
  /// The same file, to read it. Throws io.
  static std::unique_ptr<SystemFile> open_unnamed(const SystemFile& file, const std::string& path);
  /// Gives it a name; false where that is taken. Throws io.
  bool give_name(const SystemFile& file, const std::string& name, const std::string& path) const;
  /// To read it. Throws io.
  std::unique_ptr<SystemFile> open(const std::string& name, const std::string& path) const;
  /// Gives `to` the rights that the file of this name has, where the system allows it.
  void copy_rights(const std::string& name, const SystemFile& to) const noexcept;
  /// The file `from` gets the name `to`; one that had it is gone. Throws io.
  void replace(const std::string& from, const std::string& to, const std::string& path) const;
  void remove(const std::string& name) const noexcept;
  /// Waits until the disk has the names, where the system can do that for folders. Throws io.
  void sync(const std::string& path) const;

 private:
  const std::string folder_;
  intptr_t handle_ = 0;
  [[maybe_unused]] bool is_readable_ = true;  // POSIX systems ask for it
};

}  // namespace polarquant
