// SPDX-License-Identifier: MIT
// Prepared statements on the connection that a table belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sqlite_api.h"

namespace polarquant::sqlite {

/// A prepared statement, which borrows its connection.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  sqlite3_stmt* get() const { return statement_; }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/// Statements that are not in use, by their text: preparing one takes longer than most searches.
class StatementCache {
 public:
  explicit StatementCache(sqlite3* db) : db_(db) {}

  sqlite3* db() const { return db_; }
  std::unique_ptr<Statement> take(const std::string& sql);
  void give_back(const std::string& sql, std::unique_ptr<Statement> statement) noexcept;
  /// As tables cannot be dropped or renamed while statements on them are prepared.
  void clear() { idle_.clear(); }

 private:
  /// Conditions of filters come in any number of forms.
  static constexpr size_t kMostTexts = 64;

  sqlite3* db_;
  std::unordered_map<std::string, std::vector<std::unique_ptr<Statement>>> idle_;
};

/// One use of a statement, from its parameters to its last row. At its end the statement is reset:
/// one that is not holds its transaction open. Errors of SQLite are thrown as SqlError.
class Use {
 public:
  Use(StatementCache& cache, std::string sql)
      : cache_(cache), sql_(std::move(sql)), statement_(cache.take(sql_)) {}
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  /// Parameters in order, from the first on. Bytes and text are borrowed until the end of the use.
  Use& with(int64_t value);
  Use& with(std::span<const uint8_t> bytes);
  Use& with(std::string_view text);
  Use& with(sqlite3_value* value);
  Use& with_null();
  Use& with_pointer(void* pointer, const char* type);

  /// Whether there is another row.
  bool next();
  /// All of a statement that gives no rows.
  void run();
  /// Forgets parameters and rows, for another run.
  void reset() noexcept;

  /// −1 for NULL, which none of ours is in tables that nobody else wrote to.
  int64_t integer(int column) const;
  /// Borrowed until the next call.
  std::span<const uint8_t> bytes(int column) const;
  sqlite3_value* value(int column) const { return sqlite3_column_value(statement_->get(), column); }

 private:
  void check(int code) const;

  StatementCache& cache_;
  std::string sql_;
  std::unique_ptr<Statement> statement_;
  int bound_ = 0;
};

/// `name` as an SQL identifier, in quotes.
std::string quoted(std::string_view name);

}  // namespace polarquant::sqlite
