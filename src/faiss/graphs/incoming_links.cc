// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/incoming_links.h"

#include <utility>

namespace polarquant {

void IncomingLinks::find(const ::faiss::HNSW& hnsw) {
  forget();
  IncomingLinks found;
  const auto rows = static_cast<Node>(hnsw.levels.size());
  const auto visit_links = [&](const auto& visit) {
    for (Node node = 0; node < rows; ++node)
      for (const Node link : all_links(hnsw, node))
        if (link >= 0) visit(node, link);
  };
  found.counts_.assign(hnsw.levels.size(), 0);
  visit_links([&](Node, Node to) { ++found.counts_[static_cast<size_t>(to)]; });
  // All of them, those to a row together, for as long as this takes.
  std::vector<size_t> ends(hnsw.levels.size());
  size_t end = 0;
  for (size_t row = 0; row < ends.size(); ++row) {
    ends[row] = end;
    end += found.counts_[row];
  }
  std::vector<Node> incoming(end);
  visit_links([&](Node from, Node to) { incoming[ends[static_cast<size_t>(to)]++] = from; });
  std::vector<Node> linked_by(hnsw.levels.size(), -1);  // the last row that links to each
  found.begins_.reserve(hnsw.levels.size() + 1);
  found.begins_.push_back(0);
  size_t begin = 0;
  for (Node node = 0; node < rows; ++node) {
    for (const Node link : all_links(hnsw, node))
      if (link >= 0) linked_by[static_cast<size_t>(link)] = node;
    for (; begin < ends[static_cast<size_t>(node)]; ++begin)
      if (linked_by[static_cast<size_t>(incoming[begin])] != node)
        found.far_.push_back(incoming[begin]);
    found.begins_.push_back(static_cast<uint32_t>(found.far_.size()));
  }
  found.far_.shrink_to_fit();
  found.is_known_ = true;
  *this = std::move(found);
}

size_t IncomingLinks::memory_bytes() const {
  // What libraries take for an entry and its place in the table.
  constexpr size_t kEntryBytes = 40;
  return (counts_.capacity() + begins_.capacity()) * sizeof(uint32_t) +
         far_.capacity() * sizeof(Node) + later_.size() * kEntryBytes;
}

void IncomingLinks::note_far(Node to, Node from) noexcept {
  try {
    later_.emplace(to, from);
  } catch (...) {
    return;
  }
}

}  // namespace polarquant
