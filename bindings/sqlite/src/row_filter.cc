// SPDX-License-Identifier: MIT
#include "row_filter.h"

#include <string>
#include <utility>

namespace polarquant::sqlite {
namespace {

constexpr const char* kMarksType = "polar_marks";

/// A bit for each slot.
struct Marks {
  uint64_t* words;
  int64_t count;
  int64_t marked;
  bool is_damaged;  // a slot that there is not
};

void mark_slot(sqlite3_context*, int, sqlite3_value** values) {
  auto* marks = static_cast<Marks*>(sqlite3_value_pointer(values[0], kMarksType));
  if (marks == nullptr) return;  // somebody else's call
  const int64_t slot = sqlite3_value_int64(values[1]);
  if (slot < 0 || slot >= marks->count || sqlite3_value_type(values[1]) != SQLITE_INTEGER) {
    marks->is_damaged = true;
    return;
  }
  uint64_t& word = marks->words[slot / 64];
  const uint64_t bit = uint64_t{1} << slot % 64;
  marks->marked += (word & bit) == 0 ? 1 : 0;
  word |= bit;
}

}  // namespace

int register_filter_function(sqlite3* db) {
  return sqlite3_create_function_v2(
      db, "polar_mark_slots", 2, SQLITE_UTF8 | SQLITE_INNOCUOUS, nullptr, nullptr, mark_slot,
      [](sqlite3_context*) {}, nullptr);
}

std::string where(const TableDefinition& definition, std::span<const BoundCondition> conditions) {
  std::string sql;
  for (const auto& [condition, value] : conditions) {
    const bool is_id = condition.subject == Condition::Subject::id;
    sql += sql.empty() ? " WHERE " : " AND ";
    sql += condition_sql(is_id ? "polar_id" : quoted(definition.column(condition.column).name),
                         condition);
  }
  return sql;
}
void bind_values(Use& use, std::span<const BoundCondition> conditions) {
  for (const auto& [condition, value] : conditions)
    if (has_parameter(condition)) use.with(value);
}

RowFilter::RowFilter(ShadowTables& tables, const TableDefinition& definition,
                     std::vector<BoundCondition> conditions, int64_t count)
    : words_(static_cast<size_t>((count + 63) / 64)) {
  Marks marks = {words_.data(), count, 0, false};
  Use use(tables.statements(), tables.queries().filter + where(definition, conditions));
  for_each_combination(conditions, 0, [&](std::span<const BoundCondition> combination) {
    use.reset();
    use.with_pointer(&marks, kMarksType);
    bind_values(use, combination);
    use.run();
  });
  if (marks.is_damaged) throw damaged(tables.table() + "_rows: a row has a slot that there is not");
  kept_ = marks.marked;
  polar_filter_init(&filter_);
  filter_.kind = POLAR_FILTER_BITSET;
  filter_.bitset = {words_.data(), count};
}

}  // namespace polarquant::sqlite
