// SPDX-License-Identifier: MIT
// The dense search of codes in two stages, split ones in one step and others by the first stage's
// bound: vectors, matches, and that it answers as plain code does.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "src/scan/kernels/decode/decode_rows.h"
#include "src/scan/kernels/decode/squared_norms.h"
#include "src/scan/kernels/dense/first_stage_vectors.h"
#include "src/scan/kernels/dense/one_step_vectors.h"
#include "src/scan/model/row_values.h"
#include "src/scan/search/dense_search.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  const char* spec;
  int dim;
  Spectrum spectrum;
};
/// Residual codes, and split stages whose first-stage bound takes 0 to 3 sign words.
constexpr Case kCases[] = {
    {"Polar2+2", 65, Spectrum::steep},     {"Polar4+2", 384, Spectrum::steep},
    {"Polar3-pca", 512, Spectrum::steep},  {"Polar3-pca", 512, Spectrum::slow},
    {"Polar3-pca", 512, Spectrum::gentle}, {"Polar3-pca", 512, Spectrum::led},
    {"Polar5-pca", 640, Spectrum::gentle},
};

ScanRows rows_of_case(const Case& item, Metric metric, int64_t n) {
  return made_up_rows(item.spec, item.dim, metric, n, 1, Terms::spread, item.spectrum);
}

}  // namespace

TEST_CASE("products of first-stage vectors are no less than the bound", "[scan][kernels]") {
  std::set<int> words;
  for (const Case& item : kCases) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const ScanRows rows = rows_of_case(item, metric, 130);
      const ScanTile tile = tile_of(rows);
      const FirstStageVectors vectors(rows.scan);
      const auto count = static_cast<size_t>(vectors.padded_dim());
      if (rows.scan.has_split_stages()) words.insert(rows.scan.words_after_first_stage());
      on_every_target([&] {
        AlignedVector<int8_t> row_values(count * kBlockRows);
        std::vector<RowPlace> at;
        for (uint32_t row = 64; row < 128; ++row) at.push_back(place_of(tile, row));
        vectors.put_rows(at.data(), 64, row_values.data());
        for (uint64_t seed = 1; seed < 6; ++seed) {
          const ScanQuery query = rows.query(seed, 1.5F);
          std::vector<int8_t> query_values(count);
          const float margin = vectors.put_query(query, query_values.data());
          const double exact_margin = query.first_stage.margin;
          for (size_t i = 0; i < 64; ++i) {
            int32_t dot = 0;
            for (size_t position = 0; position < count; ++position)
              dot += query_values[position] * row_values[i * count + position];
            const float sum = query.first_stage.slope * static_cast<float>(dot) + margin;
            std::vector<int8_t> stage_values(static_cast<size_t>(rows.scan.padded_dim()));
            decode_int8(rows.scan, rows.scan.stages()[0], at[i], stage_values.data());
            const int32_t first = int8_dot(rows.scan.stages()[0], query, stage_values.data());
            const int32_t signs = other_sum(rows.scan, query, at[i]);
            const float expected = query.first_stage.slope * static_cast<float>(first) +
                                   query.first_stage.other_slope * static_cast<float>(signs) +
                                   query.first_stage.margin;
            CAPTURE(item.spec, static_cast<int>(item.spectrum), seed, i);
            REQUIRE(sum >= expected);
            // Little more: less than the margin itself.
            REQUIRE(sum - expected <= .4 * exact_margin);
          }
        }
      });
    }
  }
  CHECK(words == std::set{0, 1, 2, 3});
}

