// SPDX-License-Identifier: MIT
#include "module.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cursor.h"
#include "polar_table.h"
#include "query_plan.h"
#include "sql_error.h"

namespace polarquant::sqlite {
namespace {

/// SQLite's part comes first, so that pointers to one are pointers to the other.
struct TableHandle {
  sqlite3_vtab base = {};
  PolarTable table;

  template <typename... Arguments>
  explicit TableHandle(Arguments&&... arguments) : table(std::forward<Arguments>(arguments)...) {}
};
struct CursorHandle {
  sqlite3_vtab_cursor base = {};
  Cursor cursor;

  explicit CursorHandle(PolarTable& table) : cursor(table) {}
};

PolarTable& polar_table(sqlite3_vtab* base) { return reinterpret_cast<TableHandle*>(base)->table; }
Cursor& polar_cursor(sqlite3_vtab_cursor* base) {
  return reinterpret_cast<CursorHandle*>(base)->cursor;
}

template <typename Call>
int call_table(sqlite3_vtab* base, const Call& call) noexcept {
  return catch_errors(&base->zErrMsg, [&] { call(polar_table(base)); });
}

/// arguments: module, schema, table, then what stands in the parentheses. limit: register_module's.
void open_table(sqlite3* db, const void* limit, std::span<const char* const> arguments, bool is_new,
                sqlite3_vtab** out) {
  const std::string table = arguments[2];
  TableDefinition definition = parse_definition(arguments.subspan(3), table);
  int code = sqlite3_declare_vtab(db, declaration(definition, table).c_str());
  if (code != SQLITE_OK) throw connection_error(db, code);
  // A change that meets a rowid that is there has done nothing before it says so.
  sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  auto handle = std::make_unique<TableHandle>(db, arguments[1], table, std::move(definition),
                                              *static_cast<const SharedMemoryLimit*>(limit));
  if (is_new) handle->table.create();
  *out = &handle.release()->base;
}
int create(sqlite3* db, void* limit, int count, const char* const* arguments, sqlite3_vtab** out,
           char** error) {
  return catch_errors(error, [&] {
    open_table(db, limit, std::span(arguments, static_cast<size_t>(count)), true, out);
  });
}
int connect(sqlite3* db, void* limit, int count, const char* const* arguments, sqlite3_vtab** out,
            char** error) {
  return catch_errors(error, [&] {
    open_table(db, limit, std::span(arguments, static_cast<size_t>(count)), false, out);
  });
}
int disconnect(sqlite3_vtab* base) {
  delete reinterpret_cast<TableHandle*>(base);
  return SQLITE_OK;
}
int destroy(sqlite3_vtab* base) {
  const int code = call_table(base, [](PolarTable& table) { table.tables().drop(); });
  if (code == SQLITE_OK) disconnect(base);
  return code;
}
int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
  int chosen = SQLITE_OK;
  const int code =
      call_table(base, [&](PolarTable& table) { chosen = choose_plan(table.definition(), info); });
  return code == SQLITE_OK ? chosen : code;
}
int rename(sqlite3_vtab* base, const char* name) {
  return call_table(base, [name](PolarTable& table) { table.rename(name); });
}
int is_shadow_name(const char* name) { return ShadowTables::is_suffix(name) ? 1 : 0; }

int open(sqlite3_vtab* base, sqlite3_vtab_cursor** out) {
  return call_table(base, [out](PolarTable& table) {
    *out = &std::make_unique<CursorHandle>(table).release()->base;
  });
}
int close(sqlite3_vtab_cursor* base) {
  delete reinterpret_cast<CursorHandle*>(base);
  return SQLITE_OK;
}
int filter(sqlite3_vtab_cursor* base, int number, const char* text, int count,
           sqlite3_value** values) {
  return call_table(base->pVtab, [&](PolarTable&) {
    polar_cursor(base).begin(read_plan(number, text),
                             std::span(values, static_cast<size_t>(count)));
  });
}
int next(sqlite3_vtab_cursor* base) {
  return call_table(base->pVtab, [base](PolarTable&) { polar_cursor(base).next(); });
}
int is_at_end(sqlite3_vtab_cursor* base) { return polar_cursor(base).is_at_end() ? 1 : 0; }
int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int i) {
  return call_table(base->pVtab,
                    [&](PolarTable&) { polar_cursor(base).return_column(context, i); });
}
int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  *id = polar_cursor(base).id();
  return SQLITE_OK;
}

int64_t rowid_value(sqlite3_value* value) {
  if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER)
    throw SqlError(SQLITE_MISMATCH, "datatype mismatch: a rowid is an integer");
  return sqlite3_value_int64(value);
}

