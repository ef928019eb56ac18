// SPDX-License-Identifier: MIT
// The vectors of a table's rows, slot by slot, in memory and in shadow tables: as floats
// (pending_rows.h) until the codec has learned from them, then as codes (code_pages.h).
#pragma once

#include <polarquant/polarquant.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace polarquant::sqlite {

/// What a search found, nearest first.
struct Neighbors {
  std::vector<float> scores;
  std::vector<int64_t> slots;
};

/// Memory holds what was read of the shadow tables and what changed since, until write(). Whoever
/// reads or changes rows first calls refresh().
class StoredRows {
 public:
  virtual ~StoredRows() = default;

  int64_t count() const { return count_; }
  /// The shadow tables have so many rows, and may be others than those that were read.
  virtual void refresh(int64_t count) = 0;
  /// Forgets changes that were not written.
  virtual void forget_changes() noexcept = 0;
  virtual bool has_changes() const = 0;
  /// Whether these take a good part of the memory there is to be.
  virtual bool has_too_many_changes() const { return false; }
  /// Writes the changes. version: of the table from now on.
  virtual void write(int64_t version) = 0;

  virtual int64_t id(int64_t slot) = 0;
  virtual void set_id(int64_t slot, int64_t id) = 0;
  /// As near to what was stored as its code.
  virtual std::vector<float> vector(int64_t slot) = 0;

  /// vectors: (ids.size(), dim). Nothing changed after an error.
  virtual void append(std::span<const int64_t> ids, std::span<const float> vectors) = 0;
  virtual void overwrite(int64_t slot, std::span<const float> vector) = 0;
  /// The last row takes its place.
  virtual void take_out(int64_t slot) = 0;

  /// k: 1 to count(). filter: a bit for each slot, or null.
  virtual Neighbors search(std::span<const float> query, int64_t k, const polar_filter* filter) = 0;
  /// All with a score above the radius, for L2 below.
  virtual Neighbors range_search(std::span<const float> query, float radius,
                                 const polar_filter* filter) = 0;
  /// Reads all rows, and throws SqlError for what is damaged.
  virtual void verify() = 0;
  /// Reads all records again, and keeps the rows that are whole and whose id is wanted, each once,
  /// as changes; the records are gone.
  virtual void salvage(const std::function<bool(int64_t)>& is_wanted) = 0;

 protected:
  int64_t count_ = 0;
};

/// Runs `search(capacity, lims, scores, ids)` until what it finds has space.
template <typename Search>
Neighbors find_in_range(const Search& search) {
  Neighbors found;
  std::vector<int64_t> lims(2);
  lims[1] = 256;
  do {
    found.scores.resize(static_cast<size_t>(lims[1]));
    found.slots.resize(found.scores.size());
    search(std::ssize(found.scores), lims.data(), found.scores.data(), found.slots.data());
  } while (lims[1] > std::ssize(found.scores));
  found.scores.resize(static_cast<size_t>(lims[1]));
  found.slots.resize(found.scores.size());
  return found;
}

/// Drops the places after the last row that was found.
inline void drop_missing(Neighbors& found) {
  size_t count = 0;
  while (count < found.slots.size() && found.slots[count] >= 0) ++count;
  found.scores.resize(count);
  found.slots.resize(count);
}

}  // namespace polarquant::sqlite
