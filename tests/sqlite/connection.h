// SPDX-License-Identifier: MIT
// A connection with the extension loaded, and rows as texts.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/catch.h"

namespace polarquant::test::sqlite {

/// NULL, an integer, a real number, a text, a vector or other blob.
using Value = std::variant<std::nullptr_t, int64_t, double, std::string, std::vector<float>,
                           std::vector<uint8_t>>;
using Row = std::vector<Value>;

struct Result {
  int code = SQLITE_DONE;
  std::string text;  // of an error
  std::vector<Row> rows;
};

class Connection {
 public:
  /// An error is thrown as std::string.
  explicit Connection(const std::string& path = ":memory:");
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  sqlite3* get() const { return db_; }

  /// One statement, to its end or first error.
  Result run(const std::string& sql, const std::vector<Value>& values = {}) const;
  /// Its rows; it must work.
  std::vector<Row> rows(const std::string& sql, const std::vector<Value>& values = {}) const;
  /// Its one value.
  int64_t integer(const std::string& sql, const std::vector<Value>& values = {}) const;
  /// The text of its error.
  std::string error(const std::string& sql, const std::vector<Value>& values = {}) const;

 private:
  sqlite3* db_ = nullptr;
};

/// A file of this process's that is gone at the end, with SQLite's files beside it.
class TemporaryDatabase {
 public:
  TemporaryDatabase();
  ~TemporaryDatabase() { remove(); }
  TemporaryDatabase(const TemporaryDatabase&) = delete;
  TemporaryDatabase& operator=(const TemporaryDatabase&) = delete;

  const std::string& path() const { return path_; }

 private:
  void remove() const;

  std::string path_;
};

}  // namespace polarquant::test::sqlite
