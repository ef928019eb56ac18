// SPDX-License-Identifier: MIT
// The kernels of a search whose queries share rows, against the plain definitions.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/scan/kernels/batch/shared_rows.h"
#include "src/scan/kernels/batch/shared_sketches.h"
#include "src/scan/model/row_values.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Every machine with vectors has these kernels.
bool machine_shares_sketches() {
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  return std::any_of(targets.begin(), targets.end(),
                     [](int64_t target) { return target != HWY_SCALAR && target != HWY_EMU128; });
}

/// Some blocks of a tile, shared.
struct Shared {
  std::unique_ptr<SharedSketches> sketches = std::make_unique<SharedSketches>();
  std::unique_ptr<SharedRows> values;
  std::unique_ptr<CandidateRows> candidates = std::make_unique<CandidateRows>();
  std::unique_ptr<SharedMatches> matches = std::make_unique<SharedMatches>();
  int first_block;
  int end_block;

  Shared(const ScanRows& rows, const ScanTile& tile, int first)
      : values(std::make_unique<SharedRows>(rows.scan)), first_block(first) {
    end_block = std::min(tile.blocks, first + values->most_blocks());
    lay_out_sketches(rows.scan, tile, first_block, end_block, sketches.get());
    decode_shared_rows(rows.scan, tile, first_block, end_block, values.get());
  }
  /// Others pass at any distance.
  bool has_threshold(uint32_t row) const {
    const auto block = static_cast<int>(row / kBlockRows) - first_block;
    return (sketches->without_threshold[block] >> (row % kBlockRows) & 1) == 0;
  }
  /// Numbers, in the tile, of the rows that may be found.
  std::vector<uint32_t> rows_in(const ScanTile& tile) const {
    std::vector<uint32_t> rows = rows_of(tile);
    std::erase_if(rows, [&](uint32_t row) {
      const int block = static_cast<int>(row / kBlockRows);
      return block < first_block || block >= end_block;
    });
    return rows;
  }
};

/// Some of the sorted numbers, and some outside them.
std::vector<float> thresholds_among(std::vector<float> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const size_t n = numbers.size();
  const float range = numbers.back() - numbers.front() + 1;
  return {-kInfinity,     numbers.front() - range, numbers[0], numbers[n / 2], numbers[n * 9 / 10],
          numbers[n - 1], numbers.back() + range};
}

/// `tells_rows_apart`: unless the query is 0.
void check_candidates(const ScanRows& rows, const ScanTile& tile, const ScanQuery& query,
                      bool tells_rows_apart, Shared* shared) {
  SketchQuery sketch;
  set_sketch_query(rows.scan, query, &sketch);
  const std::vector<uint32_t> tile_rows = shared->rows_in(tile);
  std::vector<float> bounds;
  std::vector<float> most;   // a bound by a distance of 255 at the most
  std::vector<float> steps;  // of a bound, by a distance of 1
  std::vector<int> distances;
  float largest = 0;
  for (const uint32_t row : tile_rows) {
    const RowPlace at = place_of(tile, row);
    const ScanTerms terms = load_terms(rows.scan, at);
    distances.push_back(sketch_distance(rows.scan, query, at));
    bounds.push_back(sketch_bound(query, terms, distances.back()));
    most.push_back(sketch_bound(query, terms, std::min(distances.back(), 255)));
    steps.push_back(sketch_bound(query, terms, distances.back() - 1) - bounds.back());
    largest = std::max(largest, std::fabs(bounds.back()));
  }
  if (tile_rows.empty()) return;
  const float error_bound = 1e-5F * (largest + 1);  // roundings, of the largest sums there are
  // Kernels take several queries at a time: every other selection is another query's.
  SketchQuery other;
  set_sketch_query(rows.scan, rows.query(9, 1), &other);
  const std::vector<float> thresholds = thresholds_among(bounds);
  std::vector<CandidateRows> candidates_by(2 * thresholds.size());
  std::vector<SketchSelection> selections;
  for (const float threshold : thresholds) {
    selections.push_back({&sketch, threshold, &candidates_by[selections.size()]});
    selections.push_back({&other, threshold, &candidates_by[selections.size()]});
  }
  select_rows(rows.scan, *shared->sketches, selections);
  for (const SketchSelection& selection : selections) {
    if (selection.query != &sketch) continue;
    const float threshold = selection.threshold;
    std::vector<uint32_t> candidates;
    for (int i = 0; i < selection.candidates->count; ++i)
      candidates.push_back(static_cast<uint32_t>(shared->first_block * kBlockRows) +
                           selection.candidates->rows[i]);
    REQUIRE(std::is_sorted(candidates.begin(), candidates.end()));
    if (threshold == -kInfinity) REQUIRE(candidates == tile_rows);
    const float excess =
        DistanceThreshold(sketch, *shared->sketches, threshold).excess(*shared->sketches);
    size_t candidates_found = 0;
    for (size_t i = 0; i < tile_rows.size(); ++i) {
      const bool is_candidate =
          std::binary_search(candidates.begin(), candidates.end(), tile_rows[i]);
      CAPTURE(tile_rows[i], distances[i], bounds[i], most[i], steps[i], threshold, error_bound,
              excess);
      if (bounds[i] >= threshold && !is_candidate) FAIL("a row is missing");
      if (tells_rows_apart && shared->has_threshold(tile_rows[i]) && distances[i] > 0 &&
          is_candidate && !(most[i] + excess * steps[i] >= threshold - error_bound))
        FAIL("a row should have gone");
      candidates_found += is_candidate ? 1 : 0;
    }
    REQUIRE(candidates_found == candidates.size());  // rows left out are not candidates, none twice
  }
}

