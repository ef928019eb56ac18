// SPDX-License-Identifier: MIT
#include "cursor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "codec_calls.h"
#include "sql_error.h"
#include "vector_value.h"

namespace polarquant::sqlite {
namespace {

using Subject = Condition::Subject;

/// A radius within which a row of just this distance is, too, where it is to be. Distances are
/// doubles and radii the library's floats, so it is a little too wide; SQLite's own comparison
/// decides.
float radius_of(polar_metric metric, double distance) {
  const double score = metric == POLAR_METRIC_COSINE          ? 1 - distance
                       : metric == POLAR_METRIC_INNER_PRODUCT ? -distance
                                                              : distance;
  const auto nearest = static_cast<float>(score);
  const float infinity = std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, metric == POLAR_METRIC_L2 ? infinity : -infinity);
}

int64_t count_value(sqlite3_value* value, const char* name) {
  const int64_t count = sqlite3_value_int64(value);
  if (sqlite3_value_type(value) != SQLITE_INTEGER || count < 0)
    throw refused(std::string(name) + " is not an integer of 0 or more");
  return count;
}

}  // namespace

void Cursor::begin(const QueryPlan& plan, std::span<sqlite3_value*> values) {
  scan_.reset();
  row_.reset();
  listed_.clear();
  neighbors_.clear();
  at_ = 0;
  is_at_end_ = true;
  is_search_ = plan.scan == Scan::neighbors;
  std::vector<BoundCondition> conditions;
  for (size_t i = 0; i < plan.conditions.size(); ++i) {
    const Condition& condition = plan.conditions[i];
    if (condition.subject == Subject::id || condition.subject == Subject::column)
      conditions.push_back({condition, values[i]});
  }
  if (is_search_) {
    begin_search(plan, values, std::move(conditions));
  } else {
    begin_scan(plan, std::move(conditions));
  }
}

void Cursor::begin_scan(const QueryPlan& plan, std::vector<BoundCondition> conditions) {
  table_.rows();
  const bool has_list = std::any_of(conditions.begin(), conditions.end(),
                                    [](const auto& bound) { return bound.condition.is_list; });
  const std::string where_sql = where(table_.definition(), conditions);
  ShadowTables& tables = table_.tables();
  if (!has_list) {
    scan_ = std::make_unique<Use>(
        tables.statements(),
        tables.queries().scan + where_sql + (plan.ordered_by_id ? " ORDER BY polar_id" : ""));
    bind_values(*scan_, conditions);
    return step_scan();
  }
  Use use(tables.statements(), tables.queries().scan + where_sql);
  for_each_combination(conditions, 0, [&](std::span<const BoundCondition> combination) {
    use.reset();
    bind_values(use, combination);
    while (use.next()) listed_.push_back(use.integer(0));
  });
  std::sort(listed_.begin(), listed_.end());
  listed_.erase(std::unique(listed_.begin(), listed_.end()), listed_.end());
  is_at_end_ = listed_.empty();
  if (!is_at_end_) id_ = listed_.front();
}
void Cursor::step_scan() {
  is_at_end_ = !scan_->next();
  if (!is_at_end_) id_ = scan_->integer(0);
}

