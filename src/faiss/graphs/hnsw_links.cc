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
#include "src/faiss/graphs/equal_rows.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/graphs/hnsw_graph.h"
#include "src/faiss/graphs/shared_graph.h"

namespace polarquant {
namespace {

using Node = SharedGraph::Node;

/// Fewer rows of a level than this are linked by one thread, as FAISS does.
constexpr int64_t kRowsForThreads = 100;
/// The seed of FAISS's order of rows within a level.
constexpr int64_t kOrderSeed = 789;

struct Neighbour {
  float distance;
  Node node;
};
/// Orders of heaps: the top is the farthest, or the nearest.
struct FarthestOnTop {
  bool operator()(const Neighbour& a, const Neighbour& b) const { return a.distance < b.distance; }
};
struct NearestOnTop {
  bool operator()(const Neighbour& a, const Neighbour& b) const { return a.distance > b.distance; }
};

/// std::priority_queue, whose memory is kept from use to use.
template <typename Order>
class Heap {
 public:
  bool empty() const { return values_.empty(); }
  size_t size() const { return values_.size(); }
  const Neighbour& top() const { return values_.front(); }
  const std::vector<Neighbour>& values() const { return values_; }
  void clear() { values_.clear(); }
  void push(Neighbour value) {
    values_.push_back(value);
    std::push_heap(values_.begin(), values_.end(), Order());
  }
  Neighbour pop() {
    std::pop_heap(values_.begin(), values_.end(), Order());
    const Neighbour value = values_.back();
    values_.pop_back();
    return value;
  }

 private:
  std::vector<Neighbour> values_;
};

struct DroppedLink {
  Node from;
  Node to;
};

/// One thread's part.
class Linker {
 public:
  Linker(SharedGraph& graph, const ::faiss::Index& storage)
      : graph_(graph),
        equal_(storage),
        distances_(storage.get_distance_computer()),
        sign_(storage.metric_type == ::faiss::METRIC_INNER_PRODUCT ? -1.0F : 1.0F),
        seen_(graph.rows()) {}

  const LinkLog& log() const { return log_; }
  const std::vector<DroppedLink>& dropped() const { return dropped_; }

  void link(Node node, int top_level, const float* x) {
    distances_->set_query(x);
    const SharedGraph::Entry entry = graph_.enter(node, top_level);
    if (entry.node < 0) return;
    Neighbour nearest = {distance(entry.node), entry.node};
    int level = entry.level;
    for (; level > top_level; --level) descend(level, &nearest);
    for (; level >= 0; --level) link_on_level(node, level, nearest);
    graph_.raise_entry(node, top_level);
  }

 private:
  float distance(Node node) { return sign_ * (*distances_)(node); }
  float distance(Node a, Node b) { return sign_ * distances_->symmetric_dis(a, b); }

  bool add_seen(Node node) {
    uint8_t& seen = seen_[static_cast<size_t>(node)];
    if (seen == visit_) return false;
    seen = visit_;
    return true;
  }
  void forget_seen() {
    if (++visit_ != 0) return;
    std::fill(seen_.begin(), seen_.end(), uint8_t{0});
    visit_ = 1;
  }

  void descend(int level, Neighbour* nearest) {
    while (true) {
      const Node before = nearest->node;
      const SharedGraph::Links links = graph_.links(before, level);
      for (size_t i = 0; i < links.size(); ++i) {
        const Node node = links[i];
        if (node < 0) break;
        const float to_node = distance(node);
        if (to_node < nearest->distance) *nearest = {to_node, node};
      }
      if (nearest->node == before) return;
    }
  }

  /// The efConstruction nearest of a level, but for the row itself, into found_.
  void search(Node self, int level, Neighbour start) {
    found_.clear();
    waiting_.clear();
    waiting_.push(start);
    found_.push(start);
    add_seen(self);
    add_seen(start.node);
    while (!waiting_.empty() && waiting_.top().distance <= found_.top().distance) {
      const Neighbour at = waiting_.pop();
      const SharedGraph::Links links = graph_.links(at.node, level);
      for (size_t i = 0; i < links.size(); ++i) {
        const Node node = links[i];
        if (node < 0) break;
        if (!add_seen(node)) continue;
        const float to_node = distance(node);
        // The first of a chain represents the others, which are as far.
        if (level == 0 && to_node == at.distance && is_chained(node)) continue;
        const bool is_full = found_.size() >= graph_.ef_construction();
        if (is_full && !(found_.top().distance > to_node)) continue;
        found_.push({to_node, node});
        waiting_.push({to_node, node});
        if (is_full) found_.pop();
      }
    }
    forget_seen();
  }

