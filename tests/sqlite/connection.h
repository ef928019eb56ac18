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
#include "tests/support/temporary_folder.h"

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
  /// file_system: an sqlite3_vfs by name; null: SQLite's default. An error is thrown as
  /// std::string.
  explicit Connection(const std::string& path = ":memory:", const char* file_system = nullptr);
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

/// A database in a folder of its own, which is gone at the end.
class TemporaryDatabase {
 public:
  std::string path() const { return folder_.file("documents.db"); }

 private:
  TemporaryFolder folder_;
};

}  // namespace polarquant::test::sqlite
