// SPDX-License-Identifier: MIT
#include "tests/sqlite/connection.h"

namespace polarquant::test::sqlite {
namespace {

struct Binder {
  sqlite3_stmt* statement;
  int at;

  int operator()(std::nullptr_t) const { return sqlite3_bind_null(statement, at); }
  int operator()(int64_t value) const { return sqlite3_bind_int64(statement, at, value); }
  int operator()(double value) const { return sqlite3_bind_double(statement, at, value); }
  int operator()(const std::string& value) const {
    return sqlite3_bind_text64(statement, at, value.data(), value.size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  }
  template <typename Element>
  int operator()(const std::vector<Element>& value) const {
    const void* data = value.empty() ? "" : static_cast<const void*>(value.data());
    return sqlite3_bind_blob64(statement, at, data, value.size() * sizeof(Element),
                               SQLITE_TRANSIENT);
  }
};

Value value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                         static_cast<size_t>(sqlite3_column_bytes(statement, column)));
    case SQLITE_BLOB: {
      const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement, column));
      return std::vector<uint8_t>(data, data + sqlite3_column_bytes(statement, column));
    }
    default:
      return nullptr;
  }
}

}  // namespace

Connection::Connection(const std::string& path, const char* file_system) {
  std::string text;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(path.c_str(), &db_, kFlags, file_system) != SQLITE_OK) {
    text = sqlite3_errmsg(db_);
  } else {
    sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
    sqlite3_busy_timeout(db_, 10000);
    char* error = nullptr;
    if (sqlite3_load_extension(db_, POLARQUANT_SQLITE_FILE, nullptr, &error) != SQLITE_OK)
      text = error == nullptr ? "out of memory" : error;
    sqlite3_free(error);
  }
  if (text.empty()) return;
  sqlite3_close(db_);
  throw text;
}
Connection::~Connection() {
  // Nothing may keep it open: a table's statements among them.
  CHECK(sqlite3_close(db_) == SQLITE_OK);
}

Result Connection::run(const std::string& sql, const std::vector<Value>& values) const {
  Result result;
  sqlite3_stmt* statement = nullptr;
  result.code = sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr);
  for (size_t i = 0; i < values.size() && result.code == SQLITE_OK; ++i)
    result.code = std::visit(Binder{statement, static_cast<int>(i) + 1}, values[i]);
  while (result.code == SQLITE_OK || result.code == SQLITE_ROW) {
    result.code = sqlite3_step(statement);
    if (result.code != SQLITE_ROW) break;
    Row row;
    for (int column = 0; column < sqlite3_column_count(statement); ++column)
      row.push_back(value_of(statement, column));
    result.rows.push_back(std::move(row));
  }
  if (result.code != SQLITE_DONE) result.text = sqlite3_errmsg(db_);
  sqlite3_finalize(statement);
  return result;
}
std::vector<Row> Connection::rows(const std::string& sql, const std::vector<Value>& values) const {
  Result result = run(sql, values);
  INFO(sql << ": " << result.text);
  REQUIRE(result.code == SQLITE_DONE);
  return std::move(result.rows);
}
int64_t Connection::integer(const std::string& sql, const std::vector<Value>& values) const {
  const std::vector<Row> found = rows(sql, values);
  REQUIRE((found.size() == 1 && found[0].size() == 1));
  return std::get<int64_t>(found[0][0]);
}
std::string Connection::error(const std::string& sql, const std::vector<Value>& values) const {
  const Result result = run(sql, values);
  INFO(sql);
  CHECK(result.code != SQLITE_DONE);
  return result.text;
}

}  // namespace polarquant::test::sqlite
