// SPDX-License-Identifier: MIT
// Rows as floats, searched exactly by an index of the library: until there are as many as the codec
// learns from. A record of docs_pending is one row.
#pragma once

#include <set>
#include <string>

#include "codec_calls.h"
#include "shadow_tables.h"
#include "stored_rows.h"

namespace polarquant::sqlite {

class PendingRows final : public StoredRows {
 public:
  /// Borrows the tables and the definition.
  PendingRows(ShadowTables& tables, const TableDefinition& definition);

  /// All rows, (count(), dim), and their ids.
  const std::vector<float>& vectors() const { return vectors_; }
  const std::vector<int64_t>& ids() const { return ids_; }

  void refresh(int64_t count) override;
  void forget_changes() noexcept override { changed_.clear(); }
  bool has_changes() const override { return !changed_.empty(); }
  void write(int64_t version) override;

  int64_t id(int64_t slot) override { return ids_[static_cast<size_t>(slot)]; }
  void set_id(int64_t slot, int64_t id) override;
  std::vector<float> vector(int64_t slot) override;

  void append(std::span<const int64_t> ids, std::span<const float> vectors) override;
  void overwrite(int64_t slot, std::span<const float> vector) override;
  void take_out(int64_t slot) override;

  Neighbors search(std::span<const float> query, int64_t k, const polar_filter* filter) override;
  Neighbors range_search(std::span<const float> query, float radius,
                         const polar_filter* filter) override;
  void verify() override { refresh(count_); }
  void salvage(const std::function<bool(int64_t)>& is_wanted) override;

 private:
  /// What is wrong with the row of read_pending that a statement is at; "" for nothing, and then
  /// the row is the last one in memory.
  std::string read(const Use& use);
  void clear();
  /// Rows after those in memory, which are no change.
  void keep(std::span<const int64_t> ids, std::span<const float> vectors);
  std::span<const float> row(int64_t slot) const;
  /// Of all rows; made by the first search after a change.
  const polar_index* index();

  ShadowTables& tables_;
  const TableDefinition& definition_;
  size_t dim_;
  std::string description_;
  std::vector<int64_t> ids_;
  std::vector<float> vectors_;
  std::set<int64_t> changed_;  // slots, also of rows that are gone
  Index index_;
};

}  // namespace polarquant::sqlite
