// SPDX-License-Identifier: MIT
// The rules of an HNSW graph, so that no walk over it leaves its arrays. The names are those of
// faiss::HNSW, of which these are the public fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace polarquant {

/// `Ints`, `Sizes`: anything with size and operator[].
template <typename Ints, typename Sizes>
struct HnswGraph {
  uint64_t assign_probas = 0;  // how many
  Ints cum_nneighbor_per_level;
  Ints levels;
  Sizes offsets;
  Ints neighbors;
  int64_t entry_point = 0;
  int64_t max_level = 0;
  int64_t ef_construction = 0;
  int64_t ef_search = 0;
  int64_t upper_beam = 1;
};

/// The least of links of a row in factory strings, FAISS's M: with 1 FAISS makes a graph without
/// levels, in which every row has space for twice as many.
inline constexpr int64_t kLeastHnswLinks = 2;
inline constexpr int64_t kMostHnswLinks = 512;
/// Lists of neighbours that searches keep in memory; FAISS's defaults are 40 and 16.
inline constexpr int64_t kMaxEf = 1 << 24;
/// Levels of a graph: FAISS's probabilities end at 1e-9, which is 30 with 2 neighbours.
inline constexpr uint64_t kMaxHnswLevels = 64;

/// What a row of a chain of equal ones links to (hnsw_links.h), by the places of its links.
enum ChainLink : size_t { kSelf = 0, kFirst = 1, kNext = 2 };

/// Whether every chain of equal rows has a first one outside it, and ends: who follows it need not
/// look. `graph` is sound otherwise.
template <typename Ints, typename Sizes>
bool has_sound_chains(const HnswGraph<Ints, Sizes>& graph, int64_t ntotal) {
  if (static_cast<uint64_t>(graph.cum_nneighbor_per_level[1]) <= kNext) return true;
  const auto link = [&](int64_t row, ChainLink place) -> int64_t {
    return graph.neighbors[graph.offsets[static_cast<uint64_t>(row)] + place];
  };
  const auto is_chained = [&](int64_t row) { return link(row, kSelf) == row; };
  std::vector<int32_t> followed_from;  // from which row each was; empty until there is a chain
  for (int64_t row = 0; row < ntotal; ++row) {
    if (!is_chained(row)) continue;
    const int64_t first = link(row, kFirst);
    if (first < 0 || is_chained(first)) return false;
    if (followed_from.empty()) followed_from.assign(static_cast<size_t>(ntotal), -1);
    const auto from = static_cast<int32_t>(row);
    for (int64_t at = row; at >= 0 && is_chained(at); at = link(at, kNext)) {
      int32_t& follower = followed_from[static_cast<size_t>(at)];
      if (follower == from) return false;
      if (follower >= 0) break;
      follower = from;
    }
  }
  return true;
}

/// Null when the graph is one of `ntotal` rows, else what is wrong with it. `count` tells the size
/// of an array.
template <typename Ints, typename Sizes, typename Count>
const char* flaw_of(const HnswGraph<Ints, Sizes>& graph, int64_t ntotal, const Count& count) {
  const auto& cumulated = graph.cum_nneighbor_per_level;
  const uint64_t level_count = graph.assign_probas;
  if (level_count < 1 || level_count > kMaxHnswLevels || count(cumulated) != level_count + 1)
    return "cum_nneighbor_per_level";
  if (cumulated[0] != 0) return "cum_nneighbor_per_level";
  // FAISS writes before the beginning of a level that has no space for a link.
  for (uint64_t level = 0; level < level_count; ++level) {
    if (cumulated[level] >= cumulated[level + 1] || cumulated[level + 1] > kMaxEf)
      return "cum_nneighbor_per_level";
  }
  const auto rows = static_cast<uint64_t>(ntotal);
  if (count(graph.levels) != rows) return "levels";
  if (count(graph.offsets) != rows + 1 || graph.offsets[0] != 0) return "offsets";
  if (graph.ef_construction < 1 || graph.ef_construction > kMaxEf) return "efConstruction";
  if (graph.ef_search < 1 || graph.ef_search > kMaxEf) return "efSearch";
  if (graph.upper_beam < 1 || graph.upper_beam > kMaxEf) return "upper_beam";
  for (uint64_t row = 0; row < rows; ++row) {
    const int64_t level = graph.levels[row];
    if (level < 1 || static_cast<uint64_t>(level) > level_count) return "levels";
    if (graph.offsets[row + 1] < graph.offsets[row] ||
        graph.offsets[row + 1] - graph.offsets[row] !=
            static_cast<uint64_t>(cumulated[static_cast<uint64_t>(level)]))
      return "offsets";
  }
  if (count(graph.neighbors) != graph.offsets[rows]) return "neighbors";
  if (rows == 0) return graph.entry_point == -1 ? nullptr : "entry_point";
  if (graph.entry_point < 0 || graph.entry_point >= ntotal) return "entry_point";
  if (graph.max_level < 0 ||
      graph.max_level >= graph.levels[static_cast<uint64_t>(graph.entry_point)])
    return "max_level";
  // A neighbour on a level is on that level itself, so that the walk can go on from it. None comes
  // after the first −1: adding a link takes a list for full whose last place is filled.
  for (uint64_t row = 0; row < rows; ++row) {
    for (int64_t level = 0; level < graph.levels[row]; ++level) {
      const uint64_t begin =
          graph.offsets[row] + static_cast<uint64_t>(cumulated[static_cast<uint64_t>(level)]);
      const uint64_t end =
          graph.offsets[row] + static_cast<uint64_t>(cumulated[static_cast<uint64_t>(level) + 1]);
      bool has_ended = false;
      for (uint64_t at = begin; at < end; ++at) {
        const int64_t neighbor = graph.neighbors[at];
        if (neighbor == -1) {
          has_ended = true;
          continue;
        }
        if (has_ended || neighbor < 0 || neighbor >= ntotal ||
            graph.levels[static_cast<uint64_t>(neighbor)] <= level)
          return "neighbors";
      }
    }
  }
  return has_sound_chains(graph, ntotal) ? nullptr : "neighbors";
}

}  // namespace polarquant
