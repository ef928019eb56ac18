// SPDX-License-Identifier: MIT
// Virtual tables of vectors: what they hold and what their searches find, which is what an index
// with the same rows does, to the bit.
#include <algorithm>

#include "tests/sqlite/documents.h"

using namespace polarquant::test::sqlite;

namespace {

struct NamedMetric {
  const char* name;
  polar_metric metric;
};
const std::vector<NamedMetric> kMetrics = {
    {"cosine", POLAR_METRIC_COSINE}, {"ip", POLAR_METRIC_INNER_PRODUCT}, {"l2", POLAR_METRIC_L2}};

/// In one transaction, so that the codec learns from all of them as an index does.
void insert_together(const Connection& db, int64_t first, int64_t count) {
  db.rows("BEGIN");
  insert_documents(db, first, count);
  db.rows("COMMIT");
}

std::vector<int64_t> ids_where(int64_t count, bool (*keep)(int64_t)) {
  std::vector<int64_t> ids;
  for (int64_t id = 0; id < count; ++id)
    if (keep(id)) ids.push_back(id);
  return ids;
}

}  // namespace

TEST_CASE("a table finds what an index with the same rows does", "[sqlite]") {
  for (const auto& [name, metric] : kMetrics) {
    for (const char* code : {"Polar4", "Polar1", "Polar2+2", "Polar8"}) {
      INFO(name << " " << code);
      const Connection db;
      DocumentIndex index(code, metric);
      db.rows(create_sql(code, name));
      const auto check = [&] {
        for (int64_t number = 9000; number < 9005; ++number) {
          const std::vector<float> query = document_vector(number);
          CHECK((nearest(db, query, 10) == index.nearest(query, 10)));
        }
      };
      insert_together(db, 0, 700);  // as floats
      index.add(0, 700);
      check();
      insert_together(db, 700, 800);
      index.add(700, 800);
      check();
      insert_together(db, 1500, 1500);
      index.add(1500, 1500);
      check();
      for (const int64_t id : {2999, 0, 1023, 1024, 2998, 17}) {
        db.rows("DELETE FROM docs WHERE rowid = ?", {id});
        index.remove({id});
      }
      check();
      db.rows("UPDATE docs SET embedding = ? WHERE rowid = 40", {document_vector(9001)});
      index.update(40, document_vector(9001));
      check();
      db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
    }
  }
}

TEST_CASE("conditions on metadata and rowids choose the rows that a search looks at", "[sqlite]") {
  const Connection db;
  DocumentIndex index("Polar4", POLAR_METRIC_COSINE);
  db.rows(create_sql());
  constexpr int64_t kRows = 2500;
  insert_together(db, 0, kRows);
  index.add(0, kRows);
  const std::vector<float> query = document_vector(9000);
  const auto check = [&](const std::string& condition, bool (*keep)(int64_t)) {
    INFO(condition);
    const std::vector<int64_t> allowed = ids_where(kRows, keep);
    CHECK((nearest(db, query, 10, condition) == index.nearest(query, 10, &allowed)));
  };
  check(" AND year >= 2020", [](int64_t id) { return id % 25 >= 20; });
  check(" AND year BETWEEN 2003 AND 2004", [](int64_t id) { return id % 25 == 3 || id % 25 == 4; });
  check(" AND year = 2007 AND title > 'title 2'",
        [](int64_t id) { return id % 25 == 7 && std::to_string(id) > "2"; });
  check(" AND year IN (2001, 2009, 2001)", [](int64_t id) { return id % 25 == 1 || id % 25 == 9; });
  check(" AND year IN (2001, 2009) AND title IN ('title 1', 'title 9', 'title 26', 'title 3')",
        [](int64_t id) { return id == 1 || id == 9 || id == 26; });
  check(" AND year <> 2000", [](int64_t id) { return id % 25 != 0; });
  check(" AND title LIKE '%77'", [](int64_t id) { return id % 100 == 77; });
  check(" AND title GLOB 'title 1*'", [](int64_t id) { return std::to_string(id)[0] == '1'; });
  check(" AND title IS NOT NULL AND year IS 2002", [](int64_t id) { return id % 25 == 2; });
  check(" AND title = 'TITLE 44' COLLATE NOCASE", [](int64_t id) { return id == 44; });
  check(" AND year IS NULL", [](int64_t) { return false; });
  check(" AND rowid = 12", [](int64_t id) { return id == 12; });
  check(" AND rowid >= 2400 AND rowid < 2450", [](int64_t id) { return id >= 2400 && id < 2450; });
  check(" AND rowid IN (SELECT value FROM json_each('[5, 6, 99999, -1]'))",
        [](int64_t id) { return id == 5 || id == 6; });
  check(" AND rowid IN (SELECT rowid FROM docs WHERE body LIKE '%3')",
        [](int64_t id) { return id % 10 == 3; });
}

