// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/nsg_builder.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"
#include "src/faiss/graphs/graph_beam.h"
#include "src/faiss/graphs/nn_descent.h"
#include "src/faiss/graphs/nsg_graph.h"

namespace polarquant {
namespace {

struct Link {
  int32_t node = -1;
  float distance = 0;
  friend bool operator<(const Link& a, const Link& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.node < b.node);
  }
};

/// (n, degree): each row's links, then −1s.
template <typename Node>
struct Table {
  int32_t degree = 0;
  std::vector<Node> links;

  std::span<const Node> at(int64_t row) const {
    return {links.data() + row * degree, static_cast<size_t>(degree)};
  }
  std::span<Node> at(int64_t row) {
    return {links.data() + row * degree, static_cast<size_t>(degree)};
  }
};
using NodeTable = Table<int32_t>;
using LinkTable = Table<Link>;

/// Distances among the rows of a storage, the smaller the nearer.
class Distances {
 public:
  explicit Distances(const ::faiss::Index& storage)
      : storage_(storage),
        computer_(storage.get_distance_computer()),
        sign_(storage.metric_type == ::faiss::METRIC_INNER_PRODUCT ? -1.0F : 1.0F),
        row_(static_cast<size_t>(storage.d)) {}

  void set_query(const float* query) { computer_->set_query(query); }
  void set_query_row(int64_t row) {
    storage_.reconstruct(row, row_.data());
    set_query(row_.data());
  }
  float to(int32_t node) { return sign_ * (*computer_)(node); }
  float between(int32_t a, int32_t b) { return sign_ * computer_->symmetric_dis(a, b); }

 private:
  const ::faiss::Index& storage_;
  std::unique_ptr<::faiss::DistanceComputer> computer_;
  float sign_;
  std::vector<float> row_;
};

/// Walks over a graph towards the query, remembering all rows it meets.
class Walk {
 public:
  explicit Walk(int64_t n) : n_(n) {}

  /// From `start`'s neighbours and rows drawn at random, `kept` in all.
  const std::vector<Link>& run(const NodeTable& graph, Distances& distances, int32_t start,
                               int64_t kept) {
    kept = std::min(kept, n_);
    seen_.begin(n_);
    beam_.begin(kept);
    met_.clear();
    fresh_.clear();
    for (const int32_t node : graph.at(start)) {
      if (node < 0 || static_cast<int64_t>(fresh_.size()) == kept) break;
      seen_.add_new({&node, 1}, &fresh_);
    }
    ::faiss::RandomGenerator random(kSeed);
    while (static_cast<int64_t>(fresh_.size()) < kept) {
      const auto node = static_cast<int32_t>(random.rand_int(static_cast<int>(n_)));
      seen_.add_new({&node, 1}, &fresh_);
    }
    meet(distances);
    while (beam_.has_next()) {
      fresh_.clear();
      seen_.add_new(graph.at(beam_.expand_next()), &fresh_);
      meet(distances);
    }
    return met_;
  }
  bool has_seen(int32_t node) {
    fresh_.clear();
    seen_.add_new({&node, 1}, &fresh_);
    return fresh_.empty();
  }
  int32_t nearest() const { return beam_.id(0); }

 private:
  static constexpr int64_t kSeed = 0x1234;

  void meet(Distances& distances) {
    for (const int32_t node : fresh_) {
      const float distance = distances.to(node);
      met_.push_back({node, distance});
      beam_.insert(distance, node);
    }
  }

  int64_t n_;
  SeenNodes seen_;
  GraphBeam beam_;
  std::vector<int32_t> fresh_;
  std::vector<Link> met_;
};

class NsgBuilder {
 public:
  NsgBuilder(::faiss::IndexNSG& index, NodeTable neighbours)
      : index_(index),
        storage_(*index.storage),
        n_(storage_.ntotal),
        most_(index.nsg.R),
        neighbours_(std::move(neighbours)) {}

  void build() {
    choose_entry();
    {
      const WorkStage stage(0, 0.6);
      link_rows();
    }
    {
      const WorkStage stage(0.6, 0.9);
      link_back();
    }
    const WorkStage stage(0.9, 1);
    adopt_links();
    grow_tree();
    index_.nsg.ntotal = static_cast<int>(n_);
    index_.nsg.enterpoint = entry_;
    index_.nsg.is_built = true;
  }

