// SPDX-License-Identifier: MIT
// What is kept of the links of an HNSW graph that lead to each row, so that they are found without
// a pass over all: how many they are, and the rows far away that they come from. A row that links
// to one which links back is found from there; a quarter of the links of real rows have none back,
// from rows that were linked when there were few. A list of all incoming links would take as much
// memory again as half of the graph.
#pragma once

#include <faiss/impl/HNSW.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace polarquant {

class IncomingLinks {
 public:
  using Node = ::faiss::HNSW::storage_idx_t;

  /// Whether this is of a graph of so many rows, and no more was noted later than is worth it.
  bool is_of(size_t rows) const { return has_counts_of(rows) && later_.size() <= rows; }
  bool has_counts_of(size_t rows) const { return is_known_ && counts_.size() == rows; }
  void forget() noexcept { *this = {}; }
  /// Finds all anew where this is not of the graph. Passes over all links, with as much memory as
  /// these take meanwhile.
  void require_of(const ::faiss::HNSW& hnsw) {
    if (!is_of(hnsw.levels.size())) find(hnsw);
  }
  void find(const ::faiss::HNSW& hnsw);
  size_t memory_bytes() const;

  /// Links to the row on all levels together; a chained row's link to itself counts.
  uint32_t count(Node node) const { return counts_[static_cast<size_t>(node)]; }
  /// Rows that may link to the row, or have done so, visit(from); others may, too.
  template <typename Visit>
  void visit_far(Node node, const Visit& visit) const {
    const auto at = static_cast<size_t>(node);
    if (at + 1 < begins_.size())
      for (uint32_t i = begins_[at]; i < begins_[at + 1]; ++i) visit(far_[i]);
    const auto [first, last] = later_.equal_range(node);
    for (auto entry = first; entry != last; ++entry) visit(entry->second);
  }

  void add(Node to) noexcept {
    if (to >= 0) ++counts_[static_cast<size_t>(to)];
  }
  void take(Node to) noexcept {
    if (to >= 0) --counts_[static_cast<size_t>(to)];
  }
  /// Threads may call it side by side.
  void replace(Node before, Node after) noexcept {
    if (before >= 0) shared(before).fetch_sub(1, std::memory_order_relaxed);
    if (after >= 0) shared(after).fetch_add(1, std::memory_order_relaxed);
  }
  /// A link from `from` to `to` that has none back. Where memory runs out it is found by a pass.
  void note_far(Node to, Node from) noexcept;
  /// For rows that come, to which nothing links yet.
  void extend(size_t rows) { counts_.resize(rows, 0); }
  /// The row `heir` takes the place of `row`, and the last one its; far links to them, and from
  /// them, are to be noted anew.
  void take_out(Node row, Node heir) noexcept {
    counts_[static_cast<size_t>(row)] = counts_[static_cast<size_t>(heir)];
    counts_[static_cast<size_t>(heir)] = counts_.back();
    counts_.pop_back();
    later_.erase(row);
    later_.erase(heir);
    later_.erase(static_cast<Node>(counts_.size()));
  }

 private:
  std::atomic_ref<uint32_t> shared(Node node) {
    return std::atomic_ref<uint32_t>(counts_[static_cast<size_t>(node)]);
  }

  std::vector<uint32_t> counts_;
  std::vector<uint32_t> begins_;  // of rows in far_, as they were numbered when it was made
  std::vector<Node> far_;
  std::unordered_multimap<Node, Node> later_;
  bool is_known_ = false;
};

/// All links of a row, on all its levels; −1 where there is none.
inline std::span<const IncomingLinks::Node> all_links(const ::faiss::HNSW& hnsw,
                                                      IncomingLinks::Node node) {
  const size_t begin = hnsw.offsets[static_cast<size_t>(node)];
  return {hnsw.neighbors.data() + begin, hnsw.offsets[static_cast<size_t>(node) + 1] - begin};
}
/// Whether a row links to another on any level.
inline bool links_to(const ::faiss::HNSW& hnsw, IncomingLinks::Node from, IncomingLinks::Node to) {
  const auto links = all_links(hnsw, from);
  return std::find(links.begin(), links.end(), to) != links.end();
}

}  // namespace polarquant