TEST_CASE("a search ends by k or by a distance", "[sqlite]") {
  for (const auto& [name, metric] : kMetrics) {
    INFO(name);
    const Connection db;
    DocumentIndex index("Polar4", metric);
    db.rows(create_sql("Polar4", name));
    insert_together(db, 0, 1300);
    index.add(0, 1300);
    const std::vector<float> query = document_vector(9000);
    const std::vector<Neighbor> all = index.nearest(query, 1300);
    for (const size_t at : {size_t{0}, size_t{7}, size_t{600}}) {
      const double distance = all[at].distance;
      std::vector<Neighbor> found;
      for (const Row& row : db.rows("SELECT rowid, distance FROM docs WHERE embedding MATCH ? AND "
                                    "distance < ? ORDER BY distance",
                                    {query, distance}))
        found.push_back({std::get<int64_t>(row[0]), std::get<double>(row[1])});
      // A few rows near the radius may be left out of a search with signs.
      const auto expected = static_cast<size_t>(std::count_if(
          all.begin(), all.end(),
          [distance](const Neighbor& neighbor) { return neighbor.distance < distance; }));
      CHECK(found.size() <= expected);
      CHECK(found.size() >= expected - expected / 50);
      for (const Neighbor& neighbor : found) CHECK(neighbor.distance < distance);
    }
    CHECK(nearest(db, query, 5, " AND distance <= " + std::to_string(1e9)).size() == 5);
    CHECK(nearest(db, query, 100000).size() == 1300);
    CHECK(nearest(db, query, 0).empty());
    CHECK(db.rows("SELECT rowid FROM docs WHERE embedding MATCH NULL AND k = 3").empty());
  }
}

TEST_CASE("a table without a search is read like any other", "[sqlite]") {
  const Connection db;
  db.rows(create_sql());
  insert_together(db, 0, 1200);
  CHECK(db.integer("SELECT count(*) FROM docs") == 1200);
  CHECK(db.integer("SELECT count(*) FROM docs WHERE year = 2003 AND title LIKE 'title %'") == 48);
  CHECK(db.integer("SELECT count(*) FROM docs WHERE year IN (2003, 2004)") == 96);
  CHECK(db.integer("SELECT rowid FROM docs WHERE body = 'body 777'") == 777);
  CHECK(db.integer("SELECT sum(rowid) FROM docs WHERE rowid IN (4, 9, 9000)") == 13);
  CHECK(db.integer("SELECT rowid FROM docs ORDER BY rowid DESC LIMIT 1") == 1199);
  CHECK(db.integer("SELECT count(*) FROM docs WHERE distance IS NULL") == 1200);
  const std::vector<Row> row = db.rows("SELECT * FROM docs WHERE rowid = 30");
  REQUIRE(row.size() == 1);
  REQUIRE(row[0].size() == 4);
  CHECK(std::get<std::vector<uint8_t>>(row[0][0]).size() == kDim * sizeof(float));
  CHECK(std::get<std::string>(row[0][1]) == "title 30");
  CHECK(std::get<int64_t>(row[0][2]) == 2005);
  CHECK(std::get<std::string>(row[0][3]) == "body 30");
  // As near to what was stored as 4 bits a dimension come.
  const std::vector<Row> near = db.rows(
      "SELECT polar_distance(embedding, ?) FROM docs WHERE rowid = 30", {document_vector(30)});
  CHECK(std::get<double>(near[0][0]) < .01);
}