 private:
  /// The row nearest to the mean.
  void choose_entry() {
    const auto dim = static_cast<size_t>(storage_.d);
    std::vector<float> mean(dim);
    std::vector<float> row(dim);
    for (int64_t i = 0; i < n_; ++i) {
      poll_work();
      storage_.reconstruct(i, row.data());
      for (size_t j = 0; j < dim; ++j) mean[j] += row[j];
    }
    for (float& value : mean) value /= static_cast<float>(n_);
    Distances distances(storage_);
    distances.set_query(mean.data());
    Walk walk(n_);
    walk.run(neighbours_, distances, index_.nsg.rng.rand_int(static_cast<int>(n_)), index_.nsg.L);
    entry_ = walk.nearest();
  }

  template <typename Body>
  void for_each_row(const Body& body) {
    struct Thread {
      explicit Thread(const ::faiss::Index& storage) : distances(storage), walk(storage.ntotal) {}
      Distances distances;
      Walk walk;
    };
    constexpr int64_t kRows = 64;
    const int64_t tasks = (n_ + kRows - 1) / kRows;
    const int threads = thread_count(0, tasks);
    std::vector<std::unique_ptr<Thread>> each(static_cast<size_t>(threads));
    parallel_for(tasks, threads, [&](int64_t task, int thread) {
      auto& mine = each[static_cast<size_t>(thread)];
      if (mine == nullptr) mine = std::make_unique<Thread>(storage_);
      const int64_t end = std::min(n_, (task + 1) * kRows);
      for (int64_t row = task * kRows; row < end; ++row)
        body(static_cast<int32_t>(row), mine->distances, mine->walk);
      // Reported by the caller's thread; the others are about as far.
      report_work(static_cast<double>(task) / static_cast<double>(tasks));
    });
  }

  /// The nearest of `pool`, each nearer to the row than to those before it, up to `most`.
  std::vector<Link> prune(int32_t row, std::vector<Link>& pool, int64_t looked_at,
                          Distances& distances) const {
    std::sort(pool.begin(), pool.end());
    std::vector<Link> kept;
    for (const Link& link : pool) {
      if (looked_at-- <= 0 || static_cast<int32_t>(kept.size()) == most_) break;
      if (link.node == row) continue;
      const bool is_good = std::none_of(kept.begin(), kept.end(), [&](const Link& other) {
        // Rows that are equal are as near to each other as to the row: one is enough.
        return other.node == link.node || distances.between(other.node, link.node) <= link.distance;
      });
      if (is_good) kept.push_back(link);
    }
    return kept;
  }

  void put(int32_t row, const std::vector<Link>& links) {
    std::span<Link> own = links_.at(row);
    std::copy(links.begin(), links.end(), own.begin());
    std::fill(own.begin() + static_cast<ptrdiff_t>(links.size()), own.end(), Link());
  }

  void link_rows() {
    links_.degree = most_;
    links_.links.assign(checked_mul(n_, most_, "links"), Link());
    for_each_row([&](int32_t row, Distances& distances, Walk& walk) {
      distances.set_query_row(row);
      std::vector<Link> pool = walk.run(neighbours_, distances, entry_, index_.nsg.L);
      for (const int32_t node : neighbours_.at(row))
        if (node >= 0 && !walk.has_seen(node)) pool.push_back({node, distances.to(node)});
      put(row, prune(row, pool, index_.nsg.C, distances));
    });
  }

  /// Adds each link's reverse, where the row has a free link or it is among the best.
  void link_back() {
    std::vector<std::mutex> locks(static_cast<size_t>(n_));
    for_each_row([&](int32_t row, Distances& distances, Walk& /*walk*/) {
      std::vector<Link> own;
      {
        const std::lock_guard<std::mutex> lock(locks[static_cast<size_t>(row)]);
        for (const Link& link : std::as_const(links_).at(row))
          if (link.node >= 0) own.push_back(link);
      }
      for (const Link& link : own) {
        const std::lock_guard<std::mutex> lock(locks[static_cast<size_t>(link.node)]);
        std::vector<Link> pool;
        for (const Link& other : std::as_const(links_).at(link.node))
          if (other.node >= 0) pool.push_back(other);
        if (std::any_of(pool.begin(), pool.end(),
                        [row](const Link& other) { return other.node == row; })) {
          continue;
        }
        pool.push_back({row, link.distance});
        if (static_cast<int32_t>(pool.size()) > most_)
          pool = prune(link.node, pool, static_cast<int64_t>(pool.size()), distances);
        put(link.node, pool);
      }
    });
  }

