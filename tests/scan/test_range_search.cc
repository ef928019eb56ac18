// SPDX-License-Identifier: MIT
// Range searches against plain code: every row whose Codec::score is within the radius, and none of
// whose bounds is outside it.
#include <limits>
#include <string>
#include <vector>

#include "src/scan/search/exhaustive_search.h"
#include "src/scan/search/plan.h"
#include "tests/scan/every_target.h"
#include "tests/scan/plain_search.h"
#include "tests/scan/without_amx.h"
#include "tests/support/catch.h"
#include "tests/support/learn_once.h"

namespace polarquant::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void check_same(const RangeFound& found, const RangeFound& expected) {
  REQUIRE(found.lims == expected.lims);
  REQUIRE(found.ids == expected.ids);
  REQUIRE(std::equal(found.scores.begin(), found.scores.end(), expected.scores.begin(),
                     expected.scores.end(), same_bits));
}

/// Row-format codes of normal rows, the last ones equal to the first.
std::vector<uint8_t> encoded(Codec* codec, int64_t n) {
  std::vector<float> x = normal_numbers(n * codec->dim(), 31);
  std::copy_n(x.begin(), 5 * codec->dim(), x.end() - 5 * codec->dim());
  learn_once(*codec, n, x.data());
  std::vector<uint8_t> codes(codec->layout().bytes(n));
  codec->encode(n, x.data(), codes.data(), 1);
  return codes;
}

struct Rows {
  ScanRows rows;
  std::vector<uint8_t> codes;

  Rows(const std::string& spec, int dim, Metric metric, int64_t n)
      : rows(spec, dim, metric), codes(encoded(rows.codec.get(), n)) {
    rows.scan = ScanCodec(*rows.codec);
    rows.blocks = CodeBlocks(BlockLayout(*rows.codec));
    rows.blocks.append(n, codes.data());
  }
  CodeRows code_rows() const { return {codes.data(), rows.blocks.rows()}; }
};

/// By plain code. `bound_of(query, row)`: the least of the row's bounds, in similarity.
template <typename Keep>
RangeFound plain_range_search(const Rows& data, const std::vector<float>& queries, float radius,
                              float exactness, const Keep& keep) {
  const Codec& codec = *data.rows.codec;
  const ScanCodec& scan = data.rows.scan;
  const bool higher = codec.higher_is_nearer();
  const float sign = higher ? 1.0F : -1.0F;
  const bool bounded = search_is_bounded(scan, exactness);
  RangeFound found{{0}, {}, {}};
  for (size_t q = 0; q < queries.size(); q += static_cast<size_t>(codec.dim())) {
    const PreparedQuery prepared = codec.prepare_query(&queries[q]);
    const ScanQuery query = make_scan_query(scan, prepared, bounded ? exactness : 0);
    std::vector<float> scores(static_cast<size_t>(data.code_rows().rows));
    codec.score(prepared, data.code_rows(), 0, data.code_rows().rows, scores.data());
    std::vector<std::pair<float, int64_t>> rows;
    for (const BlockRows& span : data.rows.blocks.spans()) {
      for (int64_t i = 0; i < span.rows; ++i) {
        const int64_t id = span.first_row + i;
        const float score = sign * scores[static_cast<size_t>(id)];
        const float bound = score_row(scan, query, bounded, span.place(scan.layout(), i)).bound;
        if (keep(id) && score > sign * radius && bound > sign * radius)
          rows.push_back({-score, id});
      }
    }
    std::sort(rows.begin(), rows.end());
    for (const auto& [key, id] : rows) {
      found.scores.push_back(-key * sign);
      found.ids.push_back(id);
    }
    found.lims.push_back(static_cast<int64_t>(found.ids.size()));
  }
  return found;
}

