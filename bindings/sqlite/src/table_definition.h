// SPDX-License-Identifier: MIT
// What a CREATE VIRTUAL TABLE … USING polar(…) says: columns and options.
#pragma once

#include <polarquant/polarquant.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace polarquant::sqlite {

enum class ColumnKind {
  vector,    // "embedding float[384]": exactly one
  metadata,  // "year INTEGER": conditions on it choose the rows that a search looks at
  auxiliary  // "+body TEXT": only returned
};

struct Column {
  std::string name;
  std::string type;  // as declared; empty for none
  ColumnKind kind;
};

struct TableDefinition {
  std::vector<Column> columns;  // in the order of their declaration
  size_t vector_column = 0;
  int32_t dim = 0;
  std::string code = "Polar4";
  polar_metric metric = POLAR_METRIC_COSINE;

  /// The hidden columns come after the declared ones, in this order.
  int distance_column() const { return static_cast<int>(columns.size()); }
  int k_column() const { return distance_column() + 1; }
  int command_column() const { return distance_column() + 2; }

  const Column& column(int i) const { return columns[static_cast<size_t>(i)]; }
  bool has_auxiliary() const;
};

/// arguments: what stands in the parentheses, part by part. Throws SqlError for what cannot be
/// understood. `table`: its name, which is the name of a hidden column too.
TableDefinition parse_definition(std::span<const char* const> arguments, const std::string& table);

/// The text for sqlite3_declare_vtab.
std::string declaration(const TableDefinition& definition, const std::string& table);

}  // namespace polarquant::sqlite
