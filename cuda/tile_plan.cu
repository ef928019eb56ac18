// SPDX-License-Identifier: MIT
#include "cuda/tile_plan.h"

#include <algorithm>

namespace polarquant::cuda {
namespace {

constexpr int kTileQueries[] = {8, 64, 128};

constexpr uint32_t kEntryBytes = 4;

/// How many accesses one look-up of 32 lanes takes, about: lanes that share a copy wait for each
/// other where their entries lie in one bank.
double accesses(int copies) {
  switch (copies) {
    case 32:
      return 1;
    case 8:
      return 2.95;
    default:
      return 3.5;
  }
}

/// Tables of a trained code in up to `most_bytes`: more copies for those that a row is looked up in
/// most often, for each byte they take. No copy fits: 0 bytes.
TileTables place_tables(const CodeView& code, size_t most_bytes) {
  int copies[kMaxParts];
  const auto bytes_of = [&](int table, int count) {
    return (size_t{kEntryBytes} << code.part[table].index_bits) * static_cast<size_t>(count);
  };
  size_t used = 0;
  for (int t = 0; t < code.table_count; ++t) {
    copies[t] = 1;
    used += bytes_of(t, 1);
  }
  TileTables tables;
  if (used > most_bytes) return tables;
  for (;;) {
    struct {
      double gain = 0;
      int table = -1;
      int copies = 0;
    } best;
    for (int t = 0; t < code.table_count; ++t) {
      for (const int more : {8, 32}) {
        if (more <= copies[t]) continue;
        const size_t bytes = bytes_of(t, more) - bytes_of(t, copies[t]);
        if (used + bytes > most_bytes) continue;
        const double gain = code.part[t].lookups * (accesses(copies[t]) - accesses(more)) /
                            static_cast<double>(bytes);
        if (gain > best.gain) best = {gain, t, more};
      }
    }
    if (best.table < 0) break;
    used += bytes_of(best.table, best.copies) - bytes_of(best.table, copies[best.table]);
    copies[best.table] = best.copies;
  }
  // Larger ones first, so that each lies on a boundary of its size.
  for (int shift = 30; shift >= 0; --shift) {
    for (int t = 0; t < code.table_count; ++t) {
      if (bytes_of(t, copies[t]) != size_t{1} << shift) continue;
      tables.place[t] = tables.bytes;
      tables.bytes += uint32_t{1} << shift;
      tables.index_shift[t] = 2;
      for (int c = copies[t]; c > 1; c /= 2) ++tables.index_shift[t];
    }
  }
  return tables;
}

/// The least bytes of a code's tables.
size_t least_table_bytes(const CodeView& code) {
  if (!code.is_trained()) return kTableBytes;
  size_t bytes = 0;
  for (int t = 0; t < code.table_count; ++t)
    bytes += size_t{kEntryBytes} << code.part[t].index_bits;
  return bytes;
}

/// With as many warp groups as fit; none: it does not fit.
TilePlan fit(const CodeView& code, int queries, int buffers, size_t most_shared_bytes) {
  const size_t query_bytes =
      static_cast<size_t>(even(code.segments)) * kSegmentDims * static_cast<size_t>(queries);
  const size_t plan_bytes =
      code.is_trained()
          ? kMaxParts * sizeof(TilePart) + static_cast<size_t>(queries) * sizeof(StageChange)
          : 0;
  const size_t warp_bytes = static_cast<size_t>(buffers) * WarpBuffer(code).bytes();
  // The system's part of the first kilobyte is before the tables too.
  constexpr size_t kSystemBytes = 1024;
  const size_t sketch_bytes = kTableBytes - kSystemBytes -
                              static_cast<size_t>(queries) * sizeof(ReachTest) -
                              (kMaxWarps * kMaxBuffers + 2) * sizeof(uint64_t);
  const size_t sketch_warps = sketch_bytes / warp_bytes;
  TilePlan plan;
  for (int groups = max_warp_groups(queries); groups >= 1; --groups) {
    const auto warps = static_cast<size_t>(groups) * kGroupWarps;
    const size_t payload_warps = warps - std::min(warps, sketch_warps);
    const size_t other_bytes = kTableBytes + query_bytes + plan_bytes +
                               warps * kWaitingMatches * sizeof(Match) + payload_warps * warp_bytes;
    if (other_bytes + least_table_bytes(code) > most_shared_bytes) continue;
    if (code.is_trained())
      plan.tables = place_tables(code, (most_shared_bytes - other_bytes) / 128 * 128);
    const size_t table_bytes =
        code.is_trained() ? (plan.tables.bytes + 127) / 128 * 128 : kTableBytes;
    plan.tables.bytes = static_cast<uint32_t>(table_bytes);
    const size_t bytes = other_bytes + table_bytes;
    plan.queries = queries;
    plan.buffers = buffers;
    plan.warp_groups = groups;
    plan.sketch_warps = static_cast<int>(std::min(warps, sketch_warps));
    plan.shared_bytes = bytes;
    break;
  }
  return plan;
}

}  // namespace

TilePlan plan_tile_scan(const CodeView& code, int nq, size_t most_shared_bytes) {
  // The least tile that has all queries, or else the largest that fits. More warp groups hide more
  // than a second buffer for each (docs/dev/tuning.md, "CUDA").
  TilePlan best;
  for (const int queries : kTileQueries) {
    if (queries > kMostQueriesUnlessPlain && !is_plain(code) && !code.is_trained()) break;
    TilePlan plan = fit(code, queries, 2, most_shared_bytes);
    const TilePlan single = fit(code, queries, 1, most_shared_bytes);
    if (single.warp_groups > plan.warp_groups) plan = single;
    if (plan.queries == 0) break;
    best = plan;
    if (queries >= nq) break;
  }
  return best;
}

}  // namespace polarquant::cuda
