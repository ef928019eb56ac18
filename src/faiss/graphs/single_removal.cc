// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/single_removal.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "src/faiss/graphs/graph_beam.h"
#include "src/faiss/graphs/graph_relinker.h"
#include "src/faiss/graphs/removed_chains.h"

namespace polarquant {

using Node = ::faiss::HNSW::storage_idx_t;

namespace {

/// Rows whose links are read while those that link to one are looked for; then a pass over all
/// links finds them.
constexpr size_t kMostLookedAt = 1024;
/// Rows whose links are followed from a neighbour of the row that goes to another, which may be far
/// away.
constexpr size_t kMostExpanded = 256;

bool holds(std::span<const Node> links, Node node) {
  return std::find(links.begin(), links.end(), node) != links.end();
}

}  // namespace

/// What the constructor of SingleRemoval does.
class SingleRemovalPlanner {
 public:
  SingleRemovalPlanner(const ::faiss::IndexHNSW& index, const IncomingLinks& incoming,
                       SingleRemoval* plan)
      : hnsw_(index.hnsw),
        incoming_(incoming),
        gone_((hnsw_.levels.size() + 63) / 64),
        rows_(hnsw_, gone_),
        distances_(NodeDistances::make(*index.storage)),
        relinker_(rows_, *distances_,
                  [this](Node node, int level, std::span<const Node> links) {
                    change(node, level, links);
                  }),
        plan_(*plan) {
    for (SeenNodes* nodes : {&seen_, &walked_, &changed_}) nodes->begin(rows_.count());
  }

  void make() {
    const Node row = plan_.row_;
    if (row == hnsw_.entry_point) return;
    find_heir();
    gone_[static_cast<size_t>(row) / 64] |= uint64_t{1} << row % 64;
    const std::vector<Node> linking = rows_that_link_to(row);
    for (const Node node : linking) {
      if (node == row) continue;
      for (int level = 0; level < hnsw_.levels[static_cast<size_t>(node)]; ++level)
        relinker_.relink(node, level);
    }
    if (!keeps_rows_reachable(linking)) return;
    find_moves();
    plan_.is_possible_ = true;
  }

 private:
  void find_heir() {
    const auto levels_of = [this](Node node) { return hnsw_.levels[static_cast<size_t>(node)]; };
    plan_.last_ = rows_.count() - 1;
    plan_.heir_ = plan_.last_;
    while (levels_of(plan_.heir_) != levels_of(plan_.row_)) --plan_.heir_;
  }

  void change(Node node, int level, std::span<const Node> links) {
    const std::span<const Node> before = level == 0 ? new_links(node) : rows_.links(node, level);
    // Most links stay, in order.
    nodes_.clear();
    size_t same = 0;
    for (const Node link : before) {
      if (same < links.size() && links[same] == link) {
        ++same;
      } else {
        nodes_.push_back(link);
      }
    }
    const std::span<const Node> others = links.subspan(same);
    for (const Node link : others)
      if (!holds(nodes_, link)) plan_.one_way_.push_back({node, link});
    for (const Node link : nodes_)
      if (!holds(others, link) && link != plan_.row_) plan_.one_way_.push_back({link, node});
    changed_.add(node);
    plan_.changes_.add(node, level, links);
  }

  /// Each once; the row itself too, where it links to itself.
  std::vector<Node> rows_that_link_to(Node row) {
    std::vector<Node> linking;
    uint32_t wanted = incoming_.count(row);
    walked_.begin(rows_.count());
    const auto look = [&](Node node) {
      if (node >= rows_.count() || !walked_.add(node)) return;
      const std::span<const Node> links = all_links(hnsw_, node);
      const auto found = static_cast<uint32_t>(std::count(links.begin(), links.end(), row));
      if (found > 0) linking.push_back(node);
      wanted -= std::min(found, wanted);
    };
    look(row);
    for (const Node link : all_links(hnsw_, row))
      if (link >= 0) look(link);
    if (wanted > 0) incoming_.visit_far(row, look);
    seen_.begin(rows_.count());
    seen_.add(row);
    for (size_t i = 0; wanted > 0 && i < seen_.nodes().size() && i < kMostLookedAt; ++i) {
      look(seen_.nodes()[i]);
      for (const Node link : all_links(hnsw_, seen_.nodes()[i]))
        if (link >= 0) seen_.add(link);
    }
    return wanted > 0 ? look_everywhere(row) : linking;
  }
  std::vector<Node> look_everywhere(Node row) const {
    std::vector<Node> linking;
    for (Node node = 0; node < rows_.count(); ++node) {
      if (links_to(hnsw_, node, row)) linking.push_back(node);
    }
    return linking;
  }

