// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/hnsw_links.h"

#include <faiss/impl/AuxIndexStructures.h>  // InterruptCallback
#include <faiss/impl/FaissException.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/graphs/hnsw_graph.h"
#include "src/faiss/graphs/hnsw_linker.h"
#include "src/faiss/graphs/shared_graph.h"

namespace polarquant {
namespace {

using Node = SharedGraph::Node;
using DroppedLink = HnswLinker::DroppedLink;
/// Of each thread; null where it has not linked any yet.
using Linkers = std::vector<std::unique_ptr<HnswLinker>>;

/// Fewer rows of a level than this are linked by one thread, as FAISS does.
constexpr int64_t kRowsForThreads = 100;
/// The seed of FAISS's order of rows within a level.
constexpr int64_t kOrderSeed = 789;

/// The graph before rows came; it becomes so again unless keep() is called.
class GraphMark {
 public:
  explicit GraphMark(::faiss::HNSW& hnsw)
      : hnsw_(hnsw),
        rng_(hnsw.rng),
        levels_(hnsw.levels.size()),
        offsets_(hnsw.offsets.size()),
        neighbors_(hnsw.neighbors.size()),
        entry_point_(hnsw.entry_point),
        max_level_(hnsw.max_level) {}
  ~GraphMark() {
    if (kept_) return;
    hnsw_.rng = rng_;
    hnsw_.levels.resize(levels_);
    hnsw_.offsets.resize(offsets_);
    hnsw_.neighbors.resize(neighbors_);
    hnsw_.entry_point = entry_point_;
    hnsw_.max_level = max_level_;
  }
  GraphMark(const GraphMark&) = delete;
  GraphMark& operator=(const GraphMark&) = delete;
  void keep() { kept_ = true; }

