// SPDX-License-Identifier: MIT
// Statements on a table of vectors in SQLite. Input: a byte for the table's declaration, then
// steps: a byte for the statement, and what it needs: values, or a text of SQL.
//
// Statements work or fail; a table whose shadow tables nobody else wrote to is whole at the end.
#include <dlfcn.h>
#include <sqlite3.h>

#include <string>

#include "tests/fuzz/fuzz.h"

using namespace polarquant::fuzz;

namespace {

constexpr int kDim = 4;
constexpr int kMostSteps = 60;
constexpr int64_t kManyRows = 1100;
constexpr int64_t kMostInstructions = 2000000;  // of SQLite's machine

constexpr const char* kDeclarations[] = {
    "v float[4], title TEXT, year INTEGER, +body",
    "v float[4], code=Polar1, metric=l2, title, year REAL, +body BLOB",
    "title TEXT, year INTEGER, +body TEXT, v float[4], metric=ip, code=Polar2+2",
    "v float[4], code=Polar8, year INTEGER, title TEXT COLLATION, +body"};

/// Parameters are values of the input.
constexpr const char* kStatements[] = {
    "INSERT INTO t(rowid, v, title, year, body) VALUES (?, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO t(rowid, v, title, year) VALUES (?, ?, ?, ?)",
    "INSERT OR IGNORE INTO t(v, body) VALUES (?, ?)",
    "INSERT INTO t(t) VALUES (?)",
    "UPDATE t SET v = ? WHERE rowid = ?",
    "UPDATE t SET rowid = ?, year = ? WHERE rowid = ?",
    "UPDATE OR REPLACE t SET rowid = ?, body = ? WHERE year > ?",
    "DELETE FROM t WHERE rowid = ?",
    "DELETE FROM t WHERE year < ?",
    "SELECT * FROM t WHERE v MATCH ? AND k = ?",
    "SELECT rowid, distance FROM t WHERE v MATCH ? AND distance < ? ORDER BY distance",
    "SELECT body FROM t WHERE v MATCH ? AND k = ? AND year BETWEEN ? AND ? AND title LIKE ?",
    "SELECT rowid FROM t WHERE v MATCH ? AND k = 5 AND year IN (?, ?, ?) AND rowid IN (?, ?)",
    "SELECT * FROM t WHERE rowid = ? OR title = ?",
    "SELECT polar_encode(?, ?, ?), polar_distance(?, ?)",
    "SELECT polar_decode(?, ?, ?), polar_code_distance(?, ?, ?)",
    "SAVEPOINT s",
    "ROLLBACK TO s",
    "RELEASE s",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "ALTER TABLE t RENAME TO u",
    "ALTER TABLE u RENAME TO t"};
constexpr uint8_t kText = 250;  // and above: SQL of the input
constexpr uint8_t kMany = 249;  // many rows at once, so that the code learns

void bind(sqlite3_stmt* statement, int at, Input& input) {
  constexpr const char* kTexts[] = {
      "Polar4",    "cosine",        "l2", "ip", "rebuild", "integrity-check", "train",
      "[1,2,3,4]", "[1e300,0,0,0]", "[",  "%",  ""};
  switch (input.byte() % 8) {
    case 0:
      sqlite3_bind_null(statement, at);
      break;
    case 1:
      sqlite3_bind_int64(statement, at, static_cast<int8_t>(input.byte()));
      break;
    case 2: {
      int64_t value = 0;
      const std::vector<uint8_t> bytes = input.take(sizeof value);
      if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
      sqlite3_bind_int64(statement, at, value);
      break;
    }
    case 3:
      sqlite3_bind_double(statement, at, static_cast<int8_t>(input.byte()) / 16.0);
      break;
    case 4:
      sqlite3_bind_text(statement, at, input.one_of(kTexts), -1, SQLITE_STATIC);
      break;
    case 5: {
      const std::vector<uint8_t> bytes = input.take(input.byte() % 40);
      sqlite3_bind_blob64(statement, at, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
      break;
    }
    default: {
      float vector[kDim];
      for (float& value : vector) value = static_cast<int8_t>(input.byte()) / 32.0F;
      sqlite3_bind_blob(statement, at, vector, sizeof vector, SQLITE_TRANSIENT);
    }
  }
}

void run(sqlite3* db, const char* sql, Input* input) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, nullptr) != SQLITE_OK) return;
  for (int at = 1; input != nullptr && at <= sqlite3_bind_parameter_count(statement); ++at)
    bind(statement, at, *input);
  while (sqlite3_step(statement) == SQLITE_ROW) {
  }
  sqlite3_finalize(statement);
}

void insert_many(sqlite3* db) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, "INSERT INTO t(v, year) VALUES (?, ?)", -1, &statement, nullptr) !=
      SQLITE_OK)
    return;
  const std::vector<float> rows = rows_of(kManyRows, kDim, 3);
  for (int64_t row = 0; row < kManyRows; ++row) {
    sqlite3_bind_blob(statement, 1, rows.data() + row * kDim, kDim * sizeof(float), SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, row % 50);
    sqlite3_step(statement);
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  // SQLite unloads it with its last connection, and what libFuzzer counts would be gone.
  static void* const kept_loaded = dlopen(POLARQUANT_SQLITE_FILE, RTLD_NOW);
  expect(kept_loaded != nullptr, "no extension");
  Input input(data, bytes);
  const MemoryBudget budget(256 * kMiB);
  sqlite3_hard_heap_limit64(static_cast<sqlite3_int64>(256 * kMiB));
  sqlite3* db = nullptr;
  expect(sqlite3_open(":memory:", &db) == SQLITE_OK, "no database");
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
  char* error = nullptr;
  expect(sqlite3_load_extension(db, POLARQUANT_SQLITE_FILE, nullptr, &error) == SQLITE_OK,
         "no extension");
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 22);
  // Statements of the input write no files, and may run for ever.
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  int64_t instructions = 0;
  sqlite3_progress_handler(
      db, 1000,
      [](void* user) {
        auto& count = *static_cast<int64_t*>(user);
        count += 1000;
        return count > kMostInstructions ? 1 : 0;
      },
      &instructions);
  run(db,
      (std::string("CREATE VIRTUAL TABLE t USING polar(") + input.one_of(kDeclarations) + ")")
          .c_str(),
      nullptr);
  bool is_ours = true;
  bool has_many = false;
  for (int step = 0; step < kMostSteps && input.left() > 0; ++step) {
    const uint8_t kind = input.byte();
    if (kind >= kText) {
      const std::vector<uint8_t> text = input.take(input.byte());
      is_ours = false;
      run(db, std::string(text.begin(), text.end()).c_str(), &input);
    } else if (kind == kMany) {
      if (!has_many) insert_many(db);
      has_many = true;
    } else {
      run(db, kStatements[kind % std::size(kStatements)], &input);
    }
  }
  sqlite3_progress_handler(db, 0, nullptr, nullptr);
  if (is_ours && !budget.was_exceeded()) {
    run(db, "ROLLBACK", nullptr);
    run(db, "ALTER TABLE u RENAME TO t", nullptr);
    const int code =
        sqlite3_exec(db, "INSERT INTO t(t) VALUES ('integrity-check')", nullptr, nullptr, nullptr);
    expect(code == SQLITE_OK, std::string("a damaged table: ") + sqlite3_errmsg(db));
  }
  expect(sqlite3_close(db) == SQLITE_OK, "a statement that is not finished");
  return 0;
}
