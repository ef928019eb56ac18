// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/hnsw_removal.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "src/core/work_progress.h"
#include "src/faiss/graphs/graph_relinker.h"
#include "src/faiss/graphs/removed_chains.h"

namespace polarquant {

using Node = ::faiss::HNSW::storage_idx_t;

namespace {

/// Nodes that are kept while the nearest one that can be reached is looked for.
constexpr size_t kNearestKept = 32;
/// Nodes between two questions whether to go on.
constexpr Node kBetweenPolls = 4096;

}  // namespace

/// What the constructor of HnswRemoval does.
class RemovalPlanner {
 public:
  RemovalPlanner(const ::faiss::IndexHNSW& index, std::span<const uint64_t> gone,
                 HnswRemoval* removal)
      : hnsw_(index.hnsw),
        rows_(index.hnsw, gone),
        distances_(NodeDistances::make(*index.storage)),
        relinker_(rows_, *distances_,
                  [this](Node node, int level, std::span<const Node> links) {
                    change(node, level, links);
                  }),
        plan_(*removal),
        change_of_(static_cast<size_t>(rows_.count()), -1) {}

  void make() {
    number_rows();
    choose_entry_point();
    for (Node node = 0; node < rows_.count(); ++node) {
      if (node % kBetweenPolls == 0) poll_work();
      if (rows_.is_gone(node)) continue;
      for (int level = 0; level < hnsw_.levels[static_cast<size_t>(node)]; ++level)
        relinker_.relink(node, level);
    }
    if (plan_.kept_ == 0) return;
    if (!rows_.has_levels() && plan_.entry_point_ != hnsw_.entry_point) take_over_entry();
    reach_all();
  }

 private:
  void number_rows() {
    const auto count = static_cast<size_t>(rows_.count());
    plan_.drops_.resize(count);
    for (Node node = 0; node < rows_.count(); ++node)
      plan_.drops_[static_cast<size_t>(node)] = rows_.is_gone(node);
    for (const auto& [row, by] : plan_.replaced_) {
      plan_.drops_[static_cast<size_t>(row)] = false;
      plan_.drops_[static_cast<size_t>(by)] = true;
    }
    plan_.new_number_.assign(count, -1);
    for (size_t node = 0; node < count; ++node)
      if (!plan_.drops_[node]) plan_.new_number_[node] = static_cast<Node>(plan_.kept_++);
    for (const auto& [row, by] : plan_.replaced_)
      plan_.new_number_[static_cast<size_t>(by)] =
          std::exchange(plan_.new_number_[static_cast<size_t>(row)], -1);
  }

  void choose_entry_point() {
    plan_.entry_point_ = hnsw_.entry_point;
    plan_.max_level_ = hnsw_.max_level;
    if (hnsw_.entry_point >= 0 && !rows_.is_gone(hnsw_.entry_point)) return;
    plan_.entry_point_ = -1;
    if (!rows_.has_levels()) return choose_nearest_entry();
    int levels = 0;
    for (Node node = 0; node < rows_.count(); ++node) {
      if (rows_.is_gone(node) || hnsw_.levels[static_cast<size_t>(node)] <= levels) continue;
      levels = hnsw_.levels[static_cast<size_t>(node)];
      plan_.entry_point_ = node;
    }
    plan_.max_level_ = levels - 1;
  }

  // Without levels a graph leads everywhere from the row nearest to the middle alone.
  void choose_nearest_entry() {
    float nearest = std::numeric_limits<float>::infinity();
    for (Node node = 0; node < rows_.count(); ++node) {
      if (rows_.is_gone(node)) continue;
      const float distance = distances_->between(hnsw_.entry_point, node);
      if (plan_.entry_point_ >= 0 && !(distance < nearest)) continue;
      nearest = distance;
      plan_.entry_point_ = node;
    }
    plan_.max_level_ = plan_.entry_point_ >= 0 ? 0 : -1;
  }
  /// And by that one's links.
  void take_over_entry() {
    const Node entry = plan_.entry_point_;
    std::vector<Node> links;
    const auto take = [&](std::span<const Node> from, size_t most) {
      for (const Node link : from) {
        if (links.size() < most && link != entry && !rows_.is_gone(link) &&
            std::find(links.begin(), links.end(), link) == links.end())
          links.push_back(link);
      }
    };
    const size_t capacity = rows_.capacity(0);
    take(rows_.links(hnsw_.entry_point, 0), capacity - capacity / 4);
    take(new_links(entry), capacity);
    change(entry, 0, links);
  }

  void change(Node node, int level, std::span<const Node> links) {
    if (level == 0)
      change_of_[static_cast<size_t>(node)] = static_cast<Node>(plan_.changes_.size());
    plan_.changes_.add(node, level, links);
  }

  // ---- Nodes that cannot be reached ----

  std::span<const Node> new_links(Node node) const {
    const Node change = change_of_[static_cast<size_t>(node)];
    if (change < 0) return rows_.links(node, 0);
    return plan_.changes_.links(plan_.changes_.all()[static_cast<size_t>(change)]);
  }

