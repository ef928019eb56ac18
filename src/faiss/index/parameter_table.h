// SPDX-License-Identifier: MIT
// The parameters that indexes have, by name: one row for each name and class.
#pragma once

#include <faiss/Index.h>

#include <optional>
#include <span>
#include <vector>

namespace polarquant {

struct ParameterRow {
  const char* name;
  double least;
  double most;
  bool is_integer;
  enum class Kind {
    search,    // listed, and set in the outermost index that has it
    other,     // not listed
    all_parts  // not listed, and set in every index on the way in
  } kind;
  /// The value in this index itself; nothing where the index has no such parameter.
  std::optional<double> (*get)(const ::faiss::Index& index);
  /// value: within the range; the index has it.
  void (*set)(::faiss::Index& index, double value);
  /// Values worth trying in this index, from fast to accurate. May be null.
  std::vector<double> (*values)(const ::faiss::Index& index);
};

/// Names of several classes have a row for each.
std::span<const ParameterRow> parameter_table();

}  // namespace polarquant
