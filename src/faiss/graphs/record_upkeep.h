// SPDX-License-Identifier: MIT
// Keeps the records of a graph (src/scan/layout/link_record.h) what its rows and links are. FAISS's
// arrays of links stay: changes of graphs are made there, and records follow from them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/faiss/graphs/graph_over_polar.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {

/// Made before a change, so that nothing of it fails afterwards; nothing for graphs without
/// records. Where the change fails, and so nothing changes, the records are again as they were.
class RecordUpkeep {
 public:
  explicit RecordUpkeep(HNSWOverPolar& graph);
  ~RecordUpkeep();
  RecordUpkeep(const RecordUpkeep&) = delete;
  RecordUpkeep& operator=(const RecordUpkeep&) = delete;

  /// After a change of the links of graph.changed_nodes and graph.renumbered_nodes, and of nodes
  /// from first_new on. Costs no more than these, unless records were not those of the rows before.
  void write_changed(int64_t first_new) noexcept;
  void write_all() noexcept;

 private:
  void forget_changed() noexcept;
  /// The links of a node on level 0.
  std::span<const int32_t> links_of_node(int64_t node) const;
  /// Of nodes node(0) … node(count−1), those that there are.
  template <typename Node>
  void write(int64_t count, const Node& node) noexcept;

  HNSWOverPolar& graph_;
  const RowStore* before_ = nullptr;  // whose records were written; else null
  bool is_done_ = false;
  std::vector<std::unique_ptr<RecordMemory>> memory_;
};

}  // namespace polarquant