RangeFound found_in_blocks(const Rows& data, const std::vector<float>& queries, float radius,
                           const SearchRequest& how, const RowFilter& filter = {}) {
  RangeFound found;
  const std::vector<BlockRows> spans = data.rows.blocks.spans();
  block_search(
      *data.rows.codec, data.rows.scan, spans,
      with_queries(how, queries, data.rows.codec->dim(), SearchGoal::within(radius), filter),
      &found);
  return found;
}

/// The score that `rank` rows of the first query are better than.
float radius_of_rank(const Rows& data, const std::vector<float>& queries, size_t rank) {
  const Codec& codec = *data.rows.codec;
  std::vector<float> scores(static_cast<size_t>(data.code_rows().rows));
  codec.score(codec.prepare_query(queries.data()), data.code_rows(), 0, data.code_rows().rows,
              scores.data());
  std::sort(scores.begin(), scores.end());
  return codec.higher_is_nearer() ? scores[scores.size() - 1 - rank] : scores[rank];
}

const auto kEvery = [](int64_t) { return true; };

}  // namespace

TEST_CASE("A range search of blocks finds the plain search's rows and scores", "[scan][range]") {
  for (const std::string spec :
       {"Polar1", "Polar2", "Polar4", "Polar8", "Polar4-pca", "Polar4+2", "PolarB4", "PolarB16"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
      const int dim = metric == Metric::l2 ? 100 : 65;
      const Rows data(spec, dim, metric, 200);
      std::vector<float> queries = normal_numbers(17 * dim, 32);
      std::fill_n(queries.begin() + 2 * dim, dim, 0.0F);
      for (const size_t rank : {3, 60}) {
        const float radius = radius_of_rank(data, queries, rank);
        for (const float exactness : {0.0F, kDefaultExactness, kScoreEveryRow}) {
          const RangeFound expected = plain_range_search(data, queries, radius, exactness, kEvery);
          CAPTURE(spec, static_cast<int>(metric), rank, exactness);
          if (exactness == kScoreEveryRow) REQUIRE(expected.lims[1] == static_cast<int64_t>(rank));
          for (const int threads : {1, 3})
            check_same(found_in_blocks(data, queries, radius, search_with(exactness, threads)),
                       expected);
          RangeFound found;
          block_search(
              *data.rows.codec, data.rows.scan, data.code_rows(),
              with_queries(search_with(exactness, 2), queries, dim, SearchGoal::within(radius), {}),
              &found);
          check_same(found, expected);
        }
      }
    }
  }
}

TEST_CASE("A range search of blocks finds the same on every target", "[scan][range][kernels]") {
  for (const std::string spec : {"Polar1.5", "Polar3", "Polar8", "Polar4+4", "PolarB16"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const Rows data(spec, 96, metric, 300);
      const std::vector<float> queries = normal_numbers(20 * 96, 33);
      const std::vector<float> many = first_queries(queries, kManyQueries, 96);
      const float radius = radius_of_rank(data, queries, 40);
      for (const float exactness : {.5F, kScoreEveryRow}) {
        const RangeFound expected = plain_range_search(data, queries, radius, exactness, kEvery);
        const RangeFound expected_of_many =
            plain_range_search(data, many, radius, exactness, kEvery);
        on_every_target([&] {
          CAPTURE(spec, static_cast<int>(metric), exactness);
          check_same(found_in_blocks(data, queries, radius, search_with(exactness, 1)), expected);
          const WithoutAmx without;
          const SearchRequest options = search_with(exactness, 2);
          check_same(found_in_blocks(data, queries, radius, options), expected);
          check_same(found_in_blocks(data, many, radius, options), expected_of_many);
        });
      }
    }
  }
}

TEST_CASE("A range search of blocks leaves out what the filter does", "[scan][range]") {
  const Rows data("Polar2", 70, Metric::l2, 2500);
  const std::vector<float> queries = normal_numbers(18 * 70, 34);
  const float radius = radius_of_rank(data, queries, 200);
  const auto thirds = [](int64_t row) { return row % 3 == 1; };
  for (const float exactness : {1.0F, kScoreEveryRow}) {
    const RangeFound expected = plain_range_search(data, queries, radius, exactness, thirds);
    REQUIRE(expected.lims.back() > 0);
    for (const int threads : {1, 2})
      check_same(found_in_blocks(data, queries, radius, search_with(exactness, threads), thirds),
                 expected);
  }
}

