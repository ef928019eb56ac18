// SPDX-License-Identifier: MIT
#include "shadow_tables.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stored_format.h"

namespace polarquant::sqlite {
namespace {

constexpr std::array<std::string_view, 5> kSuffixes = {"state", "blocks", "pending", "rows",
                                                       "auxiliary"};

/// The names of the columns of a kind, each after a comma.
std::string listed(const TableDefinition& definition, ColumnKind kind, bool with_types = false) {
  std::string text;
  for (const Column& column : definition.columns) {
    if (column.kind != kind) continue;
    text += ", " + quoted(column.name);
    if (with_types && !column.type.empty()) text += " " + column.type;
  }
  return text;
}
size_t count(const TableDefinition& definition, ColumnKind kind) {
  return static_cast<size_t>(
      std::count_if(definition.columns.begin(), definition.columns.end(),
                    [kind](const Column& column) { return column.kind == kind; }));
}
/// ", ?" for each.
std::string parameters(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += ", ?";
  return text;
}

}  // namespace

ShadowTables::ShadowTables(sqlite3* db, std::string schema, std::string table,
                           const TableDefinition& definition)
    : schema_(std::move(schema)),
      table_(std::move(table)),
      definition_(definition),
      statements_(db) {
  write_queries();
}

std::string ShadowTables::name(std::string_view suffix) const {
  return quoted(schema_) + "." + quoted(table_ + "_" + std::string(suffix));
}
bool ShadowTables::is_suffix(std::string_view name) {
  return std::find(kSuffixes.begin(), kSuffixes.end(), name) != kSuffixes.end();
}

void ShadowTables::run(const std::string& sql) { Use(statements_, sql).run(); }

void ShadowTables::create() {
  run("CREATE TABLE " + name("state") +
      "(polar_format INTEGER, polar_version INTEGER, polar_rows INTEGER, "
      "polar_codec_version INTEGER, polar_codec BLOB)");
  run("INSERT INTO " + name("state") + " VALUES (" + std::to_string(kFormat) + ", 1, 0, 0, NULL)");
  run("CREATE TABLE " + name("blocks") +
      "(id INTEGER PRIMARY KEY, version INTEGER, rows INTEGER, checksum INTEGER, ids BLOB, data "
      "BLOB)");
  run("CREATE TABLE " + name("pending") +
      "(slot INTEGER PRIMARY KEY, id INTEGER, checksum INTEGER, vector BLOB)");
  // An index for each column of metadata, which has the slot, too, so that a filter reads it alone.
  // A constraint's index is renamed with its table.
  std::string indexes;
  for (const Column& column : definition_.columns)
    if (column.kind == ColumnKind::metadata)
      indexes += ", UNIQUE (" + quoted(column.name) + ", polar_slot)";
  run("CREATE TABLE " + name("rows") + "(polar_id INTEGER PRIMARY KEY, polar_slot INTEGER" +
      listed(definition_, ColumnKind::metadata, true) + indexes + ")");
  if (definition_.has_auxiliary())
    run("CREATE TABLE " + name("auxiliary") + "(polar_id INTEGER PRIMARY KEY" +
        listed(definition_, ColumnKind::auxiliary, true) + ")");
  statements_.clear();
}

void ShadowTables::drop() {
  statements_.clear();
  for (const std::string_view suffix : kSuffixes) run("DROP TABLE IF EXISTS " + name(suffix));
  statements_.clear();
}

void ShadowTables::rename(const std::string& table) {
  statements_.clear();
  for (const std::string_view suffix : kSuffixes) {
    if (suffix == "auxiliary" && !definition_.has_auxiliary()) continue;
    run("ALTER TABLE " + name(suffix) + " RENAME TO " + quoted(table + "_" + std::string(suffix)));
  }
  table_ = table;
  statements_.clear();
  write_queries();
}

void ShadowTables::write_queries() {
  const std::string state = name("state");
  const std::string blocks = name("blocks");
  const std::string pending = name("pending");
  const std::string rows = name("rows");
  const std::string auxiliary = name("auxiliary");
  Queries& q = queries_;
  q.read_state =
      "SELECT polar_format, polar_version, polar_rows, polar_codec_version FROM " + state;
  q.read_codec = "SELECT polar_codec FROM " + state;
  q.write_state = "UPDATE " + state + " SET polar_version = ?, polar_rows = ?";
  q.write_codec = "UPDATE " + state + " SET polar_codec_version = ?, polar_codec = ?";

  q.read_pages = "SELECT id, version, rows, checksum, ids, data FROM " + blocks + " ORDER BY id";
  q.read_page = "SELECT id, version, rows, checksum, ids FROM " + blocks + " WHERE id = ?";
  q.read_page_heads = "SELECT id, version, length(data) FROM " + blocks + " ORDER BY id";
  q.update_page = "UPDATE " + blocks +
                  " SET version = ?, rows = ?, checksum = ?, ids = ?, data = ? WHERE id = ?";
  q.insert_page = "INSERT INTO " + blocks +
                  "(version, rows, checksum, ids, data, id) VALUES (?, ?, ?, ?, ?, ?)";
  q.delete_page = "DELETE FROM " + blocks + " WHERE id = ?";
  q.delete_pages = "DELETE FROM " + blocks;

  q.read_pending = "SELECT slot, id, checksum, vector FROM " + pending + " ORDER BY slot";
  q.write_pending = "INSERT OR REPLACE INTO " + pending + " VALUES (?, ?, ?, ?)";
  q.delete_pending = "DELETE FROM " + pending + " WHERE slot = ?";
  q.delete_all_pending = "DELETE FROM " + pending;

  q.read_slot = "SELECT polar_slot FROM " + rows + " WHERE polar_id = ?";
  q.read_slots = "SELECT polar_id, polar_slot FROM " + rows;
  q.write_slot = "UPDATE " + rows + " SET polar_slot = ? WHERE polar_id = ?";
  q.insert_row = "INSERT INTO " + rows + " VALUES (?, ?" +
                 parameters(count(definition_, ColumnKind::metadata)) + ")";
  q.update_row = "UPDATE " + rows + " SET polar_id = ?";
  for (const Column& column : definition_.columns)
    if (column.kind == ColumnKind::metadata) q.update_row += ", " + quoted(column.name) + " = ?";
  q.update_row += " WHERE polar_id = ?";
  q.delete_row = "DELETE FROM " + rows + " WHERE polar_id = ?";

  q.write_auxiliary = "INSERT OR REPLACE INTO " + auxiliary + " VALUES (?" +
                      parameters(count(definition_, ColumnKind::auxiliary)) + ")";
  q.move_auxiliary = "UPDATE " + auxiliary + " SET polar_id = ? WHERE polar_id = ?";
  q.delete_auxiliary = "DELETE FROM " + auxiliary + " WHERE polar_id = ?";

  q.forget_slots = "UPDATE " + rows + " SET polar_slot = NULL";
  q.delete_lost_rows = "DELETE FROM " + rows + " WHERE polar_slot IS NULL";
  const std::string not_in_rows = " WHERE polar_id NOT IN (SELECT polar_id FROM " + rows + ")";
  const std::string not_in_auxiliary = "SELECT polar_id FROM " + rows +
                                       " WHERE polar_id NOT IN (SELECT polar_id FROM " + auxiliary +
                                       ")";
  q.read_lost_auxiliary =
      "SELECT polar_id FROM " + auxiliary + not_in_rows + " UNION ALL " + not_in_auxiliary;
  q.delete_lost_auxiliary = "DELETE FROM " + auxiliary + not_in_rows;
  q.add_lost_auxiliary = "INSERT INTO " + auxiliary + "(polar_id) " + not_in_auxiliary;

  std::string columns;
  for (const Column& column : definition_.columns)
    if (column.kind != ColumnKind::vector) columns += ", " + quoted(column.name);
  const std::string source =
      columns + " FROM " + rows +
      (definition_.has_auxiliary() ? " LEFT JOIN " + auxiliary + " USING (polar_id)" : "");
  q.read_row = "SELECT polar_slot" + source + " WHERE polar_id = ?";
  q.scan = "SELECT polar_id, polar_slot" + source;
  q.filter = "SELECT polar_mark_slots(?, polar_slot) FROM " + rows;
}

}  // namespace polarquant::sqlite