  void reach_from(Node start) {
    waiting_.assign(1, start);
    reached_[static_cast<size_t>(start)] = true;
    while (!waiting_.empty()) {
      const Node node = waiting_.back();
      waiting_.pop_back();
      for (const Node link : new_links(node)) {
        if (reached_[static_cast<size_t>(link)]) continue;
        reached_[static_cast<size_t>(link)] = true;
        waiting_.push_back(link);
      }
    }
  }

  void reach_all() {
    reached_.assign(static_cast<size_t>(rows_.count()), false);
    reach_from(plan_.entry_point_);
    for (Node node = 0; node < rows_.count(); ++node) {
      if (rows_.is_gone(node) || is_reached(node)) continue;
      // The others of equal rows are reached by the first.
      const Node first = first_of_equal(node);
      if (!is_reached(first)) {
        link_from(nearest_reached(first), first);
        reach_from(first);
      }
      if (!is_reached(node)) reach_from(node);
    }
  }
  bool is_reached(Node node) const { return reached_[static_cast<size_t>(node)]; }

  bool is_chained_now(Node node) const { return is_chained(node, new_links(node)); }
  Node first_of_equal(Node node) const {
    return is_chained_now(node) ? new_links(node)[kFirst] : node;
  }

  /// The nearest of the nodes that a walk from the entry point meets.
  Node nearest_reached(Node node) {
    const Node start = first_of_equal(plan_.entry_point_);
    std::vector<std::pair<float, Node>> best = {{distances_->between(node, start), start}};
    std::vector<Node> expanded;
    std::vector<Node> seen = {start};
    const auto holds = [](const std::vector<Node>& nodes, Node one) {
      return std::find(nodes.begin(), nodes.end(), one) != nodes.end();
    };
    while (true) {
      const auto next = std::find_if(best.begin(), best.end(), [&](const auto& candidate) {
        return !holds(expanded, candidate.second);
      });
      if (next == best.end()) return best.front().second;
      expanded.push_back(next->second);
      for (const Node link : new_links(expanded.back())) {
        if (is_chained_now(link) || holds(seen, link)) continue;
        seen.push_back(link);
        best.emplace_back(distances_->between(node, link), link);
      }
      std::sort(best.begin(), best.end());
      if (best.size() > kNearestKept) best.resize(kNearestKept);
    }
  }

  /// Links a node that is reached to one that is not. Where it has no space, one of its links goes
  /// by way of the other, which nothing that is reached needs as it is.
  void link_from(Node from, Node to) {
    Node replaced = -1;
    put_link(from, to, &replaced);
    const std::span<const Node> links = new_links(to);
    if (replaced < 0 || std::find(links.begin(), links.end(), replaced) != links.end()) return;
    Node dropped = -1;
    put_link(to, replaced, &dropped);
  }
  /// In the place of *dropped, where there is no space.
  void put_link(Node from, Node to, Node* dropped) {
    const std::span<const Node> links = new_links(from);
    std::vector<Node> longer(links.begin(), links.end());
    if (longer.size() == rows_.capacity(0)) {
      auto last = longer.end() - 1;
      while (last != longer.begin() && is_chained_now(*last)) --last;
      *dropped = *last;
      longer.erase(last);
    }
    longer.push_back(to);
    change(from, 0, longer);
  }

  const ::faiss::HNSW& hnsw_;
  RemovedChains rows_;
  std::unique_ptr<NodeDistances> distances_;
  GraphRelinker relinker_;
  HnswRemoval& plan_;
  std::vector<Node> change_of_;  // of level 0
  std::vector<Node> waiting_;
  std::vector<bool> reached_;
};

HnswRemoval::HnswRemoval(const ::faiss::IndexHNSW& index, std::span<const uint64_t> gone,
                         std::vector<Replaced> replaced)
    : replaced_(std::move(replaced)) {
  RemovalPlanner(index, gone, this).make();
}

void HnswRemoval::apply(::faiss::HNSW& hnsw) const noexcept {
  const auto number = [this](Node node) {
    return node < 0 ? Node{-1} : new_number_[static_cast<size_t>(node)];
  };
  changes_.write(hnsw, [](Node& place, Node link) { place = link; });
  for (const auto& [row, by] : replaced_)
    std::copy_n(hnsw.neighbors.data() + hnsw.offsets[static_cast<size_t>(by)],
                hnsw.offsets[static_cast<size_t>(by) + 1] - hnsw.offsets[static_cast<size_t>(by)],
                hnsw.neighbors.data() + hnsw.offsets[static_cast<size_t>(row)]);
  size_t at = 0;
  size_t kept = 0;
  for (size_t node = 0; node < new_number_.size(); ++node) {
    if (drops_[node]) continue;
    const size_t begin = hnsw.offsets[node];
    const size_t count = hnsw.offsets[node + 1] - begin;
    for (size_t i = 0; i < count; ++i)
      hnsw.neighbors.data()[at + i] = number(hnsw.neighbors.data()[begin + i]);
    hnsw.levels[kept] = hnsw.levels[node];
    hnsw.offsets[kept++] = at;
    at += count;
  }
  hnsw.offsets[kept] = at;
  hnsw.levels.resize(kept);
  hnsw.offsets.resize(kept + 1);
  hnsw.neighbors.resize(at);
  hnsw.entry_point = number(entry_point_);
  hnsw.max_level = max_level_;
}

}  // namespace polarquant