  void adopt_links() {
    auto graph = std::make_shared<::faiss::nsg::Graph<int>>(static_cast<int>(n_), most_);
    nodes_ = graph->data;
    degrees_.assign(static_cast<size_t>(n_), 0);
    for (int64_t row = 0; row < n_; ++row) {
      int32_t* const own = nodes_ + row * most_;
      std::fill_n(own, most_, -1);
      int32_t& degree = degrees_[static_cast<size_t>(row)];
      for (const Link& link : std::as_const(links_).at(row))
        if (link.node >= 0) own[degree++] = link.node;
    }
    links_ = {};
    index_.nsg.final_graph = std::move(graph);
  }

  // ---- Every row can be reached from the entry ----

  /// Marks all that can be reached from a row.
  void reach(int32_t from) {
    if (reached_[static_cast<size_t>(from)]) return;
    std::vector<int32_t> waiting = {from};
    reached_[static_cast<size_t>(from)] = true;
    while (!waiting.empty()) {
      const int32_t row = waiting.back();
      waiting.pop_back();
      if (has_free_link(row)) with_free_links_.push_back(row);
      for (int32_t i = 0; i < degrees_[static_cast<size_t>(row)]; ++i) {
        const int32_t node = nodes_[row * int64_t{most_} + i];
        if (reached_[static_cast<size_t>(node)]) continue;
        reached_[static_cast<size_t>(node)] = true;
        waiting.push_back(node);
      }
    }
  }
  bool has_free_link(int32_t row) const { return degrees_[static_cast<size_t>(row)] < most_; }
  void append(int32_t row, int32_t node) {
    nodes_[row * int64_t{most_} + degrees_[static_cast<size_t>(row)]++] = node;
  }

  void grow_tree() {
    reached_.assign(static_cast<size_t>(n_), false);
    reach(entry_);
    Distances distances(storage_);
    for (int32_t row = 0; row < n_; ++row) {
      report_work(static_cast<double>(row) / static_cast<double>(n_));
      if (reached_[static_cast<size_t>(row)]) continue;
      hang(row, distances);
      reach(row);
    }
  }

  /// Links the row from the nearest reached row near it that has a free link; else from any that
  /// has, else between two that are linked.
  void hang(int32_t row, Distances& distances) {
    distances.set_query_row(row);
    std::vector<Link> near;
    for (const int32_t node : std::as_const(neighbours_).at(row)) {
      if (node >= 0 && reached_[static_cast<size_t>(node)])
        near.push_back({node, distances.to(node)});
    }
    std::sort(near.begin(), near.end());
    for (const Link& link : near) {
      if (!has_free_link(link.node)) continue;
      append(link.node, row);
      return;
    }
    while (!with_free_links_.empty() && !has_free_link(with_free_links_.back()))
      with_free_links_.pop_back();
    if (!with_free_links_.empty()) {
      append(with_free_links_.back(), row);
      return;
    }
    // The row that the other one linked to last is reached through this one from now on.
    const int32_t other = near.empty() ? entry_ : near.front().node;
    int32_t& last = nodes_[(other + int64_t{1}) * most_ - 1];
    if (has_free_link(row)) {
      append(row, last);
    } else {
      nodes_[(row + int64_t{1}) * most_ - 1] = last;
    }
    last = row;
  }

