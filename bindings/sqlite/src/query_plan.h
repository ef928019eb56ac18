// SPDX-License-Identifier: MIT
// How SQLite's query of a table is answered: which of its conditions the table takes over, chosen
// in xBestIndex and handed to xFilter as a text.
#pragma once

#include <string>
#include <vector>

#include "sqlite_api.h"
#include "table_definition.h"

namespace polarquant::sqlite {

enum class Scan {
  rows,       // all rows that fulfil the conditions
  neighbors,  // the k nearest of them, or those within a distance
};

/// One of the conditions that the table takes over; its value is an argument of xFilter.
struct Condition {
  enum class Subject { match, k, limit, offset, distance, id, column };
  Subject subject;
  int column;             // of a column's condition
  int op;                 // SQLITE_INDEX_CONSTRAINT_…
  bool is_list;           // of an IN: any of several values
  std::string collation;  // of a column's; empty: BINARY
};

struct QueryPlan {
  Scan scan = Scan::rows;
  bool ordered_by_id = false;
  std::vector<Condition> conditions;  // in the order of the arguments
};

/// Chooses a plan and fills SQLite's structure. Returns its code; throws SqlError for queries that
/// cannot be answered.
int choose_plan(const TableDefinition& definition, sqlite3_index_info* info);

/// The plan that choose_plan wrote.
QueryPlan read_plan(int number, const char* text);

/// "column op ?" as SQL; `column`: an expression.
std::string condition_sql(const std::string& column, const Condition& condition);
/// Whether it has a parameter: IS NULL has none.
bool has_parameter(const Condition& condition);

}  // namespace polarquant::sqlite
