// SPDX-License-Identifier: MIT
// What searches choose rows of few bytes by, against the codec's own scores: these codes may end in
// the middle of a segment.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "src/codec/planned_quantizer.h"
#include "src/scan/model/row_values.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/row_store.h"
#include "tests/scan/plain_search.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

constexpr int64_t kRows = 600;
constexpr int64_t kQueries = 20;
constexpr int64_t kK = 10;
constexpr Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};
/// The last one is not of few bytes: what these tests ask for holds for other codes.
const char* const kSpecs[] = {"PolarB3", "PolarB4",  "PolarB5",  "PolarB6",
                              "PolarB9", "PolarB14", "PolarB16", "Polar1-pca"};

/// Encoded rows and queries whose variance falls slowly.
struct SlowRows {
  ScanRows scan;
  std::vector<uint8_t> codes;
  std::vector<float> queries;

  SlowRows(const std::string& spec, int dim, Metric metric)
      : scan(spec, dim, metric, Spectrum::slow),
        codes(scan.codec->layout().bytes(kRows)),
        queries(falling_rows(kQueries, dim, 5, Spectrum::slow)) {
    const std::vector<float> x = falling_rows(kRows, dim, 4, Spectrum::slow);
    scan.codec->encode(kRows, x.data(), codes.data(), 1);
    scan.blocks.append(kRows, codes.data());
  }
  const float* query(int64_t q) const {
    return &queries[static_cast<size_t>(q * scan.codec->dim())];
  }
  /// Larger ones are nearer.
  std::vector<double> scores(int64_t q) const {
    std::vector<float> scores(kRows);
    const Codec& codec = *scan.codec;
    codec.score(codec.prepare_query(query(q)), {codes.data(), kRows}, 0, kRows, scores.data());
    std::vector<double> nearness(scores.begin(), scores.end());
    if (!codec.higher_is_nearer())
      for (double& score : nearness) score = -score;
    return nearness;
  }
  /// The share of the k best by the codec's scores that these ids, k for each query, have.
  double recall(const std::vector<int64_t>& ids) const {
    int64_t found = 0;
    for (int64_t q = 0; q < kQueries; ++q) {
      const std::vector<double> exact = scores(q);
      std::vector<int64_t> order(kRows);
      std::iota(order.begin(), order.end(), int64_t{0});
      std::partial_sort(order.begin(), order.begin() + kK, order.end(), [&](int64_t a, int64_t b) {
        return exact[static_cast<size_t>(a)] > exact[static_cast<size_t>(b)];
      });
      for (int64_t i = 0; i < kK; ++i)
        found += std::count(ids.begin() + q * kK, ids.begin() + (q + 1) * kK,
                            order[static_cast<size_t>(i)]);
    }
    return static_cast<double>(found) / (kQueries * kK);
  }
};

TEST_CASE("scores by rounded values are near those of codes of few bytes", "[scan][few-bytes]") {
  for (const std::string spec : kSpecs) {
    for (const int dim : {65, 100, 192}) {
      for (const Metric metric : kMetrics) {
        CAPTURE(spec, dim, static_cast<int>(metric));
        const SlowRows rows(spec, dim, metric);
        CAPTURE(rows.scan.codec->planned()->coded_dims());
        for (const Codec::Coordinates wanted :
             {Codec::Coordinates::coded, Codec::Coordinates::all}) {
          double error = 0;
          double spread = 0;
          for (int64_t q = 0; q < kQueries; ++q) {
            const std::vector<double> exact = rows.scores(q);
            const double mean = std::accumulate(exact.begin(), exact.end(), 0.0) / kRows;
            const ScanQuery query = make_scan_query(
                rows.scan.scan, rows.scan.codec->prepare_queries(1, rows.query(q), wanted)[0], 0);
            for (const BlockRows& span : rows.scan.blocks.spans()) {
              for (int64_t row = 0; row < span.rows; ++row) {
                const RowPlace at = span.place(rows.scan.scan.layout(), row);
                const double score = score_row(rows.scan.scan, query, false, at).score;
                const double own = exact[static_cast<size_t>(span.first_row + row)];
                error += std::pow(score - own, 2);
                spread += std::pow(own - mean, 2);
              }
            }
          }
          CHECK(error < .001 * spread);
        }
      }
    }
  }
}