  // ---- Whether all can be reached ----

  /// On level 0, as they will be.
  std::span<const Node> new_links(Node node) const {
    if (changed_.holds(node)) {
      const std::vector<LinkChanges::Change>& made = plan_.changes_.all();
      const auto last = std::find_if(made.rbegin(), made.rend(), [node](const auto& change) {
        return change.node == node && change.level == 0;
      });
      if (last != made.rend()) return plan_.changes_.links(*last);
    }
    return rows_.links(node, 0);
  }
  bool links_to_any(Node node, const SeenNodes& rows) const {
    const std::span<const Node> links = new_links(node);
    return std::any_of(links.begin(), links.end(), [&](Node link) { return rows.holds(link); });
  }

  bool keeps_rows_reachable(const std::vector<Node>& linking) {
    std::vector<Node> before;
    for (const Node node : linking)
      if (node != plan_.row_ && holds(rows_.links(node, 0), plan_.row_)) before.push_back(node);
    std::vector<Node> after;
    for (const Node link : rows_.links(plan_.row_, 0))
      if (link != plan_.row_) after.push_back(link);
    if (after.empty()) return true;
    const Node stand_in = rows_.stand_in(plan_.row_, 0);
    // One that many link to is the easiest to come to.
    const Node middle = stand_in >= 0
                            ? stand_in
                            : *std::max_element(after.begin(), after.end(), [this](Node a, Node b) {
                                return incoming_.count(a) < incoming_.count(b);
                              });
    if (!leads_to_all(middle, after)) return false;
    // A row that lost a link to make space is to lead there, too, by what it has now.
    before.insert(before.end(), gave_up_links_.begin(), gave_up_links_.end());
    return is_reached_by_all(middle, before);
  }