/// The matches that find_shared_matches and keep_by_second_stage must find among rows that are all
/// candidates.
struct PlainMatches {
  struct Row {
    uint32_t row;  // number of the shared row
    int32_t dots[2];
    float score;
    float bound;  // by the first of two stages
  };
  std::vector<Row> rows;
  bool two_stages;

  PlainMatches(const ScanRows& made_up, const ScanTile& tile, const ScanQuery& query,
               const Shared& shared)
      : two_stages(made_up.scan.stages().size() == 2) {
    const ScanCodec& scan = made_up.scan;
    std::vector<int8_t> decoded(static_cast<size_t>(scan.padded_dim()));
    for (const uint32_t row : shared.rows_in(tile)) {
      const RowPlace at = place_of(tile, row);
      ScanTerms terms = load_terms(scan, at);
      terms.squared_norm = first_stage_squared_norm(scan, at);
      Row& expected = rows.emplace_back();
      expected.row = row - static_cast<uint32_t>(shared.first_block * kBlockRows);
      for (size_t stage = 0; stage < scan.stages().size(); ++stage) {
        decode_int8(scan, scan.stages()[stage], at, decoded.data());
        expected.dots[stage] = int8_dot(scan.stages()[stage], query, decoded.data());
      }
      expected.score = two_stages
                           ? similarity(query.score, terms, expected.dots[0], expected.dots[1])
                           : similarity(query.score, terms, expected.dots[0]);
      expected.bound =
          first_stage_bound(query, terms, expected.dots[0], {0, other_sum(scan, query, at)});
      const ScanTerms& shared_terms = shared.values->terms(expected.row).terms;
      REQUIRE(same_bits(shared_terms.scale, terms.scale));
      REQUIRE(same_bits(shared_terms.constant, terms.constant));
      REQUIRE(same_bits(shared_terms.norm, terms.norm));
      REQUIRE(same_bits(shared_terms.squared_norm, terms.squared_norm));
      REQUIRE(shared.values->max_scale >= terms.scale);
      REQUIRE(shared.values->max_constant >= std::fabs(terms.constant));
    }
  }
  std::vector<float> scores() const {
    std::vector<float> all;
    for (const Row& row : rows) all.push_back(row.score);
    return all;
  }
  std::vector<float> bounds() const {
    std::vector<float> all;
    for (const Row& row : rows) all.push_back(row.bound);
    return all;
  }
  /// Those of the first `count` rows that reach.
  std::vector<Row> matches(size_t count, const ScoreGoal& goal) const {
    std::vector<Row> found;
    std::copy_if(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(count),
                 std::back_inserter(found), [&](const Row& row) {
                   return row.score >= goal.score && (!two_stages || row.bound >= goal.bound);
                 });
    return found;
  }
};

