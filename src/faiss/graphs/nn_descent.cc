// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/nn_descent.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>

#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/core/random.h"
#include "src/core/work_progress.h"
#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {
namespace {

constexpr uint64_t kSeed = 2021;

struct Found {
  float distance;
  int32_t node;
  bool is_new;  // not compared with other neighbours yet
  friend bool operator<(const Found& a, const Found& b) { return a.distance < b.distance; }
};

struct Row {
  std::vector<Found> found;  // sorted between iterations, a heap while rows are compared
  int32_t looked_at = 0;     // of found, from the nearest on
  std::vector<int32_t> fresh, known;
  std::vector<int32_t> fresh_back, known_back;
  std::mutex mutex;
};

class Descent {
 public:
  Descent(const ::faiss::Index& storage, const DescentNumbers& numbers)
      : storage_(storage),
        n_(static_cast<int32_t>(storage.ntotal)),
        numbers_(numbers),
        sign_(storage.metric_type == ::faiss::METRIC_INNER_PRODUCT ? -1.0F : 1.0F),
        rows_(static_cast<size_t>(n_)) {}

  std::vector<int32_t> run() {
    for_each_row([&](int32_t row, ::faiss::DistanceComputer& distances) { begin(row, distances); });
    for (int32_t iteration = 0; iteration < numbers_.iter; ++iteration) {
      const WorkStage stage(static_cast<double>(iteration) / numbers_.iter,
                            static_cast<double>(iteration + 1) / numbers_.iter);
      // Fixed draws for each row, whatever its thread; the others depend on which one comes first.
      for_each_row([&](int32_t row, ::faiss::DistanceComputer&) { choose(row); });
      for_each_row([&](int32_t row, ::faiss::DistanceComputer&) { tell_back(row, iteration); });
      for_each_row([&](int32_t row, ::faiss::DistanceComputer& distances) {
        compare_neighbours(row, distances);
      });
    }
    return results();
  }

 private:
  template <typename Body>
  void for_each_row(const Body& body) {
    constexpr int64_t kRows = 100;
    const int64_t tasks = (n_ + kRows - 1) / kRows;
    const int threads = thread_count(0, tasks);
    std::vector<std::unique_ptr<::faiss::DistanceComputer>> computers(static_cast<size_t>(threads));
    parallel_for(tasks, threads, [&](int64_t task, int thread) {
      auto& distances = computers[static_cast<size_t>(thread)];
      if (distances == nullptr) distances.reset(storage_.get_distance_computer());
      const int64_t end = std::min<int64_t>(n_, (task + 1) * kRows);
      for (int64_t row = task * kRows; row < end; ++row)
        body(static_cast<int32_t>(row), *distances);
    });
  }
  Row& at(int32_t row) { return rows_[static_cast<size_t>(row)]; }
  int32_t draw(Random& random) const {
    return static_cast<int32_t>(random.next() % static_cast<uint64_t>(n_));
  }

  void begin(int32_t row, ::faiss::DistanceComputer& distances) {
    Random random(kSeed, static_cast<uint64_t>(row));
    at(row).found.reserve(static_cast<size_t>(numbers_.L));
    for (int32_t i = 0; i < numbers_.S; ++i) {
      const int32_t node = draw(random);
      if (node != row) insert(row, node, sign_ * distances.symmetric_dis(row, node));
    }
  }

  void insert(int32_t row, int32_t node, float distance) {
    Row& to = at(row);
    const std::lock_guard<std::mutex> lock(to.mutex);
    std::vector<Found>& found = to.found;
    const bool is_full = static_cast<int32_t>(found.size()) >= numbers_.L;
    if (is_full && !(distance < found.front().distance)) return;
    if (std::any_of(found.begin(), found.end(),
                    [node](const Found& other) { return other.node == node; })) {
      return;
    }
    if (is_full) {
      std::pop_heap(found.begin(), found.end());
      found.pop_back();
    }
    found.push_back({distance, node, true});
    std::push_heap(found.begin(), found.end());
  }

  /// Chooses the row's neighbours to compare: S new ones, and all that are nearer than those.
  void choose(int32_t row) {
    Row& own = at(row);
    own.fresh.clear();
    own.known.clear();
    std::sort(own.found.begin(), own.found.end());
    const int32_t most =
        std::min<int32_t>(own.looked_at + numbers_.S, static_cast<int32_t>(own.found.size()));
    int32_t end = 0;
    for (; end < most && static_cast<int32_t>(own.fresh.size()) < numbers_.S; ++end) {
      Found& found = own.found[static_cast<size_t>(end)];
      (found.is_new ? own.fresh : own.known).push_back(found.node);
      found.is_new = false;
    }
    own.looked_at = end;
    std::make_heap(own.found.begin(), own.found.end());
  }

  /// Tells neighbours that do not have the row among theirs.
  void tell_back(int32_t row, int32_t iteration) {
    Random random(kSeed + static_cast<uint64_t>(iteration) + 1, static_cast<uint64_t>(row));
    Row& own = at(row);
    const auto tell = [&](int32_t node, std::vector<int32_t> Row::*list) {
      Row& other = at(node);
      const std::lock_guard<std::mutex> lock(other.mutex);
      std::vector<int32_t>& back = other.*list;
      if (static_cast<int32_t>(back.size()) < numbers_.R) {
        back.push_back(row);
      } else {
        back[static_cast<size_t>(random.next() % back.size())] = row;
      }
    };
    for (const int32_t node : own.fresh) tell(node, &Row::fresh_back);
    for (const int32_t node : own.known) tell(node, &Row::known_back);
  }

  void compare_neighbours(int32_t row, ::faiss::DistanceComputer& distances) {
    Row& own = at(row);
    std::vector<int32_t> fresh;
    std::vector<int32_t> known;
    {
      const std::lock_guard<std::mutex> lock(own.mutex);
      fresh = own.fresh;
      known = own.known;
      fresh.insert(fresh.end(), own.fresh_back.begin(), own.fresh_back.end());
      known.insert(known.end(), own.known_back.begin(), own.known_back.end());
      own.fresh_back.clear();
      own.known_back.clear();
    }
    for (size_t i = 0; i < fresh.size(); ++i) {
      const auto compare = [&](int32_t other) {
        if (other == fresh[i]) return;
        const float distance = sign_ * distances.symmetric_dis(fresh[i], other);
        insert(fresh[i], other, distance);
        insert(other, fresh[i], distance);
      };
      for (size_t j = i + 1; j < fresh.size(); ++j) compare(fresh[j]);
      for (const int32_t other : known) compare(other);
    }
  }

  std::vector<int32_t> results() {
    std::vector<int32_t> nodes(checked_mul(n_, numbers_.K, "neighbours"), -1);
    for (int32_t row = 0; row < n_; ++row) {
      std::vector<Found>& found = at(row).found;
      std::sort(found.begin(), found.end());
      const size_t count = std::min(found.size(), static_cast<size_t>(numbers_.K));
      for (size_t i = 0; i < count; ++i)
        nodes[static_cast<size_t>(row) * static_cast<size_t>(numbers_.K) + i] = found[i].node;
    }
    return nodes;
  }

  const ::faiss::Index& storage_;
  int32_t n_;
  DescentNumbers numbers_;
  float sign_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<int32_t> descend_to_neighbours(const ::faiss::Index& storage,
                                           const DescentNumbers& numbers) {
  return Descent(storage, numbers).run();
}

}  // namespace polarquant
