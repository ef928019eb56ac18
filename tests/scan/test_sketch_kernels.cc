// SPDX-License-Identifier: MIT
// The sketch, the first stage of a search, against its plain definition, on every target.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "src/scan/kernels/bounds/load_terms.h"
#include "src/scan/kernels/bounds/sign_dots.h"
#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/scan/model/row_values.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"
#include "tests/scan/thresholds.h"

namespace polarquant::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};

/// The sketch's bounds of all rows of a tile; NaN where there is no row.
std::vector<float> sketch_bounds(const ScanRows& rows, const ScanTile& tile,
                                 const ScanQuery& query) {
  std::vector<float> bounds(static_cast<size_t>(tile.blocks * kBlockRows),
                            std::numeric_limits<float>::quiet_NaN());
  for (const uint32_t row : rows_of(tile)) {
    const RowPlace at = place_of(tile, row);
    bounds[row] =
        sketch_bound(query, load_terms(rows.scan, at), sketch_distance(rows.scan, query, at));
  }
  return bounds;
}

struct Candidates {
  std::vector<uint32_t> rows;
  std::vector<int> distances;
  std::vector<float> bounds;
};

Candidates candidates_of(const ScanRows& rows, const ScanTile& tile,
                         const std::vector<const ScanQuery*>& queries, float threshold,
                         size_t which) {
  const auto capacity = static_cast<size_t>(tile.blocks * kBlockRows + kListPadding);
  std::vector<CandidateSearch> searches(queries.size());
  std::vector<uint32_t> candidates(queries.size() * capacity);
  std::vector<float> bounds(candidates.size());
  for (size_t i = 0; i < queries.size(); ++i) {
    searches[i].query = queries[i];
    searches[i].threshold = threshold;
    searches[i].found = {candidates.data() + i * capacity, bounds.data() + i * capacity, 0};
  }
  find_sketch_candidates(rows.scan, tile, 0, tile.blocks, searches.data(),
                         static_cast<int>(searches.size()));
  Candidates found;
  const CandidateList& list = searches[which].found;
  for (int i = 0; i < list.count; ++i) {
    found.rows.push_back(row_of(list.candidates[i]));
    found.distances.push_back(distance_of(list.candidates[i]));
    found.bounds.push_back(list.bounds[i]);
  }
  return found;
}

/// All rows that reach the threshold, and none that stays `error_bound` below it; no bound is below
/// the row's own.
void check_candidates(const ScanRows& rows, const ScanTile& tile, const ScanQuery& query,
                      const Candidates& candidates, const std::vector<float>& bounds,
                      float threshold, float error_bound) {
  const std::vector<uint32_t>& found = candidates.rows;
  REQUIRE(std::is_sorted(found.begin(), found.end()));
  for (size_t i = 0; i < found.size(); ++i) {
    REQUIRE(candidates.bounds[i] >= bounds[found[i]]);
    REQUIRE((candidates.bounds[i] >= threshold));
    REQUIRE(candidates.distances[i] == sketch_distance(rows.scan, query, place_of(tile, found[i])));
  }
  REQUIRE(std::adjacent_find(found.begin(), found.end()) == found.end());
  std::vector<bool> is_candidate(bounds.size());
  for (const uint32_t row : found) is_candidate[row] = true;
  size_t allowed = 0;
  for (const uint32_t row : rows_of(tile)) {
    CAPTURE(row, bounds[row], threshold, error_bound);
    if (bounds[row] >= threshold && !is_candidate[row]) FAIL("a row is missing");
    if (is_candidate[row] && !(bounds[row] >= threshold - error_bound))
      FAIL("a row should have gone");
    allowed += is_candidate[row] ? 1 : 0;
  }
  REQUIRE(allowed == found.size());  // rows left out are no candidates
}

}  // namespace