TEST_CASE("Many tiles and infinite radii change nothing", "[scan][range]") {
  const Rows data("Polar2", 64, Metric::inner_product, 66000);
  const std::vector<float> queries = normal_numbers(3 * 64, 35);
  const float radius = radius_of_rank(data, queries, 2000);
  const RangeFound expected = plain_range_search(data, queries, radius, 2, kEvery);
  for (const int threads : {1, 2, 5})
    check_same(found_in_blocks(data, queries, radius, search_with(2, threads)), expected);
  const SearchRequest all = search_with(kScoreEveryRow, 2);
  CHECK(found_in_blocks(data, queries, -kInfinity, all).lims ==
        std::vector<int64_t>{0, 66000, 132000, 198000});
  CHECK(found_in_blocks(data, queries, kInfinity, all).ids.empty());
}

TEST_CASE("An exhaustive range search finds every row within the radius", "[scan][range]") {
  for (const std::string spec : {"PolarScalar4", "PolarPair4x4", "PolarPair4x4g128", "Polar2"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      Codec codec(parse_spec(spec), 48, metric, CodecOptions{});
      const std::vector<float> x = normal_numbers(1500 * 48, 36);
      codec.train(1500, x.data());
      std::vector<uint8_t> codes(codec.layout().bytes(1500));
      codec.encode(1500, x.data(), codes.data(), 1);
      const std::vector<float> queries = normal_numbers(20 * 48, 37);
      std::vector<float> scores(1500);
      const float radius = metric == Metric::l2 ? 70.0F : 12.0F;
      RangeFound expected{{0}, {}, {}};
      for (int64_t q = 0; q < 20; ++q) {
        codec.score(codec.prepare_query(&queries[static_cast<size_t>(q * 48)]),
                    {codes.data(), 1500}, 0, 1500, scores.data());
        std::vector<std::pair<float, int64_t>> rows;
        for (int64_t i = 0; i < 1500; ++i) {
          const float score = scores[static_cast<size_t>(i)];
          if (metric == Metric::l2 ? score < radius : score > radius)
            rows.push_back({metric == Metric::l2 ? score : -score, i});
        }
        std::sort(rows.begin(), rows.end());
        for (const auto& [key, id] : rows) {
          expected.scores.push_back(metric == Metric::l2 ? key : -key);
          expected.ids.push_back(id);
        }
        expected.lims.push_back(static_cast<int64_t>(expected.ids.size()));
      }
      CAPTURE(spec, static_cast<int>(metric));
      REQUIRE(expected.lims.back() > 20);
      for (const int threads : {1, 3}) {
        RangeFound found;
        exhaustive_search(
            codec, {codes.data(), 1500},
            with_queries(search_with(1, threads), queries, 48, SearchGoal::within(radius), {}),
            &found);
        check_same(found, expected);
      }
    }
  }
}

TEST_CASE("Range searches name arguments they cannot take", "[scan][range]") {
  const Rows data("Polar2", 64, Metric::l2, 10);
  const std::vector<float> queries = normal_numbers(64, 38);
  const auto search = [&](float radius, float exactness) {
    found_in_blocks(data, queries, radius, search_with(exactness, 1));
  };
  require_error(StatusCode::bad_argument, "radius: nan", [&] { search(NAN, 1); });
  require_error(StatusCode::bad_argument, "exactness: -1", [&] { search(1, -1); });
  RangeFound found;
  require_error(StatusCode::bad_argument, "nq: -1", [&] {
    exhaustive_search(*data.rows.codec, data.code_rows(),
                      {.nq = -1, .queries = queries.data(), .goal = SearchGoal::within(1)}, &found);
  });
}

}  // namespace polarquant::test