TEST_CASE("products in one step are scores of both stages within their margin", "[scan][kernels]") {
  int without_bits = 0;
  for (const Case& item : kCases) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const ScanRows rows = rows_of_case(item, metric, 130);
      if (!rows.scan.has_split_stages()) continue;
      const ScanTile tile = tile_of(rows);
      const OneStepVectors vectors(rows.scan);
      const auto count = static_cast<size_t>(vectors.padded_dim());
      without_bits += vectors.padded_dim() < rows.scan.padded_dim() ? 1 : 0;
      // Some in which the second stage has the larger dot scale, or which are 0.
      std::vector<ScanQuery> queries;
      for (uint64_t seed = 1; seed < 6; ++seed) queries.push_back(rows.query(seed, 1.5F));
      for (const int first : {0, 64, item.dim}) {
        PreparedQuery prepared = rows.codec->prepare_query(normal_numbers(item.dim, 9).data());
        std::fill_n(prepared.rotated.begin(), first, 0.0F);
        queries.push_back(make_scan_query(rows.scan, prepared, 1.5F));
      }
      on_every_target([&] {
        AlignedVector<int8_t> row_values(count * kBlockRows);
        std::vector<RowPlace> at;
        for (uint32_t row = 64; row < 128; ++row) at.push_back(place_of(tile, row));
        vectors.put_rows(at.data(), 64, row_values.data());
        double longest = 0;
        for (size_t i = 0; i < queries.size(); ++i) {
          const ScanQuery& query = queries[i];
          std::vector<int8_t> query_values(count);
          const OneStepVectors::Scales scales = vectors.put_query(query, query_values.data());
          for (size_t row = 0; row < 64; ++row) {
            const int8_t* row_at = &row_values[row * count];
            const int32_t dot =
                std::inner_product(query_values.begin(), query_values.end(), row_at, 0);
            const int32_t squares = std::inner_product(row_at, row_at + count, row_at, 0);
            const float length = std::sqrt(static_cast<float>(squares));
            longest = std::max<double>(longest, length);
            float expected = 0;
            std::vector<int8_t> stage_values(static_cast<size_t>(rows.scan.padded_dim()));
            for (size_t stage = 0; stage < 2; ++stage) {
              decode_int8(rows.scan, rows.scan.stages()[stage], at[row], stage_values.data());
              expected += query.score.dot_scale[stage] *
                          static_cast<float>(
                              int8_dot(rows.scan.stages()[stage], query, stage_values.data()));
            }
            const float sum = scales.dot_scale * static_cast<float>(dot);
            CAPTURE(item.spec, static_cast<int>(item.spectrum), i, row, sum, expected,
                    scales.margin);
            REQUIRE(std::fabs(sum - expected) <= scales.margin * length);
            if (i + 1 == queries.size()) REQUIRE(scales.margin == 0);
          }
          // Little of what the longest row and a query can make together.
          double most = 0;
          for (const int8_t value : query_values) most += value * value;
          REQUIRE(scales.margin <= .06 * scales.dot_scale * std::sqrt(most));
        }
        const int first_dims = rows.scan.stages()[0].padded_dim();
        std::vector<float> squared_norms(64);
        int8_squared_norms(row_values.data(), first_dims, 64, count, squared_norms.data());
        for (size_t row = 0; row < 64; ++row)
          REQUIRE(squared_norms[row] == first_stage_squared_norm(rows.scan, at[row]));
        REQUIRE(longest_row(row_values.data(), vectors.padded_dim(), 64) >= longest);
        REQUIRE(longest_row(row_values.data(), vectors.padded_dim(), 64) <= 1.001 * longest);
        REQUIRE(longest_row(row_values.data(), vectors.padded_dim(), 0) == 0);
      });
    }
  }
  REQUIRE(without_bits > 0);
}

