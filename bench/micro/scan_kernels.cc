// SPDX-License-Identifier: MIT
// The kernels of searches, over one tile of 1024 rows: in the second-level cache, as a batch meets
// them. codes/s counts a row against a query; of_roof is the share of the dot-product instruction's
// measured rate (query_tile_dots).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "bench/micro/micro.h"
#include "bench/micro/roofs.h"
#include "src/scan/kernels/bounds/sign_dots.h"
#include "src/scan/kernels/decode/candidate_dots.h"
#include "src/scan/kernels/decode/decode_rows.h"
#include "src/scan/kernels/dense/amx_dots.h"
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/scan/layout/code_blocks.h"
#include "src/scan/search/tile_loader.h"

namespace polarquant::micro {
namespace {

constexpr int kDims[] = {384, 768, 1536};
constexpr int kQueries = 8;
constexpr int kCandidates = 32;
constexpr int kBlocks = 16;
constexpr int kRows = kBlocks * kBlockRows;

/// A tile of coded normal rows, and queries of the same kind.
struct Rows {
  Rows(const char* spec, int dim)
      : codec(parse_spec(spec), dim, Metric::inner_product, {}),
        scan_codec(codec),
        blocks(scan_codec.layout()) {
    // Few different rows are enough: kernels' times do not depend on what codes say.
    constexpr int64_t kDifferent = 64;
    const std::vector<float> x = normal_numbers(static_cast<size_t>(kDifferent * dim), 1);
    std::vector<uint8_t> codes(codec.layout().bytes(kDifferent));
    codec.encode(kDifferent, x.data(), codes.data(), 1);
    for (int part = 0; part < kBlocks; ++part) blocks.append(kDifferent, codes.data());
    spans = blocks.spans();
    const RowFilter every_row;
    AlignedVector<uint8_t> packed;
    TileLoader(scan_codec, spans, every_row).load(0, kBlocks, &packed, &tile);
    for (int query = 0; query < kQueries; ++query) {
      const std::vector<float> q =
          normal_numbers(static_cast<size_t>(dim), 2 + static_cast<uint64_t>(query));
      queries.push_back(make_scan_query(scan_codec, codec.prepare_query(q.data()), 2));
    }
  }

