// SPDX-License-Identifier: MIT
// One virtual table on one connection: its rows in shadow tables and in memory, and their changes.
//
// Memory and shadow tables agree whenever a transaction is at rest: rows that come are kept in a
// buffer, so that they are coded together, and written before anything else looks at the tables,
// before a savepoint and before the commit. What a rollback takes back is read again: state and
// pages have random version numbers, so that memory that is not what the tables hold is always
// noticed, also where another process wrote them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory_limit.h"
#include "shadow_tables.h"
#include "sql_error.h"
#include "stored_rows.h"
#include "table_definition.h"

namespace polarquant::sqlite {

class PolarTable {
 public:
  PolarTable(sqlite3* db, std::string schema, std::string table, TableDefinition definition,
             SharedMemoryLimit limit);

  sqlite3* db() const { return db_; }
  const TableDefinition& definition() const { return definition_; }
  ShadowTables& tables() { return tables_; }
  const std::string& name() const { return tables_.table(); }

  /// Creates the shadow tables.
  void create();

  /// The rows as this transaction sees them; valid until the next call.
  StoredRows& rows();

  /// values: one of each declared column. Returns the rowid. A rowid that is there is an error of
  /// SQLITE_CONSTRAINT, or with `replace` its row goes.
  int64_t insert(std::optional<int64_t> id, std::span<sqlite3_value*> values, bool replace);
  void update(int64_t id, int64_t new_id, std::span<sqlite3_value*> values, bool replace);
  void remove(int64_t id);

  /// 'train': the codec learns from the rows there are.
  void train();
  /// 'rebuild': keeps the rows that are whole, and writes all shadow tables anew.
  void rebuild();
  /// 'integrity-check': throws SqlError for what is wrong.
  void check_integrity();

  void rename(const std::string& table) { tables_.rename(table); }

  void begin() { is_current_ = false; }
  void sync();
  void commit() { is_current_ = false; }
  void rollback() noexcept;
  void open_savepoint(int savepoint);
  void release_savepoint(int savepoint) noexcept { savepoint_ = savepoint - 1; }
  void roll_back_to(int savepoint) noexcept;

 private:
  /// Runs a change of several statements. Where it fails after the first of them, nothing of this
  /// transaction can be committed any more.
  template <typename Change>
  void change(const Change& make) {
    const int64_t rollbacks = rollbacks_;
    try {
      make();
    } catch (...) {
      // SQLite rolls back at once where memory or a file fails in one of the statements.
      if (rollbacks == rollbacks_ && !broken_since_) broken_since_ = savepoint_;
      throw;
    }
  }

  void require_whole() const;
  struct State {
    int64_t version;
    int64_t rows;
    int64_t codec_version;
  };
  State read_state();
  /// Makes rows_ of its kind; unless it is already, without rows.
  void use_codec(int64_t codec_version);
  void refresh();
  /// Reads the state, unless this transaction has written since.
  StoredRows& current_rows();
  /// The buffer's rows go into rows_, whose codec learns once there are enough.
  void append_new();
  /// And all changes into the shadow tables.
  void flush();
  void learn();
  /// Changes are written where they take too much memory.
  void limit_changes() {
    if (rows_->has_too_many_changes()) flush();
  }
  void write_state();
  int64_t rows_to_learn() const;
  std::optional<int64_t> find_slot(int64_t id);
  int64_t slot(int64_t id);
  void take_out(int64_t id, int64_t slot);
  void update_columns(int64_t id, int64_t new_id, std::span<sqlite3_value*> values);
  std::unique_ptr<StoredRows> stored_codec_rows();
  SqlError id_is_taken() const;

  sqlite3* db_;
  TableDefinition definition_;
  SharedMemoryLimit limit_;
  ShadowTables tables_;
  std::unique_ptr<StoredRows> rows_;
  int64_t version_ = 0;         // of what rows_ holds; 0: unknown
  int64_t codec_version_ = -1;  // of rows_; 0: as floats
  bool is_current_ = false;     // nobody else can have written since the state was read

  std::vector<int64_t> new_ids_;    // rows that came, after those of rows_
  std::vector<float> new_vectors_;  // (new_ids_.size(), dim)

  int savepoint_ = -1;  // the last one that is open
  int64_t rollbacks_ = 0;
  /// The savepoint at the time of a change that failed half-way.
  std::optional<int> broken_since_;
};

}  // namespace polarquant::sqlite