TEST_CASE("every row whose bound reaches the threshold survives", "[scan][kernels]") {
  struct Code {
    std::string spec;
    Spectrum spectrum = Spectrum::steep;
  };
  std::set<int> words_with_third_bit;
  for (const Code& code :
       {Code{"Polar2"}, Code{"Polar2 of float16"}, Code{"Polar5"}, Code{"Polar8"},
        Code{"Polar3-pca"}, Code{"Polar3-pca of float16"}, Code{"Polar3-pca", Spectrum::slow},
        Code{"Polar3-pca", Spectrum::gentle}, Code{"Polar3-pca", Spectrum::led}}) {
    const std::string& spec = code.spec;
    const Spectrum spectrum = code.spectrum;
    const bool trained = spec.starts_with("Polar3-pca");
    for (const int dim : {1, 7, 64, 65, 96, 128, 129, 384, 512, 1000, 1100, 2100}) {
      if (trained && dim > 512) continue;  // training takes seconds
      for (const Metric metric : kMetrics) {
        // 12, 147 and 300 rows: last blocks of 2, 3 and 6 groups. 299: a filter keeps few of them.
        for (const int64_t n : {12, 147, 299, 300}) {
          const ScanRows rows = made_up_rows(spec, dim, metric, n, 1, Terms::spread, spectrum);
          if (rows.scan.has_third_bit())
            words_with_third_bit.insert(rows.scan.layout().sketch_words());
          ScanTile tile = tile_of(rows);
          if (n == 300) tile.allowed[1] = 0x8421fedc00000001, tile.allowed[3] = 0;
          for (int block = 0; n == 299 && block < tile.blocks; ++block)
            tile.allowed[block] &= uint64_t{0x4000000100060003} << block;
          tile.is_filtered = n >= 299;
          const ScanQuery query = rows.query(5, 1.5F);
          const ScanQuery other = rows.query(6, 1.5F);
          const std::vector<float> bounds = sketch_bounds(rows, tile, query);
          // Roundings, of the largest sums there are.
          float largest = 0;
          for (const uint32_t row : rows_of(tile))
            largest = std::max(largest, std::fabs(bounds[row]));
          const float error_bound = 1e-5F * (largest + 1);
          on_every_target([&] {
            CAPTURE(spec, static_cast<int>(spectrum), dim, static_cast<int>(metric), n);
            for (const float threshold : thresholds_among(bounds)) {
              const Candidates alone = candidates_of(rows, tile, {&query}, threshold, 0);
              check_candidates(rows, tile, query, alone, bounds, threshold, error_bound);
              if (threshold == -kInfinity) REQUIRE(alone.rows == rows_of(tile));
              for (const size_t others : {1, 8}) {
                std::vector<const ScanQuery*> queries(others, &other);
                queries.insert(queries.end(), {&query, &other});
                const Candidates among = candidates_of(rows, tile, queries, threshold, others);
                REQUIRE(among.rows == alone.rows);
                REQUIRE(among.bounds == alone.bounds);
              }
            }
          });
        }
      }
    }
  }
  REQUIRE(words_with_third_bit == std::set<int>{1, 2, 3, 4});
}

namespace {

int weight_of(const ScanQuery& query, int lane) {
  const auto word = static_cast<size_t>(lane / 64);
  const uint64_t fours = word == 0 ? query.fours_word : 0;
  return static_cast<int>((query.ones_words[word] >> lane % 64 & 1) +
                          2 * (query.twos_words[word] >> lane % 64 & 1) +
                          4 * (fours >> lane % 64 & 1));
}

}  // namespace

