// SPDX-License-Identifier: MIT
// An HNSW graph that threads link rows into side by side, and the links that it had before.
#pragma once

#include <faiss/impl/HNSW.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/hnsw_graph.h"
#include "src/faiss/graphs/incoming_links.h"

namespace polarquant {

/// The shared state of threads: the graph, a lock for each row, and the place where searches begin.
/// Links are read without locks while others write them.
class SharedGraph {
 public:
  using Node = ::faiss::HNSW::storage_idx_t;

  /// incoming: of the graph, whose counts are kept up; or null.
  SharedGraph(::faiss::HNSW& hnsw, idx_t n0, IncomingLinks* incoming)
      : hnsw_(hnsw),
        incoming_(incoming),
        first_new_(static_cast<Node>(n0)),
        marks_(std::make_unique<std::atomic<uint8_t>[]>(hnsw.levels.size())) {}

  class Links {
   public:
    Links(Node* first, size_t count, IncomingLinks* incoming)
        : first_(first), count_(count), incoming_(incoming) {}
    size_t size() const { return count_; }
    Node operator[](size_t i) const {
      return std::atomic_ref<Node>(first_[i]).load(std::memory_order_relaxed);
    }
    void set(size_t i, Node node) {
      if (incoming_ != nullptr) incoming_->replace((*this)[i], node);
      std::atomic_ref<Node>(first_[i]).store(node, std::memory_order_relaxed);
    }

   private:
    Node* first_;
    size_t count_;
    IncomingLinks* incoming_;
  };
  Links links(Node node, int level) const {
    size_t begin = 0;
    size_t end = 0;
    hnsw_.neighbor_range(node, level, &begin, &end);
    return {hnsw_.neighbors.data() + begin, end - begin, incoming_};
  }
  /// Links on all levels.
  Links links(Node node) const {
    const size_t begin = hnsw_.offsets[static_cast<size_t>(node)];
    return {hnsw_.neighbors.data() + begin, hnsw_.offsets[static_cast<size_t>(node) + 1] - begin,
            incoming_};
  }
  /// Whether a row is one of a chain of equal rows (hnsw_graph.h), but for the first.
  bool is_chained(Node node) const {
    const Links own = links(node, 0);
    return own.size() > kNext && own[kSelf] == node;
  }
  size_t ef_construction() const { return static_cast<size_t>(hnsw_.efConstruction); }
  size_t rows() const { return hnsw_.levels.size(); }
  bool knows_incoming() const { return incoming_ != nullptr; }
  bool is_old(Node node) const { return node < first_new_; }

  class Lock {
   public:
    Lock(SharedGraph& graph, Node node) : mark_(graph.marks_[static_cast<size_t>(node)]) {
      for (int spins = 0; (mark_.fetch_or(kLocked, std::memory_order_acquire) & kLocked) != 0;) {
        if (++spins >= kSpins) std::this_thread::yield();
      }
    }
    ~Lock() { mark_.fetch_and(static_cast<uint8_t>(~kLocked), std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    bool is_saved() const { return (mark_.load(std::memory_order_relaxed) & kSaved) != 0; }
    void set_saved() { mark_.fetch_or(kSaved, std::memory_order_relaxed); }

   private:
    std::atomic<uint8_t>& mark_;
  };

  struct Entry {
    Node node;
    int level;
  };
  /// The place where a search begins; an empty graph begins with `node` from now on.
  Entry enter(Node node, int level) {
    const std::lock_guard<std::mutex> lock(entry_mutex_);
    const Entry entry = {hnsw_.entry_point, hnsw_.max_level};
    if (entry.node < 0) {
      hnsw_.max_level = level;
      hnsw_.entry_point = node;
    }
    return entry;
  }
  void raise_entry(Node node, int level) {
    const std::lock_guard<std::mutex> lock(entry_mutex_);
    if (level <= hnsw_.max_level) return;
    hnsw_.max_level = level;
    hnsw_.entry_point = node;
  }

 private:
  static constexpr int kSpins = 64;
  static constexpr uint8_t kLocked = 1;
  static constexpr uint8_t kSaved = 2;  // a row that was there: its links are in a log

  ::faiss::HNSW& hnsw_;
  IncomingLinks* incoming_;
  Node first_new_;
  std::unique_ptr<std::atomic<uint8_t>[]> marks_;
  std::mutex entry_mutex_;
};

/// The former links of rows that were there before.
class LinkLog {
 public:
  using Node = SharedGraph::Node;

  void save(const SharedGraph& graph, Node node) {
    const SharedGraph::Links links = graph.links(node);
    if (nodes_.size() == nodes_.capacity()) nodes_.reserve(2 * nodes_.size() + 1);
    const size_t before = links_.size();
    links_.resize(before + links.size());
    for (size_t i = 0; i < links.size(); ++i) links_[before + i] = links[i];
    nodes_.push_back(node);
  }
  const std::vector<Node>& nodes() const { return nodes_; }
  void put_back(const SharedGraph& graph) const noexcept {
    size_t at = 0;
    for (const Node node : nodes_) {
      SharedGraph::Links links = graph.links(node);
      for (size_t i = 0; i < links.size(); ++i) links.set(i, links_[at++]);
    }
  }

 private:
  std::vector<Node> nodes_;
  std::vector<Node> links_;
};

}  // namespace polarquant