/// Two queries select the same rows, with goals of their own.
void check_matches(const ScanRows& rows, const ScanTile& tile, const ScanQuery (&queries)[2],
                   Shared* shared) {
  Int8Query values[2];
  std::vector<PlainMatches> plain;
  for (int i = 0; i < 2; ++i) {
    set_value_query(rows.scan, queries[i], &values[i]);
    plain.emplace_back(rows, tile, queries[i], *shared);
  }
  const std::vector<PlainMatches::Row>& all = plain[0].rows;
  if (all.empty()) return;
  const std::vector<float> scores[2] = {thresholds_among(plain[0].scores()),
                                        thresholds_among(plain[1].scores())};
  const std::vector<float> bounds[2] = {thresholds_among(plain[0].bounds()),
                                        thresholds_among(plain[1].bounds())};
  for (size_t i = 0; i < scores[0].size(); ++i) {
    // Goals by score alone, by bound alone, and by both.
    for (const int by : {1, 2, 3}) {
      ScoreGoal goals[2];
      for (size_t q = 0; q < 2; ++q) {
        const size_t at = q == 0 ? i : scores[0].size() - 1 - i;
        goals[q] = {&values[q], (by & 1) != 0 ? scores[q][at] : -kInfinity,
                    (by & 2) != 0 ? bounds[q][at] : -kInfinity};
      }
      // As many as a kernel takes together, and fewer.
      for (const size_t count : {all.size(), std::min<size_t>(all.size(), 5), size_t{1}}) {
        SharedMatches& matches = *shared->matches;
        matches.count = 0;
        for (int q = 0; q < 2; ++q) {
          shared->candidates->count = static_cast<int>(count);
          for (size_t row = 0; row < count; ++row)
            shared->candidates->rows[row] = static_cast<uint16_t>(all[row].row);
          find_shared_matches(rows.scan, *shared->values, goals, q, shared->candidates.get(),
                              &matches);
        }
        if (plain[0].two_stages) keep_by_second_stage(rows.scan, *shared->values, goals, &matches);
        int found = 0;
        for (int q = 0; q < 2; ++q) {
          for (const PlainMatches::Row& row :
               plain[static_cast<size_t>(q)].matches(count, goals[q])) {
            REQUIRE(found < matches.count);
            REQUIRE(matches.goals[found] == q);
            REQUIRE(matches.rows[found] == row.row);
            REQUIRE(matches.dots[0][found] == row.dots[0]);
            if (plain[0].two_stages) REQUIRE(matches.dots[1][found] == row.dots[1]);
            ++found;
          }
        }
        REQUIRE(found == matches.count);
      }
    }
  }
}

void check_shared_scores(const ScanRows& rows) {
  ScanTile tile = tile_of(rows);
  tile.allowed[0] = 0x8421fedc00000001;
  const ScanQuery queries[2] = {rows.query(7, 1.5F), rows.query(8, 1)};
  on_every_target([&] {
    if (!can_share_sketches()) return;
    Shared shared(rows, tile, 0);
    check_matches(rows, tile, queries, &shared);
  });
}

}  // namespace

TEST_CASE("queries that share rows selection those whose sketch reaches", "[scan][kernels]") {
  bool shared_by_any = false;
  for (const std::string spec : {"Polar2", "Polar2 of float16", "Polar5", "Polar8", "Polar3-pca"}) {
    for (const int dim : {64, 65, 96, 128, 129, 192, 384, 1100}) {
      if (spec == "Polar3-pca" && dim > 384) continue;  // training takes seconds
      for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
        // Last blocks of 2, 3 and 6 groups; more blocks than are shared at a time.
        for (const int64_t n : {12, 147, 1100}) {
          const ScanRows rows = made_up_rows(spec, dim, metric, n);
          ScanTile tile = tile_of(rows);
          if (n == 1100) tile.allowed[1] = 0x8421fedc00000001, tile.allowed[3] = 0;
          const ScanQuery query = rows.query(5, 1.5F);
          ScanQuery zero = rows.query(6, 1);
          zero.sketch = {};  // as of a query that is 0
          on_every_target([&] {
            if (!can_share_sketches()) return;
            shared_by_any = true;
            CAPTURE(spec, dim, static_cast<int>(metric), n);
            for (const int first : {0, 1}) {
              if (first >= tile.blocks) continue;
              Shared shared(rows, tile, first);
              check_candidates(rows, tile, query, true, &shared);
              check_candidates(rows, tile, zero, false, &shared);
            }
          });
        }
      }
    }
  }
  REQUIRE(shared_by_any == machine_shares_sketches());
}

TEST_CASE("rows without length are selected by their constant alone", "[scan][kernels]") {
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    ScanRows rows("Polar2", 96, metric);
    std::vector<uint8_t> codes = made_up_codes(*rows.codec, 100, 3);
    const size_t bytes = rows.codec->layout().group_bytes;
    const FactorFormat& format = rows.codec->factor_format();
    for (size_t row = 0; row < 100; row += 3) {
      uint8_t* factors = codes.data() + (row + 1) * bytes - format.bytes();
      REQUIRE(store_factors(format, {0, row % 2 == 0 ? 0.0F : .3F}, factors));
    }
    rows.blocks.append(100, codes.data());
    const ScanTile tile = tile_of(rows);
    on_every_target([&] {
      if (!can_share_sketches()) return;
      Shared shared(rows, tile, 0);
      SketchQuery sketch;
      const ScanQuery query = rows.query(8, 2);
      set_sketch_query(rows.scan, query, &sketch);
      for (const uint32_t row : rows_of(tile)) {
        const RowPlace at = place_of(tile, row);
        const float bound =
            sketch_bound(query, load_terms(rows.scan, at), sketch_distance(rows.scan, query, at));
        const SketchSelection selection = {&sketch, bound, shared.candidates.get()};
        select_rows(rows.scan, *shared.sketches, {&selection, 1});
        const uint16_t* end = shared.candidates->rows + shared.candidates->count;
        CAPTURE(static_cast<int>(metric), row, bound);
        REQUIRE(std::find(static_cast<const uint16_t*>(shared.candidates->rows), end, row) != end);
      }
    });
  }
}