TEST_CASE("a row is as far away as its signs differ, by their weights", "[scan][kernels]") {
  for (const int dim : {64, 100, 256, 384, 2100}) {
    const ScanRows rows = made_up_rows("Polar2", dim, Metric::l2, 100, 3, Terms::alike);
    const ScanTile tile = tile_of(rows);
    ScanQuery query = rows.query(4, 1);
    const int sketch_dims = std::min(dim, 64 * kMaxSketchWords);
    std::set<int> weights;
    // A query whose signs all differ from row 70's.
    int weight = 0;
    std::fill(query.sign_words.begin(), query.sign_words.end(), 0);
    for (int j = 0; j < sketch_dims; ++j) {
      const int lane = position_of(j, dim);
      const auto at = static_cast<size_t>(lane / 64);
      const uint64_t word = rows.blocks.layout().sign_word(place_of(tile, 70), lane / 64);
      query.sign_words[at] |= (~word >> lane % 64 & 1) << lane % 64;
      const int own = weight_of(query, lane);
      weight += own;
      weights.insert(own);
    }
    REQUIRE(weights == std::set<int>{0, 1, 2, 3});
    REQUIRE(query.sketch_weight == weight);
    REQUIRE(sketch_distance(rows.scan, query, place_of(tile, 70)) == query.sketch_weight);
    const std::vector<float> bounds = sketch_bounds(rows, tile, query);
    on_every_target([&] {
      CAPTURE(dim);
      for (const float threshold : thresholds_among(bounds)) {
        if (threshold < -1e30F) continue;
        for (const size_t queries : {1, 2}) {
          const auto found = candidates_of(
              rows, tile, std::vector<const ScanQuery*>(queries, &query), threshold, queries - 1);
          check_candidates(rows, tile, query, found, bounds, threshold,
                           1e-4F * std::sqrt(static_cast<float>(dim)));
        }
      }
    });
  }
}

TEST_CASE("a trained code's first word is weighed by three bits", "[scan][kernels]") {
  for (const int dim : {128, 200, 384}) {
    const ScanRows rows = made_up_rows("Polar3-pca", dim, Metric::l2, 10);
    REQUIRE(rows.scan.has_third_bit());
    const int sketch_words = rows.scan.layout().sketch_words();
    std::set<int> weights;
    for (const uint64_t seed : {1, 2, 3, 4, 5}) {
      const ScanQuery query = rows.query(seed, 1);
      float squares = 0;
      for (size_t j = 0; j < 64; ++j)
        squares += static_cast<float>(query.values[j] * query.values[j]);
      const float deviation = std::sqrt(squares / 64);
      int sketch_weight = 0;
      for (int lane = 0; lane < std::min(dim, 64 * sketch_words); ++lane) {
        const int weight = weight_of(query, lane);
        if (lane < 64) {
          int borders = 0;
          for (int i = 0; i < 7; ++i) {
            const float border = (static_cast<float>(i) + .5F) * .33F * deviation;
            borders += std::abs(query.values[static_cast<size_t>(lane)]) > std::floor(border);
          }
          REQUIRE(weight == borders);
          weights.insert(weight);
        }
        sketch_weight += weight;
      }
      REQUIRE(query.sketch_weight == sketch_weight);
    }
    REQUIRE(weights == std::set<int>{0, 1, 2, 3, 4, 5, 6, 7});
  }
  REQUIRE(!made_up_rows("Polar3", 384, Metric::l2, 10).scan.has_third_bit());
}

