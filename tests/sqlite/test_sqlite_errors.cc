// SPDX-License-Identifier: MIT
// What a table refuses: each text names what is wrong, and nothing is changed.
#include <cmath>

#include "tests/sqlite/documents.h"

using namespace polarquant::test::sqlite;

namespace {

struct Refused {
  std::string sql;
  std::string text;
};

}  // namespace

TEST_CASE("declarations that cannot be understood are refused", "[sqlite]") {
  const std::string understood =
      "; what is understood: a column 'name float[dimensions]', columns 'name TYPE' and '+name "
      "TYPE', code=SPEC, metric=cosine|ip|l2";
  const std::vector<Refused> cases = {
      {"", "no column of vectors: one is declared as 'embedding float[384]'"},
      {"title TEXT", "no column of vectors: one is declared as 'embedding float[384]'"},
      {"v float[3], w float[3]", "\"w float[3]\" is a second column of vectors" + understood},
      {"+v float[3]", "\"+v float[3]\" makes the vectors an auxiliary column" + understood},
      {"v float[0]",
       "\"v float[0]\" has a type that is not float[dimensions], as float[384]" + understood},
      {"v int8[3]",
       "\"v int8[3]\" has a type that is not float[dimensions], as float[384]" + understood},
      {"v float[3]x",
       "\"v float[3]x\" has a type that is not float[dimensions], as float[384]" + understood},
      {"v float[99999999999]",
       "\"v float[99999999999]\" has a type that is not float[dimensions], as float[384]" +
           understood},
      {"v float[3], 7 TEXT", "\"7 TEXT\" begins with no name" + understood},
      {"v float[3], t TEXT NOT NULL CHECK (t > 1)",
       "\"t TEXT NOT NULL CHECK (t > 1)\" has a type that is no name" + understood},
      {"v float[3], colour=red", "\"colour=red\" sets an option that there is not" + understood},
      {"v float[3], metric=hamming", "metric \"hamming\": cosine, ip and l2 are understood"},
      {"v float[3], V TEXT",
       "column \"V\": there is another one of that name; distance, k, rowid and the name of the "
       "table are columns of their own"},
      {"v float[3], distance REAL",
       "column \"distance\": there is another one of that name; distance, k, rowid and the name of "
       "the table are columns of their own"},
      {"docs float[3]",
       "column \"docs\": there is another one of that name; distance, k, rowid and the name of the "
       "table are columns of their own"},
      {"v float[3], polar_slot TEXT",
       "column \"polar_slot\": names that begin with polar_ are the table's own"},
      {"v float[3], code=Polar99", "spec: "},
      {"v float[3], code=PolarPair4x4",
       "codec: PolarPair4x4 has no blocks; Polar0.5 to Polar8, PolarB… and residual codes have"},
      {"v float[70000]", "dim: "},
  };
  const Connection db;
  for (const auto& [arguments, text] : cases) {
    const std::string found = db.error("CREATE VIRTUAL TABLE docs USING polar(" + arguments + ")");
    CHECK(found.substr(0, text.size()) == text);
  }
  CHECK(db.integer("SELECT count(*) FROM sqlite_master") == 0);
}

