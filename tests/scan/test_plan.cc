// SPDX-License-Identifier: MIT
// How searches scan, by a table: codec, machine and request, and the plan that they must get, on
// both sides of every threshold.
#include "src/scan/search/plan.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

constexpr float kEveryRow = std::numeric_limits<float>::infinity();
constexpr int64_t kMillion = 1'000'000;

constexpr ScanMachine kScalar = {SharedKernels::none, false};
constexpr ScanMachine kSse4 = {SharedKernels::narrow, false};
constexpr ScanMachine kAvx2 = {SharedKernels::wide, false};
constexpr ScanMachine kAvx512 = {SharedKernels::permuting, false, true};
constexpr ScanMachine kAmx = {SharedKernels::permuting, true, true};

struct CodecName {
  const char* spec;
  int dim;
  Spectrum spectrum = Spectrum::steep;
};
constexpr CodecName kOneStage = {"Polar4", 384};
constexpr CodecName kResidual = {"Polar4+2", 384};
constexpr CodecName kLevels = {"Polar8", 384};
constexpr CodecName kSplit = {"Polar3-pca", 512, Spectrum::gentle};
constexpr CodecName kWideSplit = {"Polar5-pca", 640, Spectrum::gentle};
constexpr CodecName kNoSigns = {"Polar1", 384};
constexpr CodecName kLongNoSigns = {"Polar1.5", 1500};
constexpr CodecName kCentroids = {"PolarB16-km9", 384};
constexpr CodecName kFewDims = {"Polar4", 63};
constexpr CodecName kLeastDims = {"Polar4", 64};
constexpr CodecName kWidest = {"Polar4", 512};
constexpr CodecName kWider = {"Polar4", 513};

const ScanCodec& codec_of(const CodecName& name) {
  struct CodecModel {
    std::unique_ptr<Codec> codec;
    ScanCodec scan;
  };
  static std::map<std::string, CodecModel> all;
  const std::string key = std::string(name.spec) + " " + std::to_string(name.dim);
  auto at = all.find(key);
  if (at == all.end()) {
    auto codec = make_codec(name.spec, name.dim, Metric::inner_product, name.spectrum);
    const ScanCodec scan(*codec);
    at = all.emplace(key, CodecModel{std::move(codec), scan}).first;
  }
  return at->second.scan;
}

struct KindRow {
  const CodecName& codec;
  const ScanMachine& machine;
  int64_t nq;
  int64_t k;
  int64_t rows;
  float exactness;
  int threads;
  ScanKind kind;
};

constexpr auto kStaged = ScanKind::staged;
constexpr auto kShared = ScanKind::shared;
constexpr auto kDense = ScanKind::dense;
constexpr auto kExhaustive = ScanKind::exhaustive;

