// SPDX-License-Identifier: MIT
#include "query_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "sql_error.h"
#include "statement.h"

namespace polarquant::sqlite {
namespace {

using Subject = Condition::Subject;

struct Operator {
  int op;
  std::string_view sql;
  double share;  // of rows that it leaves, as far as anybody knows
};
constexpr std::array<Operator, 12> kOperators = {{
    {SQLITE_INDEX_CONSTRAINT_EQ, "= ?", .05},
    {SQLITE_INDEX_CONSTRAINT_GT, "> ?", .3},
    {SQLITE_INDEX_CONSTRAINT_GE, ">= ?", .3},
    {SQLITE_INDEX_CONSTRAINT_LT, "< ?", .3},
    {SQLITE_INDEX_CONSTRAINT_LE, "<= ?", .3},
    {SQLITE_INDEX_CONSTRAINT_NE, "<> ?", .9},
    {SQLITE_INDEX_CONSTRAINT_LIKE, "LIKE ?", .2},
    {SQLITE_INDEX_CONSTRAINT_GLOB, "GLOB ?", .2},
    {SQLITE_INDEX_CONSTRAINT_IS, "IS ?", .05},
    {SQLITE_INDEX_CONSTRAINT_ISNOT, "IS NOT ?", .9},
    {SQLITE_INDEX_CONSTRAINT_ISNULL, "IS NULL", .1},
    {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, "IS NOT NULL", .9},
}};
const Operator* find_operator(int op) {
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                   [op](const Operator& known) { return known.op == op; });
  return found == kOperators.end() ? nullptr : found;
}

constexpr std::string_view kOrderedById = "by_id";
constexpr std::string_view kBinary = "BINARY";
constexpr double kAssumedRows = 1e6;
constexpr double kAssumedNeighbors = 25;

/// What a condition is about; nothing for one that the table leaves to SQLite.
std::optional<Condition> understood(const TableDefinition& definition, sqlite3_index_info* info,
                                    int i) {
  const auto& constraint = info->aConstraint[i];
  Condition condition = {Subject::column, constraint.iColumn, constraint.op, false, {}};
  if (constraint.op == SQLITE_INDEX_CONSTRAINT_LIMIT) {
    condition.subject = Subject::limit;
  } else if (constraint.op == SQLITE_INDEX_CONSTRAINT_OFFSET) {
    condition.subject = Subject::offset;
  } else if (constraint.iColumn == static_cast<int>(definition.vector_column)) {
    if (constraint.op != SQLITE_INDEX_CONSTRAINT_MATCH) return std::nullopt;
    condition.subject = Subject::match;
  } else if (constraint.iColumn == definition.k_column()) {
    if (constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) return std::nullopt;
    condition.subject = Subject::k;
  } else if (constraint.iColumn == definition.distance_column()) {
    if (constraint.op != SQLITE_INDEX_CONSTRAINT_LT && constraint.op != SQLITE_INDEX_CONSTRAINT_LE)
      return std::nullopt;
    condition.subject = Subject::distance;
  } else if (find_operator(constraint.op) == nullptr ||
             constraint.iColumn >= definition.distance_column()) {
    return std::nullopt;
  } else if (constraint.iColumn < 0) {
    condition.subject = Subject::id;
  } else {
    const char* collation = sqlite3_vtab_collation(info, i);
    // The text of a plan has spaces between its parts.
    if (collation != nullptr && std::string_view(collation).find(' ') != std::string_view::npos)
      return std::nullopt;
    if (collation != nullptr && collation != kBinary) condition.collation = collation;
  }
  return condition;
}

/// In a search an auxiliary column's condition would be looked at after the k nearest rows were
/// chosen, which is hardly ever what is meant.
void require_no_auxiliary(const TableDefinition& definition, const Condition& condition) {
  if (condition.subject != Subject::column) return;
  const Column& column = definition.column(condition.column);
  if (column.kind == ColumnKind::auxiliary)
    throw refused("column \"" + column.name +
                  "\" is auxiliary (+): a search cannot be restricted by it; declared without + it "
                  "can");
}

// Streams would take a lack of memory for the end of the text.
std::string plan_text(const QueryPlan& plan) {
  std::string text(plan.ordered_by_id ? kOrderedById : "-");
  for (const Condition& condition : plan.conditions) {
    for (const int number : {static_cast<int>(condition.subject), condition.column, condition.op,
                             condition.is_list ? 1 : 0})
      text.append(" ").append(std::to_string(number));
    text.append(" ").append(condition.collation.empty() ? kBinary : condition.collation);
  }
  return text;
}

/// Takes a word off the front of a text, and the space after it.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}
int take_number(std::string_view& text) {
  const std::string_view word = take_word(text);
  int number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

bool is_ordered(const sqlite3_index_info* info, int column) {
  return info->nOrderBy == 1 && info->aOrderBy[0].iColumn == column && info->aOrderBy[0].desc == 0;
}

}  // namespace

int choose_plan(const TableDefinition& definition, sqlite3_index_info* info) {
  std::vector<std::optional<Condition>> candidates;
  bool is_search = false;
  bool has_k = false;
  for (int i = 0; i < info->nConstraint; ++i) {
    candidates.push_back(understood(definition, info, i));
    if (!candidates.back()) continue;
    const Subject subject = candidates.back()->subject;
    const bool is_usable = info->aConstraint[i].usable != 0;
    // The query's vector comes from a table that must be read before.
    if ((subject == Subject::match || subject == Subject::k) && !is_usable)
      return SQLITE_CONSTRAINT;
    if (!is_usable) candidates.back().reset();
    is_search = is_search || subject == Subject::match;
    has_k = has_k || subject == Subject::k;
  }
  QueryPlan plan;
  plan.scan = is_search ? Scan::neighbors : Scan::rows;
  bool has_end = has_k;
  const bool is_nearest_first =
      info->nOrderBy == 0 || is_ordered(info, definition.distance_column());
  double share = 1;
  for (int i = 0; i < info->nConstraint; ++i) {
    std::optional<Condition>& condition = candidates[static_cast<size_t>(i)];
    if (!condition) continue;
    const Subject subject = condition->subject;
    const bool is_of_search = subject != Subject::id && subject != Subject::column;
    if (is_search) {
      require_no_auxiliary(definition, *condition);
      const bool is_limit = subject == Subject::limit || subject == Subject::offset;
      // Of the k nearest SQLite takes what a distance and a limit leave, and of rows in another
      // order what a limit leaves.
      if (has_k && (is_limit || subject == Subject::distance)) continue;
      if (is_limit && !is_nearest_first) continue;
      if (subject == Subject::limit || subject == Subject::distance) has_end = true;
    } else if (is_of_search) {
      continue;
    }
    if (const Operator* known = find_operator(condition->op); known != nullptr && !is_of_search)
      share *= known->share;
    condition->is_list = !is_of_search && sqlite3_vtab_in(info, i, 1) != 0;
    auto& usage = info->aConstraintUsage[i];
    usage.argvIndex = static_cast<int>(plan.conditions.size()) + 1;
    // LIMIT and OFFSET stay SQLite's: the search finds as many rows as both need.
    usage.omit = subject != Subject::limit && subject != Subject::offset ? 1 : 0;
    if (subject == Subject::id && condition->op == SQLITE_INDEX_CONSTRAINT_EQ &&
        !condition->is_list && !is_search) {
      info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
      share = 1 / kAssumedRows;
    }
    plan.conditions.push_back(*condition);
  }
  if (is_search && !has_end)
    throw refused(
        "a search says how many rows it wants: AND k = 10, ORDER BY distance LIMIT 10, or AND "
        "distance < 0.5");
  if (is_search) {
    info->orderByConsumed = is_ordered(info, definition.distance_column()) ? 1 : 0;
    info->estimatedCost = kAssumedRows / 100;
    info->estimatedRows = static_cast<sqlite3_int64>(kAssumedNeighbors);
  } else {
    plan.ordered_by_id = is_ordered(info, -1);
    info->orderByConsumed = plan.ordered_by_id ? 1 : 0;
    info->estimatedCost = std::max(1.0, kAssumedRows * share);
    info->estimatedRows = static_cast<sqlite3_int64>(info->estimatedCost);
  }
  const std::string text = plan_text(plan);
  info->idxNum = static_cast<int>(plan.scan);
  info->idxStr = sqlite3_mprintf("%s", text.c_str());
  if (info->idxStr == nullptr) return SQLITE_NOMEM;
  info->needToFreeIdxStr = 1;
  return SQLITE_OK;
}

QueryPlan read_plan(int number, const char* text) {
  QueryPlan plan;
  plan.scan = static_cast<Scan>(number);
  std::string_view left = text;
  plan.ordered_by_id = take_word(left) == kOrderedById;
  while (!left.empty()) {
    Condition condition = {};
    condition.subject = static_cast<Subject>(take_number(left));
    condition.column = take_number(left);
    condition.op = take_number(left);
    condition.is_list = take_number(left) != 0;
    const std::string_view collation = take_word(left);
    if (collation != kBinary) condition.collation = collation;
    plan.conditions.push_back(std::move(condition));
  }
  return plan;
}

std::string condition_sql(const std::string& column, const Condition& condition) {
  std::string sql = column;
  if (!condition.collation.empty()) sql += " COLLATE " + quoted(condition.collation);
  return sql + " " + std::string(find_operator(condition.op)->sql);
}
bool has_parameter(const Condition& condition) {
  return condition.op != SQLITE_INDEX_CONSTRAINT_ISNULL &&
         condition.op != SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
}

}  // namespace polarquant::sqlite
