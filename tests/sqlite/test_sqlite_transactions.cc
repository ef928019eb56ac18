// SPDX-License-Identifier: MIT
// Transactions, savepoints, other connections and copies of a database.
#include <filesystem>

#include "src/core/random.h"
#include "tests/sqlite/documents.h"

using namespace polarquant::test::sqlite;

namespace {

void check_whole(const Connection& db, int64_t rows) {
  CHECK(db.integer("SELECT count(*) FROM docs") == rows);
  db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
  const std::vector<float> query = document_vector(9000);
  CHECK(std::ssize(nearest(db, query, rows + 5)) == rows);
}

}  // namespace

TEST_CASE("a rollback takes back rows, codes and what the codec learned", "[sqlite]") {
  const TemporaryDatabase file;
  const Connection db(file.path());
  db.rows(create_sql());
  insert_documents(db, 0, 900);
  const std::vector<Neighbor> before = nearest(db, document_vector(9000), 10);
  for (const bool search_inside : {false, true}) {
    db.rows("BEGIN");
    insert_documents(db, 900, 400);
    db.rows("DELETE FROM docs WHERE rowid < 100");
    db.rows("UPDATE docs SET embedding = ? WHERE rowid = 200", {document_vector(9000)});
    if (search_inside) {
      CHECK(nearest(db, document_vector(9000), 10)[0].id == 200);
      check_whole(db, 1200);
    }
    db.rows("ROLLBACK");
    CHECK((nearest(db, document_vector(9000), 10) == before));
    check_whole(db, 900);
  }
  db.rows("BEGIN");
  insert_documents(db, 900, 400);
  db.rows("COMMIT");
  check_whole(db, 1300);
  const std::vector<Neighbor> coded = nearest(db, document_vector(9000), 10);
  db.rows("BEGIN");
  db.rows("DELETE FROM docs WHERE rowid > 1000");
  insert_documents(db, 5000, 2000);
  db.rows("ROLLBACK");
  CHECK((nearest(db, document_vector(9000), 10) == coded));
  check_whole(db, 1300);
}

TEST_CASE("vectors of any dimensions are read back from every kind of page", "[sqlite]") {
  for (const int dim : {1, 3, 32, 63, 65, 100, 130}) {
    for (const char* code : {"Polar4", "Polar1", "Polar8", "Polar3.5"}) {
      INFO(dim << " " << code);
      const TemporaryDatabase file;
      const Connection writer(file.path());
      const Connection reader(file.path());
      writer.rows("CREATE VIRTUAL TABLE docs USING polar(v float[" + std::to_string(dim) +
                  "], code=" + code + ", metric=l2)");
      polarquant::Random random(5);
      // A page that is not full, one that is, and a second one; blocks that are not full.
      for (const int count : {1003, 21, 1, 100, 924}) {
        writer.rows("BEGIN");
        for (int i = 0; i < count; ++i) {
          std::vector<float> vector(static_cast<size_t>(dim));
          for (float& value : vector) value = static_cast<float>(random.normal());
          writer.rows("INSERT INTO docs(v) VALUES (?)", {vector});
        }
        writer.rows("COMMIT");
        const std::string sql =
            "SELECT rowid, distance, v FROM docs WHERE v MATCH ? AND k = 20 ORDER BY distance";
        const std::vector<float> query(static_cast<size_t>(dim), .2F);
        CHECK((reader.rows(sql, {query}) == writer.rows(sql, {query})));
      }
      reader.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
    }
  }
}

TEST_CASE("savepoints are rolled back to, in any nesting", "[sqlite]") {
  const Connection db;
  db.rows(create_sql());
  insert_documents(db, 0, 1100);
  db.rows("SAVEPOINT a");
  insert_documents(db, 2000, 50);
  db.rows("SAVEPOINT b");
  db.rows("DELETE FROM docs WHERE rowid < 500");
  insert_documents(db, 3000, 50);
  check_whole(db, 700);
  db.rows("ROLLBACK TO b");
  check_whole(db, 1150);
  insert_documents(db, 4000, 5);
  db.rows("RELEASE b");
  check_whole(db, 1155);
  db.rows("ROLLBACK TO a");
  check_whole(db, 1100);
  db.rows("RELEASE a");
  check_whole(db, 1100);
}