TEST_CASE("searches of few bytes find the rows of the best scores", "[scan][few-bytes][search]") {
  for (const std::string spec : kSpecs) {
    for (const int dim : {65, 100, 192}) {
      for (const Metric metric : kMetrics) {
        const SlowRows rows(spec, dim, metric);
        CAPTURE(spec, dim, static_cast<int>(metric), rows.scan.codec->planned()->coded_dims());
        const Found found =
            search_blocks(rows.scan, rows.queries, kK, search_with(kScoreEveryRow, 2));
        CHECK(rows.recall(found.ids) > .95);
      }
    }
  }
}

// A graph's rows are scored by queries of all coordinates.
TEST_CASE("a scorer of single rows of few bytes orders them as the codec does",
          "[scan][few-bytes]") {
  for (const std::string spec : kSpecs) {
    for (const Metric metric : kMetrics) {
      const SlowRows rows(spec, 100, metric);
      const Codec& codec = *rows.scan.codec;
      CAPTURE(spec, static_cast<int>(metric), codec.planned()->coded_dims());
      const auto store = RowStore::make(codec, RowOrder::single);
      store->append_codes(codec, kRows, rows.codes.data());
      const auto scorer = store->make_scorer(codec);
      std::vector<int32_t> all(kRows);
      std::iota(all.begin(), all.end(), 0);
      std::vector<int64_t> ids;
      for (int64_t q = 0; q < kQueries; ++q) {
        scorer->set_query(rows.query(q), 0);
        scorer->fetch(all.data(), kRows);
        std::vector<float> scores(kRows);
        scorer->score(all.data(), kRows, scores.data());
        std::vector<int64_t> order(all.begin(), all.end());
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          return key_of_score(scores[static_cast<size_t>(a)], codec.higher_is_nearer()) <
                 key_of_score(scores[static_cast<size_t>(b)], codec.higher_is_nearer());
        });
        ids.insert(ids.end(), order.begin(), order.begin() + kK);
      }
      CHECK(rows.recall(ids) > .95);
    }
  }
}

TEST_CASE("pairs of single rows of few bytes are scored as the codec does", "[scan][few-bytes]") {
  for (const std::string spec : kSpecs) {
    for (const int dim : {100, 192}) {
      for (const Metric metric : kMetrics) {
        const SlowRows rows(spec, dim, metric);
        const Codec& codec = *rows.scan.codec;
        CAPTURE(spec, dim, static_cast<int>(metric), codec.planned()->coded_dims());
        const auto store = RowStore::make(codec, RowOrder::single);
        store->append_codes(codec, kRows, rows.codes.data());
        const auto scorer = store->make_scorer(codec);
        double error = 0;
        double sum = 0;
        double squares = 0;
        constexpr int kSome = 60;
        std::vector<int32_t> others(kSome);
        std::iota(others.begin(), others.end(), 0);
        std::vector<float> scores(kSome);
        for (int64_t a = 0; a < kSome; ++a) {
          scorer->score_rows(a, others.data(), kSome, scores.data());
          for (int64_t b = 0; b < kSome; ++b) {
            if (a == b) continue;
            const double own =
                codec.score_codes({rows.codes.data(), kRows}, a, {rows.codes.data(), kRows}, b);
            error += std::pow(scores[static_cast<size_t>(b)] - own, 2);
            sum += own;
            squares += own * own;
          }
        }
        CHECK(error < .001 * (squares - sum * sum / (kSome * (kSome - 1))));
      }
    }
  }
}

}  // namespace
}  // namespace polarquant::test