void run_command(PolarTable& table, sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  const std::string command = text == nullptr ? "" : text;
  if (command == "train") return table.train();
  if (command == "rebuild") return table.rebuild();
  if (command == "integrity-check") return table.check_integrity();
  throw refused("command \"" + command + "\": train, rebuild and integrity-check are understood");
}

/// As SQLite's documentation of xUpdate has the arguments.
void change_rows(PolarTable& table, std::span<sqlite3_value*> arguments, sqlite3_int64* id) {
  if (arguments.size() == 1) return table.remove(sqlite3_value_int64(arguments[0]));
  const bool is_insert = sqlite3_value_type(arguments[0]) == SQLITE_NULL;
  const std::span<sqlite3_value*> columns = arguments.subspan(2);
  const TableDefinition& definition = table.definition();
  sqlite3_value* command = columns[static_cast<size_t>(definition.command_column())];
  if (is_insert && sqlite3_value_type(command) != SQLITE_NULL) return run_command(table, command);
  const std::span<sqlite3_value*> declared = columns.first(definition.columns.size());
  const bool replace = sqlite3_vtab_on_conflict(table.db()) == SQLITE_REPLACE;
  if (is_insert) {
    std::optional<int64_t> given;
    if (sqlite3_value_type(arguments[1]) != SQLITE_NULL) given = rowid_value(arguments[1]);
    *id = table.insert(given, declared, replace);
  } else {
    table.update(sqlite3_value_int64(arguments[0]), rowid_value(arguments[1]), declared, replace);
  }
}
int update(sqlite3_vtab* base, int count, sqlite3_value** values, sqlite3_int64* id) {
  return call_table(base, [&](PolarTable& table) {
    change_rows(table, std::span(values, static_cast<size_t>(count)), id);
  });
}

int begin(sqlite3_vtab* base) {
  polar_table(base).begin();
  return SQLITE_OK;
}
int sync(sqlite3_vtab* base) {
  return call_table(base, [](PolarTable& table) { table.sync(); });
}
int commit(sqlite3_vtab* base) {
  polar_table(base).commit();
  return SQLITE_OK;
}
int rollback(sqlite3_vtab* base) {
  polar_table(base).rollback();
  return SQLITE_OK;
}
int savepoint(sqlite3_vtab* base, int number) {
  return call_table(base, [number](PolarTable& table) { table.open_savepoint(number); });
}
int release(sqlite3_vtab* base, int number) {
  polar_table(base).release_savepoint(number);
  return SQLITE_OK;
}
int rollback_to(sqlite3_vtab* base, int number) {
  polar_table(base).roll_back_to(number);
  return SQLITE_OK;
}

/// PRAGMA integrity_check, and quick_check.
int integrity(sqlite3_vtab* base, const char*, const char*, int, char** error) {
  const int code = catch_errors(error, [base] { polar_table(base).check_integrity(); });
  // What is found is a text, and no failure of the check.
  return (code & 0xFF) == SQLITE_CORRUPT ? SQLITE_OK : code;
}

/// A module as SQLite has it from 3.44 on. Older ones do not look beyond what their version has, so
/// that an extension that was built with one's header is whole in a newer one, too.
struct Module {
  sqlite3_module base;
#if SQLITE_VERSION_NUMBER < 3044000
  int (*xIntegrity)(sqlite3_vtab*, const char* schema, const char* table, int flags, char** error);
#endif
};

const Module& polar_module() {
  static const Module module = [] {
    Module made = {};
    sqlite3_module& base = made.base;
    base.iVersion = 4;
    base.xCreate = create;
    base.xConnect = connect;
    base.xBestIndex = best_index;
    base.xDisconnect = disconnect;
    base.xDestroy = destroy;
    base.xOpen = open;
    base.xClose = close;
    base.xFilter = filter;
    base.xNext = next;
    base.xEof = is_at_end;
    base.xColumn = column;
    base.xRowid = rowid;
    base.xUpdate = update;
    base.xBegin = begin;
    base.xSync = sync;
    base.xCommit = commit;
    base.xRollback = rollback;
    base.xRename = rename;
    base.xSavepoint = savepoint;
    base.xRelease = release;
    base.xRollbackTo = rollback_to;
    base.xShadowName = is_shadow_name;
#if SQLITE_VERSION_NUMBER < 3044000
    made.xIntegrity = integrity;
#else
    base.xIntegrity = integrity;
#endif
    return made;
  }();
  return module;
}

}  // namespace

int register_module(sqlite3* db, const SharedMemoryLimit& limit) {
  return sqlite3_create_module_v2(db, "polar", &polar_module().base, new SharedMemoryLimit(limit),
                                  release_limit);
}

}  // namespace polarquant::sqlite