TEST_CASE("a statement that fails half-way changes nothing", "[sqlite]") {
  const Connection db;
  db.rows(create_sql());
  insert_documents(db, 0, 1100);
  db.rows("CREATE TABLE given(id INTEGER, v)");
  for (const int64_t id : {5000, 5001, 7, 5002})
    db.rows("INSERT INTO given VALUES (?, ?)", {id, document_vector(id)});
  for (const bool in_transaction : {false, true}) {
    if (in_transaction) db.rows("BEGIN");
    CHECK(db.error(
              "INSERT INTO docs(rowid, embedding) SELECT id, v FROM given ORDER BY given.rowid") ==
          "UNIQUE constraint failed: docs.rowid");
    check_whole(db, 1100);
    CHECK(db.error("UPDATE docs SET embedding = CASE WHEN rowid = 600 THEN 'x' ELSE '[' || "
                   "substr(replace(hex(zeroblob(64)), '00', ',0'), 2) || ']' END") ==
          "embedding: a text that is no JSON array of numbers, as '[0.5, -1, 2]'");
    check_whole(db, 1100);
    CHECK(nearest(db, document_vector(20), 1)[0].id == 20);
    if (in_transaction) db.rows("COMMIT");
  }
  db.rows("INSERT OR IGNORE INTO docs(rowid, embedding) SELECT id, v FROM given");
  check_whole(db, 1103);
}

TEST_CASE("other connections see what is committed, and only that", "[sqlite]") {
  const std::string mode = GENERATE("wal", "delete");
  const TemporaryDatabase file;
  const Connection writer(file.path());
  writer.rows("PRAGMA journal_mode = " + mode);
  writer.rows(create_sql());
  const Connection reader(file.path());
  const std::vector<float> query = document_vector(700);
  insert_documents(writer, 0, 600);
  CHECK(nearest(reader, query, 5).size() == 5);
  polarquant::Random random(1);
  int64_t next = 600;
  for (int round = 0; round < 12; ++round) {
    writer.rows("BEGIN IMMEDIATE");
    insert_documents(writer, next, 150);
    next += 150;
    writer.rows("DELETE FROM docs WHERE rowid = ?", {static_cast<int64_t>(random.below(500))});
    if (mode == "wal") {
      CHECK(nearest(reader, document_vector(next - 1), 1)[0].id != next - 1);
    }
    writer.rows(round % 4 == 3 ? "ROLLBACK" : "COMMIT");
    CHECK((nearest(reader, document_vector(next - 1), 10) ==
           nearest(writer, document_vector(next - 1), 10)));
    // The writer and the reader change places.
    reader.rows("UPDATE docs SET embedding = ? WHERE rowid = 550", {document_vector(next)});
    CHECK(nearest(writer, document_vector(next), 1)[0].id == 550);
  }
  reader.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
  writer.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
}

TEST_CASE("a table is whole in copies of its database, in attached ones and in temporary ones",
          "[sqlite]") {
  const TemporaryDatabase file;
  const TemporaryDatabase copy;
  const TemporaryDatabase vacuumed;
  std::vector<Neighbor> expected;
  {
    const Connection db(file.path());
    db.rows(create_sql());
    insert_documents(db, 0, 1500);
    expected = nearest(db, document_vector(9000), 10);
    const Connection target(copy.path());
    sqlite3_backup* backup = sqlite3_backup_init(target.get(), "main", db.get(), "main");
    CHECK(sqlite3_backup_step(backup, -1) == SQLITE_DONE);
    sqlite3_backup_finish(backup);
    CHECK((nearest(target, document_vector(9000), 10) == expected));
    db.rows("VACUUM INTO '" + vacuumed.path() + "'");
    db.rows("DELETE FROM docs WHERE rowid % 2 = 0");
    db.rows("VACUUM");
    check_whole(db, 750);
  }
  const Connection db(vacuumed.path());
  CHECK((nearest(db, document_vector(9000), 10) == expected));
  check_whole(db, 1500);
  db.rows("ATTACH '" + copy.path() + "' AS other");
  CHECK((nearest(db, document_vector(9000), 10, "", "other.docs") == expected));
  db.rows("INSERT INTO other.docs(docs) VALUES ('integrity-check')");
  db.rows("CREATE VIRTUAL TABLE temp.t USING polar(v float[2])");
  db.rows("INSERT INTO temp.t(v) VALUES ('[1, 2]'), ('[2, 1]')");
  CHECK(db.integer("SELECT rowid FROM t WHERE v MATCH '[2, 1]' AND k = 1") == 2);
  db.rows("DETACH other");
}

