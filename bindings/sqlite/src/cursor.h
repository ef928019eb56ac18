// SPDX-License-Identifier: MIT
// The rows of one query, in order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "polar_table.h"
#include "query_plan.h"
#include "row_filter.h"

namespace polarquant::sqlite {

class Cursor {
 public:
  explicit Cursor(PolarTable& table) : table_(table) {}

  /// Begins anew, at the first row. values: of the plan's conditions.
  void begin(const QueryPlan& plan, std::span<sqlite3_value*> values);
  bool is_at_end() const { return is_at_end_; }
  void next();
  int64_t id() const { return id_; }
  /// The value of a column, hidden ones among them.
  void return_column(sqlite3_context* context, int column);

 private:
  void begin_scan(const QueryPlan& plan, std::vector<BoundCondition> conditions);
  void begin_search(const QueryPlan& plan, std::span<sqlite3_value*> values,
                    std::vector<BoundCondition> conditions);
  void step_scan();
  /// The current row of docs_rows: slot, then the columns but for the vector.
  Use& row();

  PolarTable& table_;
  bool is_at_end_ = true;
  int64_t id_ = 0;

  // A scan:
  std::unique_ptr<Use> scan_;
  std::vector<int64_t> listed_;  // ids, where several statements found them
  // A search:
  struct Neighbor {
    int64_t id;
    double distance;
  };
  std::vector<Neighbor> neighbors_;
  size_t at_ = 0;
  bool is_search_ = false;
  std::unique_ptr<Use> row_;  // of the id row_id_
  int64_t row_id_ = 0;
};

}  // namespace polarquant::sqlite
