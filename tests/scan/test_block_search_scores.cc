// SPDX-License-Identifier: MIT
// What callers of block_search rely on beside its rows: values that are near the codec's scores,
// results that are never left unwritten, arguments that are refused, and progress.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "src/codec/dot.h"
#include "src/core/parallel.h"
#include "tests/scan/plain_search.h"
#include "tests/support/learn_once.h"

namespace polarquant::test {
namespace {

double norm(const float* x, int dim) { return std::sqrt(dot_exact(x, x, dim)); }

ScanRows encoded(const std::string& spec, int dim, Metric metric, const std::vector<float>& x,
                 std::vector<uint8_t>* codes) {
  ScanRows rows(spec, dim, metric);
  const int64_t n = static_cast<int64_t>(x.size()) / dim;
  learn_once(*rows.codec, n, x.data());
  rows.scan = ScanCodec(*rows.codec);
  rows.blocks = CodeBlocks(BlockLayout(*rows.codec));
  codes->resize(rows.codec->layout().bytes(n));
  rows.codec->encode(n, x.data(), codes->data(), 1);
  rows.blocks.append(n, codes->data());
  return rows;
}

}  // namespace

TEST_CASE("scores by values are near the codec's", "[scan][search]") {
  // Values round coordinates of query and row to steps of at most 1/127 of the largest: about 3 to
  // 4 standard deviations, so by .009 standard deviations each, and errors of all coordinates add
  // up like √dim. Relative to ‖q‖‖x‖ that is .013/√dim, and 5 of these are never seen.
  for (const std::string spec :
       {"Polar1", "Polar2", "Polar4", "Polar2+2", "Polar5", "Polar8", "Polar4+2"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
      for (const int dim : {64, 100, 384}) {
        const int64_t n = 200;
        const std::vector<float> x = normal_numbers(n * dim, 1);
        std::vector<uint8_t> codes;
        const ScanRows rows = encoded(spec, dim, metric, x, &codes);
        const std::vector<float> queries = normal_numbers(10 * dim, 2);
        double worst = 0;
        for (int q = 0; q < 10; ++q) {
          const float* vector = queries.data() + q * dim;
          const PreparedQuery prepared = rows.codec->prepare_query(vector);
          const ScanQuery query = make_scan_query(rows.scan, prepared, 0);
          std::vector<float> scores(static_cast<size_t>(n));
          rows.codec->score(prepared, {codes.data(), n}, 0, n, scores.data());
          const ScanTile tile = tile_of(rows);
          for (const uint32_t row : rows_of(tile)) {
            const float found = score_row(rows.scan, query, false, place_of(tile, row)).score;
            double size = norm(vector, dim) * norm(x.data() + row * static_cast<size_t>(dim), dim);
            if (metric == Metric::l2) size *= 2;
            if (metric == Metric::cosine) size = 1;
            const float expected = metric == Metric::l2 ? -scores[row] : scores[row];
            worst = std::max(worst, std::fabs(found - expected) / size);
          }
        }
        CAPTURE(spec, static_cast<int>(metric), dim, worst * std::sqrt(dim));
        CHECK(worst <= .065 / std::sqrt(dim));
      }
    }
  }
}

TEST_CASE("block_search writes every result", "[scan][search]") {
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    const ScanRows rows = made_up_rows("Polar2", 64, metric, 3);
    const float worst = (metric == Metric::l2 ? 1 : -1) * std::numeric_limits<float>::infinity();
    const std::vector<float> queries = normal_numbers(20 * 64, 1);
    for (const float exactness : {0.0F, 2.0F, kScoreEveryRow}) {
      const Found found = search_blocks(rows, queries, 5, search_with(exactness, 2));
      for (size_t i = 0; i < found.ids.size(); ++i) {
        CHECK((found.ids[i] == -1) == (i % 5 >= 3));
        CHECK((found.scores[i] == worst) == (i % 5 >= 3));
      }
      const ScanRows empty("Polar2", 64, metric);
      const Found nothing = search_blocks(empty, queries, 5, search_with(exactness, 2));
      CHECK(nothing.ids == std::vector<int64_t>(100, -1));
      CHECK(nothing.scores == std::vector<float>(100, worst));
    }
  }
}

