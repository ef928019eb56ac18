// SPDX-License-Identifier: MIT
// The dense scan's kernels against plain sums, on every target and with and without AMX.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "src/scan/kernels/dense/amx_dots.h"
#include "src/scan/kernels/dense/dense_matches.h"
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"
#include "tests/scan/without_amx.h"

namespace polarquant::test {
namespace {

/// Where query_tile_dots leaves the dot of a row and a query.
size_t dot_at(int row, int query) {
  return static_cast<size_t>((query / kTileQueries * kChunkRows + row) * kTileQueries +
                             query % kTileQueries);
}

/// A chunk's int8 values and query tiles of random queries, and their plain dot products.
struct Chunk {
  int padded_dim;
  int query_tiles;
  AlignedVector<int8_t> values;
  AlignedVector<int8_t> query_tile_values;
  std::vector<int32_t> expected;

  int most;  // magnitude of values

  /// `extreme`: all values have the largest magnitude.
  Chunk(const ScanRows& rows, int query_tile_count, bool extreme, int most_value = kMaxInt8)
      : padded_dim(rows.scan.padded_dim()), query_tiles(query_tile_count), most(most_value) {
    Random random(static_cast<uint64_t>(padded_dim + query_tile_count));
    const auto random_value = [&] {
      const auto value = static_cast<int>(random.below(2 * static_cast<uint64_t>(most) + 1)) - most;
      return static_cast<int8_t>(extreme ? most : value);
    };
    values.resize(static_cast<size_t>(kChunkRows * padded_dim));
    for (int8_t& value : values) value = random_value();
    query_tile_values.resize(static_cast<size_t>(query_tiles * kTileQueries * padded_dim));
    expected.resize(static_cast<size_t>(kChunkRows * query_tiles * kTileQueries));
    for (int q = 0; q < query_tiles * kTileQueries; ++q) {
      ScanQuery query;
      query.values.resize(static_cast<size_t>(padded_dim));
      for (int8_t& value : query.values)
        value = extreme && q % 2 == 0 ? static_cast<int8_t>(-most) : random_value();
      int8_t* query_tile = query_tile_values.data() +
                           static_cast<size_t>(q / kTileQueries * kTileQueries * padded_dim);
      put_in_query_tile(query.values.data(), padded_dim, q % kTileQueries, query_tile);
      for (int row = 0; row < kChunkRows; ++row) {
        int32_t dot = 0;
        for (int position = 0; position < padded_dim; ++position) {
          dot += query.values[static_cast<size_t>(position)] *
                 values[static_cast<size_t>(row * padded_dim + position)];
        }
        expected[dot_at(row, q)] = dot;
      }
    }
  }

  void check() const {
    AlignedVector<int32_t> dots(expected.size() + 16, 77);
    const QueryTileSession session;
    const auto product = most <= kMaxSmallValue ? query_tile_dots_of_small : query_tile_dots;
    product(values.data(), padded_dim, query_tile_values.data(), query_tiles, dots.data());
    REQUIRE(std::equal(expected.begin(), expected.end(), dots.begin()));
    REQUIRE(std::all_of(dots.end() - 16, dots.end(), [](int32_t dot) { return dot == 77; }));
  }

