// SPDX-License-Identifier: MIT
// Shadow tables that somebody else wrote to: statements work or fail with a text, and a rebuild
// keeps what is whole.
#include "bindings/sqlite/src/checksum.h"
#include "src/core/random.h"
#include "tests/sqlite/documents.h"

using namespace polarquant;
using namespace polarquant::test::sqlite;

namespace {

struct Cell {
  std::string table;
  std::string column;
};
const std::vector<Cell> kCells = {
    {"docs_state", "polar_format"}, {"docs_state", "polar_version"},
    {"docs_state", "polar_rows"},   {"docs_state", "polar_codec_version"},
    {"docs_state", "polar_codec"},  {"docs_blocks", "id"},
    {"docs_blocks", "version"},     {"docs_blocks", "rows"},
    {"docs_blocks", "checksum"},    {"docs_blocks", "ids"},
    {"docs_blocks", "data"},        {"docs_pending", "slot"},
    {"docs_pending", "id"},         {"docs_pending", "vector"},
    {"docs_pending", "checksum"},   {"docs_rows", "polar_id"},
    {"docs_rows", "polar_slot"},    {"docs_rows", "title"},
    {"docs_auxiliary", "polar_id"}, {"docs_auxiliary", "body"}};

Value random_value(Random& random) {
  switch (random.below(9)) {
    case 0:
      return nullptr;
    case 1:
      return static_cast<int64_t>(random.below(3000));
    case 2:
      return -static_cast<int64_t>(random.below(3));
    case 3:
      return static_cast<int64_t>(random.below(uint64_t{1} << 63));
    case 4:
      return 1e300 * random.normal();
    case 5:
      return std::string("text");
    case 6:
      return std::vector<uint8_t>(random.below(300), uint8_t{255});
    case 7:
      return std::vector<uint8_t>();
    default:
      return int64_t{1} << (20 + random.below(43));
  }
}

/// A blob with some bits or bytes of it changed, or another length.
std::vector<uint8_t> changed(std::vector<uint8_t> bytes, Random& random) {
  if (bytes.empty()) return {1};
  switch (random.below(4)) {
    case 0:
      bytes.resize(random.below(bytes.size() + 1));
      break;
    case 1:
      bytes.resize(bytes.size() + random.below(5000) + 1);
      break;
    default:
      for (auto count = random.below(8); count-- > 0;)
        bytes[random.below(bytes.size())] ^= static_cast<uint8_t>(1 + random.below(255));
  }
  return bytes;
}

/// Sums of records that were changed are made right, so that what is in them is read.
void repair_sums(const Connection& db) {
  const auto bytes = [](const Value& value) {
    const auto* blob = std::get_if<std::vector<uint8_t>>(&value);
    return blob == nullptr ? std::vector<uint8_t>() : *blob;
  };
  const auto number = [](const Value& value) {
    const auto* integer = std::get_if<int64_t>(&value);
    return integer == nullptr ? -1 : *integer;
  };
  for (const Row& row : db.rows("SELECT id, version, rows, ids, data FROM docs_blocks")) {
    const int64_t sum = polarquant::sqlite::checksum(
        {number(row[0]), number(row[1]), number(row[2])}, {bytes(row[3]), bytes(row[4])});
    db.rows("UPDATE docs_blocks SET checksum = ? WHERE id = ?", {sum, row[0]});
  }
  for (const Row& row : db.rows("SELECT slot, id, vector FROM docs_pending")) {
    const int64_t sum =
        polarquant::sqlite::checksum({number(row[0]), number(row[1])}, {bytes(row[2])});
    db.rows("UPDATE docs_pending SET checksum = ? WHERE slot = ?", {sum, row[0]});
  }
}

void change_cell(const Connection& db, Random& random) {
  const Cell& cell = kCells[random.below(kCells.size())];
  const std::vector<Row> rowids =
      db.rows("SELECT rowid FROM " + cell.table + " ORDER BY random() LIMIT 1");
  if (rowids.empty()) return;
  const Value rowid = rowids[0][0];
  if (random.below(12) == 0) {
    db.run("DELETE FROM " + cell.table + " WHERE rowid = ?", {rowid});
    return;
  }
  Value value = random_value(random);
  const Row before =
      db.rows("SELECT " + cell.column + " FROM " + cell.table + " WHERE rowid = ?", {rowid})[0];
  if (const auto* blob = std::get_if<std::vector<uint8_t>>(&before[0]);
      blob != nullptr && random.below(4) > 0)
    value = changed(*blob, random);
  // It may not fit the table.
  db.run("UPDATE " + cell.table + " SET " + cell.column + " = ? WHERE rowid = ?", {value, rowid});
}

/// Whatever it answers, it answers.
void use(const Connection& db, Random& random) {
  const std::vector<float> vector = document_vector(static_cast<int64_t>(random.below(100)));
  const auto id = static_cast<int64_t>(random.below(1300));
  db.run(
      "SELECT rowid, distance, title, body, embedding FROM docs WHERE embedding MATCH ? AND k = 9",
      {vector});
  db.run("SELECT rowid FROM docs WHERE embedding MATCH ? AND k = 9 AND year > 2010", {vector});
  db.run("SELECT rowid FROM docs WHERE embedding MATCH ? AND distance < 0.4", {vector});
  db.run("SELECT * FROM docs WHERE rowid BETWEEN ? AND ? + 50", {id, id});
  db.run("UPDATE docs SET embedding = ? WHERE rowid = ?", {vector, id});
  db.run("DELETE FROM docs WHERE rowid = ?", {id});
  db.run("INSERT INTO docs(embedding, year) VALUES (?, 2001)", {vector});
  db.run("SELECT count(*) FROM docs");
}

void attack(int64_t count, uint64_t seed) {
  for (const int64_t rows : {400, 1100, 2200}) {
    const Connection base;
    base.rows(create_sql());
    base.rows("BEGIN");
    insert_documents(base, 0, rows);
    base.rows("COMMIT");
    Random random(seed);
    for (int64_t i = 0; i < count; ++i) {
      INFO("rows " << rows << ", change " << i);
      const Connection db;
      sqlite3_backup* backup = sqlite3_backup_init(db.get(), "main", base.get(), "main");
      REQUIRE(sqlite3_backup_step(backup, -1) == SQLITE_DONE);
      sqlite3_backup_finish(backup);
      if (random.below(2) == 0) db.rows("SELECT polar_memory_limit(0)");
      if (random.below(2) == 0) use(db, random);
      for (auto changes = 1 + random.below(3); changes-- > 0;) change_cell(db, random);
      if (random.below(2) == 0) repair_sums(db);
      use(db, random);
      const bool was_whole =
          db.run("INSERT INTO docs(docs) VALUES ('integrity-check')").code == SQLITE_DONE;
      const Result rebuilt = db.run("INSERT INTO docs(docs) VALUES ('rebuild')");
      if (rebuilt.code != SQLITE_DONE) {
        INFO(rebuilt.text);
        CHECK_FALSE(was_whole);
        continue;
      }
      // What is left is whole, and can be used.
      db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
      db.rows("SELECT rowid, distance FROM docs WHERE embedding MATCH ? AND k = 3",
              {document_vector(5)});
      use(db, random);
    }
  }
}

}  // namespace

