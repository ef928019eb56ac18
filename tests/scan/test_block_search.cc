// SPDX-License-Identifier: MIT
// block_search against sorting every row in plain code: same ids, and the codec's scores to the
// bit.
#include "src/scan/search/block_search.h"

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/scan/every_target.h"
#include "tests/scan/plain_search.h"
#include "tests/scan/without_amx.h"
#include "tests/support/learn_once.h"

namespace polarquant::test {
namespace {

constexpr float kAll = kScoreEveryRow;

/// Encodes x, (n, dim), as the rows of a codec that has none yet.
void put_rows(const std::vector<float>& x, ScanRows* rows) {
  const int64_t n = static_cast<int64_t>(x.size()) / rows->codec->dim();
  learn_once(*rows->codec, n, x.data());
  rows->scan = ScanCodec(*rows->codec);
  rows->blocks = CodeBlocks(BlockLayout(*rows->codec));
  std::vector<uint8_t> codes(rows->codec->layout().bytes(n));
  rows->codec->encode(n, x.data(), codes.data(), 1);
  rows->blocks.append(n, codes.data());
}

/// Encoded normal rows around a centre, some of them twice, some equal to the centre.
ScanRows encoded_rows(const std::string& spec, int dim, Metric metric, int64_t n) {
  ScanRows rows(spec, dim, metric);
  std::vector<float> x = normal_numbers(n * dim, 21);
  std::vector<float> centre(x.begin(), x.begin() + dim);
  for (float& value : centre) value *= .25F;
  CodecOptions options;
  const Spec parsed = scanned_spec(spec);
  if (parsed.centroids == 0) options.centre = centre;
  rows.codec = std::make_unique<Codec>(parsed, dim, metric, options);
  rows.codec->use_kernels(fast_codec_kernels());
  train_if_needed(rows.codec.get());
  const auto row = [&](int64_t i) { return x.begin() + i * dim; };
  for (int64_t i = 0; i + 1 < n; i += 9) std::copy(row(i), row(i) + dim, row(n - 1 - i));
  for (int64_t i = 5; i < n; i += 67) std::copy(centre.begin(), centre.end(), row(i));
  put_rows(x, &rows);
  return rows;
}

/// Normal queries; the third is 0, the fourth tiny.
std::vector<float> test_queries(int64_t nq, int dim) {
  std::vector<float> queries = normal_numbers(nq * dim, 22);
  for (int64_t q = 2; q < std::min<int64_t>(nq, 4); ++q) {
    for (int j = 0; j < dim; ++j) queries[static_cast<size_t>(q * dim + j)] *= q == 2 ? 0 : 1e-20F;
  }
  return queries;
}

}  // namespace

TEST_CASE("block_search finds the plain search's rows and scores", "[scan][search]") {
  for (const std::string spec :
       {"Polar1", "Polar2", "Polar2.5", "Polar4", "Polar5", "Polar8", "Polar1-pca", "Polar4-pca",
        "Polar5-pca", "Polar8", "Polar4+2-pca", "Polar1+1", "Polar2+2", "Polar4+2", "PolarB4",
        "PolarB16", "PolarB16-km9", "PolarB16-km9 of format 5"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
      const int dim = metric == Metric::l2 ? 100 : 65;
      const ScanRows rows = encoded_rows(spec, dim, metric, 170);
      const std::vector<float> queries = test_queries(20, dim);
      for (const float exactness : {0.0F, 1.0F, 2.0F, kAll}) {
        const PlainScores plain(rows, queries, exactness);
        for (const int64_t k : {1, 10, 300}) {
          const Found expected = plain.best(k);
          for (const int64_t nq : {int64_t{1}, int64_t{7}, int64_t{20}, kManyQueries}) {
            for (const int threads : {1, 2}) {
              CAPTURE(spec, static_cast<int>(metric), exactness, k, nq, threads);
              REQUIRE(search_blocks(rows, first_queries(queries, nq, dim), k,
                                    search_with(exactness, threads)) == expected.repeated(nq, k));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("block_search finds the same on every target", "[scan][search][kernels]") {
  for (const std::string spec : {"Polar1.5", "Polar2", "Polar5", "Polar8", "Polar2+2", "Polar4+4",
                                 "PolarB16", "PolarB12-km7", "PolarB12-km7 of format 5"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const int dim = spec == "Polar2" ? 129 : 96;
      const ScanRows rows = encoded_rows(spec, dim, metric, 300);
      const std::vector<float> queries = test_queries(20, dim);
      for (const float exactness : {.5F, kAll}) {
        const Found expected = PlainScores(rows, queries, exactness).best(12);
        on_every_target([&] {
          CAPTURE(spec, static_cast<int>(metric), exactness);
          REQUIRE(search_blocks(rows, queries, 12, search_with(exactness, 2)) == expected);
          const WithoutAmx without;
          REQUIRE(search_blocks(rows, queries, 12, search_with(exactness, 1)) == expected);
          REQUIRE(search_blocks(rows, first_queries(queries, kManyQueries, dim), 12,
                                search_with(exactness, 2)) == expected.repeated(kManyQueries, 12));
          REQUIRE(search_blocks(rows, first_queries(queries, 9, dim), 12,
                                search_with(exactness, 1)) == expected.repeated(9, 12));
        });
      }
    }
  }
}

TEST_CASE("many tiles change nothing, nor do threads and batches", "[scan][search]") {
  for (const std::string spec :
       {"Polar2", "Polar8", "Polar4+2", "Polar3-pca", "PolarB8", "PolarB9-km20"}) {
    const int dim = 64;
    const int64_t n = kTileRows + 5333;
    const ScanRows rows = made_up_rows(spec, dim, Metric::inner_product, n);
    const std::vector<float> queries = test_queries(70, dim);
    for (const float exactness : {1.5F, kAll}) {
      const Found expected = PlainScores(rows, first_queries(queries, 6, dim), exactness).best(20);
      const Found all = search_blocks(rows, queries, 20, search_with(exactness, 1));
      CAPTURE(spec, exactness);
      REQUIRE(all.repeated(6, 20) == expected);
      for (const int threads : {0, 2, 3, 7}) {
        for (const int64_t nq : {int64_t{1}, int64_t{6}, int64_t{15}, int64_t{16}, int64_t{17},
                                 int64_t{33}, int64_t{70}, kManyQueries}) {
          CAPTURE(threads, nq);
          REQUIRE(search_blocks(rows, first_queries(queries, nq, dim), 20,
                                search_with(exactness, threads)) == all.repeated(nq, 20));
        }
      }
    }
  }
}

TEST_CASE("rows of lengths far apart are found as plain code finds them",
          "[scan][search][kernels]") {
  constexpr int dim = 130;
  constexpr int64_t n = 700;
  std::vector<float> x = normal_numbers(n * dim, 31);
  // Most of the usual length, some up to 30 decades shorter or 16 longer; a query among the
  // longest.
  const double lengths[] = {1, 1, 1, 1, 1, 1, 1, 1e-30, 1e-12, 1, 1e-6, 1e-3, 1, 1e4, 1e9, 1e16};
  for (int64_t row = 0; row < n; ++row) {
    const double length = lengths[static_cast<size_t>(row) % std::size(lengths)];
    for (int j = 0; j < dim; ++j) {
      float& value = x[static_cast<size_t>(row * dim + j)];
      value = static_cast<float>(value * length);
    }
  }
  std::vector<float> queries = test_queries(20, dim);
  for (int j = 0; j < dim; ++j) queries[static_cast<size_t>(5 * dim + j)] *= 1e16F;
  for (const std::string spec : {"Polar1", "Polar2", "Polar4", "Polar5", "Polar8", "Polar2+2"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
      ScanRows rows(spec, dim, metric);
      put_rows(x, &rows);
      for (const float exactness : {1.5F, std::numeric_limits<float>::infinity()}) {
        const Found expected = PlainScores(rows, queries, exactness).best(10);
        on_every_target([&] {
          CAPTURE(spec, static_cast<int>(metric), exactness);
          const Found found = search_blocks(rows, queries, 10, search_with(exactness, 2));
          REQUIRE(found == expected);
          for (const float score : found.scores) REQUIRE(std::isfinite(score));
        });
      }
    }
  }
}

TEST_CASE("rows that say too much of the others change nothing", "[scan][search]") {
  // Of some queries the rows that a shared search looks at first, those of 64 blocks at even
  // distances, are all that is near: the tenth there is much nearer than the tenth of others.
  constexpr int dim = 96;
  constexpr int64_t blocks = 200;
  const std::vector<float> queries = normal_numbers(20 * dim, 22);
  for (const bool together : {false, true}) {
    std::vector<float> x = normal_numbers(blocks * kBlockRows * dim, 21);
    for (int64_t query = 0; query < 10; ++query) {
      for (int64_t i = 0; i < 10; ++i) {
        // One a block, or all in one.
        const int64_t row = together ? query * (blocks / 64) * kBlockRows + i
                                     : i * blocks / 64 * kBlockRows + query;
        for (int64_t j = 0; j < dim; ++j)
          x[static_cast<size_t>(row * dim + j)] +=
              3 * queries[static_cast<size_t>(query * dim + j)];
      }
    }
    for (const std::string spec : {"Polar2", "Polar4+2"}) {
      ScanRows rows(spec, dim, Metric::inner_product);
      put_rows(x, &rows);
      const Found expected = PlainScores(rows, queries, 2).best(10);
      const WithoutAmx without;
      for (const int threads : {1, 2}) {
        CAPTURE(together, spec, threads);
        REQUIRE(search_blocks(rows, first_queries(queries, kManyQueries, dim), 10,
                              search_with(2, threads)) == expected.repeated(kManyQueries, 10));
      }
    }
  }
}

TEST_CASE("a search of few dimensions scores every row", "[scan][search]") {
  for (const std::string spec : {"Polar0.5", "Polar2", "Polar8", "Polar4+2", "Polar2-pca"}) {
    for (const int dim : {1, 2, 3, 63}) {
      const ScanRows rows = encoded_rows(spec, dim, Metric::l2, 150);
      const std::vector<float> queries = test_queries(18, dim);
      const Found expected = PlainScores(rows, queries, 0).best(15);
      CAPTURE(spec, dim);
      REQUIRE(expected == PlainScores(rows, queries, kAll).best(15));
      on_every_target(
          [&] { REQUIRE(search_blocks(rows, queries, 15, search_with(0, 1)) == expected); });
    }
  }
}

TEST_CASE("rows of several spans are one search", "[scan][search]") {
  // As the lists of an inverted file: each with a last block of its own.
  const int dim = 96;
  const Metric metric = Metric::inner_product;
  std::vector<ScanRows> lists;
  std::vector<BlockRows> spans;
  int64_t first_row = 0;
  for (const int64_t n : {1, 64, 100, 0, 700, 3}) {
    lists.push_back(made_up_rows("Polar2", dim, metric, n, static_cast<uint64_t>(n)));
    for (BlockRows span : lists.back().blocks.spans()) {
      span.first_row += first_row;
      spans.push_back(span);
    }
    first_row += n + 10;
  }
  const std::vector<float> queries = test_queries(20, dim);
  for (const float exactness : {0.0F, 1.0F, kAll}) {
    const Found expected =
        PlainScores(*lists[0].codec, lists[0].scan, spans, queries, exactness).best(25);
    for (const int threads : {1, 2}) {
      REQUIRE(search_blocks(*lists[0].codec, lists[0].scan, spans, queries, 25, {},
                            search_with(exactness, threads)) == expected);
    }
  }
}

TEST_CASE("rows in the row format are found like rows in blocks", "[scan][search]") {
  const int dim = 100;
  for (const std::string spec : {"Polar1.5", "Polar2", "Polar4+4"}) {
    for (const int64_t n : {0, 1, 63, 64, 65, 1100}) {
      ScanRows rows(spec, dim, Metric::l2);
      const std::vector<uint8_t> codes = made_up_codes(*rows.codec, n, 6);
      rows.blocks.append(n, codes.data());
      const std::vector<float> queries = test_queries(kManyQueries, dim);
      for (const float exactness : {1.0F, kAll}) {
        for (const int threads : {1, 2}) {
          CAPTURE(spec, n, exactness, threads);
          for (const RowFilter& filter :
               {RowFilter(), RowFilter([](int64_t row) { return row % 5 != 1; })}) {
            const SearchRequest options = search_with(exactness, threads);
            const Found expected = search_blocks(rows, queries, 10, options, filter);
            for (const int64_t nq : {int64_t{20}, kManyQueries}) {
              Found found = empty_results(nq, 10);
              SearchRequest request =
                  with_queries(options, queries, dim, SearchGoal::best(10), filter);
              request.nq = nq;
              block_search(*rows.codec, rows.scan, CodeRows{codes.data(), n}, request,
                           found.result());
              REQUIRE(found == expected.repeated(nq, 10));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("rows of several chunks are one search", "[scan][search]") {
  const ScanRows rows = made_up_rows("Polar2", 2, Metric::l2, 2 * 65536 + 70);
  REQUIRE(rows.blocks.spans().size() == 3);
  const std::vector<float> queries = normal_numbers(3 * 2, 5);
  const Found expected = PlainScores(rows, queries, kAll).best(50);
  for (const int threads : {1, 2}) {
    CHECK(search_blocks(rows, queries, 50, search_with(kDefaultExactness, threads)) == expected);
  }
}

TEST_CASE("block_search leaves out what the filter does", "[scan][search]") {
  const int dim = 70;
  const ScanRows rows = made_up_rows("Polar2", dim, Metric::l2, 2500);
  const std::vector<float> queries = test_queries(20, dim);
  const auto thirds = [](int64_t row) { return row % 3 == 1; };
  const auto none = [](int64_t) { return false; };
  const auto last = [](int64_t row) { return row == 2499; };
  const auto some_blocks = [](int64_t row) { return row / 64 % 5 == 2 && row % 7 != 0; };
  const auto check = [&](const auto& keep) {
    for (const float exactness : {1.0F, kAll}) {
      const Found expected = PlainScores(rows, queries, exactness).best(30, keep);
      for (const int threads : {1, 2}) {
        for (const int64_t nq : {int64_t{1}, int64_t{20}, kManyQueries}) {
          CAPTURE(exactness, threads, nq);
          REQUIRE(search_blocks(rows, first_queries(queries, nq, dim), 30,
                                search_with(exactness, threads),
                                RowFilter(keep)) == expected.repeated(nq, 30));
        }
      }
    }
  };
  check(thirds);
  check(none);
  check(last);
  check(some_blocks);
  const RowFilter throwing = [](int64_t row) -> bool {
    if (row == 1700) throw std::runtime_error("row 1700");
    return true;
  };
  for (const int threads : {1, 2}) {
    const SearchRequest options = search_with(1, threads);
    CHECK_THROWS_AS(search_blocks(rows, queries, 1, options, throwing), std::runtime_error);
  }
}

TEST_CASE("any finite exactness is one", "[scan][search]") {
  // Bounds of 1e30 and more, where sums of them may be infinite.
  const int dim = 100;
  for (const std::string spec : {"Polar2", "Polar5", "Polar8", "Polar4+2", "Polar4-pca"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const ScanRows rows = encoded_rows(spec, dim, metric, 300);
      const std::vector<float> queries = test_queries(20, dim);
      for (const float exactness : {1e-30F, 50.0F, 1e6F, 1e30F, 3e38F}) {
        const Found expected = PlainScores(rows, queries, exactness).best(20);
        for (const int64_t nq : {int64_t{1}, int64_t{5}, int64_t{20}, kManyQueries}) {
          CAPTURE(spec, static_cast<int>(metric), exactness, nq);
          CHECK(search_blocks(rows, first_queries(queries, nq, dim), 20,
                              search_with(exactness, 1)) == expected.repeated(nq, 20));
        }
      }
    }
  }
}

TEST_CASE("queries of any length find rows", "[scan][search]") {
  // Up to the longest that a codec takes, 2^63.
  const int dim = 100;
  for (const std::string spec : {"Polar2", "Polar5", "Polar8", "Polar4+2", "Polar1"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
      const ScanRows rows = encoded_rows(spec, dim, metric, 300);
      for (const float size : {1e-30F, 1e-10F, 1e10F, 5e17F}) {
        std::vector<float> queries = normal_numbers(20 * dim, 22);
        for (float& value : queries) value *= size;
        for (const float exactness : {1.0F, kAll}) {
          const Found expected = PlainScores(rows, queries, exactness).best(10);
          for (const int64_t nq : {int64_t{1}, int64_t{20}, kManyQueries}) {
            CAPTURE(spec, static_cast<int>(metric), size, exactness, nq);
            CHECK(search_blocks(rows, first_queries(queries, nq, dim), 10,
                                search_with(exactness, 1)) == expected.repeated(nq, 10));
          }
        }
      }
    }
  }
}

TEST_CASE("of equal rows the lower ids are found", "[scan][search]") {
  const int dim = 64;
  ScanRows rows("Polar2", dim, Metric::cosine);
  const std::vector<uint8_t> codes = made_up_codes(*rows.codec, 40, 2);
  for (int i = 0; i < 30; ++i) rows.blocks.append(40, codes.data());  // row r equals row r % 40
  const std::vector<float> queries = normal_numbers(17 * dim, 3);
  for (const float exactness : {1.0F, kAll}) {
    for (const int64_t nq : {int64_t{1}, int64_t{17}, kManyQueries}) {
      for (const int threads : {1, 2}) {
        const Found found = search_blocks(rows, first_queries(queries, nq, dim), 5,
                                          search_with(exactness, threads));
        for (size_t i = 0; i < found.ids.size(); ++i) {
          REQUIRE(found.ids[i] == found.ids[i / 5 * 5] + static_cast<int64_t>(i % 5) * 40);
        }
      }
    }
  }
}

}  // namespace polarquant::test