const KindRow kKinds[] = {
    // One stage.
    {kOneStage, kScalar, 1, 10, kMillion, 2.25F, 1, kStaged},
    {kOneStage, kScalar, 1000, 10, kMillion, 2.25F, 1, kStaged},
    {kOneStage, kSse4, 95, 10, kMillion, 2.25F, 1, kStaged},
    {kOneStage, kSse4, 96, 10, kMillion, 2.25F, 1, kShared},
    {kOneStage, kAvx2, 71, 10, kMillion, 2.25F, 1, kStaged},
    {kOneStage, kAvx2, 72, 10, kMillion, 2.25F, 1, kShared},
    {kOneStage, kAvx512, 1, 10, kMillion, 2.25F, 1, kStaged},
    {kOneStage, kAvx512, 71, 10, kMillion, 2.25F, 1, kStaged},
    {kOneStage, kAvx512, 72, 10, kMillion, 2.25F, 1, kShared},
    {kOneStage, kAvx512, 1000, 10, kMillion, 2.25F, 1, kShared},
    {kOneStage, kAmx, 47, 10, kMillion, 2.25F, 1, kStaged},
    {kOneStage, kAmx, 48, 10, kMillion, 2.25F, 1, kDense},
    // All rows within a radius, few rows, and threads, decide nothing of this.
    {kOneStage, kAvx512, 72, 0, kMillion, 2.25F, 1, kShared},
    {kOneStage, kAvx512, 72, 10, 1, 2.25F, 1, kShared},
    {kOneStage, kAvx512, 72, 10, 0, 2.25F, 1, kShared},
    {kOneStage, kAvx512, 71, 10, kMillion, 2.25F, 8, kStaged},
    {kOneStage, kAvx512, 72, 10, kMillion, 2.25F, 8, kShared},
    // Many best rows leave memory for few queries at a time: of k + k/16 + 1 each 131,072 in all.
    {kOneStage, kAvx512, 72, 1711, kMillion, 2.25F, 1, kShared},
    {kOneStage, kAvx512, 72, 1714, kMillion, 2.25F, 1, kStaged},
    {kOneStage, kAvx512, 72, 1714, 1792, 2.25F, 1, kShared},  // there are no more rows
    {kOneStage, kAvx512, 1000, 100'000, kMillion, 2.25F, 1, kStaged},
    // Where every row is scored.
    {kOneStage, kAvx512, 1, 10, kMillion, kEveryRow, 1, kExhaustive},
    {kOneStage, kAvx512, 2, 10, kMillion, kEveryRow, 1, kDense},
    {kOneStage, kScalar, 2, 10, kMillion, kEveryRow, 1, kDense},
    {kOneStage, kAvx512, 2, 100'000, kMillion, kEveryRow, 1, kExhaustive},
    {kNoSigns, kAmx, 1, 10, kMillion, 2.25F, 1, kExhaustive},
    {kNoSigns, kAvx2, 4, 10, 1024, 2.25F, 1, kExhaustive},
    {kNoSigns, kAvx2, 5, 10, 1024, 2.25F, 1, kDense},
    {kNoSigns, kAvx2, 1, 10, 1023, 2.25F, 1, kExhaustive},
    {kNoSigns, kAvx2, 2, 10, 1023, 2.25F, 1, kDense},
    {kNoSigns, kAvx512, 6, 10, kMillion, 2.25F, 1, kExhaustive},
    {kNoSigns, kAvx512, 7, 10, kMillion, 2.25F, 1, kDense},
    {kLongNoSigns, kAvx512, 1, 10, kMillion, 2.25F, 1, kExhaustive},
    {kLongNoSigns, kAvx512, 2, 10, kMillion, 2.25F, 1, kDense},
    {kCentroids, kAvx2, 3, 10, 1023, 2.25F, 1, kExhaustive},
    {kCentroids, kAvx2, 4, 10, 1023, 2.25F, 1, kDense},
    {kCentroids, kAvx2, 11, 10, kMillion, 2.25F, 1, kExhaustive},
    {kCentroids, kAvx2, 12, 10, kMillion, 2.25F, 1, kDense},
    {kCentroids, kAvx512, 11, 10, kMillion, 2.25F, 1, kExhaustive},
    {kCentroids, kAmx, 12, 10, kMillion, 2.25F, 1, kDense},
    {kCentroids, kAmx, 6, 10, kMillion, kEveryRow, 1, kExhaustive},
    {kCentroids, kAmx, 7, 10, kMillion, kEveryRow, 1, kDense},
    {kFewDims, kAvx512, 1, 10, kMillion, 2.25F, 1, kExhaustive},
    {kFewDims, kAvx512, 2, 10, kMillion, 2.25F, 1, kDense},
    {kLeastDims, kAvx512, 1, 10, kMillion, 2.25F, 1, kStaged},
    {kLeastDims, kAvx512, 2, 10, kMillion, 2.25F, 1, kStaged},
    // Residual codes.
    {kResidual, kSse4, 255, 10, kMillion, 2.25F, 1, kStaged},
    {kResidual, kSse4, 256, 10, kMillion, 2.25F, 1, kShared},
    {kResidual, kAvx2, 111, 10, kMillion, 2.25F, 1, kStaged},
    {kResidual, kAvx2, 112, 10, kMillion, 2.25F, 1, kShared},
    {kResidual, kAvx512, 143, 10, kMillion, 2.25F, 1, kStaged},
    {kResidual, kAvx512, 144, 10, kMillion, 2.25F, 1, kShared},
    {kResidual, kAmx, 63, 10, kMillion, 2.25F, 1, kStaged},
    {kResidual, kAmx, 64, 10, kMillion, 2.25F, 1, kDense},
    {kLevels, kSse4, 255, 10, kMillion, 2.25F, 1, kStaged},
    {kLevels, kSse4, 256, 10, kMillion, 2.25F, 1, kShared},
    {kLevels, kAvx2, 111, 10, kMillion, 2.25F, 1, kStaged},
    {kLevels, kAvx2, 112, 10, kMillion, 2.25F, 1, kShared},
    {kLevels, kAvx512, 143, 10, kMillion, 2.25F, 1, kStaged},
    {kLevels, kAvx512, 144, 10, kMillion, 2.25F, 1, kShared},
    // Split stages.
    {kSplit, kSse4, 95, 10, kMillion, 2.25F, 1, kStaged},
    {kSplit, kSse4, 96, 10, kMillion, 2.25F, 1, kShared},
    {kSplit, kAvx2, 71, 10, kMillion, 2.25F, 1, kStaged},
    {kSplit, kAvx2, 72, 10, kMillion, 2.25F, 1, kShared},
    {kSplit, kAvx512, 79, 10, kMillion, 2.25F, 1, kStaged},
    {kSplit, kAvx512, 80, 10, kMillion, 2.25F, 1, kShared},
    {kSplit, kAmx, 63, 10, kMillion, 2.25F, 1, kStaged},
    {kSplit, kAmx, 64, 10, kMillion, 2.25F, 1, kDense},
    // What AMX multiplies of a row at the most.
    {kWidest, kAmx, 48, 10, kMillion, 2.25F, 1, kDense},
    {kWider, kAmx, 48, 10, kMillion, 2.25F, 1, kStaged},
    {kWider, kAmx, 72, 10, kMillion, 2.25F, 1, kShared},
    {kWider, kAmx, 72, 10, kMillion, kEveryRow, 1, kDense},
};

ScanPlan plan_of(const KindRow& row) {
  return plan_scan(&codec_of(row.codec), row.machine,
                   {row.nq, row.k, row.rows, row.exactness, row.threads, false});
}

}  // namespace

TEST_CASE("codec, machine and request decide how rows are scanned", "[scan][plan]") {
  for (const KindRow& row : kKinds) {
    CAPTURE(row.codec.spec, row.codec.dim, static_cast<int>(row.machine.shared),
            row.machine.has_amx, row.nq, row.k, row.rows, row.exactness, row.threads);
    const ScanPlan plan = plan_of(row);
    CHECK(static_cast<int>(plan.kind) == static_cast<int>(row.kind));
    CHECK(plan.bounded == (row.codec.dim >= 64 && row.exactness != kEveryRow &&
                           row.codec.spec != kNoSigns.spec && row.codec.spec != kLongNoSigns.spec));
  }
}

TEST_CASE("a group is planned as the search it is of", "[scan][plan]") {
  for (const KindRow& row : kKinds) {
    CAPTURE(row.codec.spec, row.codec.dim, row.nq, row.k);
    const ScanPlan whole = plan_of(row);
    KindRow group_row = row;
    group_row.nq = whole.group_queries;
    const ScanPlan group = plan_of(group_row);
    CHECK(group.kind == whole.kind);
    CHECK(group.group_queries == whole.group_queries);
    CHECK(group.slices == whole.slices);
    CHECK(group.slice_queries == whole.slice_queries);
    CHECK(whole.slices * whole.slice_queries >= whole.group_queries);
  }
}

TEST_CASE("groups and slices of queries", "[scan][plan]") {
  struct Row {
    int64_t nq;
    int64_t k;
    int64_t rows;
    int threads;
    int64_t group;
    int64_t slices;
    int64_t slice_queries;
  };
  const Row rows[] = {
      // Staged: slices of 8 queries and more, four a thread; their sizes are whole tiles of 16.
      {1, 10, kMillion, 1, 1, 1, 16},
      {1, 10, kMillion, 8, 1, 1, 16},
      {15, 10, kMillion, 8, 15, 1, 16},
      {16, 10, kMillion, 8, 16, 2, 16},
      {71, 10, kMillion, 1, 71, 1, 80},
      {71, 10, kMillion, 2, 71, 8, 16},
      // Shared: one slice where tiles of rows are enough for all threads, until threads go apart.
      {511, 10, kMillion, 2, 511, 1, 512},
      {512, 10, kMillion, 2, 512, 2, 256},
      {1024, 10, kMillion, 1, 1024, 1, 1024},
      {1025, 10, kMillion, 1, 513, 1, 528},
      {1025, 10, kMillion, 2, 1025, 2, 528},
      {100, 10, 1024, 8, 100, 12, 16},  // one tile
      {100, 10, 8 * 1024, 8, 100, 4, 32},
  };
  for (const Row& row : rows) {
    CAPTURE(row.nq, row.k, row.rows, row.threads);
    const ScanPlan plan = plan_scan(&codec_of(kOneStage), kAvx512,
                                    {row.nq, row.k, row.rows, 2.25F, row.threads, false});
    CHECK(plan.group_queries == row.group);
    CHECK(plan.slices == row.slices);
    CHECK(plan.slice_queries == row.slice_queries);
  }
}

TEST_CASE("blocks that are loaded together, and that seed a shared scan", "[scan][plan]") {
  const auto plan = [](int64_t nq, int64_t k, int64_t rows, float exactness, bool is_row_format) {
    return plan_scan(&codec_of(kOneStage), kAvx512, {nq, k, rows, exactness, 1, is_row_format});
  };
  CHECK(plan(1, 10, kMillion, 2.25F, false).tile_blocks == kTileBlocks);
  CHECK(plan(1, 10, kMillion, 2.25F, true).tile_blocks == 16);
  CHECK(plan(1, 10, kMillion, kEveryRow, false).tile_blocks == kTileBlocks);
  CHECK(plan(1, 10, kMillion, kEveryRow, true).tile_blocks == 16);
  CHECK(plan(72, 10, kMillion, 2.25F, false).tile_blocks == 16);
  CHECK(plan(1, 10, kMillion, 2.25F, false).seed_blocks == 0);
  CHECK(plan(72, 10, kMillion, 2.25F, false).seed_blocks == 64);
  CHECK(plan(72, 10, kMillion, 2.25F, true).seed_blocks == 16);
  CHECK(plan(72, 10, 63 * 64, 2.25F, false).seed_blocks == 63);
  CHECK(plan(72, 10, 1, 2.25F, true).seed_blocks == 1);
  CHECK(plan(72, 0, kMillion, 2.25F, false).seed_blocks == 0);
}

TEST_CASE("forms of dense scans", "[scan][plan]") {
  const auto form = [](const CodecName& name, const ScanMachine& machine, bool bounded) {
    return dense_form(codec_of(name), machine, bounded);
  };
  REQUIRE(codec_of(kSplit).has_split_stages());
  REQUIRE(codec_of(kWideSplit).has_split_stages());
  CHECK(form(kOneStage, kAmx, true) == DenseForm::scores);
  CHECK(form(kOneStage, kAmx, false) == DenseForm::scores);
  CHECK(form(kResidual, kAmx, true) == DenseForm::first_stage);
  CHECK(form(kResidual, kAmx, false) == DenseForm::scores);
  CHECK(form(kSplit, kAmx, true) == DenseForm::one_step);
  CHECK(form(kSplit, kAvx512, true) == DenseForm::first_stage);
  CHECK(form(kSplit, kAvx512, false) == DenseForm::one_step);
  REQUIRE(dense_dims(codec_of(kSplit), DenseForm::one_step) <= 512);
  REQUIRE(dense_dims(codec_of(kWideSplit), DenseForm::one_step) > 512);
  CHECK(form(kWideSplit, kAmx, true) == DenseForm::first_stage);
  CHECK(form(kWideSplit, kAmx, false) == DenseForm::scores);
}

TEST_CASE("codes without int8 values are scored exhaustively", "[scan][plan]") {
  struct Row {
    int64_t nq;
    int64_t k;
    int64_t rows;
    int threads;
    bool rounded;
    int64_t group;
    int64_t slices;
  };
  const Row rows[] = {
      {1, 10, kMillion, 1, false, 1, 1},
      {15, 10, kMillion, 1, false, 15, 1},
      {16, 10, kMillion, 1, true, 16, 1},
      {16, 10, kMillion, 2, true, 16, 1},
      {16, 10, 1024, 2, false, 16, 8},  // one range of rows for two threads: queries are cut
      {128, 10, 1024, 2, true, 128, 8},
      {127, 10, 1024, 2, false, 127, 8},
      {2000, 10, kMillion, 1, true, 1024, 1},
      {2000, 1 << 20, 1 << 20, 1, false, 4, 1},  // 4,194,304 best rows in memory
      {2000, 1 << 18, 1 << 20, 1, true, 16, 1},
      {2000, 0, 1 << 20, 1, true, 1024, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.nq, row.k, row.rows, row.threads);
    const ScanPlan plan =
        plan_scan(nullptr, kAmx, {row.nq, row.k, row.rows, 2.25F, row.threads, true});
    CHECK(plan.kind == ScanKind::exhaustive);
    CHECK_FALSE(plan.bounded);
    CHECK(plan.rounded == row.rounded);
    CHECK(plan.group_queries == row.group);
    CHECK(plan.slices == row.slices);
    CHECK(plan.slices * plan.slice_queries >= plan.group_queries);
  }
}

TEST_CASE("lists of inverted files", "[scan][plan]") {
  const auto plan = [](const ScanCodec* codec, int64_t nq, int64_t nprobe, float exactness,
                       int threads) {
    return plan_lists(codec, kAvx512, {nq, nprobe, 1024, exactness, threads});
  };
  const ScanCodec* one_stage = &codec_of(kOneStage);
  CHECK_FALSE(plan(one_stage, 1023, 8, 2.25F, 1).by_lists);
  CHECK(plan(one_stage, 1024, 8, 2.25F, 1).by_lists);
  CHECK_FALSE(plan(one_stage, 127, 64, 2.25F, 1).by_lists);
  CHECK(plan(one_stage, 128, 64, 2.25F, 1).by_lists);
  // A query's probes are shared by threads that have no query of their own, four each.
  CHECK(plan(one_stage, 1, 64, 2.25F, 1).parts == 1);
  CHECK(plan(one_stage, 1, 64, 2.25F, 8).parts == 8);
  CHECK(plan(one_stage, 1, 31, 2.25F, 8).parts == 7);
  CHECK(plan(one_stage, 1, 3, 2.25F, 8).parts == 1);
  CHECK(plan(one_stage, 4, 64, 2.25F, 8).parts == 2);
  CHECK(plan(one_stage, 8, 64, 2.25F, 8).parts == 1);

  const ListPlan bounded = plan(one_stage, 1, 8, 2.25F, 1);
  CHECK(bounded.bounded);
  CHECK(bounded.kind(1) == ScanKind::staged);
  CHECK(bounded.kind(7) == ScanKind::staged);
  CHECK(bounded.kind(8) == ScanKind::dense);
  const ListPlan every_row = plan(one_stage, 1, 8, kEveryRow, 1);
  CHECK_FALSE(every_row.bounded);
  CHECK(every_row.kind(7) == ScanKind::exhaustive);
  CHECK(every_row.kind(8) == ScanKind::dense);
  const ListPlan floats = plan(nullptr, 1, 8, 2.25F, 1);
  CHECK(floats.kind(1) == ScanKind::exhaustive);
  CHECK(floats.kind(100) == ScanKind::exhaustive);
  CHECK(plan(&codec_of(kResidual), 1, 8, 2.25F, 1).form == DenseForm::first_stage);
}

TEST_CASE("graphs with filters", "[scan][plan]") {
  const auto plan = [](int64_t ef, int64_t nodes, int64_t allowed) {
    return plan_graph({10, ef, nodes, allowed});
  };
  // No filter, or one that keeps all.
  CHECK_FALSE(plan(16, 100, 100).gathered);
  CHECK(plan(16, 100, 100).ef == 16);
  // Half: enough of the nodes that a walk keeps are allowed. Fewer: it keeps more.
  CHECK_FALSE(plan(16, 1 << 20, 1 << 19).gathered);
  CHECK(plan(16, 1 << 20, 1 << 19).ef == 20);
  CHECK_FALSE(plan(16, 1 << 20, 1 << 17).gathered);
  CHECK(plan(16, 1 << 20, 1 << 17).ef == 80);
  // Few are scored one by one, so many as a walk would take as long for.
  CHECK(plan(64, 1 << 30, 4096 + 63).gathered);
  CHECK(plan(64, 100'000, 8'000).gathered);
  CHECK_FALSE(plan(64, 100'000, 10'000).gathered);
  CHECK(plan(64, 100'000, 10'000).ef == 100);
  CHECK(plan(64, 100'000, 0).gathered);
  CHECK(plan_graph({int64_t{1} << 40, 1, int64_t{1} << 31, 1}).ef == int64_t{1} << 31);
  // So many are copied as are scanned while a walk without a filter takes, and more than half of
  // all.
  CHECK(plan(64, 100'000, 10'000).most_copies == 60'000);
  CHECK(plan(64, 1 << 30, 10'000).most_copies == 128'000);
  CHECK(plan(16, 1 << 30, 10'000).most_copies == 32'000);
  CHECK(plan(16, 100, 100).most_copies == 0);
  CHECK(plan_graph({10, int64_t{1} << 60, int64_t{1} << 62, 1}).most_copies > 1 << 30);
  // In records, where √(64 · 150 · 100,000) rows are scanned while a walk with their filter takes.
  CHECK(plan_graph({10, 64, 100'000, 10'000, true}).most_copies == 30'983);
  CHECK(plan_graph({10, 1'000, 100'000, 10'000, true}).most_copies == 60'000);
  CHECK(plan_graph({10, int64_t{1} << 60, int64_t{1} << 62, 1, true}).most_copies > 1 << 30);
}

TEST_CASE("inverted files with filters", "[scan][plan]") {
  struct Row {
    KeptRowsRequest request;
    bool rounded;
    bool scored;
    int64_t vectors;
    int64_t queries;
    int64_t nprobe;
    int64_t wanted;
  };
  for (const Row& row : {
           // nprobe, lists, rows, kept
           Row{{32, 1024, 117'659, 0}, true, true, 0, 0, 128, 0},
           Row{{32, 1024, 117'659, 128}, true, true, 128, 1, 128, 128},
           Row{{32, 1024, 117'659, 129}, true, false, 129, 1, 128, 129},
           Row{{32, 1024, 117'659, 1177}, true, false, 1177, 13, 128, 1177},
           // So many vectors are read as lists have rows.
           Row{{32, 1024, 117'659, 11'766}, true, false, 3648, 137, 55, 3648},
           Row{{32, 1024, 117'659, 14'707}, true, false, 3648, 171, 55, 3648},
           // More lists, but few more.
           Row{{32, 1024, 117'659, 14'708}, false, false, 3648, 171, 55, 3648},
           Row{{32, 1024, 117'659, 58'829}, false, false, 3648, 687, 55, 3648},
           Row{{32, 1024, 117'659, 94'128}, false, false, 3648, 1099, 40, 3648},
           Row{{32, 1024, 117'659, 117'659}, false, false, 3648, 1374, 32, 3648},
           Row{{128, 1024, 117'659, 11'766}, true, false, 11'766, 34, 180, 11'766},
           // Lists are passed over that are known to have none: fewer are enough.
           Row{{32, 1024, 117'659, 1177, false}, true, false, 1177, 13, 320, 1177},
           // The means of vectors are more than lists that are searched have rows.
           Row{{1, 1024, 1'000'000, 18'815}, true, false, 976, 1398, 15, 976},
           Row{{1, 1024, 1'000'000, 18'848}, false, false, 976, 1401, 15, 976},
           Row{{8, 4, 1000, 10}, true, true, 10, 0, 8, 10},
           Row{{1, 1, 0, 0}, true, true, 0, 0, 1, 0},
       }) {
    CAPTURE(row.request.nprobe, row.request.rows, row.request.kept);
    const KeptRowsPlan plan = plan_kept_rows(row.request);
    CHECK(plan.rounded == row.rounded);
    CHECK(plan.scored == row.scored);
    CHECK(plan.vectors == row.vectors);
    CHECK(plan.queries == row.queries);
    CHECK(plan.nprobe == row.nprobe);
    CHECK(plan.wanted == row.wanted);
  }
}

TEST_CASE("kept rows of inverted files are found by their ids where these are few",
          "[scan][plan]") {
  CHECK(finds_by_ids(0, 0));
  CHECK(finds_by_ids(250, 1000));
  CHECK_FALSE(finds_by_ids(251, 1000));
  CHECK(finds_for_one_search(41, 1000));
  CHECK_FALSE(finds_for_one_search(42, 1000));
  CHECK(scores_all_of_list(8));
  CHECK_FALSE(scores_all_of_list(9));
}

TEST_CASE("few rows that a filter keeps are copied", "[scan][plan]") {
  CHECK(most_copies(0) == 0);
  CHECK(most_copies(1000) == 125);
  CHECK(most_copies(1007) == 125);
}

TEST_CASE("centroids", "[scan][plan]") {
  CHECK(plan_centroids(1, 1024, 2).by_centroids);
  CHECK(plan_centroids(7, 1024, 8).by_centroids);
  CHECK(plan_centroids(7, 1024, 8).chunk_queries == 7);
  CHECK_FALSE(plan_centroids(8, 1024, 8).by_centroids);
  CHECK(plan_centroids(8, 1024, 8).chunk_queries == 1);
  CHECK(plan_centroids(63, 1024, 1).chunk_queries == 63);
  CHECK(plan_centroids(1000, 1024, 1).chunk_queries == 64);
  CHECK(plan_centroids(1000, 1 << 14, 1).chunk_queries == 64);
  CHECK(plan_centroids(1000, 1 << 15, 1).chunk_queries == 32);
  CHECK(plan_centroids(1000, (1 << 20) + 1, 1).chunk_queries == 1);
  CHECK_FALSE(multiplies_chunk(19));
  CHECK(multiplies_chunk(20));
}

TEST_CASE("the nearest centroid", "[scan][plan]") {
  const ScanMachine machine = {SharedKernels::wide};
  CHECK(plan_nearest(machine, 2047, 384).numbers == 0);
  CHECK(plan_nearest(machine, 2048, 127).numbers == 0);
  CHECK(plan_nearest(machine, 2048, 128).numbers == 64);
  CHECK(plan_nearest(machine, 2048, 384).numbers == 192);
  CHECK(plan_nearest(machine, 4096, 1000).numbers == 512);
  CHECK(plan_nearest(machine, 4096, 2049).numbers == 0);
  CHECK(plan_nearest(machine, 4096, 384).after_queries == 4 * 4096);
  CHECK(plan_nearest(machine, 4096, 384).most_candidates == 256);
  CHECK(plan_nearest({SharedKernels::permuting, false, true}, 4096, 384).numbers == 0);
}

TEST_CASE("bounds of rows that are scored one by one", "[scan][plan]") {
  CHECK(single_rows_are_bounded(codec_of(kOneStage), 1.5F));
  CHECK_FALSE(single_rows_are_bounded(codec_of(kOneStage), kEveryRow));
  CHECK_FALSE(single_rows_are_bounded(codec_of(kNoSigns), 1.5F));
  CHECK(single_rows_are_bounded(codec_of(kResidual), 1.5F));
  CHECK_FALSE(single_rows_are_bounded(codec_of(kSplit), 1.5F));
}

TEST_CASE("a machine tells the kernels that it runs", "[scan][plan][kernels]") {
  on_every_target([] {
    const std::string target = kernel_target();
    const ScanMachine machine = ScanMachine::here();
    CHECK(machine.shared == shared_kernels());
    if (target == "AVX3_DL") CHECK(machine.shared == SharedKernels::permuting);
    if (target == "AVX2" || target == "AVX3") CHECK(machine.shared == SharedKernels::wide);
    if (target == "SSE4" || target == "SSSE3" || target == "NEON")
      CHECK(machine.shared == SharedKernels::narrow);
    if (target == "SCALAR") CHECK(machine.shared == SharedKernels::none);
    if (target != "AVX3_DL") CHECK_FALSE(machine.has_amx);
    CHECK(machine.looks_up_bytes == (machine.shared == SharedKernels::permuting));
  });
}
