// SPDX-License-Identifier: MIT
// Rows in several index files and in the file that these are merged into, and searches of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/capi/built_files.h"

namespace polarquant::test {

inline constexpr int64_t kQueries = 70;

inline const BuiltRows& rows() {
  static const BuiltRows made(6000, 72);
  return made;
}

/// A merged file, mapped, and the files that it was merged from.
struct Both {
  Both(const BuiltKind& kind, polar_metric metric, bool with_ids,
       const std::vector<int64_t>& ends) {
    const IndexHandle trained = rows().trained(kind.description, metric);
    int64_t first = 0;
    for (const int64_t end : ends) {
      const IndexHandle piece = clone(trained);
      rows().add(piece, with_ids, first, end);
      paths.push_back(folder.file("piece" + std::to_string(paths.size())));
      save(piece, paths.back());
      first = end;
    }
    require_ok(merge(paths, folder.file("merged")));
    merged = load(folder.file("merged"), 1);
    shards = open();
  }
  IndexHandle open() const { return open(0, paths.size()); }
  /// Files first … end−1 as one index.
  IndexHandle open(size_t first, size_t end) const {
    std::vector<const char*> names;
    for (size_t i = first; i < end; ++i) names.push_back(paths[i].c_str());
    polar_index* opened = nullptr;
    require_ok(polar_index_open_shards(static_cast<int64_t>(names.size()), names.data(), &opened));
    return IndexHandle(opened);
  }

  TemporaryFolder folder;
  std::vector<std::string> paths;
  IndexHandle merged;
  IndexHandle shards;
};

struct Found {
  std::vector<float> scores;
  std::vector<int64_t> ids;
  bool operator==(const Found&) const = default;
};

inline Found search(const IndexHandle& index, int64_t nq, int64_t k,
                    const polar_search_options& options) {
  Found found{std::vector<float>(static_cast<size_t>(nq * k)),
              std::vector<int64_t>(static_cast<size_t>(nq * k))};
  require_ok(polar_index_search(index.get(), nq, rows().row(500), k, &options, found.scores.data(),
                                found.ids.data()));
  return found;
}

/// Filters of every kind that keep some ids of `with_ids`.
inline std::vector<std::pair<polar_filter, PreparedFilterHandle>> filters(
    std::vector<uint64_t>& words, std::vector<int64_t>& ids) {
  words.assign(1'000'100 / 64, 0x8421'0842'1084'2108);
  ids.clear();
  for (int64_t i = 7; i < 1'000'008; i += 97) ids.push_back(i);
  std::vector<std::pair<polar_filter, PreparedFilterHandle>> made;
  polar_filter filter = filter_of(POLAR_FILTER_NONE);
  made.emplace_back(filter, nullptr);
  filter = filter_of(POLAR_FILTER_BITSET);
  filter.bitset = {words.data(), std::ssize(words) * 64};
  made.emplace_back(filter, nullptr);
  made.emplace_back(filter, prepared_filter(filter));
  made.back().first = filter_of(made.back().second);
  filter = filter_of(POLAR_FILTER_IDS);
  filter.ids = {ids.data(), std::ssize(ids)};
  made.emplace_back(filter, nullptr);
  made.emplace_back(filter, prepared_filter(filter));
  made.back().first = filter_of(made.back().second);
  filter.ids = {ids.data(), 30};
  made.emplace_back(filter, nullptr);
  filter = filter_of(POLAR_FILTER_RANGE);
  filter.range = {1000, 90'000};
  made.emplace_back(filter, nullptr);
  filter = filter_of(POLAR_FILTER_CALLBACK);
  filter.callback = {[](void*, int64_t id) -> int32_t { return id % 3 == 0; }, nullptr};
  made.emplace_back(filter, nullptr);
  return made;
}

/// check(options, nq) for searches with filters of every kind, by bounds and of every row, and in
/// inverted files of few lists and many.
template <typename Check>
void for_each_search(const Both& both, const Check& check) {
  const bool is_ivf = polar_index_nlist(both.merged.get()) > 0;
  std::vector<uint64_t> words;
  std::vector<int64_t> ids;
  for (const auto& [filter, prepared] : filters(words, ids)) {
    for (const float exactness : {-1.0F, kInfinity}) {
      for (const int64_t nprobe : {0, 1, 7}) {
        if (nprobe > 0 && !is_ivf) continue;
        polar_search_options options = searching_on(2);
        if (exactness > 0) options.exactness = exactness;
        options.nprobe = nprobe;
        options.filter = &filter;
        INFO("filter " << filter.kind << ", exactness " << exactness << ", nprobe " << nprobe);
        for (const int64_t nq : {int64_t{1}, int64_t{6}, kQueries}) check(options, nq);
      }
    }
  }
}

}  // namespace polarquant::test
