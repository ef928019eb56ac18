// SPDX-License-Identifier: MIT
// The ids that callers gave to the rows of an index: a set in memory, or, of a memory-mapped index,
// rising in its files until a change wants them in memory.
//
// Threads: const member functions may run at the same time; the others need sole use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/io/byte_sink.h"
#include "src/io/mapped_section.h"

namespace polarquant::capi {

class CallerIds {
 public:
  CallerIds() = default;
  explicit CallerIds(std::unordered_set<int64_t> held) : held_(std::move(held)) {}
  /// Ids as int64, looked up where they are. Throws corrupt_data when they are no whole numbers.
  explicit CallerIds(std::shared_ptr<const MappedSection> rising);

  bool empty() const { return size() == 0; }
  size_t size() const;
  /// Throws corrupt_data when the file is damaged where it looks.
  bool contains(int64_t id) const;
  /// All, rising.
  std::vector<int64_t> sorted() const;
  /// The same, written as they are read.
  void write_rising(ByteSink& sink) const;
  /// Takes those of another mapped index too.
  void join(const CallerIds& other);
  CallerIds in_memory() const;
  /// Throws corrupt_data unless what lies in a file is what was written.
  void verify() const;
  /// Without what lies in a file.
  size_t memory_bytes() const;

  /// For changes; they are in memory from now on.
  std::unordered_set<int64_t>& held();

 private:
  static bool contains(const MappedSection& file, int64_t id);

  std::unordered_set<int64_t> held_;
  std::vector<std::shared_ptr<const MappedSection>> files_;  // else
};

}  // namespace polarquant::capi
