// SPDX-License-Identifier: MIT
// How a search scans: the one place where it is decided, from the codec, the machine and the
// request alone. A plan says which kernels run and how queries are grouped; it never changes which
// rows are found. Every threshold between two ways is in plan.cc, with the reason for it; the
// measurements are in docs/dev/tuning.md.
#pragma once

#include <cstdint>

#include "src/scan/kernels/batch/shared_sketches.h"
#include "src/scan/model/scan_codec.h"

namespace polarquant {

enum class ScanKind : uint8_t {
  staged,  // the sketches of all rows, then further stages of the few that bounds leave
  shared,  // the same by bounds, but sketches are laid out and rows decoded once for all queries
  dense,   // products of all rows with all queries
  exhaustive,  // every row is scored, query by query, but those that its own bytes leave out
};

/// The products of a dense scan.
enum class DenseForm : uint8_t {
  scores,       // by stage
  one_step,     // scores of split stages within a margin; few rows get exact ones
  first_stage,  // the first of two stages, where its bound leaves rows out; few rows get scores
};

/// The properties of a machine that a plan depends on.
struct ScanMachine {
  SharedKernels shared = SharedKernels::none;
  bool has_amx = false;         // for products of bytes
  bool looks_up_bytes = false;  // of many rows at once, for window tables

  static ScanMachine here();
};

/// The properties of a search that a plan depends on.
struct ScanRequest {
  int64_t nq = 1;
  int64_t k = 0;  // 0: all rows within a radius
  int64_t rows = 0;
  float exactness = 0;
  int threads = 1;             // as many as run
  bool is_row_format = false;  // rows are packed into blocks as they are read
};

/// Rows of one task of an exhaustive scan of codes without int8 values: enough that handing it out
/// costs nothing (a decoded row takes over 100 cycles).
inline constexpr int64_t kExhaustiveTaskRows = 1024;

/// How rows in blocks, or one after another, are scanned.
struct ScanPlan {
  ScanKind kind = ScanKind::exhaustive;
  /// Whether rows are ranked by bounds too, and not by scores alone.
  bool bounded = false;
  /// For a dense scan.
  DenseForm form = DenseForm::scores;
  /// For an exhaustive scan by int8 values: whether window tables tell first which rows can be
  /// among the best.
  bool by_windows = false;
  /// For an exhaustive scan of codes without int8 values: whether products of rounded bytes tell
  /// first which rows can be among the best.
  bool rounded = false;
  /// Queries that go through the rows together, the group; and the parts that threads take of the
  /// group, each of which reads the rows once.
  int64_t group_queries = 1;
  int64_t slices = 1;
  int64_t slice_queries = 1;
  /// The most blocks that are loaded at a time.
  int64_t tile_blocks = 0;
  /// Blocks, at even distances, whose most promising rows set a shared scan's first thresholds.
  int64_t seed_blocks = 0;
};

/// `codec`: null for codes without int8 values. The plan of the search's first group; a group is
/// planned again by its own nq. Pure.
ScanPlan plan_scan(const ScanCodec* codec, const ScanMachine& machine, const ScanRequest& request);

/// How probed lists of an inverted file are scanned.
struct ListRequest {
  int64_t nq = 1;  // of a group
  int64_t nprobe = 1;
  int64_t lists = 1;
  float exactness = 0;
  int threads = 1;
  double share = 1;  // of the rows that the filter keeps, as far as that is known
};

struct ListPlan {
  /// Whether lists are tasks, each read once for all queries that probe it; otherwise queries are.
  bool by_lists = false;
  /// Tasks that share a query's probes, where queries are tasks.
  int64_t parts = 1;
  bool has_values = false;  // int8 values
  bool bounded = false;
  DenseForm form = DenseForm::scores;