TEST_CASE("values and queries that are wrong are refused by name", "[sqlite]") {
  const Connection db;
  db.rows(create_sql());
  insert_documents(db, 0, 20);
  const std::vector<Refused> cases = {
      {"INSERT INTO docs(embedding) VALUES (NULL)",
       "embedding is NULL; a vector is a blob of float32 or a JSON array"},
      {"INSERT INTO docs(title) VALUES ('x')",
       "embedding is NULL; a vector is a blob of float32 or a JSON array"},
      {"INSERT INTO docs(embedding) VALUES (3.5)",
       "embedding is a number; a vector is a blob of float32 or a JSON array"},
      {"INSERT INTO docs(embedding) VALUES (x'')",
       "embedding: a blob of 0 bytes, which is no vector: 4 bytes for each dimension"},
      {"INSERT INTO docs(embedding) VALUES (zeroblob(255))",
       "embedding: a blob of 255 bytes, which is no vector: 4 bytes for each dimension"},
      {"INSERT INTO docs(embedding) VALUES (zeroblob(252))", "embedding has 63 dimensions, not 64"},
      {"INSERT INTO docs(embedding) VALUES ('[1, 2]')", "embedding has 2 dimensions, not 64"},
      {"INSERT INTO docs(embedding) VALUES ('[1, \"2\"]')",
       "embedding: element 1 of the JSON text is not a number"},
      {"INSERT INTO docs(embedding) VALUES ('[1, ')",
       "embedding: a text that is no JSON array of numbers, as '[0.5, -1, 2]'"},
      {"INSERT INTO docs(embedding) VALUES ('[1, 1e39]')", "embedding has 2 dimensions, not 64"},
      {"UPDATE docs SET embedding = 'x' WHERE rowid = 1",
       "embedding: a text that is no JSON array of numbers, as '[0.5, -1, 2]'"},
      {"INSERT INTO docs(rowid, embedding) VALUES ('a', zeroblob(256))", "datatype mismatch"},
      {"INSERT INTO docs(docs) VALUES ('optimize')",
       "command \"optimize\": train, rebuild and integrity-check are understood"},
      {"SELECT * FROM docs WHERE embedding MATCH zeroblob(256)",
       "a search says how many rows it wants: AND k = 10, ORDER BY distance LIMIT 10, or AND "
       "distance < 0.5"},
      {"SELECT * FROM docs WHERE embedding MATCH '[1]' AND k = 3",
       "the vector to match has 1 dimensions, not 64"},
      {"SELECT * FROM docs WHERE embedding MATCH zeroblob(256) AND k = -1",
       "k is not an integer of 0 or more"},
      {"SELECT * FROM docs WHERE embedding MATCH zeroblob(256) AND k = 'ten'",
       "k is not an integer of 0 or more"},
      {"SELECT * FROM docs WHERE embedding MATCH zeroblob(256) AND k = 3 AND body = 'x'",
       "column \"body\" is auxiliary (+): a search cannot be restricted by it; declared without + "
       "it "
       "can"},
  };
  for (const auto& [sql, text] : cases) CHECK(db.error(sql) == text);
  CHECK(db.integer("SELECT count(*) FROM docs") == 20);
  db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
}

TEST_CASE("functions of vectors and codes", "[sqlite]") {
  const Connection db;
  CHECK(std::get<std::string>(db.rows("SELECT polar_version()")[0][0]) == polar_version_string());
  const std::vector<float> a = document_vector(1);
  const std::vector<float> b = document_vector(2);
  const auto number = [&](const std::string& sql, const std::vector<Value>& values) {
    return std::get<double>(db.rows(sql, values)[0][0]);
  };
  CHECK(number("SELECT polar_distance('[1, 0]', '[0, 2]')", {}) == 1);
  CHECK(number("SELECT polar_distance('[1, 2]', '[3, 4]', 'ip')", {}) == -11);
  CHECK(number("SELECT polar_distance('[1, 2]', '[3, 5]', 'l2')", {}) == 13);
  CHECK(number("SELECT polar_distance('[0, 0]', '[3, 5]')", {}) == 1);
  for (const char* metric : {"cosine", "ip", "l2"}) {
    INFO(metric);
    const double exact = number("SELECT polar_distance(?, ?, ?)", {a, b, std::string(metric)});
    const double coded = number(
        "SELECT polar_code_distance('Polar4', polar_encode('Polar4', ?1, ?3), "
        "?2, ?3)",
        {a, b, std::string(metric)});
    // Vectors of 64 coordinates near 1.
    CHECK(std::abs(exact - coded) < 3);
  }
  CHECK(number("SELECT polar_distance(polar_decode('Polar4', polar_encode('Polar4', ?1), 64), ?1)",
               {a}) < .01);
  CHECK(
      std::holds_alternative<std::nullptr_t>(db.rows("SELECT polar_encode('Polar4', NULL)")[0][0]));
  const std::vector<Refused> cases = {
      {"SELECT polar_distance('[1]', '[1, 2]')", "the second vector has 2 dimensions, not 1"},
      {"SELECT polar_distance('[1]', '[1]', 'x')",
       "metric \"x\": cosine, ip and l2 are understood"},
      {"SELECT polar_encode('Polar2-pca', '[1, 2]')",
       "codes of Polar2-pca need training, which a table does"},
      {"SELECT polar_encode(NULL, '[1, 2]')", "spec is NULL"},
      {"SELECT polar_decode('Polar4', x'00', 64)", "a code of this spec is a blob of 36 bytes"},
      {"SELECT polar_decode('Polar4', x'00', 0)", "dim is not an integer from 1 to 65535"},
      {"SELECT polar_mark_slots(1, 2)", ""},
  };
  for (const auto& [sql, text] : cases) {
    if (text.empty()) {
      db.rows(sql);
    } else {
      CHECK(db.error(sql) == text);
    }
  }
}
