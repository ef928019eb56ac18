// SPDX-License-Identifier: MIT
// A file that appears whole or not at all: its bytes go to a temporary file in the same folder,
// which takes the file's name when everything is on the disk. Until then, and after any failure, a
// file of that name is as it was. When several write one file at the same time, the last one wins.
//
// Where the system has such files, the temporary one has no name before it is whole: a process that
// is killed leaves nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/io/byte_sink.h"
#include "src/io/byte_source.h"
#include "src/io/file_folder.h"

namespace polarquant {

class AtomicFile final : public ByteSink {
 public:
  /// Throws io when the folder takes no file, or `path` names something that is no regular file. A
  /// symbolic link stays, and what it names is made or replaced.
  explicit AtomicFile(const std::string& path);
  /// Removes the temporary file unless commit() succeeded.
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes) override;
  bool can_overwrite() const override { return true; }
  void overwrite_begin(const void* data, size_t bytes) override;
  /// Reads what was written before it takes the name; what it throws ends the commit.
  using Check = std::function<void(std::unique_ptr<ByteSource> written)>;
  /// Writes out, syncs, checks, renames, and syncs the folder. When this last step fails, the new
  /// file is in place, and the error says so.
  void commit(const Check& check = {});

 private:
  void make_temporary();
  void name_temporary();
  void flush();

  std::string path_;
  std::unique_ptr<FileFolder> folder_;
  std::string name_;
  std::string temporary_;  // empty: it has no name
  std::unique_ptr<SystemFile> file_;
  std::vector<unsigned char> buffer_;
  bool committed_ = false;
};

}  // namespace polarquant