TEST_CASE("matches by bounds are the rows that reach, and few others", "[scan][kernels]") {
  for (int query_tiles = 1; query_tiles <= 3; ++query_tiles) {
    Random random(static_cast<uint64_t>(query_tiles));
    const int queries = query_tiles * kTileQueries - 3;  // the last slots have none
    AlignedVector<int32_t> dots(static_cast<size_t>(kChunkRows * query_tiles * kTileQueries));
    for (int32_t& dot : dots) dot = static_cast<int32_t>(random.below(200001)) - 100000;
    AlignedVector<QueryTileConstants> constants(static_cast<size_t>(query_tiles));
    AlignedVector<float> thresholds(static_cast<size_t>(query_tiles * kTileQueries), kInfinity);
    std::vector<float> norm(kChunkRows);
    std::vector<float> constant(kChunkRows);
    std::vector<float> squared_norm(kChunkRows);
    for (size_t row = 0; row < kChunkRows; ++row) {
      norm[row] = row % 11 == 6 ? 0.0F : static_cast<float>(std::fabs(random.normal()));
      constant[row] = row % 5 == 4 ? std::numeric_limits<float>::quiet_NaN()
                                   : static_cast<float>(random.normal());
      squared_norm[row] = static_cast<float>(50000 + random.below(40000));
    }
    const auto bound = [&](size_t row, int q) {
      const QueryTileConstants& tile = constants[static_cast<size_t>(q / kTileQueries)];
      const int slot = q % kTileQueries;
      const size_t at = (static_cast<size_t>(q / kTileQueries) * kChunkRows + row) * kTileQueries +
                        static_cast<size_t>(slot);
      return tile.base[slot] + tile.weight[slot] * constant[row] +
             norm[row] * (tile.dot_scale[0][slot] * static_cast<float>(dots[at]) +
                          tile.margin[slot] - tile.squared_norm_slope[slot] * squared_norm[row]);
    };
    for (int q = 0; q < queries; ++q) {
      QueryTileConstants& tile = constants[static_cast<size_t>(q / kTileQueries)];
      const int slot = q % kTileQueries;
      tile.base[slot] = static_cast<float>(random.normal());
      tile.weight[slot] = static_cast<float>(random.normal());
      tile.dot_scale[0][slot] = q % 13 == 7 ? 0 : static_cast<float>(1e-5 * (1 + random.uniform()));
      tile.squared_norm_slope[slot] = q % 3 == 0 ? 0 : static_cast<float>(1e-5 * random.uniform());
      tile.margin[slot] =
          static_cast<float>(random.uniform()) + 70000 * tile.squared_norm_slope[slot];
      // A row's own bound, to the bit; for some every row.
      thresholds[static_cast<size_t>(q)] = q % 7 == 3 ? -kInfinity : bound(5 * (q % 12), q);
    }
    on_every_target([&] {
      BoundRows rows;
      set_bound_rows(norm.data(), constant.data(), squared_norm.data(), &rows);
      std::vector<DenseMatch> matches(dots.size());
      const int count = find_bound_matches(dots.data(), query_tiles, constants.data(),
                                           thresholds.data(), rows, matches.data());
      std::set<std::pair<int, int>> found;
      for (int i = 0; i < count; ++i) {
        const DenseMatch& match = matches[static_cast<size_t>(i)];
        CAPTURE(match.row, match.query);
        REQUIRE(match.query < queries);
        const auto row = static_cast<size_t>(match.row);
        REQUIRE(!std::isnan(constant[row]));
        const size_t at =
            (static_cast<size_t>(match.query / kTileQueries) * kChunkRows + row) * kTileQueries +
            static_cast<size_t>(match.query % kTileQueries);
        REQUIRE(match.dot[0] == dots[at]);
        REQUIRE(found.emplace(match.row, match.query).second);
        const bool solvable = norm[row] > 0 && match.query % 13 != 7;
        const float error_bound =
            solvable ? 1e-4F + 5e-5F * norm[row] * rows.max_inverse : kInfinity;
        REQUIRE(bound(row, match.query) >=
                thresholds[static_cast<size_t>(match.query)] - error_bound);
      }
      for (int row = 0; row < kChunkRows; ++row) {
        for (int q = 0; q < queries; ++q) {
          CAPTURE(row, q);
          if (bound(static_cast<size_t>(row), q) >= thresholds[static_cast<size_t>(q)])
            REQUIRE(found.count({row, q}) == 1);
        }
      }
      REQUIRE(count > 50);
    });
  }
}