 private:
  ::faiss::HNSW& hnsw_;
  ::faiss::RandomGenerator rng_;
  size_t levels_;
  size_t offsets_;
  size_t neighbors_;
  Node entry_point_;
  int max_level_;
  bool kept_ = false;
};

/// New rows, those of a level side by side, the highest level last; and where each level begins.
struct RowsByLevel {
  std::vector<Node> rows;
  std::vector<size_t> begins;
};
RowsByLevel rows_by_level(const ::faiss::HNSW& hnsw, idx_t n0, idx_t n) {
  RowsByLevel sorted;
  sorted.begins.push_back(0);
  const auto level_of = [&](idx_t row) {
    return static_cast<size_t>(hnsw.levels[static_cast<size_t>(row)]) - 1;
  };
  for (idx_t row = n0; row < n0 + n; ++row) {
    if (sorted.begins.size() < level_of(row) + 2) sorted.begins.resize(level_of(row) + 2);
    ++sorted.begins[level_of(row) + 1];
  }
  for (size_t i = 1; i < sorted.begins.size(); ++i) sorted.begins[i] += sorted.begins[i - 1];
  std::vector<size_t> next(sorted.begins);
  sorted.rows.resize(static_cast<size_t>(n));
  for (idx_t row = n0; row < n0 + n; ++row)
    sorted.rows[next[level_of(row)]++] = static_cast<Node>(row);
  return sorted;
}

/// Whether so few rows come to n0 rows that nothing passes over the whole graph: what is known of
/// incoming links is kept up, and islands are not looked for, which takes a hundredth of what
/// linking a sixteenth of the rows does.
bool are_few(idx_t n0, idx_t n) { return n <= std::max<idx_t>(n0 / 16, 1); }

/// What the graph of n0 rows knows; null where it knows nothing, or is to find it anew after so
/// many rows.
IncomingLinks* incoming_links_of(::faiss::IndexHNSW& index, idx_t n0, idx_t n) {
  auto* graph = dynamic_cast<HNSWOverPolar*>(&index);
  if (graph == nullptr) return nullptr;
  IncomingLinks& links = graph->incoming_links;
  if (links.is_of(static_cast<size_t>(n0)) && are_few(n0, n)) return &links;
  links.forget();
  return nullptr;
}

/// Notes links of rows that came which have none back.
void note_far_links_of_new(const ::faiss::HNSW& hnsw, idx_t n0, IncomingLinks* incoming) {
  for (auto node = static_cast<Node>(n0); static_cast<size_t>(node) < hnsw.levels.size(); ++node)
    for (const Node link : all_links(hnsw, node))
      if (link >= 0 && !links_to(hnsw, link, node)) incoming->note_far(link, node);
}
/// And links to rows that dropped the one back.
void note_far_links_of_dropped(const ::faiss::HNSW& hnsw, const std::vector<DroppedLink>& dropped,
                               IncomingLinks* incoming) {
  for (const auto& [from, to] : dropped)
    if (links_to(hnsw, to, from) && !links_to(hnsw, from, to)) incoming->note_far(from, to);
}

/// Marks what a walk over level 0 from this row comes to.
void walk(const SharedGraph& graph, Node from, std::vector<bool>& reached) {
  std::vector<Node> waiting(1, from);
  reached[static_cast<size_t>(from)] = true;
  while (!waiting.empty()) {
    const SharedGraph::Links links = graph.links(waiting.back(), 0);
    waiting.pop_back();
    for (size_t i = 0; i < links.size() && links[i] >= 0; ++i) {
      if (reached[static_cast<size_t>(links[i])]) continue;
      reached[static_cast<size_t>(links[i])] = true;
      waiting.push_back(links[i]);
    }
  }
}

/// Choosing the links of each row for itself leaves some rows, or small groups of them, without a
/// link that leads there: of 16,000 rows in clusters 90 with 8 links each, of 8,000 with 16 links
/// two; and two threads may each drop the link that the other took for a row's last but one.
void link_islands(const SharedGraph& graph, Node entry, HnswLinker& linker) {
  std::vector<bool> reached(graph.rows());
  walk(graph, entry, reached);
  for (Node node = 0; static_cast<size_t>(node) < graph.rows(); ++node) {
    if (reached[static_cast<size_t>(node)]) continue;
    linker.link_island(node, reached, entry);
    walk(graph, node, reached);
  }
}

/// Null for graphs without records.
HNSWOverPolar* graph_with_records(::faiss::IndexHNSW& index) {
  auto* graph = dynamic_cast<HNSWOverPolar*>(&index);
  return graph != nullptr && graph->has_records() ? graph : nullptr;
}

/// Tells it whose links changed.
void note_changed(HNSWOverPolar* graph, const Linkers& linkers) {
  for (const auto& linker : linkers) {
    if (linker == nullptr) continue;
    const std::vector<Node>& nodes = linker->log().nodes();
    graph->changed_nodes.insert(graph->changed_nodes.end(), nodes.begin(), nodes.end());
  }
}

void require_going_on() {
  if (::faiss::InterruptCallback::is_interrupted())
    throw ::faiss::FaissException("computation interrupted");
}

}  // namespace

void link_rows(::faiss::IndexHNSW& index, idx_t n0, idx_t n, const float* x,
               const std::vector<int>& levels, const std::function<void()>& finish) {
  ::faiss::HNSW& hnsw = index.hnsw;
  GraphMark before(hnsw);
  hnsw.levels.insert(hnsw.levels.end(), levels.begin(), levels.end());
  // A caller may have chosen the levels.
  if (hnsw.levels.size() == static_cast<size_t>(n0)) {
    for (idx_t i = 0; i < n; ++i) hnsw.levels.push_back(hnsw.random_level() + 1);
  }
  hnsw.prepare_level_tab(static_cast<size_t>(n), true);
  RowsByLevel sorted = rows_by_level(hnsw, n0, n);
  IncomingLinks* incoming = incoming_links_of(index, n0, n);
  if (incoming != nullptr) incoming->extend(static_cast<size_t>(n0 + n));
  SharedGraph graph(hnsw, n0, incoming);
  Linkers linkers(static_cast<size_t>(thread_count(0, n)));
  HNSWOverPolar* records = graph_with_records(index);
  const auto check_period = static_cast<int64_t>(::faiss::InterruptCallback::get_period_hint(
      static_cast<size_t>(index.d) * static_cast<size_t>(hnsw.efConstruction)));
  try {
    ::faiss::RandomGenerator order(kOrderSeed);
    for (size_t level = sorted.begins.size() - 1; level-- > 0;) {
      const size_t begin = sorted.begins[level];
      const auto count = static_cast<int64_t>(sorted.begins[level + 1] - begin);
      Node* rows = sorted.rows.data() + begin;
      for (int64_t i = 0; i < count; ++i)
        std::swap(rows[i], rows[i + order.rand_int(static_cast<int>(count - i))]);
      const auto begin_of_work = static_cast<int64_t>(sorted.rows.size() - begin) - count;
      const int threads = count > kRowsForThreads ? thread_count(0, count) : 1;
      parallel_for(count, threads, [&](int64_t i, int thread) {
        auto& linker = linkers[static_cast<size_t>(thread)];
        if (linker == nullptr)
          linker = std::make_unique<HnswLinker>(graph, *index.storage, records != nullptr);
        if (i % check_period == 0) require_going_on();
        if (thread == 0)
          report_work(static_cast<double>(begin_of_work + i) / static_cast<double>(n));
        linker->link(rows[i], static_cast<int>(level), x + (rows[i] - n0) * index.d);
      });
    }
    if (!are_few(n0, n)) {
      const auto linker = std::find_if(linkers.begin(), linkers.end(),
                                       [](const auto& made) { return made != nullptr; });
      link_islands(graph, hnsw.entry_point, **linker);
    }
    if (incoming != nullptr) {
      note_far_links_of_new(hnsw, n0, incoming);
      for (const auto& linker : linkers)
        if (linker != nullptr) note_far_links_of_dropped(hnsw, linker->dropped(), incoming);
    }
    if (records != nullptr) note_changed(records, linkers);
    if (finish) finish();
  } catch (...) {
    for (const auto& linker : linkers) {
      if (linker != nullptr) linker->log().put_back(graph);
    }
    // Links of rows that go again are counted, too.
    if (incoming != nullptr) incoming->forget();
    throw;
  }
  before.keep();
}

}  // namespace polarquant
