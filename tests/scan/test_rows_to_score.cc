// SPDX-License-Identifier: MIT
// The bounds of rows whose codes are windows without signs, against their plain definitions, on
// every target.
#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "src/scan/kernels/bounds/rows_to_score.h"
#include "src/scan/model/row_values.h"
#include "src/scan/search/centroid_bases.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"
#include "tests/scan/thresholds.h"

namespace polarquant::test {
namespace {

const Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};
/// Every step of windows, plans of several, rings that end within a byte, and centroids.
const char* const kSpecs[] = {"Polar0.5",     "Polar1",        "Polar1.5",
                              "Polar0.5-pca", "PolarB5",       "PolarB8",
                              "PolarB9-km5",  "PolarB16-km40", "PolarB9-km5 of format 5"};
/// Whose numbers of centroids have 16 bits: training takes seconds.
const char* const kManyCentroids = "PolarB9-km4100";
constexpr int kDims[] = {65, 100, 128, 131, 192};
constexpr int64_t kRows = 300;

/// A query's tables in both forms.
struct BothTables {
  WindowTables single;
  WindowTables grouped;

  BothTables(const ScanCodec& scan, const ScanQuery& query) {
    grouped.grouped = true;
    set_window_tables(scan, query, &single);
    set_window_tables(scan, query, &grouped);
  }
  /// In the form that the machine's kernels take.
  const WindowTables& here() const { return machine_looks_up_bytes() ? single : grouped; }
};

int count_all_tables(const WindowTables& tables, const ScanCodec& scan) {
  int count = 0;
  for (const Int8Part& part : scan.stages()[0].parts) count += count_tables(tables, part);
  return count;
}

/// Kernels make the plain form's tables.
void check_made(const BothTables& tables, const ScanCodec& scan, const ScanQuery& query) {
  on_every_target([&] {
    WindowTables made;
    make_window_tables(scan, query, &made);
    REQUIRE(made.grouped == tables.here().grouped);
    REQUIRE(made.least == tables.here().least);
    REQUIRE(made.unit == tables.here().unit);
    REQUIRE(made.entries == tables.here().entries);
  });
}

struct BoundedRows {
  ScanRows rows;
  ScanTile tile;
  ScanQuery query;

  BoundedRows(const std::string& spec, int dim, Metric metric, bool is_range)
      : rows(made_up_rows(spec, dim, metric, kRows)), tile(tile_of(rows)) {
    const std::vector<float> x = normal_numbers(dim, 9);
    const PreparedQuery prepared = rows.codec->prepare_query(x.data());
    query = make_scan_query(rows.scan, prepared, 2);
    set_centroid_bases(*rows.codec, rows.scan, 1, x.data(), &prepared, &query);
    if (is_range) query.error_bound = make_score_error_bound(rows.scan, prepared, query);
    tile.allowed[1] &= 0x5555'0F0F'FFFF'0001;
  }

  /// The bounds of the tile's allowed rows: the lower of those that are asked for.
  std::vector<float> bounds(const WindowTables* tables, bool by_centroids) const {
    std::vector<float> all;
    for (const uint32_t row : rows_of(tile)) {
      const RowPlace at = place_of(tile, row);
      const ScanTerms terms = load_terms(rows.scan, at);
      float bound = std::numeric_limits<float>::infinity();
      if (by_centroids) bound = centroid_bound(query, terms);
      if (tables != nullptr) {
        const int32_t dot = most_window_dot(rows.scan, *tables, rows.scan.layout().row_payload(at));
        const float score = similarity(query.score_of(terms), terms, dot);
        bound = std::min(bound, with_error_bound(query, terms, score));
      }
      all.push_back(bound);
    }
    return all;
  }

  void check_found(const RowBounds& bounds, const std::vector<float>& plain,
                   float threshold) const {
    WaitingRows waiting;
    std::vector<uint32_t> found;
    const auto take = [&](const uint32_t* some, int count) {
      REQUIRE(count <= static_cast<int>(WaitingRows::kCapacity));
      found.insert(found.end(), some, some + count);
    };
    uint32_t some[WaitingRows::kCapacity];
    for (int block = 0; block < tile.blocks; ++block)
      take(some, find_rows_to_score(bounds, tile, block, threshold, &waiting, some));
    take(some, find_waiting_rows_to_score(bounds, tile, threshold, &waiting, some));
    REQUIRE(waiting.count == 0);
    std::vector<uint32_t> expected;
    const std::vector<uint32_t> all = rows_of(tile);
    for (size_t i = 0; i < all.size(); ++i)
      if (!(plain[i] < threshold)) expected.push_back(all[i]);
    REQUIRE(found == expected);
  }
};

}  // namespace

