// SPDX-License-Identifier: MIT
#include "src/scan/search/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/scan/kernels/bounds/rows_to_score.h"
#include "src/scan/kernels/dense/first_stage_vectors.h"
#include "src/scan/kernels/dense/one_step_vectors.h"
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/search_request.h"

namespace polarquant {
namespace {

/// With fewer dimensions bounds leave no row out.
constexpr int kMinBoundedDims = 64;

// Groups. Dense and shared scans decode every row once for each group, so that groups are as large
// as memory allows: a thread's queries, their prepared forms, and their heaps.
constexpr int64_t kGroupQueries = 1024;
constexpr int64_t kGroupBytes = int64_t{16} << 20;     // 3.2 MiB are taken at 384 dimensions
constexpr int64_t kMaxHeapEntries = int64_t{1} << 17;  // 2 MiB
/// With so many queries each, threads work apart: decoding rows again costs less than two threads'
/// thresholds for the same queries, each of which knows half of the rows.
constexpr int64_t kQueriesApart = 256;

// Shared scans. Few queries do not repay laying sketches out and decoding rows, least of all long
// codes' (has_long_codes). From each number on a shared scan was as fast as groups of eight
// queries.
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinSharedQueries = 72;
constexpr int64_t kMinSharedQueriesOfSplit = 80;
constexpr int64_t kMinSharedQueriesOfLong = 144;
constexpr int64_t kMinSharedQueriesOfLongWide = 112;
constexpr int64_t kMinSharedQueriesNarrow = 96;
constexpr int64_t kMinSharedQueriesOfLongNarrow = 256;
/// More blocks would set tighter thresholds first, but searching them takes as long as they save.
constexpr int64_t kSeedBlocks = 64;
/// Blocks that are decoded, or packed, at a time.
constexpr int64_t kSmallTileBlocks = 16;

// Dense scans. With AMX they are faster from so many queries on, up to so many dimensions (each
// number also for codes in two stages): a shared scan reads a number of bytes of most rows that
// does not grow with the dimension.
constexpr int64_t kMinDenseQueries = 48;
constexpr int64_t kMinDenseQueriesByStages = 64;
constexpr int kMaxDenseDims = 512;
/// Where every row is scored a dense scan pays from the second query on, without AMX too: it
/// decodes a row once for both.
constexpr int64_t kMinUnboundedDenseQueries = 2;
/// Of codes about centroids: what bounds leave out is less than what decoding a row once for all
/// queries saves.
constexpr int64_t kMinDenseQueriesOfCentroids = 4;
/// The same where window tables leave out most rows.
constexpr int64_t kMinDenseQueriesByWindows = 7;
constexpr int64_t kMinDenseQueriesOfCentroidsByWindows = 12;
/// Where entries are looked up one by one: 4 at 48 to 192 bytes of windows, 6 at 24 and less.
constexpr int64_t kMinDenseQueriesByGroups = 5;
/// And making tables of groups takes as long as scoring 500 to 1,000 rows.
constexpr int64_t kMinRowsOfGroups = 1024;
/// With more dimensions one step takes longer than the first stage, or than scores of both. Without
/// AMX the first stage's products, of half as many dimensions, are faster where bounds leave rows
/// out.
constexpr int kMaxOneStepDims = 512;

// Codes without int8 values. Rounding a decoded row costs about eight scores.
constexpr int64_t kMinRoundedQueries = 16;
/// The heaps, one per thread and query, are alive together.
constexpr int64_t kMaxExhaustiveGroupQueries = 1024;
constexpr int64_t kMaxExhaustiveHeapEntries = int64_t{1} << 22;  // 64 MiB

// Inverted files. With so many queries for each list, in the mean, lists are tasks.
/// Queries of a list, in the mean, from which on lists are tasks.
constexpr int64_t kMinQueriesPerList = 8;
/// With so many queries a list's rows are decoded once and scored for all: fewer gain more by
/// leaving rows out.
constexpr int64_t kMinDenseQueriesOfList = 8;
/// The least number of lists of one task, where threads share a query's probes.
constexpr int64_t kMinProbesPerTask = 4;

// Centroids.
/// From so many on query_tile_dots, which always takes a whole chunk, is the faster kernel.
constexpr int64_t kMinChunkQueries = 20;
/// Similarities that are in memory together, unless one query has more: 4 MiB.
constexpr int64_t kMaxSimilarities = int64_t{1} << 20;
/// Half as many numbers as coordinates, in whole segments, leave 4 to 22 of 4,096 centroids of
/// embeddings to floats; a third leaves 55 to 220, which takes longer than it saves.
constexpr int kDimsPerSegmentOfNumbers = 2 * kSegmentDims;
/// Of fewer centroids scoring all takes less than making a query's numbers, whose time grows with
/// the square of the dimensions.
constexpr int64_t kMinReducedCentroids = 2048;
constexpr int64_t kMinReducedCentroidsPerDim = 2;
/// Making the axes takes as long as a search of some thousand queries.
constexpr int64_t kQueriesPerReducedCentroid = 4;
constexpr int64_t kCentroidsPerCandidate = 16;

// Graphs. A walk takes as long, for each node that it keeps, as scoring so many rows one after the
// other, which bounds leave most of out (docs/dev/tuning.md, "Filters").
constexpr int64_t kGatheredPerNode = 64;
/// A walk finds nearly as much as without a filter where so many tenths of k of the nodes that it
/// keeps are allowed: it sees, and may return, many more than it keeps.
constexpr int64_t kAllowedTenths = 10;

// Filters in inverted files. Exact scores of single rows take so many times less than the search of
// a list (.35 of 1.2 us); the search of a list takes, beside its rows, as long as so many of them;
// a vector of bytes as long as half a row of a list.
constexpr int64_t kScoredPerProbe = 4;
constexpr int64_t kRowsOfListSearch = 100;
constexpr int64_t kRoundedPerRow = 2;
/// A vector of bytes takes about twice as long as a row of a code of 4 bits: all take at most a
/// quarter of what all rows take.
constexpr int64_t kRowsPerRounded = 8;
/// Making a vector takes as long as so many rows of a list.
constexpr int64_t kRowsPerVectorMade = 80;
/// With a filter lists are searched until they have as many rows that it keeps as are read without
/// it, in so many more lists at most as take half as long as a search without it: a list with a
/// filter takes 1.4 times as long as one without.
constexpr double kMoreProbesOfSearch = 13;
constexpr double kMoreProbesPerProbe = .3;
/// But where it keeps less than this share, as many more as it keeps fewer.
constexpr double kShareOfSameProbes = .1;

/// Where it is known which lists have kept rows, not more than so many times as many.
constexpr double kMostProbesOfKnown = 4;

// A look-up takes about three times as long as the question for an id.
constexpr int64_t kRowsPerLookUp = 4;
/// All look-ups of a search take less than a third of one without a filter.
constexpr int64_t kRowsPerLookUpOfOne = 24;
/// The bounds of a list's rows take as long as scores of so many.
constexpr int64_t kScoredOfList = 8;

// Copies of the rows that a filter keeps take at most so much of what all rows take.
constexpr int64_t kRowsPerCopy = 8;
/// A graph's links take as much memory as its codes, and walks miss rows that are alike.
constexpr int64_t kCopiedFifths = 3;
/// A walk takes as long, for each node that it keeps, as a scan of so many copies, one and a half
/// times so long.
constexpr double kCopiesPerNode = 2000;
/// In records for each node that it would expand without a filter; with one it expands as many more
/// as fewer are allowed.
constexpr double kCopiesPerRecord = 150;

/// Residual codes and Polar8, whose rows take long to decode.
bool has_long_codes(const ScanCodec& codec) {
  const bool is_residual = codec.stages().size() == 2 && !codec.has_split_stages();
  return is_residual || codec.layout().splits_levels();
}

bool dense_beats_bounds(const ScanCodec& codec, const ScanMachine& machine, int64_t nq) {
  const bool by_stages = codec.stages().size() == 2;
  return machine.has_amx && nq >= (by_stages ? kMinDenseQueriesByStages : kMinDenseQueries) &&
         dense_dims(codec, dense_form(codec, machine, true)) <= kMaxDenseDims;
}

bool has_window_tables(const ScanCodec& codec, const ScanMachine& machine, int64_t rows) {
  return fits_window_tables(codec) && (machine.looks_up_bytes || rows >= kMinRowsOfGroups);
}

/// For searches that no bound by signs helps.
int64_t min_dense_queries(const ScanMachine& machine, bool by_windows, bool by_centroids) {
  if (by_centroids)
    return by_windows ? kMinDenseQueriesOfCentroidsByWindows : kMinDenseQueriesOfCentroids;
  if (!by_windows) return kMinUnboundedDenseQueries;
  return machine.looks_up_bytes ? kMinDenseQueriesByWindows : kMinDenseQueriesByGroups;
}

void set_kind(const ScanCodec& codec, const ScanMachine& machine, int64_t rows, ScanPlan* plan) {
  const int64_t nq = plan->group_queries;
  if (!plan->bounded || codec.has_centroids()) {
    const bool by_windows = has_window_tables(codec, machine, rows);
    const bool is_dense = nq >= min_dense_queries(machine, by_windows, plan->bounded);
    plan->kind = is_dense ? ScanKind::dense : ScanKind::exhaustive;
    plan->by_windows = by_windows && !is_dense;
  } else if (dense_beats_bounds(codec, machine, nq)) {
    plan->kind = ScanKind::dense;
  } else {
    plan->kind = nq >= min_shared_queries(codec, machine) ? ScanKind::shared : ScanKind::staged;
  }
  if (plan->kind == ScanKind::dense) plan->form = dense_form(codec, machine, plan->bounded);
}

int64_t group_of(const ScanCodec& codec, const ScanRequest& request) {
  // A query's numbers for the centroids are kept twice: in the order of tiles, too.
  const int64_t query_bytes = codec.padded_dim() * 7 + 512 + codec.centroid_count() * 8;
  const int64_t blocks = div_up(request.rows, kBlockRows);
  const int64_t heap_entries =
      std::max<int64_t>(1, std::min(ScanCodec::rescored_rows(request.k), blocks * kBlockRows));
  const int64_t thread_queries = std::min(kGroupQueries, kGroupBytes / query_bytes);
  const int64_t group = std::max<int64_t>(
      1, std::min(thread_queries * request.threads, kMaxHeapEntries / heap_entries));
  return request.nq > 0 ? div_up(request.nq, div_up(request.nq, group)) : 1;
}

/// Slices of queries keep thresholds tight, which a staged scan depends on; dense and shared ones
/// decode every row once for each slice.
int64_t slices_of(ScanKind kind, int64_t nq, int64_t blocks, int threads) {
  const int64_t wanted = threads == 1 ? 1 : threads * kTasksPerThread;
  const int64_t most = std::max<int64_t>(nq / kQueriesPerTask, 1);
  if (kind != ScanKind::dense && kind != ScanKind::shared) return std::min(most, wanted);
  const int64_t tiles = std::max<int64_t>(div_up(blocks, kSmallTileBlocks), 1);
  const int64_t apart = std::min<int64_t>(threads, nq / kQueriesApart);
  return std::min(most, std::max(div_up(wanted, tiles), apart));
}

ScanPlan plan_values(const ScanCodec& codec, const ScanMachine& machine,
                     const ScanRequest& request) {
  ScanPlan plan;
  plan.bounded = search_is_bounded(codec, request.exactness);
  plan.group_queries = group_of(codec, request);
  set_kind(codec, machine, request.rows, &plan);
  const int64_t blocks = div_up(request.rows, kBlockRows);
  plan.slices = slices_of(plan.kind, plan.group_queries, blocks, request.threads);
  plan.slice_queries = div_up(div_up(plan.group_queries, plan.slices), kTileQueries) * kTileQueries;
  const bool is_small =
      plan.kind == ScanKind::dense || plan.kind == ScanKind::shared || request.is_row_format;
  plan.tile_blocks = is_small ? kSmallTileBlocks : kTileBlocks;
  if (plan.kind == ScanKind::shared && request.k > 0)
    plan.seed_blocks = std::min(request.is_row_format ? kSmallTileBlocks : kSeedBlocks, blocks);
  return plan;
}

ScanPlan plan_floats(const ScanRequest& request) {
  ScanPlan plan;
  const int64_t heap_entries =
      request.threads * std::max<int64_t>(1, std::min(request.k, request.rows));
  const int64_t group =
      std::clamp<int64_t>(kMaxExhaustiveHeapEntries / heap_entries, 1, kMaxExhaustiveGroupQueries);
  plan.group_queries = std::clamp<int64_t>(request.nq, 1, group);
  const int64_t ranges = std::max<int64_t>(div_up(request.rows, kExhaustiveTaskRows), 1);
  if (request.threads > 1)
    plan.slices = std::clamp<int64_t>(div_up(request.threads * kTasksPerThread, ranges), 1,
                                      plan.group_queries);
  plan.rounded = plan.group_queries / plan.slices >= kMinRoundedQueries;
  plan.slice_queries = div_up(plan.group_queries, plan.slices);
  if (plan.rounded) plan.slice_queries = div_up(plan.slice_queries, kTileQueries) * kTileQueries;
  return plan;
}

}  // namespace

ScanMachine ScanMachine::here() {
  return {shared_kernels(), query_tile_dots_use_amx(), machine_looks_up_bytes()};
}

ScanPlan plan_scan(const ScanCodec* codec, const ScanMachine& machine, const ScanRequest& request) {
  return codec != nullptr ? plan_values(*codec, machine, request) : plan_floats(request);
}

ListPlan plan_lists(const ScanCodec* codec, const ScanMachine& machine,
                    const ListRequest& request) {
  ListPlan plan;
  plan.by_lists = static_cast<double>(request.nq * request.nprobe) * request.share >=
                  static_cast<double>(kMinQueriesPerList * request.lists);
  if (!plan.by_lists) {
    plan.parts = std::clamp<int64_t>(div_up(request.threads, std::max<int64_t>(request.nq, 1)), 1,
                                     std::max<int64_t>(request.nprobe / kMinProbesPerTask, 1));
  }
  if (codec == nullptr) return plan;
  plan.has_values = true;
  plan.bounded = search_is_bounded(*codec, request.exactness);
  plan.form = dense_form(*codec, machine, plan.bounded);
  return plan;
}

ScanKind ListPlan::kind(int64_t queries) const {
  if (!has_values) return ScanKind::exhaustive;
  if (queries >= kMinDenseQueriesOfList) return ScanKind::dense;
  return bounded ? ScanKind::staged : ScanKind::exhaustive;
}

CentroidPlan plan_centroids(int64_t nq, int64_t count, int threads) {
  if (nq < threads) return {true, nq};
  const int64_t most =
      std::max<int64_t>(std::min<int64_t>(kChunkRows, kMaxSimilarities / count), 1);
  return {false, std::clamp<int64_t>(nq / threads, 1, most)};
}

bool multiplies_chunk(int64_t queries) { return queries >= kMinChunkQueries; }

// With VNNI products of all coordinates take, by the count of their instructions, about as long as
// making the numbers.
NearestPlan plan_nearest(const ScanMachine& machine, int64_t count, int dim) {
  const int64_t least = std::max(kMinReducedCentroids, kMinReducedCentroidsPerDim * dim);
  if (machine.looks_up_bytes || count < least || dim < kDimsPerSegmentOfNumbers) return {};
  const int segments = (dim + kDimsPerSegmentOfNumbers / 2) / kDimsPerSegmentOfNumbers;
  return {segments * kSegmentDims, count * kQueriesPerReducedCentroid,
          count / kCentroidsPerCandidate};
}

GraphPlan plan_graph(const GraphRequest& request) {
  const auto [k, ef, nodes, allowed, in_records] = request;
  GraphPlan plan = {false, ef};
  if (allowed >= nodes) return plan;
  plan.most_copies =
      std::min(nodes / 5 * kCopiedFifths,
               static_cast<int64_t>(std::min(static_cast<double>(ef) * kCopiesPerNode, 1e18)));
  if (in_records) {
    const double as_long =
        std::sqrt(static_cast<double>(ef) * kCopiesPerRecord * static_cast<double>(nodes));
    plan.most_copies = std::min(plan.most_copies, static_cast<int64_t>(std::min(as_long, 1e18)));
  }
  if (allowed > 0) {
    // A double, since the product may not fit 64 bits.
    const double wanted = static_cast<double>(k) * kAllowedTenths / 10 *
                          (static_cast<double>(nodes) / static_cast<double>(allowed));
    plan.ef = std::clamp(static_cast<int64_t>(std::min(wanted, 1e18)), ef, std::max(ef, nodes));
  }
  plan.gathered = allowed / kGatheredPerNode <= plan.ef;
  return plan;
}

KeptRowsPlan plan_kept_rows(const KeptRowsRequest& request) {
  const auto& [nprobe, lists, rows, kept, are_known] = request;
  KeptRowsPlan plan;
  plan.scored = kept <= kScoredPerProbe * nprobe;
  const int64_t rows_of_list = rows / std::max<int64_t>(lists, 1);
  const int64_t rows_of_probes = nprobe * rows_of_list;
  plan.vectors = std::min(kept, rows_of_probes);
  const int64_t search_rows = nprobe * (rows_of_list + kRowsOfListSearch);
  const int64_t read = plan.vectors + kept / kTileQueries;
  plan.rounded = kept <= rows / kRowsPerRounded && read / kRoundedPerRow <= search_rows;
  plan.queries = kept * kRowsPerVectorMade / std::max<int64_t>(search_rows, 1);
  const double share = static_cast<double>(std::max<int64_t>(kept, 1)) /
                       static_cast<double>(std::max<int64_t>(rows, 1));
  const auto own = static_cast<double>(nprobe);
  const double most = own + kMoreProbesOfSearch + kMoreProbesPerProbe * own;
  const double proportional = own * kShareOfSameProbes / share;
  const double more = are_known ? std::min(proportional, own * kMostProbesOfKnown) : proportional;
  const double probes = std::ceil(std::max(std::clamp(own / share, own, most), more));
  plan.nprobe =
      std::clamp(static_cast<int64_t>(std::min(probes, 1e18)), nprobe, std::max(nprobe, lists));
  plan.wanted = plan.vectors;
  return plan;
}

bool finds_by_ids(int64_t kept, int64_t rows) { return kept <= rows / kRowsPerLookUp; }
bool finds_for_one_search(int64_t kept, int64_t rows) { return kept <= rows / kRowsPerLookUpOfOne; }
bool scores_all_of_list(int64_t kept) { return kept <= kScoredOfList; }

int64_t most_copies(int64_t rows) { return rows / kRowsPerCopy; }

bool search_is_bounded(const ScanCodec& codec, float exactness) {
  if (codec.has_centroids()) return exactness < kScoreEveryRow;
  return codec.has_signs() && !codec.factor_format().is_of_few_bytes() &&
         codec.dim() >= kMinBoundedDims && exactness < kScoreEveryRow;
}

// The bounds of split stages need the first one's whole dot products.
bool single_rows_are_bounded(const ScanCodec& codec, float exactness) {
  return search_is_bounded(codec, exactness) && !codec.has_split_stages();
}

DenseForm dense_form(const ScanCodec& codec, const ScanMachine& machine, bool bounded) {
  if (codec.has_split_stages() && (machine.has_amx || !bounded) &&
      OneStepVectors(codec).padded_dim() <= kMaxOneStepDims)
    return DenseForm::one_step;
  return bounded && codec.stages().size() == 2 ? DenseForm::first_stage : DenseForm::scores;
}

int dense_dims(const ScanCodec& codec, DenseForm form) {
  switch (form) {
    case DenseForm::one_step:
      return OneStepVectors(codec).padded_dim();
    case DenseForm::first_stage:
      return FirstStageVectors(codec).padded_dim();
    case DenseForm::scores:
      break;
  }
  return codec.padded_dim();
}

int64_t min_shared_queries(const ScanCodec& codec, const ScanMachine& machine) {
  const bool is_long = has_long_codes(codec);
  switch (machine.shared) {
    case SharedKernels::permuting:
      if (is_long) return kMinSharedQueriesOfLong;
      return codec.has_split_stages() ? kMinSharedQueriesOfSplit : kMinSharedQueries;
    case SharedKernels::wide:
      return is_long ? kMinSharedQueriesOfLongWide : kMinSharedQueries;
    case SharedKernels::narrow:
      return is_long ? kMinSharedQueriesOfLongNarrow : kMinSharedQueriesNarrow;
    case SharedKernels::none:
      break;
  }
  return kNever;
}

}  // namespace polarquant
