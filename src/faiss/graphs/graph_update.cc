// SPDX-License-Identifier: MIT
// Rows of an HNSW graph that come in the place of others: they are added after all, with as many
// levels as those have, which then go as in a removal.
#include <faiss/IndexHNSW.h>

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/status.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/graphs/hnsw_links.h"
#include "src/faiss/graphs/hnsw_removal.h"
#include "src/faiss/graphs/record_upkeep.h"
#include "src/faiss/graphs/single_removal.h"
#include "src/faiss/index/added_rows.h"
#include "src/faiss/index/row_changes.h"

namespace polarquant {

using Node = ::faiss::HNSW::storage_idx_t;

void update_graph(::faiss::IndexHNSW& graph, idx_t n, const idx_t* positions, const float* x) {
  if (n == 0) return;
  auto* storage = dynamic_cast<IndexPolar*>(graph.storage);
  require(storage != nullptr && graph.ntotal == storage->ntotal, StatusCode::unsupported,
          "update_vectors: the graph's rows are not those of an IndexPolar");
  const idx_t before = graph.ntotal;
  std::unordered_map<idx_t, idx_t> last;  // of equal positions
  for (idx_t i = 0; i < n; ++i) {
    require(positions[i] >= 0 && positions[i] < before, StatusCode::not_found,
            "update_vectors: id {} is not in the index, which holds {} rows", positions[i], before);
    last[positions[i]] = i;
  }
  std::vector<idx_t> rows;
  std::vector<int> levels;
  std::vector<float> values;
  std::vector<HnswRemoval::Replaced> replaced;
  std::vector<uint64_t> gone(static_cast<size_t>(before + n + 63) / 64);
  for (idx_t i = 0; i < n; ++i) {
    if (last[positions[i]] != i) continue;
    const idx_t row = positions[i];
    replaced.push_back({static_cast<Node>(row), static_cast<Node>(before + std::ssize(rows))});
    rows.push_back(row);
    levels.push_back(graph.hnsw.levels[static_cast<size_t>(row)]);
    values.insert(values.end(), x + i * graph.d, x + (i + 1) * graph.d);
    gone[static_cast<size_t>(row / 64)] |= uint64_t{1} << row % 64;
  }
  const idx_t count = std::ssize(rows);
  // What an add teaches would be taken back with it.
  if (storage->rows_as_floats() > 0 && before + count >= IndexPolar::rows_to_learn)
    storage->code_rows();
  auto* ours = dynamic_cast<HNSWOverPolar*>(&graph);
  if (ours != nullptr && count == 1) ours->incoming_links.require_of(graph.hnsw);
  std::optional<RecordUpkeep> records;
  if (ours != nullptr) records.emplace(*ours);
  // The rows that come are in the storage twice, until they are linked.
  std::optional<AddedRows> added;
  added.emplace(*storage, count);
  add_rows(*storage, count, values.data(), nullptr);
  std::optional<HnswRemoval> removal;
  std::optional<SingleRemoval> single;
  link_rows(graph, before, count, values.data(), levels, [&] {
    const bool has_records = ours != nullptr && ours->has_records();
    if (ours != nullptr && count == 1 &&
        ours->incoming_links.has_counts_of(graph.hnsw.levels.size())) {
      single.emplace(graph, ours->incoming_links, static_cast<Node>(rows.front()));
      if (single->is_possible()) {
        if (has_records) ours->changed_nodes.push_back(static_cast<Node>(before));
        if (has_records) single->note_changed(&ours->changed_nodes, &ours->renumbered_nodes);
        return storage->remove_row(rows.front(), before);
      }
      single.reset();
    }
    removal.emplace(graph, gone, std::move(replaced));
    storage->update_rows(count, rows.data(), values.data(), {});
  });
  if (single) {
    added->keep();
    single->apply(graph.hnsw, ours->incoming_links);
    return records->write_changed(graph.ntotal);
  }
  removal->apply(graph.hnsw);
  if (ours == nullptr) return;
  ours->incoming_links.forget();
  added.reset();  // takes the rows that came from the storage's end
  records->write_all();
}

}  // namespace polarquant
