// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/record_upkeep.h"

#include <algorithm>
#include <limits>
#include <span>

#include "src/core/parallel.h"
#include "src/faiss/graphs/graph_links.h"

namespace polarquant {
namespace {

/// Fewer are written by one thread: on a busy machine another one begins milliseconds later, and a
/// record takes some 10 microseconds.
constexpr int64_t kRecordsForThreads = 500;

RowStore& records_of(HNSWOverPolar& graph) {
  return dynamic_cast<IndexPolar&>(*graph.storage).records();
}

}  // namespace

RecordUpkeep::RecordUpkeep(HNSWOverPolar& graph) : graph_(graph) {
  forget_changed();
  if (!graph.has_records()) return;
  const RowStore& store = records_of(graph);
  if (store.records_are_written()) before_ = &store;
  const int threads = thread_count(0, std::numeric_limits<int64_t>::max());
  for (int i = 0; i < threads; ++i)
    memory_.push_back(std::make_unique<RecordMemory>(graph.d, graph.rows().options().record_links));
}

RecordUpkeep::~RecordUpkeep() {
  if (!memory_.empty() && !is_done_) {
    RowStore& store = records_of(graph_);
    if (&store == before_) {
      store.set_records_written(true);
    } else {
      write_all();
    }
  }
  forget_changed();
}

void RecordUpkeep::forget_changed() noexcept {
  graph_.changed_nodes.clear();
  graph_.renumbered_nodes.clear();
}

std::span<const int32_t> RecordUpkeep::links_of_node(int64_t node) const {
  const std::span<const int32_t> places =
      links_of(graph_).neighbours(static_cast<int32_t>(node), 0);
  const auto end = std::find_if(places.begin(), places.end(), [](int32_t to) { return to < 0; });
  return places.first(static_cast<size_t>(end - places.begin()));
}

void RecordUpkeep::write_changed(int64_t first_new) noexcept {
  if (memory_.empty()) return;
  if (&records_of(graph_) != before_) return write_all();
  auto& nodes = graph_.changed_nodes;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  // Those that are written have the numbers, too.
  RowStore& store = records_of(graph_);
  for (const auto node : graph_.renumbered_nodes)
    if (node < graph_.ntotal) store.renumber_links(node, links_of_node(node));
  const auto changed = std::ssize(nodes);
  write(changed + graph_.ntotal - first_new, [&](int64_t i) {
    return i < changed ? nodes[static_cast<size_t>(i)] : first_new + i - changed;
  });
}

void RecordUpkeep::write_all() noexcept {
  if (memory_.empty()) return;
  write(graph_.ntotal, [](int64_t i) { return i; });
}

template <typename Node>
void RecordUpkeep::write(int64_t count, const Node& node) noexcept {
  is_done_ = true;
  RowStore& store = records_of(graph_);
  if (store.record_links() == 0) return;  // rows are floats
  const auto write_one = [&](int64_t i, RecordMemory* memory) {
    const int64_t at = node(i);
    if (at >= graph_.ntotal) return;
    store.write_record(at, links_of_node(at), memory);
  };
  const int threads = count < kRecordsForThreads
                          ? 1
                          : std::min(thread_count(0, count), static_cast<int>(memory_.size()));
  try {
    parallel_for(count, threads, [&](int64_t i, int thread) {
      write_one(i, memory_[static_cast<size_t>(thread)].get());
    });
  } catch (...) {
    // No memory for threads, or a caller's wish to stop, which comes too late: the change is made.
    for (int64_t i = 0; i < count; ++i) write_one(i, memory_[0].get());
  }
  store.set_records_written(true);
}

}  // namespace polarquant
