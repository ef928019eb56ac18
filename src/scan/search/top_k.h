// SPDX-License-Identifier: MIT
// The k best of a stream of scored rows. "Best" is one total order, key then id, so that any split
// of the stream over threads, and any order within it, keeps the same k.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace polarquant {

/// A row with its key: the smaller key is the better one, the lower id where keys are equal.
/// `score` is carried along, as a key of its own (a search may order by more than the score).
struct Neighbor {
  float key = 0;
  float score = 0;
  int64_t id = 0;

  Neighbor() = default;
  Neighbor(float score_key, int64_t row) : key(score_key), score(score_key), id(row) {}
  Neighbor(float order_key, float score_key, int64_t row)
      : key(order_key), score(score_key), id(row) {}

  friend bool operator<(const Neighbor& a, const Neighbor& b) {
    return a.key < b.key || (a.key == b.key && a.id < b.id);
  }
};

/// Scores as keys: a distance is its own key, a similarity negated, which is exact. NaN (of sums
/// that overflowed) is ordered as the worst score, since it has no place in an order.
inline float key_of_score(float score, bool higher_is_nearer) noexcept {
  const float key = higher_is_nearer ? -score : score;
  return std::isnan(key) ? std::numeric_limits<float>::infinity() : key;
}
inline float score_of_key(float key, bool higher_is_nearer) noexcept {
  return higher_is_nearer ? -key : key;
}

/// Keeps the k ≥ 1 best neighbors in a heap whose root is the worst of them. Memory grows with what
/// is pushed, so a k beyond the number of rows costs nothing.
class TopK {
 public:
  explicit TopK(int64_t k) : k_(k) {}
  /// Keeps all neighbors whose key is at most `key`, as many as there are.
  static TopK within(float key) {
    TopK all(kEveryRow);
    all.limit_ = key;
    return all;
  }

  void push(const Neighbor& neighbor) {
    if (neighbor.key > limit_) return;
    if (static_cast<int64_t>(heap_.size()) == k_) {
      if (!(neighbor < heap_.front())) return;
      replace_worst(neighbor);
    } else {
      if (heap_.empty()) heap_.reserve(static_cast<size_t>(std::min(k_, kFirstCapacity)));
      heap_.push_back(neighbor);
      std::push_heap(heap_.begin(), heap_.end());
    }
    changed_ = true;
  }

  /// The key that a neighbor must not exceed to be kept: that of the k-th best, +inf with fewer,
  /// or the limit where that is lower.
  float worst_key() const {
    return static_cast<int64_t>(heap_.size()) == k_ ? std::min(heap_.front().key, limit_) : limit_;
  }
  /// Neighbors of larger keys are known not to be among the best.
  void lower_limit(float key) { limit_ = std::min(limit_, key); }
  int64_t k() const { return k_; }
  /// The key of the rank-th best, 1 ≤ rank ≤ k; +inf with fewer. `keys` is scratch memory.
  float key_of_rank(int64_t rank, std::vector<float>* keys) const {
    if (static_cast<int64_t>(heap_.size()) < rank) return std::numeric_limits<float>::infinity();
    keys->clear();
    for (const Neighbor& neighbor : heap_) keys->push_back(neighbor.key);
    const auto place = keys->begin() + (rank - 1);
    std::nth_element(keys->begin(), place, keys->end());
    return *place;
  }
  /// Whether a neighbor was kept since the last call.
  bool take_change() { return std::exchange(changed_, false); }
  /// In no stated order.
  const std::vector<Neighbor>& neighbors() const { return heap_; }

 private:
  /// So that a few best take no more memory than they need, for thousands of queries.
  static constexpr int64_t kFirstCapacity = 64;
  /// More than there are rows; some thousand times it still fits a number.
  static constexpr int64_t kEveryRow = int64_t{1} << 48;

  // Goes down the heap once, where std::pop_heap and std::push_heap go down and up again.
  void replace_worst(const Neighbor& neighbor) {
    size_t at = 0;
    for (size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && heap_[child] < heap_[child + 1]) ++child;
      if (!(neighbor < heap_[child])) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = neighbor;
  }

  int64_t k_;
  float limit_ = std::numeric_limits<float>::infinity();
  bool changed_ = false;
  std::vector<Neighbor> heap_;
};

/// How many of the most promising rows bring the k-th best near its final value.
inline int64_t promising_rows(int64_t k) { return 16 + 3 * k; }

/// The order of results: the better score first, ties by lower id.
inline bool comes_before(const Neighbor& a, const Neighbor& b) {
  return a.score < b.score || (a.score == b.score && a.id < b.id);
}

/// Drops all but the k best candidates, by key; in no stated order.
inline void keep_best(std::vector<Neighbor>& candidates, int64_t k) {
  if (static_cast<int64_t>(candidates.size()) <= k) return;
  std::nth_element(candidates.begin(), candidates.begin() + k, candidates.end());
  candidates.erase(candidates.begin() + k, candidates.end());
}

/// Fills places that no row takes: id −1 with score −inf (higher is nearer) or +inf.
inline void write_no_rows(int64_t count, bool higher_is_nearer, float* scores, int64_t* ids) {
  std::fill_n(scores, count,
              score_of_key(std::numeric_limits<float>::infinity(), higher_is_nearer));
  std::fill_n(ids, count, int64_t{-1});
}

/// Writes the k best of `candidates` (by key) as scores and ids, (k), ordered by score; where there
/// are fewer, id −1 with score −inf (higher is nearer) or +inf. Reorders `candidates`.
inline void write_top_k(std::vector<Neighbor>& candidates, int64_t k, bool higher_is_nearer,
                        float* scores, int64_t* ids) {
  keep_best(candidates, k);
  std::sort(candidates.begin(), candidates.end(), comes_before);
  const auto count = static_cast<int64_t>(candidates.size());
  for (int64_t i = 0; i < count; ++i) {
    scores[i] = score_of_key(candidates[static_cast<size_t>(i)].score, higher_is_nearer);
    ids[i] = candidates[static_cast<size_t>(i)].id;
  }
  write_no_rows(k - count, higher_is_nearer, scores + count, ids + count);
}

}  // namespace polarquant