TEST_CASE("matches by bounds that are kept are those whose scores reach", "[scan][kernels]") {
  constexpr int kQueries = 20;
  Random random(3);
  const auto random_value = [&] {
    return static_cast<int8_t>(static_cast<int>(random.below(2 * kMaxInt8 + 1)) - kMaxInt8);
  };
  for (const int second_dims : {64, 320}) {
    constexpr int kFirstDims = 64;
    constexpr int kStride = 192;  // of the first stage
    AlignedVector<int8_t> rows[2];
    rows[0].resize(static_cast<size_t>(kChunkRows * kStride));
    rows[1].resize(static_cast<size_t>(kChunkRows * second_dims));
    AlignedVector<int8_t> queries[2];
    queries[0].resize(static_cast<size_t>(kQueries * kFirstDims));
    queries[1].resize(static_cast<size_t>(kQueries * second_dims));
    for (auto* both : {rows, queries})
      for (int stage = 0; stage < 2; ++stage)
        for (int8_t& value : both[stage]) value = random_value();
    std::vector<float> scale(kChunkRows);
    std::vector<float> constant(kChunkRows);
    for (float& value : scale) value = static_cast<float>(std::fabs(random.normal()));
    for (float& value : constant) value = static_cast<float>(random.normal());
    std::vector<MatchQuery> match_queries;
    std::vector<float> thresholds;
    for (int q = 0; q < kQueries; ++q) {
      const int8_t* first = queries[0].data() + static_cast<ptrdiff_t>(q) * kFirstDims;
      const int8_t* second = queries[1].data() + static_cast<ptrdiff_t>(q) * second_dims;
      const auto number = [&] { return static_cast<float>(random.normal()); };
      match_queries.push_back({{first, second},
                               std::accumulate(second, second + second_dims, 0),
                               {number(), number(), {1e-4F * std::fabs(number()), 1e-5F}}});
      thresholds.push_back(q % 5 == 4 ? -kInfinity : number());
    }
    std::vector<DenseMatch> all;
    for (int i = 0; i < 300; ++i)
      all.push_back({static_cast<int32_t>(random.below(kChunkRows)),
                     static_cast<int32_t>(random.below(kQueries)),
                     {0, 0}});
    using Kept = std::tuple<int, int, int, int>;
    std::vector<Kept> expected;  // of all
    std::vector<bool> reaches;
    for (DenseMatch& match : all) {
      const MatchQuery& query = match_queries[static_cast<size_t>(match.query)];
      const int8_t* first = rows[0].data() + static_cast<ptrdiff_t>(match.row) * kStride;
      const int8_t* second = rows[1].data() + static_cast<ptrdiff_t>(match.row) * second_dims;
      const int dots[2] = {std::inner_product(first, first + kFirstDims, query.values[0], 0),
                           std::inner_product(second, second + second_dims, query.values[1], 0)};
      const auto row = static_cast<size_t>(match.row);
      const float score = similarity(query.score, {scale[row], constant[row], 0}, dots[0], dots[1]);
      expected.emplace_back(match.row, match.query, dots[0], dots[1]);
      reaches.push_back(score >= thresholds[static_cast<size_t>(match.query)]);
    }
    on_every_target([&] {
      AlignedVector<int8_t> second = rows[1];
      set_operand_rows(second.data(), kChunkRows, second_dims, static_cast<size_t>(second_dims));
      const MatchRows operands = {true,
                                  {rows[0].data(), second.data()},
                                  {kStride, second_dims},
                                  {kFirstDims, second_dims},
                                  scale.data(),
                                  constant.data()};
      MatchRows plain = operands;
      plain.second_is_operand = false;
      plain.values[1] = rows[1].data();
      const std::pair<const MatchRows&, bool> ways[] = {
          {operands, true}, {operands, false}, {plain, false}};
      for (const auto& [match_rows, first_is_known] : ways) {
        for (const size_t count : {size_t{0}, size_t{1}, size_t{6}, size_t{7}, all.size()}) {
          CAPTURE(second_dims, match_rows.second_is_operand, first_is_known, count);
          std::vector<DenseMatch> matches(all.begin(), all.begin() + static_cast<ptrdiff_t>(count));
          for (size_t i = 0; i < count; ++i)
            matches[i].dot[0] = first_is_known ? std::get<2>(expected[i]) : 12345;
          matches.resize(count + 3);
          const int kept =
              keep_bound_matches(match_rows, match_queries.data(), thresholds.data(),
                                 first_is_known, matches.data(), static_cast<int>(count));
          std::vector<Kept> found;
          for (int i = 0; i < kept; ++i) {
            const DenseMatch& match = matches[static_cast<size_t>(i)];
            found.emplace_back(match.row, match.query, match.dot[0], match.dot[1]);
          }
          std::vector<Kept> reached;
          for (size_t i = 0; i < count; ++i)
            if (reaches[i]) reached.push_back(expected[i]);
          REQUIRE(found == reached);
        }
      }
    });
  }
}

