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
#include "src/faiss/graphs/link_candidates.h"
#include "src/faiss/graphs/link_choice.h"
#include "src/faiss/graphs/node_distances.h"
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

  /// fills_lists: LinkChoice's, for level 0.
  HnswLinker(SharedGraph& graph, const ::faiss::Index& storage, bool fills_lists)
      : graph_(graph),
        equal_(storage),
        distances_(NodeDistances::make(storage)),
        walk_(graph, *distances_),
        choice_(*distances_, fills_lists) {}

  const LinkLog& log() const { return log_; }
  const std::vector<DroppedLink>& dropped() const { return dropped_; }

  void link(Node node, int top_level, const float* x) {
    distances_->set_query(x);
    const SharedGraph::Entry entry = graph_.enter(node, top_level);
    if (entry.node < 0) return;
    LinkCandidate nearest = walk_.scored(entry.node);
    int level = entry.level;
    for (; level > top_level; --level) walk_.descend(level, &nearest);
    for (; level >= 0; --level) link_on_level(node, level, nearest);
    graph_.raise_entry(node, top_level);
  }
  /// Links a row that no walk over level 0 comes to from the nearest of its links that one does
  /// come to, or else from where the way from `entry` towards it ends. All else that can be reached
  /// stays so: a link that has to give way is handed on to the row. For one thread alone.
  void link_island(Node node, const std::vector<bool>& reached, Node entry) {
    if (graph_.is_chained(node)) return;  // its first one leads to it
    const Node from = nearest_reached(node, reached, entry);
    const Node handed_on =
        replace_link(from, node, [&](Node link) { return !graph_.is_chained(link); });
    if (handed_on < 0) return;
    const SharedGraph::Links own = graph_.links(node, 0);
    for (size_t i = 0; i < own.size(); ++i)
      if (own[i] == handed_on) return;
    // Nothing that is reached needed the links of a row that was not.
    replace_link(node, handed_on, [&](Node link) { return reached[static_cast<size_t>(link)]; });
  }

 private:
  float distance(Node a, Node b) { return distances_->between(a, b); }

  // ---- Equal rows ----

  bool is_chain_of(Node node, Node first) const {
    return graph_.is_chained(node) && graph_.links(node, 0)[kFirst] == first;
  }
  /// The place of the first one's link to its chain; the number of its links where it has none.
  size_t chain_of(Node first, const SharedGraph::Links& links) const {
    size_t i = 0;
    while (i < links.size() && !(links[i] >= 0 && is_chain_of(links[i], first))) ++i;
    return i;
  }
  /// A row, of those that the search on level 0 found, that is equal to this one; −1 for none.
  Node equal_row(Node node) {
    const float to_itself = walk_.scored(node).distance;
    for (const LinkCandidate& found : found_) {
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

  void link_on_level(Node node, int level, LinkCandidate nearest) {
    targets_.clear();
    Node equal = -1;
    if (level == 0 && graph_.is_chained(nearest.node))
      nearest.node = graph_.links(nearest.node, 0)[kFirst];
    {
      const SharedGraph::Lock lock(graph_, node);
      walk_.find(node, level, nearest, &found_);
      if (level == 0 && graph_.links(node, 0).size() > kNext) equal = equal_row(node);
    }
    if (equal >= 0) {
      chain(node, equal);
      return;
    }
    {
      const SharedGraph::Lock lock(graph_, node);
      const size_t most = graph_.links(node, level).size();
      choice_.choose(&found_, most);
      if (level == 0) choice_.fill(&found_, most);
      for (const LinkCandidate& target : farthest_first(&found_)) {
        targets_.push_back(target.node);
        add_link(node, target.node, level);
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
    LinkCandidate nearest = {std::numeric_limits<float>::infinity(), -1};
    const auto look_at = [&](Node link) {
      if (!reached[static_cast<size_t>(link)] || graph_.is_chained(link)) return;
      const float to_link = distance(node, link);
      if (to_link < nearest.distance) nearest = {to_link, link};
    };
    const auto look_at_links = [&](Node from) {
      const SharedGraph::Links links = graph_.links(from, 0);
      for (size_t i = 0; i < links.size() && links[i] >= 0; ++i) look_at(links[i]);
    };
    look_at_links(node);
    if (nearest.node >= 0) return nearest.node;
    nearest.node = graph_.is_chained(entry) ? graph_.links(entry, 0)[kFirst] : entry;
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
    find_rivals(from, to, level);
    const size_t capacity = links.size() - (chained_ >= 0 ? 1 : 0);
    choice_.choose(&rivals_, capacity);
    if (must_stay && !LinkChoice::holds(rivals_, to)) {
      if (rivals_.size() == capacity) drop_rival_of(from);
      rivals_.push_back({to_nodes_.front(), to});
    }
    if (level == 0) {
      keep_last_links(from, links, capacity);
      choice_.fill(&rivals_, capacity);
    }
    for (size_t i = 0; i < links.size(); ++i)
      if (links[i] != chained_ && !LinkChoice::holds(rivals_, links[i]))
        note_dropped(from, links[i]);
    size_t i = 0;
    for (const LinkCandidate& rival : farthest_first(&rivals_)) links.set(i++, rival.node);
    if (chained_ >= 0) links.set(i++, chained_);
    for (; i < links.size(); ++i) links.set(i, -1);
  }
  /// Lists are written so.
  static const std::vector<LinkCandidate>& farthest_first(std::vector<LinkCandidate>* rows) {
    std::sort(rows->rbegin(), rows->rend());
    return *rows;
  }

  /// What may stay of a full list and `to`, in order, into rivals_; the chain of equal rows stays
  /// whatever else is dropped, and is chained_, or −1. to_nodes_: distances of `to`, then of the
  /// links in their order.
  void find_rivals(Node from, Node to, int level) {
    const SharedGraph::Links links = graph_.links(from, level);
    nodes_.assign(1, to);
    for (size_t i = 0; i < links.size(); ++i) nodes_.push_back(links[i]);
    nodes_.push_back(from);
    to_nodes_.resize(nodes_.size());
    distances_->between(from, nodes_.data(), static_cast<int>(nodes_.size()), to_nodes_.data());
    const float to_equal = to_nodes_.back();
    rivals_.clear();
    chained_ = -1;
    for (size_t i = 0; i + 1 < nodes_.size(); ++i) {
      if (i > 0 && level == 0 && to_nodes_[i] == to_equal && is_chain_of(nodes_[i], from)) {
        chained_ = nodes_[i];
      } else {
        rivals_.push_back({to_nodes_[i], nodes_[i]});
      }
    }
    std::sort(rivals_.begin(), rivals_.end());
  }

  /// The farthest of those that another row leads to as well goes, the farthest of all where there
  /// is none.
  void drop_rival_of(Node from) {
    farthest_first(&rivals_);
    auto dropped = std::find_if(rivals_.begin(), rivals_.end(), [&](const LinkCandidate& rival) {
      return is_linked_back(rival.node, from);
    });
    if (dropped == rivals_.end()) dropped = rivals_.begin();
    rivals_.erase(dropped);
  }
  void note_dropped(Node from, Node to) {
    if (graph_.knows_incoming()) dropped_.push_back({from, to});
  }

  /// Of rows that lose their link from this one those stay that none of the rows they link to links
  /// to: nothing else may lead there. `rivals_`: what stays otherwise.
  void keep_last_links(Node from, const SharedGraph::Links& links, size_t capacity) {
    for (size_t i = 0; i < links.size() && rivals_.size() < capacity; ++i) {
      const Node to = links[i];
      if (to != chained_ && !LinkChoice::holds(rivals_, to) && !is_linked_back(to, from))
        rivals_.push_back({to_nodes_[i + 1], to});
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
  std::unique_ptr<NodeDistances> distances_;
  CandidateWalk walk_;
  LinkChoice choice_;
  LinkLog log_;
  std::vector<DroppedLink> dropped_;
  std::vector<LinkCandidate> found_;
  std::vector<Node> targets_;
  std::vector<LinkCandidate> rivals_;  // for a full list
  Node chained_ = -1;
  std::vector<Node> nodes_;
  std::vector<float> to_nodes_;
};

}  // namespace polarquant