  /// Keeps, from the nearest on, those that are nearer to the row than to any kept before.
  void shrink(Heap<FarthestOnTop>& rows, size_t most) {
    if (rows.size() < most) return;
    by_nearest_.clear();
    while (!rows.empty()) by_nearest_.push(rows.pop());
    kept_.clear();
    while (!by_nearest_.empty() && kept_.size() < most) {
      const Neighbour next = by_nearest_.pop();
      const bool is_good = std::none_of(kept_.begin(), kept_.end(), [&](const Neighbour& kept) {
        return distance(kept.node, next.node) < next.distance;
      });
      if (is_good) kept_.push_back(next);
    }
    for (const Neighbour& kept : kept_) rows.push(kept);
  }

  // ---- Equal rows ----

  bool is_chained(Node node) const {
    const SharedGraph::Links links = graph_.links(node, 0);
    return links.size() > kNext && links[kSelf] == node;
  }
  bool is_chain_of(Node node, Node first) const {
    return is_chained(node) && graph_.links(node, 0)[kFirst] == first;
  }
  /// The place of the first one's link to its chain; the number of its links where it has none.
  size_t chain_of(Node first, const SharedGraph::Links& links) const {
    size_t i = 0;
    while (i < links.size() && !(links[i] >= 0 && is_chain_of(links[i], first))) ++i;
    return i;
  }
  /// A row, of those that the search on level 0 found, that is equal to this one; −1 for none.
  Node equal_row(Node node) {
    const float to_itself = distance(node);
    for (const Neighbour& found : found_.values()) {
      if (found.distance == to_itself && equal_.are_equal(found.node, node)) return found.node;
    }
    return -1;
  }
  void chain(Node node, Node first) {
    SharedGraph::Lock lock(graph_, first);
    save_old(first, &lock);
    SharedGraph::Links first_links = graph_.links(first, 0);
    SharedGraph::Links own = graph_.links(node, 0);
    const size_t at = chain_of(first, first_links);
    if (at < first_links.size()) own.set(kNext, first_links[at]);
    own.set(kFirst, first);
    own.set(kSelf, node);
    if (at < first_links.size()) {
      if (graph_.knows_incoming()) dropped_.push_back({first, first_links[at]});
      first_links.set(at, node);
    } else {
      size_t free = first_links.size();
      while (free > 0 && first_links[free - 1] == -1) --free;
      first_links.set(std::min(free, first_links.size() - 1), node);
    }
  }
  void save_old(Node node, SharedGraph::Lock* lock) {
    if (!graph_.is_old(node) || lock->is_saved()) return;
    log_.save(graph_, node);
    lock->set_saved();
  }

  void link_on_level(Node node, int level, Neighbour nearest) {
    targets_.clear();
    Node equal = -1;
    if (level == 0 && is_chained(nearest.node))
      nearest.node = graph_.links(nearest.node, 0)[kFirst];
    {
      const SharedGraph::Lock lock(graph_, node);
      search(node, level, nearest);
      if (level == 0 && graph_.links(node, 0).size() > kNext) equal = equal_row(node);
    }
    if (equal >= 0) {
      chain(node, equal);
      return;
    }
    {
      const SharedGraph::Lock lock(graph_, node);
      shrink(found_, graph_.links(node, level).size());
      while (!found_.empty()) {
        const Node target = found_.pop().node;
        targets_.push_back(target);
        add_link(node, target, level);
      }
    }
    for (const Node target : targets_) {
      SharedGraph::Lock lock(graph_, target);
      save_old(target, &lock);
      add_link(target, node, level);
    }
    if (level > 0 || targets_.empty() || is_linked_back(node, -1)) return;
    // None of them keeps it: the nearest does, so that it can be found.
    SharedGraph::Lock lock(graph_, targets_.back());
    save_old(targets_.back(), &lock);
    add_link(targets_.back(), node, level, true);
  }

