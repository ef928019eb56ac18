// SPDX-License-Identifier: MIT
// Two hundred statements while memory or files fail, at each request in turn: each statement works
// or changes nothing, and the database is whole.
#include <functional>
#include <map>

#include "src/core/format.h"
#include "src/core/random.h"
#include "tests/faults/failing_memory.h"
#include "tests/sqlite/connection.h"
#include "tests/sqlite/failing_sqlite.h"

using namespace polarquant;
using namespace polarquant::test;
using namespace polarquant::test::sqlite;

namespace {

constexpr int64_t kFirstRows = 990;  // ten more, and the codec learns
constexpr int kStatements = 200;

/// The year of each row.
using Model = std::map<int64_t, int64_t>;

struct Step {
  std::string sql;
  std::function<void(Model&)> effect;
};

std::string vector_sql(uint64_t number) {
  Random random(number + 1);
  std::string text = "'[";
  for (int i = 0; i < 8; ++i) (text += i > 0 ? "," : "") += std::to_string(random.normal());
  return text + "]'";
}

/// The same each time.
std::vector<Step> statements() {
  Random random(7);
  std::vector<Step> steps;
  const auto add = [&](
                       std::string sql, std::function<void(Model&)> effect = [](Model&) {}) {
    steps.push_back({std::move(sql), std::move(effect)});
  };
  while (std::ssize(steps) < kStatements) {
    const auto id = static_cast<int64_t>(random.below(1100));
    const auto year = static_cast<int64_t>(random.below(30));
    const std::string vector = vector_sql(random.below(1000));
    switch (random.below(12)) {
      case 0:
        add("BEGIN");
        break;
      case 1:
        add(random.below(3) == 0 ? "ROLLBACK" : "COMMIT");
        break;
      case 2:
        add(format_text("DELETE FROM docs WHERE rowid = {}", id),
            [id](Model& rows) { rows.erase(id); });
        break;
      case 3:
        add(format_text("UPDATE docs SET year = {}, body = 'new' WHERE rowid = {}", year, id),
            [=](Model& rows) {
              if (rows.contains(id)) rows[id] = year;
            });
        break;
      case 4:
        add(format_text("UPDATE docs SET embedding = {} WHERE rowid = {}", vector, id));
        break;
      case 5:
        add(format_text(
            "SELECT rowid, distance, title, body FROM docs WHERE embedding MATCH {} AND k = 3 "
            "AND year < {}",
            vector, year));
        break;
      case 6:
        add(format_text("SELECT rowid, embedding FROM docs WHERE year IN (1, {}) LIMIT 3", year));
        break;
      case 7:
        add(format_text("SELECT rowid FROM docs WHERE embedding MATCH {} AND distance < 0.1",
                        vector));
        break;
      case 8:
        add(format_text(
                "INSERT INTO docs(rowid, embedding, year) SELECT rowid + 2000, embedding, year "
                "FROM docs WHERE rowid BETWEEN {} AND {} AND rowid + 2000 NOT IN (SELECT rowid "
                "FROM "
                "docs)",
                id, id + 6),
            [id](Model& rows) {
              for (int64_t from = id; from <= id + 6; ++from)
                if (rows.contains(from)) rows.try_emplace(from + 2000, rows[from]);
            });
        break;
      default:
        add(format_text(
                "INSERT OR REPLACE INTO docs(rowid, embedding, title, year, body) VALUES ({}, {}, "
                "'t', {}, 'b')",
                id, vector, year),
            [=](Model& rows) { rows[id] = year; });
    }
  }
  return steps;
}

void fill(const Connection& db, int64_t count, Model& rows) {
  db.rows(
      "CREATE VIRTUAL TABLE docs USING polar(embedding float[8], title TEXT, year INTEGER, +body)");
  db.rows("BEGIN");
  for (int64_t id = 0; id < count; ++id) {
    db.rows(format_text("INSERT INTO docs(rowid, embedding, title, year) VALUES ({}, {}, 't', {})",
                        id, vector_sql(static_cast<uint64_t>(id)), id % 30));
    rows[id] = id % 30;
  }
  db.rows("COMMIT");
}

Model held(const Connection& db) {
  Model rows;
  for (const Row& row : db.rows("SELECT rowid, year FROM docs"))
    rows[std::get<int64_t>(row[0])] = std::get<int64_t>(row[1]);
  return rows;
}

/// What became of a statement.
struct Outcome {
  bool worked = false;
  bool is_open = false;  // a transaction, after it and before what it needed to be rolled back
};

/// Runs the statements. A transaction in which one fails is rolled back. Nothing is allocated here.
void run(const Connection& db, const std::vector<Step>& steps, std::vector<Outcome>& outcomes) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const int code = sqlite3_exec(db.get(), steps[i].sql.c_str(), nullptr, nullptr, nullptr);
    outcomes[i] = {code == SQLITE_OK, sqlite3_get_autocommit(db.get()) == 0};
    if (code != SQLITE_OK && outcomes[i].is_open && steps[i].sql != "BEGIN")
      sqlite3_exec(db.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  sqlite3_exec(db.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

/// What the rows may be after the statements, what they should be first. Where files fail, what an
/// error was returned for may have been committed all the same.
std::vector<Model> possible_rows(const std::vector<Step>& steps,
                                 const std::vector<Outcome>& outcomes, Model rows) {
  std::vector<Model> may_be;
  Model committed = rows;
  bool is_open = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto& [worked, is_now_open] = outcomes[i];
    if (!worked && is_now_open && steps[i].sql == "BEGIN") continue;  // one is open
    if (!worked) {
      steps[i].effect(rows);
      may_be.push_back(rows);
      rows = committed;
      is_open = false;
      continue;
    }
    if (is_open && !is_now_open && steps[i].sql == "ROLLBACK") rows = committed;
    steps[i].effect(rows);
    if (!is_now_open) committed = rows;
    is_open = is_now_open;
  }
  may_be.insert(may_be.begin(), committed);
  return may_be;
}

void check_whole(const Connection& db, const std::vector<Model>& may_be, bool is_certain) {
  db.run("ROLLBACK");
  db.rows("INSERT INTO docs(docs) VALUES ('integrity-check')");
  CHECK(std::get<std::string>(db.rows("PRAGMA integrity_check")[0][0]) == "ok");
  const Model rows = held(db);
  if (is_certain) {
    CHECK((rows == may_be.front()));
  } else {
    CHECK(std::find(may_be.begin(), may_be.end(), rows) != may_be.end());
  }
  CHECK(db.rows("SELECT rowid FROM docs WHERE embedding MATCH '[1,2,3,4,5,6,7,8]' AND k = 4")
            .size() == std::min<size_t>(4, rows.size()));
}

/// A copy of a database, through whose connection nothing fails yet.
void copy(const Connection& from, const std::string& path) {
  const Connection to(path);
  sqlite3_backup* backup = sqlite3_backup_init(to.get(), "main", from.get(), "main");
  REQUIRE(sqlite3_backup_step(backup, -1) == SQLITE_DONE);
  sqlite3_backup_finish(backup);
}

struct Setting {
  const char* journal;
  bool is_certain;
  /// The connection holds 2,048 codes in memory, of more.
  bool has_limit = false;
};

/// fail(first): the object while which requests fail from `first` on; run until none does.
template <typename Fail>
void fail_at_each(int64_t stride, const Setting& setting, const Fail& fail) {
  const TemporaryDatabase base_file;
  const Connection base(base_file.path());
  Model rows;
  fill(base, setting.has_limit ? 2500 : kFirstRows, rows);
  const std::vector<Step> steps = statements();
  int64_t runs = 0;
  for (int64_t first = 0;; first += stride, ++runs) {
    INFO("request " << first);
    const TemporaryDatabase file;
    copy(base, file.path());
    std::vector<Outcome> outcomes(steps.size());
    std::vector<Model> may_be;
    bool has_failed = false;
    {
      const Connection db(file.path(), failing_file_system());
      db.rows(std::string("PRAGMA journal_mode = ") + setting.journal);
      if (setting.has_limit) db.rows("SELECT polar_memory_limit(0)");
      db.rows("SELECT count(*) FROM docs");
      {
        auto failing = fail(first);
        run(db, steps, outcomes);
        failing.stop();
        has_failed = failing.has_failed();
      }
      may_be = possible_rows(steps, outcomes, rows);
      check_whole(db, may_be, setting.is_certain);
    }
    const Connection again(file.path());
    check_whole(again, may_be, setting.is_certain);
    if (!has_failed) break;
  }
  REQUIRE(runs > 5);
}

/// stride: how many requests of files there are from one that fails to the next.
void fail_sqlite_memory(int64_t stride, bool onward) {
  install_failing_memory();
  const auto fail = [=](int64_t first) { return FailingSqlite(Resource::memory, first, onward); };
  fail_at_each(9 * stride, {"delete", true}, fail);
  fail_at_each(18 * stride, {"delete", true, true}, fail);
}
void fail_our_memory(int64_t stride, bool onward) {
  install_failing_memory();
  const auto fail = [=](int64_t first) {
    return FailingMemory(first, onward ? Failing::onward : Failing::once);
  };
  fail_at_each(9 * stride, {"wal", true}, fail);
  fail_at_each(18 * stride, {"wal", true, true}, fail);
}
void fail_files(int64_t stride, bool onward) {
  install_failing_memory();
  const auto fail = [=](int64_t first) { return FailingSqlite(Resource::files, first, onward); };
  fail_at_each(2 * stride, {"delete", false}, fail);
  fail_at_each(1 * stride, {"wal", false}, fail);
}

}  // namespace

TEST_CASE("statements work or change nothing while memory and files fail", "[sqlite]") {
  for (const bool onward : {false, true}) {
    INFO("onward " << onward);
    fail_sqlite_memory(63, onward);
    fail_our_memory(63, onward);
    fail_files(63, onward);
  }
}

// Every request. Cases of their own, so that they can be run beside each other.
TEST_CASE("nothing is changed wherever SQLite's memory fails once", "[sqlite][slow]") {
  fail_sqlite_memory(1, false);
}
TEST_CASE("nothing is changed wherever SQLite's memory fails", "[sqlite][slow]") {
  fail_sqlite_memory(1, true);
}
TEST_CASE("nothing is changed wherever our memory fails once", "[sqlite][slow]") {
  fail_our_memory(1, false);
}
TEST_CASE("nothing is changed wherever our memory fails", "[sqlite][slow]") {
  fail_our_memory(1, true);
}
TEST_CASE("nothing is changed wherever files fail once", "[sqlite][slow]") { fail_files(1, false); }
TEST_CASE("nothing is changed wherever files fail", "[sqlite][slow]") { fail_files(1, true); }

// For valgrind, under which each takes minutes.
TEST_CASE("no leak where SQLite's memory fails once", "[sqlite][.few]") {
  fail_sqlite_memory(200, false);
}
TEST_CASE("no leak where SQLite's memory fails", "[sqlite][.few]") {
  fail_sqlite_memory(200, true);
}
TEST_CASE("no leak where our memory fails once", "[sqlite][.few]") { fail_our_memory(100, false); }
TEST_CASE("no leak where our memory fails", "[sqlite][.few]") { fail_our_memory(100, true); }
TEST_CASE("no leak where files fail once", "[sqlite][.few]") { fail_files(200, false); }
TEST_CASE("no leak where files fail", "[sqlite][.few]") { fail_files(200, true); }