TEST_CASE("rows change by every kind of statement", "[sqlite]") {
  const Connection db;
  db.rows(create_sql());
  insert_together(db, 0, 1100);
  db.rows("UPDATE docs SET year = 1900, body = 'new' WHERE rowid IN (3, 4)");
  CHECK(db.integer("SELECT count(*) FROM docs WHERE year = 1900 AND body = 'new'") == 2);
  CHECK(nearest(db, document_vector(3), 1)[0].id == 3);
  db.rows("UPDATE docs SET rowid = 50000 WHERE rowid = 3");
  CHECK(nearest(db, document_vector(3), 1)[0].id == 50000);
  CHECK(db.integer("SELECT count(*) FROM docs WHERE rowid = 50000 AND body = 'new'") == 1);
  CHECK(db.error("UPDATE docs SET rowid = 4 WHERE rowid = 50000") ==
        "UNIQUE constraint failed: docs.rowid");
  CHECK(db.error("INSERT INTO docs(rowid, embedding) VALUES (4, ?)", {document_vector(1)}) ==
        "UNIQUE constraint failed: docs.rowid");
  db.rows("INSERT OR IGNORE INTO docs(rowid, embedding) VALUES (4, ?)", {document_vector(1)});
  CHECK(nearest(db, document_vector(4), 1)[0].id == 4);
  db.rows("INSERT OR REPLACE INTO docs(rowid, embedding, title) VALUES (4, ?, 'replaced')",
          {document_vector(9100)});
  CHECK(nearest(db, document_vector(9100), 1)[0].id == 4);
  CHECK(db.integer("SELECT count(*) FROM docs WHERE title = 'replaced' AND year IS NULL") == 1);
  db.rows("INSERT INTO docs(embedding) VALUES (?)", {document_vector(9101)});
  CHECK(db.integer("SELECT last_insert_rowid()") == 50001);
  CHECK(nearest(db, document_vector(9101), 1)[0].id == 50001);
  db.rows("UPDATE OR REPLACE docs SET rowid = 4 WHERE rowid = 50001");
  CHECK(nearest(db, document_vector(9101), 1)[0].id == 4);
  CHECK(db.integer("SELECT count(*) FROM docs") == 1100);
  db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
  db.rows("DELETE FROM docs WHERE year < 2010");
  db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
  db.rows("DELETE FROM docs");
  CHECK(db.integer("SELECT count(*) FROM docs") == 0);
  CHECK(nearest(db, document_vector(1), 5).empty());
  insert_documents(db, 7, 1);
  CHECK(nearest(db, document_vector(1), 5).size() == 1);
  db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
}

TEST_CASE("a code that needs training learns when there are enough rows, or when it is told to",
          "[sqlite]") {
  const Connection db;
  db.rows(create_sql("Polar2-pca"));
  insert_together(db, 0, 900);
  CHECK(nearest(db, document_vector(5), 1)[0].id == 5);
  CHECK(db.integer("SELECT polar_codec_version FROM docs_state") == 0);
  db.rows("INSERT INTO docs(docs) VALUES ('train')");
  CHECK(db.integer("SELECT polar_codec_version FROM docs_state") != 0);
  CHECK(db.integer("SELECT count(*) FROM docs_pending") == 0);
  CHECK(nearest(db, document_vector(5), 1)[0].id == 5);
  CHECK(db.error("INSERT INTO docs(docs) VALUES ('train')") ==
        "train: the codec has learned already, and the vectors are not kept");
  insert_documents(db, 900, 100);
  CHECK(nearest(db, document_vector(950), 1)[0].id == 950);
  db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
}

TEST_CASE("names of tables and columns may be any", "[sqlite]") {
  const Connection db;
  db.rows(
      "CREATE VIRTUAL TABLE \"a \"\"b\"\" ü\" USING polar(\"the vector\" FLOAT [ 3 ], [sel ect] "
      "TEXT, `x``y` INTEGER, +\"Ω\")");
  db.rows(
      "INSERT INTO \"a \"\"b\"\" ü\" VALUES ('[1, 0, 0]', 's', 1, 'o'), ('[0, 1, 0.5]', 't', 2, "
      "'p')");
  CHECK(db.integer(
            "SELECT rowid FROM \"a \"\"b\"\" ü\" WHERE \"the vector\" MATCH '[0, 1, 1]' AND k = "
            "1 AND [sel ect] = 't' AND \"x`y\" = 2") == 2);
  db.rows("ALTER TABLE \"a \"\"b\"\" ü\" RENAME TO \"c'd\"");
  CHECK(db.integer("SELECT count(*) FROM \"c'd\" WHERE \"Ω\" = 'p'") == 1);
  db.rows("INSERT INTO \"c'd\"(\"c'd\") VALUES ('integrity-check')");
  db.rows(
      "CREATE VIRTUAL TABLE \"a \"\"b\"\" ü\" USING polar(\"the vector\" FLOAT [ 3 ], [sel ect] "
      "TEXT)");
  db.rows("DROP TABLE \"c'd\"");
  db.rows("DROP TABLE \"a \"\"b\"\" ü\"");
  CHECK(db.integer("SELECT count(*) FROM sqlite_master") == 0);
}