TEST_CASE("window tables bound every row's dot product", "[scan][kernels][few-bytes]") {
  for (const std::string spec : kSpecs) {
    for (const int dim : kDims) {
      CAPTURE(spec, dim);
      const BoundedRows some(spec, dim, Metric::inner_product, false);
      const ScanCodec& scan = some.rows.scan;
      REQUIRE(has_windows_only(scan));
      const BothTables both(scan, some.query);
      for (const WindowTables* tables : {&both.single, &both.grouped}) {
        REQUIRE(tables->entries.size() == count_entries(*tables, scan));
        REQUIRE(*std::max_element(tables->entries.begin(), tables->entries.end()) <=
                tables->most_entry());
        const double units = 1.02 * count_all_tables(*tables, scan);
        std::vector<int8_t> values(static_cast<size_t>(scan.padded_dim()));
        for (const uint32_t row : rows_of(some.tile)) {
          const RowPlace at = place_of(some.tile, row);
          decode_int8(scan, scan.stages()[0], at, values.data());
          const int32_t dot = int8_dot(scan.stages()[0], some.query, values.data());
          const int32_t most = most_window_dot(scan, *tables, scan.layout().row_payload(at));
          REQUIRE(most >= dot);
          REQUIRE(most <= dot + tables->unit * units);
        }
      }
      check_made(both, scan, some.query);
    }
  }
}

TEST_CASE("window tables of extreme queries fit bytes", "[scan][kernels][few-bytes]") {
  for (const std::string spec : {"PolarB8", "Polar1", "Polar1.5"}) {
    BoundedRows some(spec, 128, Metric::inner_product, false);
    const ScanCodec& scan = some.rows.scan;
    for (const int extreme : {-127, 0, 1, 127}) {
      CAPTURE(spec, extreme);
      std::fill(some.query.values.begin(), some.query.values.end(), static_cast<int8_t>(extreme));
      const BothTables both(scan, some.query);
      for (const WindowTables* tables : {&both.single, &both.grouped})
        REQUIRE(*std::max_element(tables->entries.begin(), tables->entries.end()) <=
                tables->most_entry());
      check_made(both, scan, some.query);
    }
  }
}

TEST_CASE("sums that overflow leave no row out", "[scan][kernels][few-bytes]") {
  for (const std::string spec : {"Polar1", "PolarB9-km5"}) {
    BoundedRows some(spec, 128, Metric::inner_product, false);
    const BothTables both(some.rows.scan, some.query);
    constexpr float kMost = std::numeric_limits<float>::max();
    some.query.score.base = -kMost;
    some.query.score.weight = kMost;
    some.query.score.dot_scale[0] = kMost;
    for (float& base : some.query.centroid_bases) base = -kMost;
    some.query.centroid_radius = kMost;
    on_every_target([&] {
      const RowBounds bounds = {&some.rows.scan, &some.query, &both.here(),
                                some.rows.scan.has_centroids()};
      const std::vector<float> plain = some.bounds(bounds.tables, bounds.by_centroids);
      for (const float threshold : {-std::numeric_limits<float>::infinity(), 0.0F, kMost})
        some.check_found(bounds, plain, threshold);
    });
  }
}

TEST_CASE("rows to score are those whose bounds reach a threshold", "[scan][kernels][few-bytes]") {
  std::vector<std::string> specs(std::begin(kSpecs), std::end(kSpecs));
  specs.emplace_back(kManyCentroids);
  for (const std::string& spec : specs) {
    for (const int dim : kDims) {
      if (spec == kManyCentroids && dim != kDims[0]) continue;
      for (const Metric metric : kMetrics) {
        for (const bool is_range : {false, true}) {
          const BoundedRows some(spec, dim, metric, is_range);
          const BothTables both(some.rows.scan, some.query);
          for (const bool by_windows : {false, true}) {
            for (const bool by_centroids : {false, true}) {
              if (by_centroids && !some.rows.scan.has_centroids()) continue;
              CAPTURE(spec, dim, static_cast<int>(metric), is_range, by_windows, by_centroids);
              on_every_target([&] {
                const RowBounds bounds = {&some.rows.scan, &some.query,
                                          by_windows ? &both.here() : nullptr, by_centroids};
                const std::vector<float> plain = some.bounds(bounds.tables, by_centroids);
                // Without a bound all are found.
                const std::vector<float> thresholds =
                    by_windows || by_centroids ? thresholds_among(plain) : std::vector<float>{0};
                for (const float threshold : thresholds) some.check_found(bounds, plain, threshold);
              });
            }
          }
        }
      }
    }
  }
}

}  // namespace polarquant::test
