// SPDX-License-Identifier: MIT
// A connection that may hold few codes in memory finds what others do, to the bit.
#include <functional>

#include "tests/sqlite/documents.h"

using namespace polarquant::test::sqlite;

namespace {

/// Pages of the file that a statement reads: the connection's own cache keeps almost none.
int64_t pages_read(const Connection& db, const std::function<void()>& run) {
  const auto count = [&db] {
    int pages = 0;
    int most = 0;
    sqlite3_db_status(db.get(), SQLITE_DBSTATUS_CACHE_MISS, &pages, &most, 0);
    return pages;
  };
  const int64_t before = count();
  run();
  return count() - before;
}

void check_same(const Connection& limited, const Connection& db) {
  const std::vector<std::string> conditions = {"",
                                               " AND year = 2003",
                                               " AND rowid BETWEEN 2000 AND 2100",
                                               " AND rowid IN (5, 1023, 1024, 3000, 4999)",
                                               " AND year BETWEEN 2001 AND 2020 AND rowid > 4000",
                                               " AND rowid < 0"};
  for (int64_t number = 9000; number < 9003; ++number) {
    const std::vector<float> query = document_vector(number);
    for (const std::string& condition : conditions) {
      INFO(condition);
      for (const int64_t k : {1, 10, 6000})
        CHECK((nearest(limited, query, k, condition) == nearest(db, query, k, condition)));
      const std::string within =
          "SELECT rowid, distance FROM docs WHERE embedding MATCH ? AND distance < ?" + condition;
      CHECK((limited.rows(within, {query, 0.9}) == db.rows(within, {query, 0.9})));
    }
  }
}

}  // namespace

TEST_CASE("a memory limit changes no answer", "[sqlite]") {
  for (const char* metric : {"cosine", "ip", "l2"}) {
    for (const char* code : {"Polar4", "Polar2+2"}) {
      INFO(metric << " " << code);
      const TemporaryDatabase file;
      const Connection limited(file.path());
      limited.rows("SELECT polar_memory_limit(0)");
      limited.rows(create_sql(code, metric));
      // Both ways: what the limited one writes, and what it reads.
      limited.rows("BEGIN");
      insert_documents(limited, 0, 5000);
      limited.rows("COMMIT");
      const Connection db(file.path());
      check_same(limited, db);
      limited.rows("BEGIN");
      for (const int64_t id : {0, 1024, 4999, 2500, 100}) {
        limited.rows("DELETE FROM docs WHERE rowid = ?", {id});
        limited.rows("UPDATE docs SET embedding = ? WHERE rowid = ?",
                     {document_vector(id + 20000), id + 1});
      }
      limited.rows("UPDATE docs SET rowid = 9999 WHERE rowid = 2000");
      limited.rows("COMMIT");
      check_same(limited, db);
      db.rows("DELETE FROM docs WHERE rowid % 3 = 0");
      check_same(limited, db);
      const std::string all = "SELECT rowid, embedding, title FROM docs ORDER BY rowid DESC";
      CHECK((limited.rows(all) == db.rows(all)));
      limited.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
    }
  }
}

TEST_CASE("a memory limit is set, and taken away", "[sqlite]") {
  const TemporaryDatabase file;
  const Connection db(file.path());
  db.rows("PRAGMA cache_size = 10");
  // Newer SQLites read large blobs past their cache, and do not count that; but not those in a log.
  db.rows("PRAGMA journal_mode = WAL");
  db.rows("PRAGMA wal_autocheckpoint = 0");
  db.rows(create_sql());
  db.rows("BEGIN");
  insert_documents(db, 0, 6000);
  db.rows("COMMIT");
  const std::vector<float> query = document_vector(9000);
  const auto search = [&](const std::string& condition = "") {
    return pages_read(db, [&] { nearest(db, query, 10, condition); });
  };
  CHECK((db.rows("SELECT polar_memory_limit()") == std::vector<Row>{{nullptr}}));
  search();
  // Some for metadata; codes of 1,024 rows have about ten.
  const int64_t held = search();
  CHECK(db.integer("SELECT polar_memory_limit(100000)") == 100000);
  CHECK(db.integer("SELECT polar_memory_limit()") == 100000);
  search();
  const int64_t again = search();
  CHECK(again > held + 40);
  // What no row is wanted of is not read.
  const int64_t some = search(" AND rowid BETWEEN 3000 AND 3010");
  CHECK(some < again / 2);
  CHECK((db.rows("SELECT polar_memory_limit(NULL)") == std::vector<Row>{{nullptr}}));
  search();
  CHECK(search() <= held + 2);

  const std::string wanted = "a number of bytes from 0, or NULL";
  for (const Value& value : {Value(int64_t{-1}), Value(std::string("64M")), Value(1.5)})
    CHECK(db.error("SELECT polar_memory_limit(?)", {value}).find(wanted) != std::string::npos);
  // Not by what a database brings along.
  db.rows("CREATE VIEW sets AS SELECT polar_memory_limit(0)");
  CHECK_FALSE(db.error("SELECT * FROM sets").empty());
}
