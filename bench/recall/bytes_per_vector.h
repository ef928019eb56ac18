// SPDX-License-Identifier: MIT
// What one vector costs in an index, as stored: code, factors, ids and graph links. What is stored
// once per index (centroids, codebooks, rotations) is left out: it does not grow with the vectors.
#pragma once

#include <faiss/Index.h>

#include <string>
#include <vector>

namespace polarquant::bench {

struct VectorCost {
  /// −1 when no rule could tell.
  double bytes = -1;
  /// The rules that were used, outermost first: "IndexRefine(IndexPQ + IndexFlat)".
  std::string rule;
};

/// Counts an index that holds rows; by class, innermost parts first. Never throws for an unknown
/// class: its serialized size over its rows stands in.
VectorCost bytes_per_vector(const ::faiss::Index& index);

struct StorageRuleText {
  std::string class_name;
  std::string reason;
};
/// The rules in the order they are tried, for help and tests.
std::vector<StorageRuleText> storage_rules();

}  // namespace polarquant::bench
