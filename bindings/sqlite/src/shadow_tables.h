// SPDX-License-Identifier: MIT
// The tables in which a virtual table keeps what it holds, and the SQL that reads and writes them.
// For a virtual table "docs":
//
//   docs_state(polar_format, polar_version, polar_rows, polar_codec_version, polar_codec)
//       one row. version: a random number, another one after each change; codec: a codec's state,
//       NULL while rows are kept as floats, with a version of its own
//   docs_blocks(id, version, rows, checksum, ids, data)
//       codes, 1,024 rows to a record (code_pages.h)
//   docs_pending(slot, id, checksum, vector)
//       rows as float32, until the codec has learned from them (pending_rows.h)
//   docs_rows(polar_id, polar_slot, the metadata columns)
//       polar_id: the rowid; slot: where its code stands; an index for each metadata column
//   docs_auxiliary(polar_id, the auxiliary columns)
//       only where there are any
//
// Slots are 0 to rows − 1, without gaps.
#pragma once

#include <string>
#include <string_view>

#include "statement.h"
#include "table_definition.h"

namespace polarquant::sqlite {

class ShadowTables {
 public:
  /// Borrows the connection and the definition.
  ShadowTables(sqlite3* db, std::string schema, std::string table,
               const TableDefinition& definition);

  StatementCache& statements() { return statements_; }
  const std::string& table() const { return table_; }

  /// All of them, empty.
  void create();
  void drop();
  void rename(const std::string& table);

  /// Statements, whose parameters and columns are in the order of the tables above.
  struct Queries {
    std::string read_state;
    std::string read_codec;
    std::string write_state;      // (version, rows)
    std::string write_codec;      // (codec_version, codec)
    std::string read_page;        // of (id)
    std::string read_pages;       // in order
    std::string read_page_heads;  // id, version, bytes of data, in order
    std::string update_page;      // (version, rows, checksum, ids, data, id)
    std::string insert_page;
    std::string delete_page;
    std::string delete_pages;
    std::string read_pending;
    std::string write_pending;
    std::string delete_pending;
    std::string delete_all_pending;
    std::string read_slot;   // of (id)
    std::string write_slot;  // (slot, id)
    std::string insert_row;  // (id, slot, metadata)
    std::string update_row;  // (new id, metadata, id)
    std::string delete_row;
    std::string write_auxiliary;  // (id, columns), of a row that may be there
    std::string move_auxiliary;   // (new id, id)
    std::string delete_auxiliary;
    std::string read_row;    // of (id): slot, then all columns but the vector, in their order
    std::string read_slots;  // id, slot of all rows
    std::string forget_slots;
    std::string delete_lost_rows;     // without a slot
    std::string read_lost_auxiliary;  // ids that are in docs_rows or docs_auxiliary alone
    std::string delete_lost_auxiliary;
    std::string add_lost_auxiliary;
    std::string scan;    // id, slot, … as read_row, of all rows; a condition can follow
    std::string filter;  // slots; a condition can follow
  };
  const Queries& queries() const { return queries_; }

  const std::string& schema() const { return schema_; }
  /// A shadow table's name with its schema, as SQL.
  std::string name(std::string_view suffix) const;

  /// Whether docs_<name> is one of them.
  static bool is_suffix(std::string_view name);

 private:
  void run(const std::string& sql);
  void write_queries();

  std::string schema_;
  std::string table_;
  const TableDefinition& definition_;
  StatementCache statements_;
  Queries queries_;
};

}  // namespace polarquant::sqlite