  Codec codec;
  ScanCodec scan_codec;
  CodeBlocks blocks;
  std::vector<BlockRows> spans;
  ScanTile tile;
  std::vector<ScanQuery> queries;
};

void set_rate(benchmark::State& state, double codes) {
  state.counters["codes/s"] =
      benchmark::Counter(codes, benchmark::Counter::kIsIterationInvariantRate);
}

void sign_candidates(benchmark::State& state, int64_t target, int dim) {
  const OnlyTarget only(target);
  const Rows rows("Polar2", dim);
  constexpr int kCapacity = kRows + 16;
  std::vector<uint32_t> lists(kQueries * kCapacity);
  std::vector<float> bounds(kQueries * kCapacity);
  CandidateSearch searches[kQueries];
  for (int i = 0; i < kQueries; ++i) {
    searches[i].query = &rows.queries[static_cast<size_t>(i)];
    searches[i].threshold = static_cast<float>(dim);  // few rows reach it
    searches[i].found.candidates = lists.data() + static_cast<ptrdiff_t>(i) * kCapacity;
    searches[i].found.bounds = bounds.data() + static_cast<ptrdiff_t>(i) * kCapacity;
  }
  for (auto _ : state) {
    for (CandidateSearch& search : searches) search.found.count = 0;
    find_sketch_candidates(rows.scan_codec, rows.tile, 0, rows.tile.blocks, searches, kQueries);
    benchmark::DoNotOptimize(searches);
  }
  set_rate(state, kRows * kQueries);
}

void sign_dots(benchmark::State& state, int64_t target, int dim) {
  const OnlyTarget only(target);
  const Rows rows("Polar2", dim);
  std::vector<uint32_t> list(kCandidates + 4);
  std::vector<ScanTerms> terms(kCandidates + 4);
  std::vector<uint32_t> kept(kCandidates + 4);
  std::vector<SignSums> sums(kCandidates + 4);
  for (int i = 0; i < kCandidates; ++i)
    list[static_cast<size_t>(i)] = candidate_of(static_cast<uint32_t>(i * 31), dim / 2);
  for (auto _ : state) {
    benchmark::DoNotOptimize(keep_by_signs(rows.scan_codec, rows.tile, rows.queries[0], 0,
                                           list.data(), kCandidates,
                                           {kept.data(), sums.data(), terms.data(), nullptr}));
  }
  set_rate(state, kCandidates);
}

void candidate_dots(benchmark::State& state, int64_t target, const char* spec, int dim) {
  const OnlyTarget only(target);
  const Rows rows(spec, dim);
  std::vector<uint32_t> list(kCandidates + 4);
  for (int i = 0; i < kCandidates; ++i)
    list[static_cast<size_t>(i)] = static_cast<uint32_t>(i * 31);
  AlignedVector<int8_t> values(static_cast<size_t>(rows.scan_codec.padded_dim()));
  AlignedVector<int32_t> dots(kCandidates + 4);
  for (auto _ : state) {
    polarquant::candidate_dots(rows.tile, rows.scan_codec, rows.scan_codec.stages()[0],
                               rows.queries[0], list.data(), kCandidates, values.data(),
                               dots.data());
    benchmark::DoNotOptimize(dots.data());
  }
  set_rate(state, kCandidates);
}

/// A block decoded and multiplied with 96 queries.
void dense(benchmark::State& state, int64_t target, bool amx, int dim) {
  constexpr int kQueryTiles = 6;
  const OnlyTarget only(target);
  const Rows rows("Polar4", dim);
  const int padded_dim = rows.scan_codec.padded_dim();
  allow_amx(amx);
  const double roof = amx ? amx_products_per_second() : dot_products_per_second();
  AlignedVector<int8_t> query_tiles(static_cast<size_t>(padded_dim) * kTileQueries * kQueryTiles);
  for (int slot = 0; slot < kQueryTiles * kTileQueries; ++slot) {
    put_in_query_tile(rows.queries[static_cast<size_t>(slot % kQueries)].values.data(), padded_dim,
                      slot % kTileQueries,
                      query_tiles.data() +
                          static_cast<ptrdiff_t>(slot / kTileQueries) * padded_dim * kTileQueries);
  }
  uint32_t list[kChunkRows];
  std::iota(list, list + kChunkRows, 0U);
  AlignedVector<int8_t> values(static_cast<size_t>(padded_dim) * kChunkRows);
  AlignedVector<int32_t> dots(static_cast<size_t>(kChunkRows) * kQueryTiles * kTileQueries);
  {
    const QueryTileSession session;
    for (auto _ : state) {
      decode_int8_rows(rows.tile, rows.scan_codec, rows.scan_codec.stages()[0], list, kChunkRows,
                       values.data());
      query_tile_dots(values.data(), padded_dim, query_tiles.data(), kQueryTiles, dots.data());
      benchmark::DoNotOptimize(dots.data());
    }
  }
  allow_amx(true);
  const double codes = kChunkRows * kQueryTiles * kTileQueries;
  set_rate(state, codes);
  state.counters["of_roof"] =
      benchmark::Counter(codes * padded_dim / roof, benchmark::Counter::kIsIterationInvariantRate);
}

template <typename Run>
void add_row(const std::string& kernel, const std::string& target, int dim, const Run& run) {
  benchmark::RegisterBenchmark(row_name(kernel, target, dim).c_str(), run);
}

/// Whether a target's dense scan goes by AMX where the machine has it.
bool takes_amx(int64_t target) {
  const OnlyTarget only(target);
  return query_tile_dots_use_amx();
}

}  // namespace

void register_scan_kernels() {
  for (const int64_t target : targets()) {
    const std::string name = hwy::TargetName(target);
    for (const int dim : kDims) {
      add_row("scan/sign_candidates", name, dim,
              [=](benchmark::State& s) { sign_candidates(s, target, dim); });
      add_row("scan/sign_dots", name, dim, [=](benchmark::State& s) { sign_dots(s, target, dim); });
      for (const char* spec : {"Polar2", "Polar4"}) {
        add_row(std::string("scan/candidate_dots/") + spec, name, dim,
                [=](benchmark::State& s) { candidate_dots(s, target, spec, dim); });
      }
      add_row("scan/dense/Polar4", name, dim,
              [=](benchmark::State& s) { dense(s, target, false, dim); });
      if (takes_amx(target)) {
        add_row("scan/dense/Polar4", "AMX", dim,
                [=](benchmark::State& s) { dense(s, target, true, dim); });
      }
    }
  }
  benchmark::RegisterBenchmark("roof/read_memory", [](benchmark::State& state) {
    const MemoryReads memory;
    double least = std::numeric_limits<double>::infinity();
    for (auto _ : state) least = std::min(least, memory.seconds_per_byte());
    state.counters["GB/s"] = 1e-9 / least;
  })->Iterations(5);
}

}  // namespace polarquant::micro
