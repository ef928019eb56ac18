// SPDX-License-Identifier: MIT
// The rows that fulfil conditions on rowids and metadata, as a bit for each slot.
#pragma once

#include <polarquant/polarquant.h>

#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "query_plan.h"
#include "shadow_tables.h"
#include "sql_error.h"

namespace polarquant::sqlite {

/// A condition with its value, an argument of xFilter.
struct BoundCondition {
  Condition condition;
  sqlite3_value* value;
};

/// Every combination of the values of lists (IN) in turn: `run(conditions)`, without lists.
template <typename Run>
void for_each_combination(std::vector<BoundCondition>& conditions, size_t first, const Run& run) {
  while (first < conditions.size() && !conditions[first].condition.is_list) ++first;
  if (first == conditions.size()) return run(conditions);
  BoundCondition& list = conditions[first];
  sqlite3_value* const all = list.value;
  int code = sqlite3_vtab_in_first(all, &list.value);
  for (; code == SQLITE_OK; code = sqlite3_vtab_in_next(all, &list.value))
    for_each_combination(conditions, first + 1, run);
  list.value = all;
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  if (code != SQLITE_DONE) throw SqlError(code, "the values of an IN cannot be read");
}

/// Registers polar_mark_slots, the aggregate by which a filter's statement marks its rows: it takes
/// half the time of reading them one by one. Returns SQLite's code.
int register_filter_function(sqlite3* db);

/// " WHERE …" for the conditions, whose values are the parameters, in order; "" for none.
std::string where(const TableDefinition& definition, std::span<const BoundCondition> conditions);
void bind_values(Use& use, std::span<const BoundCondition> conditions);

class RowFilter {
 public:
  /// count: slots.
  RowFilter(ShadowTables& tables, const TableDefinition& definition,
            std::vector<BoundCondition> conditions, int64_t count);
  RowFilter(const RowFilter&) = delete;
  RowFilter& operator=(const RowFilter&) = delete;

  int64_t kept() const { return kept_; }
  /// Valid as long as this.
  const polar_filter* get() const { return &filter_; }

 private:
  std::vector<uint64_t> words_;
  int64_t kept_ = 0;
  polar_filter filter_;
};

}  // namespace polarquant::sqlite
