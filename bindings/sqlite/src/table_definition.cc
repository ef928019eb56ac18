// SPDX-License-Identifier: MIT
#include "table_definition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "metric_name.h"
#include "sql_error.h"
#include "statement.h"

namespace polarquant::sqlite {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\f\v";
/// Of the columns of shadow tables that are not the user's.
constexpr std::string_view kOwnPrefix = "polar_";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// Reads one argument from its front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : all_(text), left_(text) { skip_spaces(); }

  bool is_at_end() const { return left_.empty(); }
  bool take(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    skip_spaces();
    return true;
  }
  /// A name: bare, or in "…", `…` or […], as SQL has them.
  std::string name() {
    constexpr std::array<std::array<char, 2>, 3> kQuotes = {{{'"', '"'}, {'`', '`'}, {'[', ']'}}};
    for (const auto& [open, close] : kQuotes)
      if (!left_.empty() && left_.front() == open) return quoted_name(close);
    size_t end = 0;
    while (end < left_.size() && (is_letter(left_[end]) || (end > 0 && is_digit(left_[end]))))
      ++end;
    if (end == 0) throw misunderstood("begins with no name");
    return std::string(take_prefix(end));
  }
  /// What is left, without spaces at its end.
  std::string remaining_text() {
    std::string_view text = take_prefix(left_.size());
    text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
    return std::string(text);
  }
  SqlError misunderstood(const std::string& why) const {
    return refused('"' + std::string(all_) + "\" " + why +
                   "; what is understood: a column 'name float[dimensions]', columns 'name TYPE' "
                   "and '+name TYPE', code=SPEC, metric=cosine|ip|l2");
  }

 private:
  void skip_spaces() {
    left_.remove_prefix(std::min(left_.find_first_not_of(kSpaces), left_.size()));
  }
  std::string_view take_prefix(size_t count) {
    const std::string_view part = left_.substr(0, count);
    left_.remove_prefix(count);
    skip_spaces();
    return part;
  }
  std::string quoted_name(char close) {
    std::string name;
    for (size_t i = 1; i < left_.size(); ++i) {
      if (left_[i] == close) {
        const bool is_doubled = close != ']' && i + 1 < left_.size() && left_[i + 1] == close;
        if (!is_doubled) {
          take_prefix(i + 1);
          if (name.empty()) throw misunderstood("has an empty name");
          return name;
        }
        ++i;
      }
      name += left_[i];
    }
    throw misunderstood("has a quote that does not end");
  }

  std::string_view all_;
  std::string_view left_;
};

/// "float[384]", in any case and with spaces: 384. 0 for other types.
int32_t vector_dim(const std::string& type, const Scanner& scanner) {
  std::string text = lower_case(type);
  text.erase(std::remove_if(text.begin(), text.end(),
                            [](char c) { return kSpaces.find(c) != std::string_view::npos; }),
             text.end());
  const size_t open = text.find('[');
  if (open == std::string::npos) return 0;
  int32_t dim = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + open + 1, end, dim);
  const bool is_whole = error == std::errc() && stop + 1 == end && *stop == ']' && dim > 0;
  if (!is_whole || text.substr(0, open) != "float")
    throw scanner.misunderstood("has a type that is not float[dimensions], as float[384]");
  return dim;
}

void add_column(TableDefinition& definition, Scanner& scanner, std::string name,
                bool is_auxiliary) {
  std::string type = scanner.remaining_text();
  const int32_t dim = vector_dim(type, scanner);
  if (dim > 0) {
    if (is_auxiliary) throw scanner.misunderstood("makes the vectors an auxiliary column");
    if (definition.dim > 0) throw scanner.misunderstood("is a second column of vectors");
    definition.dim = dim;
    definition.vector_column = definition.columns.size();
    definition.columns.push_back({std::move(name), std::move(type), ColumnKind::vector});
    return;
  }
  // It goes into the declaration of a table.
  const bool is_type = std::all_of(type.begin(), type.end(), [](char c) {
    return is_letter(c) || is_digit(c) || kSpaces.find(c) != std::string_view::npos;
  });
  if (!is_type) throw scanner.misunderstood("has a type that is no name");
  definition.columns.push_back({std::move(name), std::move(type),
                                is_auxiliary ? ColumnKind::auxiliary : ColumnKind::metadata});
}

void set_option(TableDefinition& definition, const std::string& name, const std::string& value,
                const Scanner& scanner) {
  const std::string key = lower_case(name);
  if (key == "code") {
    definition.code = value;
  } else if (key == "metric") {
    definition.metric = parse_metric(lower_case(value));
  } else {
    throw scanner.misunderstood("sets an option that there is not");
  }
}

void require_distinct(const TableDefinition& definition, const std::string& table) {
  std::vector<std::string> names = {"distance", "k", "rowid", lower_case(table)};
  for (const Column& column : definition.columns) {
    const std::string name = lower_case(column.name);
    if (name.starts_with(kOwnPrefix))
      throw refused("column \"" + column.name + "\": names that begin with " +
                    std::string(kOwnPrefix) + " are the table's own");
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw refused("column \"" + column.name +
                    "\": there is another one of that name; distance, k, rowid and the name of the "
                    "table are columns of their own");
    names.push_back(name);
  }
}

}  // namespace

bool TableDefinition::has_auxiliary() const {
  return std::any_of(columns.begin(), columns.end(),
                     [](const Column& column) { return column.kind == ColumnKind::auxiliary; });
}

TableDefinition parse_definition(std::span<const char* const> arguments, const std::string& table) {
  TableDefinition definition;
  for (const char* argument : arguments) {
    Scanner scanner(argument);
    const bool is_auxiliary = scanner.take('+');
    std::string name = scanner.name();
    if (!is_auxiliary && scanner.take('=')) {
      set_option(definition, name, scanner.remaining_text(), scanner);
    } else {
      add_column(definition, scanner, std::move(name), is_auxiliary);
    }
  }
  if (definition.dim == 0)
    throw refused("no column of vectors: one is declared as 'embedding float[384]'");
  require_distinct(definition, table);
  return definition;
}

std::string declaration(const TableDefinition& definition, const std::string& table) {
  std::string text = "CREATE TABLE x(";
  for (const Column& column : definition.columns) {
    text += quoted(column.name);
    if (column.kind != ColumnKind::vector && !column.type.empty()) text += " " + column.type;
    text += ", ";
  }
  return text + "distance HIDDEN, k HIDDEN, " + quoted(table) + " HIDDEN)";
}

}  // namespace polarquant::sqlite
