// SPDX-License-Identifier: MIT
// PRAGMA integrity_check, which asks tables of vectors from SQLite 3.44 on.
#include <iostream>

#include "tests/sqlite/documents.h"

using namespace polarquant::test::sqlite;

namespace {

/// Else ctest reads that the test was skipped.
bool asks_virtual_tables() {
  constexpr int kFirst = 3044000;
  if (sqlite3_libversion_number() >= kFirst) return true;
  std::cout << "skipped: SQLite " << sqlite3_libversion() << " does not ask virtual tables\n";
  return false;
}

std::vector<std::string> findings(const Connection& db, const std::string& pragma) {
  std::vector<std::string> texts;
  for (const Row& row : db.rows("PRAGMA " + pragma)) texts.push_back(std::get<std::string>(row[0]));
  return texts;
}
const std::vector<std::string> kOk = {"ok"};

void check_is_whole(const Connection& db) {
  CHECK(findings(db, "integrity_check") == kOk);
  CHECK(findings(db, "quick_check") == kOk);
  CHECK(findings(db, "integrity_check(docs)") == kOk);
}

struct Damage {
  std::string sql;
  std::string text;
};

/// A table of so many rows and each damage in turn.
void check_damages(int64_t rows, const std::vector<Damage>& damages) {
  const Connection db;
  db.rows(create_sql());
  db.rows("BEGIN");
  insert_documents(db, 0, rows);
  db.rows("COMMIT");
  check_is_whole(db);
  for (const Damage& damage : damages) {
    INFO(damage.sql);
    db.rows("SAVEPOINT whole");
    db.rows(damage.sql);
    const std::vector<std::string> expected = {damage.text};
    CHECK(findings(db, "integrity_check") == expected);
    CHECK(findings(db, "quick_check") == expected);
    CHECK(db.error("INSERT INTO docs(docs) VALUES ('integrity-check')") == damage.text);
    db.rows("INSERT INTO docs(docs) VALUES ('rebuild')");
    check_is_whole(db);
    db.rows("ROLLBACK TO whole");
    db.rows("RELEASE whole");
    check_is_whole(db);
  }
}

}  // namespace

TEST_CASE("PRAGMA integrity_check finds tables whole in the middle of changes", "[sqlite]") {
  if (!asks_virtual_tables()) return;
  const Connection db;
  db.rows(create_sql());
  check_is_whole(db);
  db.rows("BEGIN");
  for (int64_t first = 0; first < 2100; first += 700) {
    insert_documents(db, first, 700);
    check_is_whole(db);
  }
  db.rows("DELETE FROM docs WHERE rowid % 3 = 0");
  check_is_whole(db);
  db.rows("ROLLBACK");
  check_is_whole(db);
}

TEST_CASE("PRAGMA integrity_check says what is damaged among codes", "[sqlite]") {
  if (!asks_virtual_tables()) return;
  check_damages(2500, {{"UPDATE docs_blocks SET data = zeroblob(length(data)) WHERE id = 1",
                        "docs_blocks, record 1: its checksum is not that of its bytes"},
                       {"UPDATE docs_blocks SET ids = zeroblob(length(ids)) WHERE id = 2",
                        "docs_blocks, record 2: its checksum is not that of its bytes"},
                       {"UPDATE docs_rows SET polar_slot = 7 WHERE polar_id = 6",
                        "docs_rows, row 6: its slot is that of row 7"},
                       {"DELETE FROM docs_rows WHERE polar_id = 2000",
                        "docs_rows: 2499 rows, of which 2500 are stored"},
                       {"DELETE FROM docs_auxiliary WHERE polar_id = 11",
                        "docs_auxiliary: row 11 is here or in docs_rows alone"}});
}

TEST_CASE("PRAGMA integrity_check says what is damaged among floats", "[sqlite]") {
  if (!asks_virtual_tables()) return;
  check_damages(50, {{"UPDATE docs_pending SET vector = zeroblob(length(vector)) WHERE slot = 3",
                      "docs_pending, row 3: its checksum is not that of its bytes"},
                     {"DELETE FROM docs_rows WHERE polar_id = 20",
                      "docs_rows: 49 rows, of which 50 are stored"}});
}
