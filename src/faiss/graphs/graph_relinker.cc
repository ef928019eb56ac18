// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/graph_relinker.h"

#include <algorithm>
#include <limits>

namespace polarquant {

using Node = ::faiss::HNSW::storage_idx_t;

namespace {

/// Links of a row that goes that are looked at for each link to it. Half of 117,659 rows of 384
/// dimensions removed, a 32nd at a time: recall@10 is .940 with all 42 and with 8, .935 with 6,
/// .922 with none; a new graph has .946.
constexpr size_t kLookedAt = 8;
/// Rows that go are passed through for a neighbour that stays, so many at most.
constexpr size_t kMostPassed = 64;

}  // namespace

void GraphRelinker::relink(Node node, int level) {
  if (level == 0 && rows_.is_chained(node)) {
    const Node first = rows_.first_of_chain(node);
    if (!rows_.is_gone(first)) {
      const Node next = rows_.next_in_chain(node);
      if (next != rows_.chain_link(node)) take(node, level, {node, first, next});
      return;
    }
    const Node stand_in = rows_.stand_in(first, 0);
    if (stand_in != node) {
      take(node, level, {node, stand_in, rows_.next_in_chain(node)});
      return;
    }
    // It takes the first one's place.
    relink_as(node, first, level);
    return;
  }
  relink_as(node, node, level);
}

/// The links of `node` become those of `owner` without rows that go.
void GraphRelinker::relink_as(Node node, Node owner, int level) {
  const std::span<const Node> links = rows_.links(owner, level);
  // Most lists stay as they are.
  if (node == owner &&
      std::none_of(links.begin(), links.end(), [this](Node link) { return rows_.is_gone(link); }))
    return;
  kept_links_.clear();
  lost_.clear();
  bool changes = node != owner;
  bool has_stand_ins = false;
  for (const Node link : links) {
    // Most stay, and what they link to, far away in memory, need not be read.
    if (node == owner && !rows_.is_gone(link)) {
      if (link != node && !(has_stand_ins && is_kept_link(link))) kept_links_.push_back(link);
      continue;
    }
    const bool is_of_chain = level == 0 && rows_.is_chain_of(link, owner);
    const Node to = is_of_chain ? rows_.chain_after(link, node) : rows_.stand_in(link, level);
    changes = changes || to != link;
    if (to >= 0 && to != node && !is_kept_link(to)) {
      kept_links_.push_back(to);
      has_stand_ins = true;
    } else if (to < 0 && !is_of_chain) {
      lost_.push_back(link);
    }
  }
  if (!changes) return;
  for (const Node lost : lost_) link_past(node, lost, level);
  take(node, level, kept_links_);
}

bool GraphRelinker::is_kept_link(Node node) const {
  return std::find(kept_links_.begin(), kept_links_.end(), node) != kept_links_.end();
}

/// Links the node to the nearest of some neighbours of a row that goes.
void GraphRelinker::link_past(Node node, Node lost, int level) {
  Node nearest = -1;
  float nearest_distance = std::numeric_limits<float>::infinity();
  passed_.assign(1, lost);
  for (size_t i = 0; i < passed_.size() && nearest < 0; ++i) {
    const std::span<const Node> links = rows_.links(passed_[i], level);
    // Others for each node, so that all of them take part.
    const size_t step = std::max<size_t>(links.size() / kLookedAt, 1);
    for (size_t at = static_cast<size_t>(node) % step; at < links.size(); at += step) {
      const Node link = links[at];
      if (level == 0 && rows_.is_chained(link)) continue;
      const Node to = rows_.stand_in(link, level);
      if (to < 0) {
        if (passed_.size() < kMostPassed &&
            std::find(passed_.begin(), passed_.end(), link) == passed_.end())
          passed_.push_back(link);
        continue;
      }
      if (to == node || is_kept_link(to)) continue;
      const float to_node = distances_.between(node, to);
      if (to_node < nearest_distance) {
        nearest_distance = to_node;
        nearest = to;
      }
    }
  }
  if (nearest >= 0) kept_links_.push_back(nearest);
}

void GraphRelinker::take(Node node, int level, const std::vector<Node>& links) {
  const auto end = std::find(links.begin(), links.end(), -1);
  take_(node, level, {links.begin(), end});
}

}  // namespace polarquant