TEST_CASE("shadow tables that somebody else changed do no harm", "[sqlite]") { attack(150, 1); }
TEST_CASE("shadow tables that somebody else changed in many ways do no harm", "[sqlite][slow]") {
  attack(5000, 2);
}

TEST_CASE("a rebuild keeps the rows that are whole", "[sqlite]") {
  const Connection db;
  db.rows(create_sql());
  db.rows("BEGIN");
  insert_documents(db, 0, 2500);
  db.rows("COMMIT");
  db.rows("UPDATE docs_blocks SET data = zeroblob(length(data)) WHERE id = 1");
  CHECK(db.error("INSERT INTO docs(docs) VALUES ('integrity-check')") ==
        "docs_blocks, record 1: its checksum is not that of its bytes");
  CHECK(
      db.error("SELECT rowid FROM docs WHERE embedding MATCH ? AND k = 3", {document_vector(5)}) ==
      "docs_blocks, record 1: its checksum is not that of its bytes");
  db.rows("INSERT INTO docs(docs) VALUES ('rebuild')");
  db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
  CHECK(db.integer("SELECT count(*) FROM docs") == 2500 - 1024);
  CHECK(db.integer("SELECT count(*) FROM docs WHERE body LIKE 'body %'") == 2500 - 1024);
  CHECK(nearest(db, document_vector(2300), 1)[0].id == 2300);
  insert_documents(db, 1500, 10);
  CHECK(nearest(db, document_vector(1503), 1)[0].id == 1503);
  db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
}