TEST_CASE("after a trained code's first word a place weighs most in the word where it is farthest",
          "[scan][kernels]") {
  for (const Spectrum spectrum : {Spectrum::gentle, Spectrum::led}) {
    const ScanRows rows =
        made_up_rows("Polar3-pca", 512, Metric::l2, 10, 1, Terms::spread, spectrum);
    REQUIRE(rows.scan.has_third_bit());
    const int sketch_words = rows.scan.layout().sketch_words();
    CAPTURE(sketch_words);
    int far_places = 0;
    int parted = 0;
    for (const uint64_t seed : {1, 2, 3, 4, 5}) {
      const ScanQuery query = rows.query(seed, 1);
      int later_weight = 0;
      const auto value = [&](int word, int place) {
        return std::abs(int{query.values[static_cast<size_t>(64 * word + place)]});
      };
      const auto deviation = [&](int word) {
        float squares = 0;
        for (int place = 0; place < 64; ++place)
          squares += static_cast<float>(value(word, place) * value(word, place));
        return std::sqrt(squares / 64);
      };
      for (int place = 0; place < 64; ++place) {
        int farthest = 0;
        float most = 0;
        for (int word = 1; word < sketch_words; ++word) {
          if (static_cast<float>(value(word, place)) <= std::floor(deviation(word))) continue;
          parted += farthest > 0 ? 1 : 0;
          const float far = static_cast<float>(value(word, place)) / deviation(word);
          if (far > most) farthest = word;
          most = std::max(most, far);
        }
        for (int word = 1; word < sketch_words; ++word) {
          const float far = static_cast<float>(value(word, place));
          const int weight = far <= std::floor(.35F * deviation(word))   ? 0
                             : word != farthest                          ? 1
                             : far <= std::floor(1.7F * deviation(word)) ? 2
                                                                         : 3;
          REQUIRE(weight_of(query, 64 * word + place) == weight);
          later_weight += weight;
        }
        far_places += farthest > 0 ? 1 : 0;
      }
      if (rows.scan.first_stage_words() == 1) REQUIRE(query.later_weight == later_weight);
    }
    REQUIRE(sketch_words > 2);
    REQUIRE(far_places > 5 * 64 / 8);
    REQUIRE(parted > 0);
  }
}

/// On every target, by itself and with another query: every row's distance is the plain one, row
/// 70's `distance_70`.
void check_distances(const ScanRows& rows, const ScanTile& tile, const ScanQuery& query,
                     int distance_70) {
  on_every_target([&] {
    CAPTURE(rows.scan.dim());
    for (const size_t queries : {1, 2}) {
      const auto found = candidates_of(rows, tile, std::vector<const ScanQuery*>(queries, &query),
                                       -kInfinity, queries - 1);
      REQUIRE(found.rows == rows_of(tile));
      for (size_t i = 0; i < found.rows.size(); ++i)
        REQUIRE(found.distances[i] ==
                sketch_distance(rows.scan, query, place_of(tile, found.rows[i])));
      REQUIRE(found.distances[70] == distance_70);
    }
  });
}

TEST_CASE("the largest distance of three bits is right on every target", "[scan][kernels]") {
  for (const int dim : {128, 384}) {
    const ScanRows rows = made_up_rows("Polar3-pca", dim, Metric::inner_product, 100);
    const ScanTile tile = tile_of(rows);
    const ScanQuery query = heaviest_query(rows, place_of(tile, 70));
    constexpr int kLargest = 31 * 4 + 33 * 3;  // of the first word; 2 more is what any can have
    REQUIRE(sketch_distance(rows.scan, query, place_of(tile, 70)) == kLargest);
    REQUIRE(sign_sums(rows.scan, query, place_of(tile, 70)).distance == kLargest);
    check_distances(rows, tile, query, kLargest);
  }
}

TEST_CASE("the largest distance of two bits is right on every target", "[scan][kernels]") {
  for (const int dim : {64, 128, 192, 384}) {
    const ScanRows rows = made_up_rows("Polar2", dim, Metric::inner_product, 100);
    const ScanTile tile = tile_of(rows);
    const ScanQuery query = query_of_twos(rows, place_of(tile, 70));
    const int largest = 2 * 63 * std::min(dim / 64, kMaxSketchWords);
    check_distances(rows, tile, query, largest);
  }
}

TEST_CASE("a full tile survives whole", "[scan][kernels]") {
  const ScanRows rows = made_up_rows("Polar3", 100, Metric::inner_product, kTileRows);
  const ScanTile tile = tile_of(rows);
  const ScanQuery query = rows.query(1, 0);
  on_every_target(
      [&] { REQUIRE(candidates_of(rows, tile, {&query}, -kInfinity, 0).rows == rows_of(tile)); });
}

}  // namespace polarquant::test