  /// Row by row.
  void check_rows() const {
    for (int row = 0; row < kChunkRows; row += 7) {
      AlignedVector<int32_t> dots(static_cast<size_t>(query_tiles * kTileQueries + 1), 77);
      row_query_tile_dots(values.data() + row * padded_dim, padded_dim, query_tile_values.data(),
                          query_tiles, dots.data());
      for (int q = 0; q < query_tiles * kTileQueries; ++q)
        REQUIRE(dots[static_cast<size_t>(q)] == expected[dot_at(row, q)]);
      REQUIRE(dots.back() == 77);
    }
  }
};

using Match = std::tuple<int32_t, int32_t, int32_t, int32_t>;

}  // namespace

TEST_CASE("query_tiles of small values give the plain sums", "[scan][kernels]") {
  for (const int dim : {1, 64, 192, 384, 1000}) {
    const ScanRows rows("Polar2", dim, Metric::l2);
    for (int query_tiles = 1; query_tiles <= 4; ++query_tiles) {
      for (const bool extreme : {false, true}) {
        const Chunk chunk(rows, query_tiles, extreme, kMaxSmallValue);
        CAPTURE(dim, query_tiles, extreme);
        on_every_target([&] { chunk.check(); });
      }
    }
  }
}

TEST_CASE("query_tiles give the plain sums", "[scan][kernels]") {
  for (const int dim : {1, 64, 65, 192, 384, 1000}) {
    const ScanRows rows("Polar2", dim, Metric::l2);
    for (int query_tiles = 1; query_tiles <= 7; ++query_tiles) {
      for (const bool extreme : {false, true}) {
        const Chunk chunk(rows, query_tiles, extreme);
        CAPTURE(dim, query_tiles, extreme);
        on_every_target([&] {
          chunk.check();
          chunk.check_rows();
          const WithoutAmx without;
          REQUIRE(!query_tile_dots_use_amx());
          chunk.check();
        });
      }
    }
  }
}

TEST_CASE("AMX gives the plain sums", "[scan][kernels]") {
  if (!amx_is_usable()) {
    WARN("this machine has no AMX");
    return;
  }
  for (const int dim : {1, 128, 129, 1000}) {
    const ScanRows rows("Polar4", dim, Metric::l2);
    for (int query_tiles = 1; query_tiles <= 5; ++query_tiles) {
      const Chunk chunk(rows, query_tiles, false);
      std::vector<int32_t> dots(chunk.expected.size());
      amx_begin();
      amx_query_tile_dots(chunk.values.data(), chunk.padded_dim, chunk.query_tile_values.data(),
                          query_tiles, dots.data());
      amx_end();
      CAPTURE(dim, query_tiles);
      REQUIRE(dots == chunk.expected);
    }
  }
  const WithoutAmx without;
  CHECK(!amx_is_usable());
}

TEST_CASE("dense matches are the rows that reach the threshold", "[scan][kernels]") {
  for (int query_tiles = 1; query_tiles <= 4; ++query_tiles) {
    for (const bool two_stages : {false, true}) {
      Random random(static_cast<uint64_t>(query_tiles));
      const int queries = query_tiles * kTileQueries;
      AlignedVector<int32_t> dots[2];
      for (AlignedVector<int32_t>& stage : dots) {
        stage.resize(static_cast<size_t>(kChunkRows * queries));
        for (int32_t& dot : stage) dot = static_cast<int32_t>(random.below(200001)) - 100000;
      }
      AlignedVector<QueryTileConstants> constants(static_cast<size_t>(query_tiles));
      std::vector<ScoreConstants> scores(static_cast<size_t>(queries));
      for (int q = 0; q < queries; ++q) {
        ScoreConstants& score = scores[static_cast<size_t>(q)];
        score = {static_cast<float>(random.normal()),
                 static_cast<float>(random.normal()),
                 {static_cast<float>(1e-4 * std::fabs(random.normal())),
                  static_cast<float>(1e-5 * std::fabs(random.normal()))}};
        QueryTileConstants& query_tile = constants[static_cast<size_t>(q / kTileQueries)];
        const int slot = q % kTileQueries;
        query_tile.base[slot] = score.base;
        query_tile.weight[slot] = score.weight;
        query_tile.dot_scale[0][slot] = score.dot_scale[0];
        query_tile.dot_scale[1][slot] = score.dot_scale[1];
        if (!two_stages) query_tile.margin[slot] = static_cast<float>(random.uniform());
        if (!two_stages && q % 3 > 0)
          query_tile.squared_norm_slope[slot] = static_cast<float>(1e-5 * random.uniform());
      }
      const float margin_unit = query_tiles % 2 == 0 ? 0 : 2.5F;
      AlignedVector<float> scale(kChunkRows);
      AlignedVector<float> constant(kChunkRows);
      AlignedVector<float> squared_norm(kChunkRows);
      for (size_t row = 0; row < kChunkRows; ++row) {
        squared_norm[row] = static_cast<float>(50000 + random.below(40000));
        scale[row] = row % 11 == 6 ? 0.0F : static_cast<float>(std::fabs(random.normal()));
        constant[row] = row % 5 == 4 ? std::numeric_limits<float>::quiet_NaN()
                                     : static_cast<float>(random.normal());
      }
      const auto plain = [&](int row, int q) {
        const ScanTerms terms = {scale[static_cast<size_t>(row)],
                                 constant[static_cast<size_t>(row)], 0};
        const size_t at = dot_at(row, q);
        const ScoreConstants& score = scores[static_cast<size_t>(q)];
        if (two_stages) return similarity(score, terms, dots[0][at], dots[1][at]);
        const QueryTileConstants& query_tile = constants[static_cast<size_t>(q / kTileQueries)];
        return score.base + score.weight * terms.constant +
               terms.scale * (score.dot_scale[0] * static_cast<float>(dots[0][at]) +
                              query_tile.margin[q % kTileQueries] * margin_unit -
                              query_tile.squared_norm_slope[q % kTileQueries] *
                                  squared_norm[static_cast<size_t>(row)]);
      };
      ChunkTerms terms = make_chunk_terms(scale.data(), constant.data(), squared_norm.data());
      terms.margin_unit = margin_unit;
      AlignedVector<float> thresholds(static_cast<size_t>(queries));
      for (int q = 0; q < queries; ++q) {
        // A row's own score, to the bit; for some every row, for some none.
        float threshold = plain(5 * (q % 12), q);
        if (q % 7 == 3) threshold = -std::numeric_limits<float>::infinity();
        if (q % 7 == 5) threshold = std::numeric_limits<float>::infinity();
        thresholds[static_cast<size_t>(q)] = threshold;
      }
      std::vector<Match> expected;
      for (int row = 0; row < kChunkRows; ++row) {
        for (int q = 0; q < queries; ++q) {
          if (!(plain(row, q) >= thresholds[static_cast<size_t>(q)])) continue;
          const size_t at = dot_at(row, q);
          expected.emplace_back(row, q, dots[0][at], two_stages ? dots[1][at] : 0);
        }
      }
      REQUIRE(expected.size() > 50);
      on_every_target([&] {
        CAPTURE(query_tiles, two_stages);
        std::vector<DenseMatch> matches(static_cast<size_t>(kChunkRows * queries));
        const int count =
            find_dense_matches(dots[0].data(), two_stages ? dots[1].data() : nullptr, query_tiles,
                               constants.data(), thresholds.data(), terms, matches.data());
        std::vector<Match> found;
        for (int i = 0; i < count; ++i) {
          const DenseMatch& match = matches[static_cast<size_t>(i)];
          found.emplace_back(match.row, match.query, match.dot[0], match.dot[1]);
        }
        std::sort(found.begin(), found.end());
        REQUIRE(found == expected);
      });
    }
  }
}

}  // namespace polarquant::test