TEST_CASE("a defensive connection changes tables, and nobody else their shadow tables",
          "[sqlite]") {
  const Connection db;
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  db.rows(create_sql());
  db.rows("BEGIN");
  insert_documents(db, 0, 1100);
  db.rows("COMMIT");
  CHECK(db.error("UPDATE docs_rows SET polar_slot = 3") == "table docs_rows may not be modified");
  CHECK(db.error("DELETE FROM docs_blocks") == "table docs_blocks may not be modified");
  db.rows("SAVEPOINT s");
  db.rows("DELETE FROM docs WHERE year = 2003");
  db.rows("UPDATE docs SET embedding = ?, title = 'x' WHERE rowid = 7", {document_vector(9000)});
  db.rows("ROLLBACK TO s");
  db.rows("RELEASE s");
  db.rows("DELETE FROM docs WHERE year = 2003");
  db.rows("INSERT INTO docs(docs) VALUES ('rebuild')");
  check_whole(db, 1056);
  db.rows("CREATE VIEW some AS SELECT polar_distance(embedding, embedding) FROM docs");
  CHECK(db.rows("SELECT * FROM some").size() == 1056);
  db.rows("ALTER TABLE docs RENAME TO other");
  db.rows("DROP VIEW some");
  db.rows("DROP TABLE other");
  CHECK(db.integer("SELECT count(*) FROM sqlite_master") == 0);
}

TEST_CASE("a database that may only be read is searched", "[sqlite]") {
  const TemporaryDatabase file;
  {
    const Connection db(file.path());
    db.rows(create_sql());
    insert_documents(db, 0, 30);
  }
  const Connection db(file.path());
  db.rows("PRAGMA query_only = 1");
  CHECK(nearest(db, document_vector(5), 1)[0].id == 5);
  CHECK_FALSE(db.error("INSERT INTO docs(embedding) VALUES (?)", {document_vector(1)}).empty());
  CHECK(nearest(db, document_vector(1), 100).size() == 30);
}

TEST_CASE("any sequence of changes ends in the rows it should", "[sqlite]") {
  const uint64_t seed = GENERATE(1, 2, 3, 4);
  const TemporaryDatabase file;
  const Connection db(file.path());
  db.rows("PRAGMA synchronous = OFF");  // each change is a transaction
  // Of some 2,700 rows, of which memory holds 2,048.
  if (seed % 2 == 0) db.rows("SELECT polar_memory_limit(0)");
  db.rows(create_sql("Polar2"));
  polarquant::Random random(seed);
  // The number of the vector of each row; what a rollback goes back to.
  std::map<int64_t, int64_t> rows;
  std::vector<std::map<int64_t, int64_t>> savepoints;
  const auto insert = [&](int64_t id) {
    const auto number = static_cast<int64_t>(random.below(100000));
    const std::string sql = "INSERT OR REPLACE INTO docs(rowid, embedding, year) VALUES (?, ?, ?)";
    db.rows(sql, {id, document_vector(number), number});
    rows[id] = number;
  };
  const auto check = [&] {
    CHECK(db.integer("SELECT count(*) FROM docs") == std::ssize(rows));
    db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
    std::map<int64_t, int64_t> held;
    for (const Row& row : db.rows("SELECT rowid, year FROM docs"))
      held[std::get<int64_t>(row[0])] = std::get<int64_t>(row[1]);
    CHECK((held == rows));
    for (int i = 0; i < 5 && !rows.empty(); ++i) {
      auto at = rows.begin();
      std::advance(at, static_cast<int64_t>(random.below(rows.size())));
      CHECK(rows[nearest(db, document_vector(at->second), 1)[0].id] == at->second);
    }
  };
  for (int round = 0; round < 250; ++round) {
    switch (random.below(10)) {
      case 0:
        db.rows("SAVEPOINT s" + std::to_string(savepoints.size()));
        savepoints.push_back(rows);
        break;
      case 1:
        if (savepoints.empty()) break;
        db.rows("ROLLBACK TO s" + std::to_string(savepoints.size() - 1));
        rows = savepoints.back();
        [[fallthrough]];
      case 2:
        if (savepoints.empty()) break;
        db.rows("RELEASE s" + std::to_string(savepoints.size() - 1));
        savepoints.pop_back();
        break;
      case 3: {
        const auto least = static_cast<int64_t>(random.below(4000));
        db.rows("DELETE FROM docs WHERE rowid BETWEEN ? AND ?", {least, least + 30});
        rows.erase(rows.lower_bound(least), rows.upper_bound(least + 30));
        break;
      }
      case 4:
        if (random.below(3) == 0) check();
        break;
      default:
        for (auto count = random.below(120); count > 0; --count)
          insert(static_cast<int64_t>(random.below(4000)));
    }
  }
  while (!savepoints.empty()) {
    savepoints.pop_back();
    db.rows("RELEASE s" + std::to_string(savepoints.size()));
  }
  check();
}