void Cursor::begin_search(const QueryPlan& plan, std::span<sqlite3_value*> values,
                          std::vector<BoundCondition> conditions) {
  const TableDefinition& definition = table_.definition();
  int64_t k = std::numeric_limits<int64_t>::max();
  int64_t offset = 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double distance = kInfinity;
  bool includes_distance = true;
  std::vector<float> query;
  for (size_t i = 0; i < plan.conditions.size(); ++i) {
    sqlite3_value* value = values[i];
    switch (plan.conditions[i].subject) {
      case Subject::match:
        if (sqlite3_value_type(value) == SQLITE_NULL) return;
        query = read_vector(table_.db(), value, "the vector to match",
                            static_cast<size_t>(definition.dim));
        break;
      case Subject::k:
        k = count_value(value, "k");
        break;
      case Subject::limit:
        // A negative LIMIT is none.
        if (sqlite3_value_int64(value) >= 0) k = sqlite3_value_int64(value);
        break;
      case Subject::offset:
        offset = std::max<int64_t>(sqlite3_value_int64(value), 0);
        break;
      case Subject::distance:
        if (sqlite3_value_type(value) == SQLITE_NULL) return;
        if (const double limit = sqlite3_value_double(value);
            limit < distance || (limit == distance && includes_distance)) {
          includes_distance = plan.conditions[i].op == SQLITE_INDEX_CONSTRAINT_LE;
          distance = limit;
        }
        break;
      default:
        break;
    }
  }
  StoredRows& rows = table_.rows();
  if (k < std::numeric_limits<int64_t>::max() - offset) k += offset;
  std::unique_ptr<RowFilter> filter;
  int64_t allowed = rows.count();
  if (!conditions.empty()) {
    filter = std::make_unique<RowFilter>(table_.tables(), definition, std::move(conditions),
                                         rows.count());
    allowed = filter->kept();
  }
  k = std::min(k, allowed);
  if (k == 0 || distance == -kInfinity) return;
  const polar_filter* kept = filter != nullptr ? filter->get() : nullptr;
  const Neighbors found =
      distance < kInfinity ? rows.range_search(query, radius_of(definition.metric, distance), kept)
                           : rows.search(query, k, kept);
  for (size_t i = 0; i < found.slots.size() && std::ssize(neighbors_) < k; ++i) {
    const double to_row = score_distance(definition.metric, found.scores[i]);
    if (to_row < distance || (to_row == distance && includes_distance))
      neighbors_.push_back({rows.id(found.slots[i]), to_row});
  }
  is_at_end_ = neighbors_.empty();
  if (!is_at_end_) id_ = neighbors_.front().id;
}

void Cursor::next() {
  if (scan_ != nullptr) return step_scan();
  ++at_;
  const size_t count = is_search_ ? neighbors_.size() : listed_.size();
  is_at_end_ = at_ >= count;
  if (!is_at_end_) id_ = is_search_ ? neighbors_[at_].id : listed_[at_];
}

Use& Cursor::row() {
  if (row_ != nullptr && row_id_ == id_) return *row_;
  ShadowTables& tables = table_.tables();
  if (row_ == nullptr) row_ = std::make_unique<Use>(tables.statements(), tables.queries().read_row);
  row_->reset();
  row_id_ = id_;
  if (!row_->with(id_).next())
    throw damaged(tables.table() + "_rows: row " + std::to_string(id_) + " is not there");
  return *row_;
}

void Cursor::return_column(sqlite3_context* context, int column) {
  const TableDefinition& definition = table_.definition();
  if (column == definition.distance_column()) {
    if (is_search_) sqlite3_result_double(context, neighbors_[at_].distance);
    return;
  }
  if (column > definition.distance_column()) return;
  const ColumnKind kind = definition.column(column).kind;
  // What an UPDATE leaves as it is; a vector cannot be read back exactly.
  if (kind != ColumnKind::metadata && sqlite3_vtab_nochange(context) != 0) return;
  // A scan's statement has the rowid first.
  Use& use = scan_ != nullptr ? *scan_ : row();
  const int slot_column = scan_ != nullptr ? 1 : 0;
  if (kind == ColumnKind::vector) {
    StoredRows& rows = table_.rows();
    const int64_t slot = use.integer(slot_column);
    if (slot < 0 || slot >= rows.count())
      throw damaged(table_.name() + "_rows, row " + std::to_string(id_) + ": its slot is " +
                    std::to_string(slot));
    return return_vector(context, rows.vector(slot));
  }
  const bool is_after_vector = column > static_cast<int>(definition.vector_column);
  sqlite3_result_value(context, use.value(slot_column + 1 + column - (is_after_vector ? 1 : 0)));
}

}  // namespace polarquant::sqlite