  /// How one list is scanned for so many queries together.
  ScanKind kind(int64_t queries) const;
};

/// Queries whose best rows are in memory together.
inline constexpr int64_t kListGroupQueries = 1024;
ListPlan plan_lists(const ScanCodec* codec, const ScanMachine& machine, const ListRequest& request);

/// How the centroids nearest to queries are looked for.
struct CentroidPlan {
  /// Whether ranges of centroids are tasks, since there are too few queries for all threads.
  bool by_centroids = false;
  int64_t chunk_queries = 1;  // whose similarity is in memory together
};
CentroidPlan plan_centroids(int64_t nq, int64_t count, int threads);
/// Whether so many queries of a chunk are multiplied as a whole chunk, and not one by one.
bool multiplies_chunk(int64_t queries);

/// How the one centroid nearest to a query is looked for, where many queries are: as rows are that
/// are put into lists, or coded about centroids.
struct NearestPlan {
  int numbers = 0;              // that stand for a centroid (leading_axes.h); 0: all coordinates do
  int64_t after_queries = 0;    // from so many on making them pays
  int64_t most_candidates = 0;  // that bounds may leave; with more, all coordinates are faster
};
NearestPlan plan_nearest(const ScanMachine& machine, int64_t count, int dim);

/// How a search of a graph finds rows that a filter keeps.
struct GraphRequest {
  int64_t k = 1;
  int64_t ef = 1;  // nodes that a walk keeps without a filter
  int64_t nodes = 0;
  int64_t allowed = 0;
  bool in_records = false;  // nodes lie in records, through which walks are faster
};
struct GraphPlan {
  bool gathered = false;    // all of them are scored, and no walk is made
  int64_t ef = 1;           // nodes that a walk keeps, so that enough of these are allowed
  int64_t most_copies = 0;  // so many allowed nodes are copied at most, and no walk is made either
};
GraphPlan plan_graph(const GraphRequest& request);

/// How a search of an inverted file finds rows that a filter keeps.
struct KeptRowsRequest {
  int64_t nprobe = 1;  // lists that are searched without a filter
  int64_t lists = 1;
  int64_t rows = 0;  // in all lists
  int64_t kept = 0;
  bool are_known = true;  // which these are, so that lists without any are passed over
};
struct KeptRowsPlan {
  /// Vectors rounded to bytes tell which rows are scored, once there are any: so many are read.
  bool rounded = false;
  int64_t vectors = 0;
  int64_t queries = 0;  // that take as long as making them
  bool scored = false;  // all rows are scored
  /// Lists to search where neither is done, fewer where these have so many kept rows.
  int64_t nprobe = 1;
  int64_t wanted = 0;
};
KeptRowsPlan plan_kept_rows(const KeptRowsRequest& request);
/// Whether kept rows are found by looking up their ids, where that is a read of an array, and not
/// by asking for the ids of all rows; and whether that pays for a single search.
bool finds_by_ids(int64_t kept, int64_t rows);
bool finds_for_one_search(int64_t kept, int64_t rows);
/// Whether all of so many kept rows of a list are scored, without bounds.
bool scores_all_of_list(int64_t kept);

/// The most rows that a filter may keep of so many for these to be copied, so that searches read
/// nothing else; after so many queries, which take as long.
int64_t most_copies(int64_t rows);
inline constexpr int64_t kQueriesBeforeCopy = 8;

/// Whether a search at this exactness ranks rows by bounds too, and not by scores alone.
bool search_is_bounded(const ScanCodec& codec, float exactness);
/// The same for rows that are scored one by one, for graphs.
bool single_rows_are_bounded(const ScanCodec& codec, float exactness);

/// The fastest form of a dense scan.
DenseForm dense_form(const ScanCodec& codec, const ScanMachine& machine, bool bounded);
/// The dimensions of such a scan's products.
int dense_dims(const ScanCodec& codec, DenseForm form);
/// The least number of queries for which a shared scan is faster; beyond any where it never is.
int64_t min_shared_queries(const ScanCodec& codec, const ScanMachine& machine);

}  // namespace polarquant