TEST_CASE("block_search names arguments it cannot take", "[scan][search]") {
  const ScanRows rows = made_up_rows("Polar2", 64, Metric::l2, 10);
  const std::vector<BlockRows> spans = rows.blocks.spans();
  std::vector<float> query(64, 1.0F);
  float scores[4];
  int64_t ids[4];
  const auto search = [&](int64_t nq, int64_t k, float exactness) {
    SearchRequest request =
        with_queries(search_with(exactness, 1), query, 64, SearchGoal::best(k), {});
    request.nq = nq;
    block_search(*rows.codec, rows.scan, spans, request, {scores, ids});
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  require_error(StatusCode::bad_argument, "k: 0", [&] { search(1, 0, 1); });
  require_error(StatusCode::bad_argument, "k: -3", [&] { search(1, -3, 1); });
  require_error(StatusCode::bad_argument, "nq: -1", [&] { search(-1, 1, 1); });
  require_error(StatusCode::bad_argument, "exactness: -1", [&] { search(1, 1, -1); });
  require_error(StatusCode::bad_argument, "exactness: -inf",
                [&] { search(1, 1, -kScoreEveryRow); });
  require_error(StatusCode::bad_argument, "exactness: nan", [&] { search(1, 1, nan); });
  require_error(StatusCode::bad_argument, "nq x k",
                [&] { search(int64_t{1} << 40, int64_t{1} << 40, 1); });
  query[7] = nan;
  CHECK_THROWS_AS(search(1, 1, 1), Error);
  search(0, 1, 1);  // no queries: nothing is read or written
}

TEST_CASE("searches by values find what the codec's scores rank best", "[scan][search]") {
  // Variances that fall from segment to segment leave the least code error beside the rounding.
  // Codes for which no more than k rows are kept lose 0 to 6 of 400 rows, the others 0 or 1.
  constexpr int kDim = 384;
  constexpr int64_t kRows = 5000;
  constexpr int64_t kQueries = 40;
  constexpr int64_t k = 10;
  const std::vector<float> x = falling_rows(kRows + kQueries, kDim, 5);
  const std::vector<float> queries(x.begin() + kRows * kDim, x.end());
  for (const std::string spec :
       {"Polar1-pca", "Polar2-pca", "Polar3-pca", "Polar4-pca", "Polar5-pca", "Polar4+2-pca",
        "Polar4", "Polar4+2", "Polar4+4", "Polar8"}) {
    const auto codec = make_codec(spec, kDim, Metric::inner_product);
    learn_once(*codec, kRows, x.data());
    const ScanCodec scan(*codec);
    std::vector<uint8_t> codes(codec->layout().bytes(kRows));
    codec->encode(kRows, x.data(), codes.data(), 1);
    CodeBlocks blocks{BlockLayout(*codec)};
    blocks.append(kRows, codes.data());
    const Found found =
        search_blocks(*codec, scan, blocks.spans(), queries, k, {}, search_with(kScoreEveryRow, 1));
    int64_t same = 0;
    for (int64_t q = 0; q < kQueries; ++q) {
      std::vector<float> scores(kRows);
      codec->score(codec->prepare_query(&queries[static_cast<size_t>(q * kDim)]),
                   {codes.data(), kRows}, 0, kRows, scores.data());
      std::nth_element(scores.begin(), scores.begin() + (k - 1), scores.end(), std::greater<>());
      for (int64_t i = 0; i < k; ++i)
        same += found.scores[static_cast<size_t>(q * k + i)] >= scores[k - 1] ? 1 : 0;
    }
    CAPTURE(spec, codec->mse());
    CHECK(same >= kQueries * k * 98 / 100);
  }
}

TEST_CASE("block_search tells its progress and stops when told", "[scan][search]") {
  const ScanRows rows = made_up_rows("Polar2", 64, Metric::l2, 5000);
  const std::vector<float> queries = normal_numbers(50 * 64, 1);
  for (const int threads : {1, 2}) {
    for (const float exactness : {1.0F, kScoreEveryRow}) {
      SearchRequest options = search_with(exactness, threads);
      double last = 0;
      int falls = 0;
      options.progress = [&](double done) {
        falls += done < last || done > 1 ? 1 : 0;
        last = done;
        return true;
      };
      const Found found = search_blocks(rows, queries, 5, options);
      CHECK(found == search_blocks(rows, queries, 5, search_with(exactness, threads)));
      CHECK(falls == 0);
      CHECK(last > .999);
      int stops = 0;
      options.progress = [&](double done) {
        stops += done < .3 ? 0 : 1;
        return done < .3;
      };
      require_error(StatusCode::cancelled, "progress",
                    [&] { search_blocks(rows, queries, 5, options); });
      CHECK(stops == 1);
    }
  }
}

}  // namespace polarquant::test
