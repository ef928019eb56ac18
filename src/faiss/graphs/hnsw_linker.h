// SPDX-License-Identifier: MIT
// One thread's part in linking rows into an HNSW graph (hnsw_links.h): the search for a row's
// neighbours, the choice of those that stay, and chains of equal rows.
#pragma once

#include <faiss/Index.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "src/faiss/graphs/equal_rows.h"
#include "src/faiss/graphs/hnsw_graph.h"
#include "src/faiss/graphs/shared_graph.h"

namespace polarquant {

/// For one thread; the graph and the storage are borrowed.
class HnswLinker {
 public:
  using Node = SharedGraph::Node;
  struct DroppedLink {
    Node from;
    Node to;
  };

  /// fills_lists: whether places of level 0 that the choice of links leaves free get the nearest of
  /// those not chosen: where a node is read whole, more links cost nothing.
  HnswLinker(SharedGraph& graph, const ::faiss::Index& storage, bool fills_lists)
      : graph_(graph),
        fills_lists_(fills_lists),
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
  /// Links a row that no walk over level 0 comes to from the nearest of its links that one does
  /// come to, or else from where the way from `entry` towards it ends. All else that can be reached
  /// stays so: a link that has to give way is handed on to the row. For one thread alone.
  void link_island(Node node, const std::vector<bool>& reached, Node entry) {
    if (is_chained(node)) return;  // its first one leads to it
    const Node from = nearest_reached(node, reached, entry);
    const Node handed_on = replace_link(from, node, [&](Node link) { return !is_chained(link); });
    if (handed_on < 0) return;
    const SharedGraph::Links own = graph_.links(node, 0);
    for (size_t i = 0; i < own.size(); ++i)
      if (own[i] == handed_on) return;
    // Nothing that is reached needed the links of a row that was not.
    replace_link(node, handed_on, [&](Node link) { return reached[static_cast<size_t>(link)]; });
  }

 private:
  struct Neighbour {
    float distance;
    Node node;
  };
  /// Orders of heaps: the top is the farthest, or the nearest.
  struct FarthestOnTop {
    bool operator()(const Neighbour& a, const Neighbour& b) const {
      return a.distance < b.distance;
    }
  };
  struct NearestOnTop {
    bool operator()(const Neighbour& a, const Neighbour& b) const {
      return a.distance > b.distance;
    }
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
    others_.clear();
    if (rows.size() < most) return;
    by_nearest_.clear();
    while (!rows.empty()) by_nearest_.push(rows.pop());
    kept_.clear();
    while (!by_nearest_.empty() && kept_.size() < most) {
      const Neighbour next = by_nearest_.pop();
      const bool is_good = std::none_of(kept_.begin(), kept_.end(), [&](const Neighbour& kept) {
        return distance(kept.node, next.node) < next.distance;
      });
      if (is_good) {
        kept_.push_back(next);
      } else if (fills_lists_) {
        others_.push_back(next);
      }
    }
    for (const Neighbour& kept : kept_) rows.push(kept);
  }
  /// Fills the list up with the nearest of those that shrink() did not keep.
  void fill(Heap<FarthestOnTop>& rows, size_t most, int level) const {
    if (!fills_lists_ || level > 0) return;
    for (size_t i = 0; i < others_.size() && rows.size() < most; ++i)
      if (!holds(rows, others_[i].node)) rows.push(others_[i]);
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
      const size_t place = std::min(free, first_links.size() - 1);
      if (place != free) note_dropped(first, first_links[place]);
      first_links.set(place, node);
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
      fill(found_, graph_.links(node, level).size(), level);
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

  Node nearest_reached(Node node, const std::vector<bool>& reached, Node entry) {
    Neighbour nearest = {std::numeric_limits<float>::infinity(), -1};
    const auto look_at = [&](Node link) {
      if (!reached[static_cast<size_t>(link)] || is_chained(link)) return;
      const float to_link = distance(node, link);
      if (to_link < nearest.distance) nearest = {to_link, link};
    };
    const auto look_at_links = [&](Node from) {
      const SharedGraph::Links links = graph_.links(from, 0);
      for (size_t i = 0; i < links.size() && links[i] >= 0; ++i) look_at(links[i]);
    };
    look_at_links(node);
    if (nearest.node >= 0) return nearest.node;
    nearest.node = is_chained(entry) ? graph_.links(entry, 0)[kFirst] : entry;
    nearest.distance = distance(node, nearest.node);
    for (Node at = -1; at != nearest.node;) {
      at = nearest.node;
      look_at_links(at);
    }
    return nearest.node;
  }
  /// Adds a link on level 0, in the place of the farthest one that may go where there is no space.
  /// Returns the one that went, or −1.
  template <typename MayGo>
  Node replace_link(Node from, Node to, const MayGo& may_go) {
    SharedGraph::Lock lock(graph_, from);
    save_old(from, &lock);
    SharedGraph::Links links = graph_.links(from, 0);
    size_t place = 0;
    while (place < links.size() && links[place] >= 0) ++place;
    if (place == links.size()) {
      // They stand with the farthest first.
      place = 0;
      while (place < links.size() && !may_go(links[place])) ++place;
      place = std::min(place, links.size() - 1);
    }
    const Node gone = links[place];
    links.set(place, to);
    return gone;
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
      if (rivals_.size() == capacity) drop_rival_of(from);
      rivals_.push({distance(from, to), to});
    }
    if (level == 0) keep_last_links(from, links, capacity, chained);
    fill(rivals_, capacity, level);
    for (size_t i = 0; i < links.size(); ++i)
      if (links[i] != chained && !holds(rivals_, links[i])) note_dropped(from, links[i]);
    size_t i = 0;
    for (; !rivals_.empty(); ++i) links.set(i, rivals_.pop().node);
    if (chained >= 0) links.set(i++, chained);
    for (; i < links.size(); ++i) links.set(i, -1);
  }

  /// The farthest of those that another row leads to as well goes, the farthest of all where there
  /// is none.
  void drop_rival_of(Node from) {
    kept_.clear();
    while (!rivals_.empty()) kept_.push_back(rivals_.pop());
    auto dropped = std::find_if(kept_.begin(), kept_.end(), [&](const Neighbour& rival) {
      return is_linked_back(rival.node, from);
    });
    if (dropped == kept_.end()) dropped = kept_.begin();
    for (auto rival = kept_.begin(); rival != kept_.end(); ++rival)
      if (rival != dropped) rivals_.push(*rival);
  }
  void note_dropped(Node from, Node to) {
    if (graph_.knows_incoming()) dropped_.push_back({from, to});
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
  bool fills_lists_;
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
  std::vector<Neighbour> others_;  // nearest first
  std::vector<Node> targets_;
};

}  // namespace polarquant