  bool is_reached_by_all(Node to, const std::vector<Node>& from) {
    // Most by way of each other, or of rows that the one that goes links to.
    std::vector<Node> near = from;
    const std::span<const Node> links = rows_.links(plan_.row_, 0);
    near.insert(near.end(), links.begin(), links.end());
    seen_.begin(rows_.count());
    seen_.add(to);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const Node node : near) {
        if (seen_.holds(node) || node == plan_.row_ || !links_to_any(node, seen_)) continue;
        seen_.add(node);
        goes_on = true;
      }
    }
    return std::all_of(from.begin(), from.end(), [this, to](Node node) {
      if (!seen_.holds(node) && !walks_to_seen(node, to)) return false;
      seen_.add(node);
      return true;
    });
  }
  bool walks_to_seen(Node from, Node to) {
    return walks(from, to, [this](Node node) { return links_to_any(node, seen_); });
  }
  /// Walks towards a row, from the nearest one that is met to the next, until it is there; what it
  /// meets is in walked_.
  template <typename IsThere>
  bool walks(Node from, Node to, const IsThere& is_there) {
    using Candidate = std::pair<float, Node>;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> waiting;
    waiting.emplace(0.0F, from);
    walked_.begin(rows_.count());
    walked_.add(from);
    for (size_t i = 0; !waiting.empty() && i < kMostExpanded; ++i) {
      const Node node = waiting.top().second;
      waiting.pop();
      if (is_there(node)) return true;
      nodes_.clear();
      for (const Node link : new_links(node))
        if (walked_.add(link)) nodes_.push_back(link);
      find_distances(to);
      for (size_t j = 0; j < nodes_.size(); ++j) waiting.emplace(to_nodes_[j], nodes_[j]);
    }
    return false;
  }

  /// Of a row to nodes_, into to_nodes_.
  void find_distances(Node row) {
    to_nodes_.resize(nodes_.size());
    distances_->between(row, nodes_.data(), static_cast<int>(nodes_.size()), to_nodes_.data());
  }

  /// Rows that a walk does not come to get a link.
  bool leads_to_all(Node from, const std::vector<Node>& to) {
    seen_.begin(rows_.count());
    seen_.add(from);
    // Its neighbours, and theirs; a walk reads rows besides.
    for (const Node link : new_links(from)) seen_.add(link);
    for (size_t i = 1, near = seen_.nodes().size(); i < near; ++i)
      for (const Node link : new_links(seen_.nodes()[i])) seen_.add(link);
    for (const Node node : to) {
      const auto links_to_it = [&](Node walked) { return holds(new_links(walked), node); };
      if (!seen_.holds(node) && !is_linked_from_seen(node) && !walks(from, node, links_to_it) &&
          !link_to(node))
        return false;
      seen_.add(node);
      for (const Node link : new_links(node)) seen_.add(link);
    }
    return true;
  }
  /// By one of the rows that it links to: most links go both ways.
  bool is_linked_from_seen(Node node) const {
    const std::span<const Node> links = new_links(node);
    return std::any_of(links.begin(), links.end(), [&](Node link) {
      return seen_.holds(link) && holds(new_links(link), node);
    });
  }

  bool is_chained_now(Node node) const { return is_chained(node, new_links(node)); }
  /// Links the nearest row that the walk came to to this one. Where it has no space, one of its
  /// links goes by way of this one.
  bool link_to(Node node) {
    if (is_chained_now(node)) return false;
    Node nearest = -1;
    float nearest_distance = std::numeric_limits<float>::infinity();
    nodes_.clear();
    for (const Node walked : walked_.nodes())
      if (!is_chained_now(walked)) nodes_.push_back(walked);
    find_distances(node);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (to_nodes_[i] >= nearest_distance) continue;
      nearest_distance = to_nodes_[i];
      nearest = nodes_[i];
    }
    if (nearest < 0) return false;
    const auto copy_of = [this](Node row) {
      const std::span<const Node> links = new_links(row);
      return std::vector<Node>(links.begin(), links.end());
    };
    std::vector<Node> links = copy_of(nearest);
    if (links.size() < rows_.capacity(0)) {
      links.push_back(node);
      change(nearest, 0, links);
      return true;
    }
    const auto handed_on = std::find_if(links.rbegin(), links.rend(),
                                        [this](Node link) { return !is_chained_now(link); });
    if (handed_on == links.rend()) return false;
    std::vector<Node> own = copy_of(node);
    if (!holds(own, *handed_on)) {
      if (own.size() == rows_.capacity(0)) {
        // The walk came there without it.
        const auto dropped = std::find_if(own.begin(), own.end(), [this](Node link) {
          return walked_.holds(link) && !is_chained_now(link);
        });
        if (dropped == own.end()) return false;
        own.erase(dropped);
        gave_up_links_.push_back(node);
      }
      own.push_back(*handed_on);
      change(node, 0, own);
    }
    *handed_on = node;
    change(nearest, 0, links);
    return true;
  }

  // ---- New numbers ----

  void find_moves() {
    if (plan_.heir_ != plan_.row_) find_move(plan_.heir_, plan_.row_);
    if (plan_.last_ != plan_.heir_) find_move(plan_.last_, plan_.heir_);
    plan_.last_links_.resize(all_links(hnsw_, plan_.last_).size());
  }
  void find_move(Node from, Node to) {
    const size_t begin = plan_.holders_.size();
    const std::vector<Node> linking = rows_that_link_to(from);
    plan_.holders_.insert(plan_.holders_.end(), linking.begin(), linking.end());
    // New links may lead to it.
    plan_.holders_.insert(plan_.holders_.end(), changed_.nodes().begin(), changed_.nodes().end());
    plan_.moves_.push_back({from, to, begin, plan_.holders_.size()});
  }

  const ::faiss::HNSW& hnsw_;
  const IncomingLinks& incoming_;
  std::vector<uint64_t> gone_;
  RemovedChains rows_;
  std::unique_ptr<NodeDistances> distances_;
  GraphRelinker relinker_;
  SingleRemoval& plan_;
  SeenNodes seen_;
  SeenNodes walked_;
  SeenNodes changed_;
  std::vector<Node> gave_up_links_;
  std::vector<Node> nodes_;
  std::vector<float> to_nodes_;
};

