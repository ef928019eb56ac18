// SPDX-License-Identifier: MIT
// The ids that callers gave to the rows of an index: a set in memory, or, of a memory-mapped index,
// rising in its file until a change wants them in memory.
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
  /// Of those that lie in a file: the ids from the place `first` on, not more than there are.
  /// Throws corrupt_data unless they are what was written, and rise.
  void read_rising(size_t first, std::span<int64_t> into) const;
  CallerIds in_memory() const;
  /// Throws corrupt_data unless what lies in a file is what was written.
  void verify() const;
  /// Without what lies in a file.
  size_t memory_bytes() const;

  /// For changes; they are in memory from now on.
  std::unordered_set<int64_t>& held();

 private:
  std::span<const int64_t> in_file() const;

  std::unordered_set<int64_t> held_;
  std::shared_ptr<const MappedSection> mapped_;
};

/// Throws corrupt_data unless ids of a file rise from 0 or more.
void require_rising(std::span<const int64_t> ids);

}  // namespace polarquant::capi