TEST_CASE("rows are candidates whatever their lengths", "[scan][kernels]") {
  // Every seventh row is so much shorter: 16-bit thresholds have some bits left for it, few, or
  // none.
  for (const std::pair<const char*, float>& lengths :
       {std::pair{"Polar5", 8.0F}, std::pair{"Polar5", 100.0F}, std::pair{"Polar5", 3000.0F},
        std::pair{"Polar2", 8.0F}, std::pair{"Polar2", 1e10F}, std::pair{"Polar2", 1e18F},
        std::pair{"Polar2", 1e-6F}, std::pair{"Polar2", 1e-18F}}) {
    // Named as variables: clang 14 has no bindings in lambdas.
    const char* spec = lengths.first;
    const float shorter = lengths.second;
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      ScanRows rows(spec, 200, metric);
      std::vector<uint8_t> codes = made_up_codes(*rows.codec, 300, 3);
      const size_t bytes = rows.codec->layout().group_bytes;
      const FactorFormat& format = rows.codec->factor_format();
      for (size_t row = 0; row < 300; row += 7) {
        uint8_t* stored = codes.data() + (row + 1) * bytes - format.bytes();
        Factors factors = load_factors(format, stored);
        factors.scale /= shorter;
        factors.bias /= shorter;
        REQUIRE(store_factors(format, factors, stored));
      }
      rows.blocks.append(300, codes.data());
      const ScanTile tile = tile_of(rows);
      const ScanQuery query = rows.query(5, 1.5F);
      on_every_target([&] {
        if (!can_share_sketches()) return;
        CAPTURE(spec, shorter, static_cast<int>(metric));
        Shared shared(rows, tile, 0);
        for (const uint32_t row : shared.rows_in(tile))
          if (row % 7 != 0) REQUIRE(shared.has_threshold(row));
        check_candidates(rows, tile, query, true, &shared);
      });
    }
  }
}

TEST_CASE("rows are selected by sums of weights beyond a byte", "[scan][kernels]") {
  for (const int dim : {128, 192, 384}) {
    const ScanRows rows = made_up_rows("Polar2", dim, Metric::inner_product, 300);
    const ScanTile tile = tile_of(rows);
    const ScanQuery query = query_of_twos(rows, place_of(tile, 70));
    REQUIRE(query.sketch_weight == 2 * 63 * std::min(dim / 64, kMaxSketchWords));
    on_every_target([&] {
      if (!can_share_sketches()) return;
      CAPTURE(dim);
      Shared shared(rows, tile, 0);
      check_candidates(rows, tile, query, true, &shared);
    });
  }
}

TEST_CASE("rows are selected by the largest distance of three bits", "[scan][kernels]") {
  const ScanRows rows =
      made_up_rows("Polar3-pca", 384, Metric::inner_product, 100, 1, Terms::alike);
  const ScanTile tile = tile_of(rows);
  const ScanQuery query = heaviest_query(rows, place_of(tile, 70));
  on_every_target([&] {
    if (!can_share_sketches()) return;
    Shared shared(rows, tile, 0);
    check_candidates(rows, tile, query, true, &shared);
  });
}

TEST_CASE("scores of shared rows are the plain ones", "[scan][kernels]") {
  for (const std::string spec : {"Polar2", "Polar4", "Polar5", "Polar8", "Polar4+2", "Polar1-pca",
                                 "Polar4-pca", "PolarB6"}) {
    for (const int dim : {64, 65, 129, 384, 2500}) {
      if ((spec.ends_with("-pca") || spec == "PolarB6") && dim > 384) continue;
      for (const Metric metric : {Metric::inner_product, Metric::l2}) {
        CAPTURE(spec, dim, static_cast<int>(metric));
        check_shared_scores(made_up_rows(spec, dim, metric, dim > 384 ? 100 : 600));
      }
    }
  }
  std::set<int> words;  // that bounds by a first stage take
  for (const Spectrum spectrum :
       {Spectrum::steep, Spectrum::slow, Spectrum::gentle, Spectrum::led}) {
    const ScanRows rows =
        made_up_rows("Polar3-pca", 512, Metric::inner_product, 200, 1, Terms::spread, spectrum);
    REQUIRE(rows.scan.has_split_stages());
    words.insert(rows.scan.words_after_first_stage());
    check_shared_scores(rows);
  }
  CHECK(words == std::set{0, 1, 2, 3});
}

}  // namespace polarquant::test