SingleRemoval::SingleRemoval(const ::faiss::IndexHNSW& index, const IncomingLinks& incoming,
                             Node row)
    : row_(row) {
  SingleRemovalPlanner(index, incoming, this).make();
}

void SingleRemoval::apply(::faiss::HNSW& hnsw, IncomingLinks& incoming) noexcept {
  write_links(hnsw, incoming);
  renumber(hnsw);
  move_rows(hnsw);
  incoming.take_out(row_, heir_);
  note_far_links(hnsw, incoming);
}

void SingleRemoval::note_changed(std::vector<Node>* nodes, std::vector<Node>* renumbered) const {
  for (const LinkChanges::Change& change : changes_.all()) nodes->push_back(change.node);
  renumbered->insert(renumbered->end(), holders_.begin(), holders_.end());
  for (std::vector<Node>* all : {nodes, renumbered})
    for (Node& node : *all) node = node == heir_ ? row_ : node == last_ ? heir_ : node;
  nodes->push_back(row_);
  nodes->push_back(heir_);
}

void SingleRemoval::write_links(::faiss::HNSW& hnsw, IncomingLinks& incoming) const noexcept {
  for (const Node link : all_links(hnsw, row_)) incoming.take(link);
  changes_.write(hnsw, [&](Node& place, Node link) {
    incoming.take(place);
    incoming.add(link);
    place = link;
  });
}

/// Each to a number that nothing links to any more.
void SingleRemoval::renumber(::faiss::HNSW& hnsw) const noexcept {
  for (const Move& move : moves_) {
    for (size_t i = move.begin; i < move.end; ++i) {
      const auto holder = static_cast<size_t>(holders_[i]);
      std::replace(hnsw.neighbors.data() + hnsw.offsets[holder],
                   hnsw.neighbors.data() + hnsw.offsets[holder + 1], move.from, move.to);
    }
    if (hnsw.entry_point == move.from) hnsw.entry_point = move.to;
  }
}

void SingleRemoval::move_rows(::faiss::HNSW& hnsw) noexcept {
  const auto heir = static_cast<size_t>(heir_);
  const auto last = static_cast<size_t>(last_);
  Node* links = hnsw.neighbors.data();
  const size_t begin = hnsw.offsets[heir];
  const size_t end = hnsw.offsets[heir + 1];
  if (heir_ != row_)
    std::copy(links + begin, links + end, links + hnsw.offsets[static_cast<size_t>(row_)]);
  if (last != heir) {
    // The last row may have other levels: rows between move by as much.
    std::copy_n(links + hnsw.offsets[last], last_links_.size(), last_links_.begin());
    const size_t new_end = begin + last_links_.size();
    std::memmove(links + new_end, links + end, (hnsw.offsets[last] - end) * sizeof(Node));
    std::copy(last_links_.begin(), last_links_.end(), links + begin);
    for (size_t row = heir + 1; row <= last; ++row)
      hnsw.offsets[row] = hnsw.offsets[row] + new_end - end;
    hnsw.levels[heir] = hnsw.levels[last];
  }
  hnsw.levels.pop_back();
  hnsw.offsets.pop_back();
  hnsw.neighbors.resize(hnsw.offsets.back());
}

void SingleRemoval::note_far_links(const ::faiss::HNSW& hnsw,
                                   IncomingLinks& incoming) const noexcept {
  const auto number = [this](Node node) {
    return node == heir_ ? row_ : node == last_ ? heir_ : node;
  };
  const auto note = [&](Node from, Node to) {
    if (links_to(hnsw, from, to) && !links_to(hnsw, to, from)) incoming.note_far(to, from);
  };
  for (const auto& [from, to] : one_way_) note(number(from), number(to));
  for (const Move& move : moves_) {
    for (size_t i = move.begin; i < move.end; ++i)
      if (holders_[i] != row_) note(number(holders_[i]), move.to);
    for (const Node link : all_links(hnsw, move.to))
      if (link >= 0) note(move.to, link);
  }
}

}  // namespace polarquant