  ::faiss::IndexNSG& index_;
  const ::faiss::Index& storage_;
  int64_t n_;
  int32_t most_;  // links of a row
  int32_t entry_ = 0;
  NodeTable neighbours_;
  LinkTable links_;
  int32_t* nodes_ = nullptr;
  std::vector<int32_t> degrees_;
  std::vector<bool> reached_;
  std::vector<int32_t> with_free_links_;  // reached rows, which had a free link then
};

/// The GK nearest of each row, by comparing all. x: null for what the storage reconstructs.
NodeTable neighbours_by_search(const ::faiss::IndexNSG& index, idx_t n, const float* x) {
  NodeTable table;
  table.degree = static_cast<int32_t>(std::min<idx_t>(index.GK, n - 1));
  table.links.assign(checked_mul(n, table.degree, "neighbours"), -1);
  const idx_t k = table.degree + 1;
  // Parts between which the call can be stopped, each a full batch of queries.
  constexpr idx_t kRows = 4096;
  std::vector<float> distances(static_cast<size_t>(std::min(n, kRows) * k));
  std::vector<idx_t> found(distances.size());
  std::vector<float> decoded;
  if (x == nullptr) decoded.resize(static_cast<size_t>(std::min(n, kRows) * index.d));
  for (idx_t first = 0; first < n; first += kRows) {
    const idx_t count = std::min(kRows, n - first);
    if (x == nullptr) index.storage->reconstruct_n(first, count, decoded.data());
    const float* rows = x != nullptr ? x + first * index.d : decoded.data();
    index.storage->search(count, rows, k, distances.data(), found.data());
    for (idx_t i = 0; i < count; ++i) {
      std::span<int32_t> own = table.at(first + i);
      size_t taken = 0;
      for (idx_t j = 0; j < k && taken < own.size(); ++j) {
        const idx_t node = found[static_cast<size_t>(i * k + j)];
        if (node >= 0 && node != first + i) own[taken++] = static_cast<int32_t>(node);
      }
    }
    report_work(static_cast<double>(first + count) / static_cast<double>(n));
  }
  return table;
}

/// The same by NN-descent, nearly.
NodeTable neighbours_by_descent(const ::faiss::IndexNSG& index) {
  const DescentNumbers numbers = {.K = index.GK,
                                  .S = index.nndescent_S,
                                  .R = index.nndescent_R,
                                  .L = std::max(index.nndescent_L, index.GK + 50),
                                  .iter = index.nndescent_iter};
  return {index.GK, descend_to_neighbours(*index.storage, numbers)};
}

/// Links the rows of the storage.
void build_links(::faiss::IndexNSG& index, idx_t n, const float* x) {
  NodeTable neighbours;
  {
    const WorkStage stage(0, 0.4);
    neighbours = compares_all_rows(index, n) ? neighbours_by_search(index, n, x)
                                             : neighbours_by_descent(index);
  }
  const WorkStage stage(0.4, 1);
  NsgBuilder(index, std::move(neighbours)).build();
}

}  // namespace

void add_to_nsg(::faiss::IndexNSG& index, idx_t n, const float* x) {
  require(index.storage != nullptr && index.is_trained, StatusCode::not_trained,
          "add: the index is not trained; call train first");
  require(index.ntotal == 0, StatusCode::unsupported,
          "add: the graph is built of all rows at once, and holds {}; reset it first",
          index.ntotal);
  build_nsg(index, n, x);
}

void build_nsg(::faiss::IndexNSG& index, idx_t n, const float* x) {
  require(n <= kMaxNsgLinks / std::max(index.nsg.R, index.GK + 1), StatusCode::bad_argument,
          "add: {} rows of {} links; FAISS's graphs are of up to {} links", n, index.nsg.R,
          kMaxNsgLinks);
  try {
    index.storage->add(n, x);
    build_links(index, n, x);
    index.ntotal = n;
    index.is_built = true;
  } catch (...) {
    const WorkWithoutStop until_empty;
    index.reset();
    throw;
  }
}

void rebuild_nsg(::faiss::IndexNSG& index) {
  if (index.ntotal <= std::max(index.GK, index.nsg.L)) return;
  require_buildable(index, index.ntotal);
  ::faiss::IndexNSG fresh(index.storage, index.nsg.R);
  set_nsg_numbers(nsg_numbers(index), fresh);
  build_links(fresh, index.ntotal, nullptr);
  index.nsg.final_graph.swap(fresh.nsg.final_graph);
  index.nsg.enterpoint = fresh.nsg.enterpoint;
}

}  // namespace polarquant