TEST_CASE("a dense search of two stages answers as plain code does", "[scan][search]") {
  // Those that any machine takes.
  const auto forms_of = [](const ScanCodec& codec, bool bounded) {
    std::set<DenseForm> forms = {DenseForm::scores};
    if (codec.has_split_stages()) forms.insert(DenseForm::one_step);
    if (bounded) forms.insert(DenseForm::first_stage);
    REQUIRE(forms.count(dense_form(codec, ScanMachine::here(), bounded)) == 1);
    return forms;
  };
  constexpr int64_t kQueries = 37;
  constexpr int64_t kBest = 10;
  for (const Case& item : kCases) {
    for (const auto& kind :
         {std::pair{Metric::inner_product, true}, std::pair{Metric::l2, true},
          std::pair{Metric::cosine, true}, std::pair{Metric::inner_product, false}}) {
      // No structured binding: Clang before 16 lets no lambda have one.
      const Metric metric = kind.first;
      const bool bounded = kind.second;
      const ScanRows rows = rows_of_case(item, metric, 700);
      ScanTile tile = tile_of(rows);
      tile.allowed[1] = 0x8421fedc00000001;
      tile.allowed[3] = 0;
      std::vector<ScanQuery> queries;
      std::vector<std::vector<std::pair<float, int64_t>>> expected;  // key, row
      for (int64_t q = 0; q < kQueries; ++q) {
        queries.push_back(rows.query(static_cast<uint64_t>(q), .5F));
        auto& best = expected.emplace_back();
        for (const uint32_t row : rows_of(tile)) {
          const RowScore score = score_row(rows.scan, queries.back(), bounded, place_of(tile, row));
          best.emplace_back(-score.key, row);
        }
        std::sort(best.begin(), best.end());
        best.resize(kBest);
      }
      on_every_target([&] {
        for (const DenseForm form : forms_of(rows.scan, bounded)) {
          const QueryTiles query_tiles(rows.scan, queries, form, 1);
          DenseSearch search(rows.scan, form, bounded);
          std::vector<TopK> best(kQueries, TopK(kBest));
          search.search(tile, query_tiles, 0, kQueries, best.data());
          for (size_t q = 0; q < kQueries; ++q) {
            std::vector<std::pair<float, int64_t>> found;
            for (const Neighbor& candidate : best[q].neighbors())
              found.emplace_back(candidate.key, candidate.id);
            std::sort(found.begin(), found.end());
            CAPTURE(item.spec, static_cast<int>(item.spectrum), static_cast<int>(metric), bounded,
                    static_cast<int>(form), q);
            REQUIRE(found == expected[q]);
          }
        }
      });
    }
  }
}

}  // namespace polarquant::test