  void add_link(Node from, Node to, int level, bool must_stay = false) {
    SharedGraph::Links links = graph_.links(from, level);
    if (links[links.size() - 1] == -1) {
      size_t free = links.size();
      while (free > 0 && links[free - 1] == -1) --free;
      links.set(free, to);
      return;
    }
    rivals_.clear();
    rivals_.push({distance(from, to), to});
    // The chain of equal rows stays, whatever else is dropped.
    const float to_equal = level == 0 ? distance(from, from) : 0;
    Node chained = -1;
    for (size_t i = 0; i < links.size(); ++i) {
      const float to_link = distance(from, links[i]);
      if (level == 0 && to_link == to_equal && is_chain_of(links[i], from)) {
        chained = links[i];
      } else {
        rivals_.push({to_link, links[i]});
      }
    }
    const size_t capacity = links.size() - (chained >= 0 ? 1 : 0);
    shrink(rivals_, capacity);
    if (must_stay && !holds(rivals_, to)) {
      if (rivals_.size() == capacity) rivals_.pop();
      rivals_.push({distance(from, to), to});
    }
    if (level == 0) keep_last_links(from, links, capacity, chained);
    if (graph_.knows_incoming())
      for (size_t i = 0; i < links.size(); ++i)
        if (links[i] != chained && !holds(rivals_, links[i])) dropped_.push_back({from, links[i]});
    size_t i = 0;
    for (; !rivals_.empty(); ++i) links.set(i, rivals_.pop().node);
    if (chained >= 0) links.set(i++, chained);
    for (; i < links.size(); ++i) links.set(i, -1);
  }

  static bool holds(const Heap<FarthestOnTop>& heap, Node node) {
    return std::any_of(heap.values().begin(), heap.values().end(),
                       [node](const Neighbour& value) { return value.node == node; });
  }

  /// Of rows that lose their link from this one those stay that none of the rows they link to links
  /// to: nothing else may lead there. `rivals_`: what stays otherwise.
  void keep_last_links(Node from, const SharedGraph::Links& links, size_t capacity, Node chained) {
    for (size_t i = 0; i < links.size() && rivals_.size() < capacity; ++i) {
      const Node to = links[i];
      if (to != chained && !holds(rivals_, to) && !is_linked_back(to, from))
        rivals_.push({distance(from, to), to});
    }
  }
  bool is_linked_back(Node node, Node but) const {
    const SharedGraph::Links links = graph_.links(node, 0);
    for (size_t i = 0; i < links.size() && links[i] >= 0; ++i) {
      if (links[i] == but) continue;
      const SharedGraph::Links back = graph_.links(links[i], 0);
      for (size_t j = 0; j < back.size() && back[j] >= 0; ++j)
        if (back[j] == node) return true;
    }
    return false;
  }

  SharedGraph& graph_;
  EqualRows equal_;
  std::unique_ptr<::faiss::DistanceComputer> distances_;
  float sign_;
  std::vector<uint8_t> seen_;
  uint8_t visit_ = 1;
  LinkLog log_;
  std::vector<DroppedLink> dropped_;
  Heap<FarthestOnTop> found_;
  Heap<NearestOnTop> waiting_;
  Heap<FarthestOnTop> rivals_;
  Heap<NearestOnTop> by_nearest_;
  std::vector<Neighbour> kept_;
  std::vector<Node> targets_;
};

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

/// Rows of a graph for each row that comes, up to which what is known of incoming links is kept up.
constexpr idx_t kRowsForNewOne = 16;

/// What the graph of n0 rows knows; null where it knows nothing, or is to find it anew after so
/// many rows.
IncomingLinks* incoming_links_of(::faiss::IndexHNSW& index, idx_t n0, idx_t n) {
  auto* graph = dynamic_cast<HNSWOverPolar*>(&index);
  if (graph == nullptr) return nullptr;
  IncomingLinks& links = graph->incoming_links;
  if (links.is_of(static_cast<size_t>(n0)) && n <= std::max<idx_t>(n0 / kRowsForNewOne, 1))
    return &links;
  links.forget();
  return nullptr;
}

/// Notes what links of rows that came have none back, and what links to rows that dropped one.
void note_far_links(const ::faiss::HNSW& hnsw, idx_t n0, const std::vector<DroppedLink>& dropped,
                    IncomingLinks* incoming) {
  const auto note = [&](Node from, Node to) {
    if (to >= 0 && !links_to(hnsw, to, from)) incoming->note_far(to, from);
  };
  for (auto node = static_cast<Node>(n0); static_cast<size_t>(node) < hnsw.levels.size(); ++node)
    for (const Node link : all_links(hnsw, node)) note(node, link);
  for (const auto& [from, to] : dropped)
    if (links_to(hnsw, to, from)) note(to, from);
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
  std::vector<std::unique_ptr<Linker>> linkers(static_cast<size_t>(thread_count(0, n)));
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
        if (linker == nullptr) linker = std::make_unique<Linker>(graph, *index.storage);
        if (i % check_period == 0) require_going_on();
        if (thread == 0)
          report_work(static_cast<double>(begin_of_work + i) / static_cast<double>(n));
        linker->link(rows[i], static_cast<int>(level), x + (rows[i] - n0) * index.d);
      });
    }
    if (incoming != nullptr) {
      for (const auto& linker : linkers)
        if (linker != nullptr) note_far_links(hnsw, n0, linker->dropped(), incoming);
    }
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
