// SPDX-License-Identifier: MIT
// The fast search for the nearest centroid against the plain one, and what codecs make of both.
#include <algorithm>
#include <string>
#include <vector>

#include "src/codec/centroids.h"
#include "src/codec/codec.h"
#include "src/core/call_threads.h"
#include "src/scan/search/fast_codec_kernels.h"
#include "tests/codec/few_bytes.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

constexpr int kDims[] = {1, 2, 3, 31, 64, 65, 384};
constexpr int64_t kCounts[] = {1, 2, 15, 16, 17, 300};
constexpr int64_t kRowCounts[] = {0, 1, 17, 100};

std::vector<int32_t> nearest_by(MakeCentroidFinder make, const std::vector<float>& centroids,
                                int dim, const std::vector<float>& x, int threads) {
  const int64_t n = std::ssize(x) / dim;
  // One more, which is not written.
  std::vector<int32_t> nearest(static_cast<size_t>(n) + 1, -7);
  make(std::ssize(centroids) / dim, dim, centroids.data())
      ->find(n, x.data(), threads, nearest.data());
  REQUIRE(nearest.back() == -7);
  nearest.pop_back();
  return nearest;
}

/// Rows close to one of the centroids each, and both far from the origin.
std::vector<float> rows_near(const std::vector<float>& centroids, int dim, int64_t n) {
  Random random(9);
  std::vector<float> rows;
  const auto count = static_cast<uint64_t>(std::ssize(centroids) / dim);
  for (int64_t row = 0; row < n; ++row) {
    const uint64_t from = random.below(count) * static_cast<uint64_t>(dim);
    for (size_t j = 0; j < static_cast<size_t>(dim); ++j)
      rows.push_back(centroids[from + j] + static_cast<float>(.3 * random.normal()));
  }
  return rows;
}

TEST_CASE("the fast search finds the centroids that the plain one does", "[scan][centroids]") {
  on_every_target([] {
    for (const int dim : kDims) {
      for (const int64_t count : kCounts) {
        std::vector<float> centroids = normal_numbers(count * dim, 41);
        for (const bool clustered : {false, true}) {
          if (clustered)
            for (float& number : centroids) number += 5;
          for (const int64_t n : kRowCounts) {
            CAPTURE(dim, count, clustered, n);
            const std::vector<float> x =
                clustered ? rows_near(centroids, dim, n) : normal_numbers(n * dim, 42);
            const auto plain = nearest_by(plain_centroid_finder, centroids, dim, x, 1);
            for (const int threads : {1, 2}) {
              REQUIRE(nearest_by(fast_codec_kernels().make_centroid_finder, centroids, dim, x,
                                 threads) == plain);
            }
          }
        }
      }
    }
  });
}

TEST_CASE("of equal centroids the fast search takes the first, too", "[scan][centroids]") {
  on_every_target([] {
    for (const int dim : {1, 31, 64}) {
      CAPTURE(dim);
      const std::vector<float> rows = normal_numbers(40 * dim, 43);
      std::vector<float> thrice = rows;
      for (int i = 0; i < 2; ++i) thrice.insert(thrice.end(), rows.begin(), rows.end());
      const std::vector<float> x = normal_numbers(200 * dim, 44);
      const MakeCentroidFinder fast = fast_codec_kernels().make_centroid_finder;
      const auto nearest = nearest_by(fast, thrice, dim, x, 1);
      CHECK(nearest == nearest_by(plain_centroid_finder, thrice, dim, x, 1));
      CHECK(nearest == nearest_by(fast, rows, dim, x, 1));
      // All of them equal.
      std::vector<float> same;
      for (int i = 0; i < 70; ++i) same.insert(same.end(), x.begin(), x.begin() + dim);
      CHECK(nearest_by(fast, same, dim, x, 1) == std::vector<int32_t>(200, 0));
    }
  });
}

TEST_CASE("rows that are centroids are found among many that are near", "[scan][centroids]") {
  constexpr int kDim = 64;
  constexpr int64_t kCount = 500;
  // A hundredth of their length apart.
  std::vector<float> centroids = normal_numbers(kCount * kDim, 45);
  for (size_t i = 0; i < centroids.size(); ++i) centroids[i] = 10 + .1F * centroids[i];
  std::vector<int32_t> numbers;
  for (int32_t i = 0; i < kCount; ++i) numbers.push_back(i);
  CHECK(nearest_by(fast_codec_kernels().make_centroid_finder, centroids, kDim, centroids, 2) ==
        numbers);
}

TEST_CASE("training and codes about centroids do not depend on kernels and threads",
          "[scan][centroids]") {
  const std::vector<float> rows = lumpy_rows(1000, 1);
  const std::vector<float> others = lumpy_rows(300, 3);
  for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
    for (const char* spec : {"PolarB10", "PolarB10-km32", "PolarB8-km100"}) {
      CAPTURE(static_cast<int>(metric), spec);
      const auto plain = few_bytes_codec(spec, metric);
      const std::vector<uint8_t> codes = codes_of(*plain, others);
      for (const int threads : {1, 2, 3}) {
        const CallThreads as_many(threads);
        for (const bool fast : {false, true}) {
          CAPTURE(threads, fast);
          Codec codec(parse_spec(spec), kFewDim, metric, {});
          if (fast) codec.use_kernels(fast_codec_kernels());
          codec.train(1000, rows.data());
          REQUIRE(codec.save_state() == plain->save_state());
          REQUIRE(codes_of(codec, others, 0) == codes);
        }
      }
    }
  }
}

TEST_CASE("scores about centroids are the same to the bit with fast kernels", "[scan][centroids]") {
  const std::vector<float> x = lumpy_rows(100, 3);
  for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
    CAPTURE(static_cast<int>(metric));
    const auto plain = few_bytes_codec("PolarB10-km32", metric);
    const auto fast = few_bytes_codec("PolarB10-km32", metric);
    fast->use_kernels(fast_codec_kernels());
    const std::vector<uint8_t> codes = codes_of(*plain, x);
    const CodeRows rows{codes.data(), 100};
    std::vector<float> a(100);
    std::vector<float> b(100);
    for (int64_t row = 0; row < 10; ++row) {
      plain->score(plain->prepare_query(&x[static_cast<size_t>(row * kFewDim)]), rows, 0, 100,
                   a.data());
      fast->score(fast->prepare_query(&x[static_cast<size_t>(row * kFewDim)]), rows, 0, 100,
                  b.data());
      REQUIRE(a == b);
      REQUIRE(plain->score_codes(rows, row, rows, 50) == fast->score_codes(rows, row, rows, 50));
      REQUIRE(decoded_row(*plain, codes, row, Reconstruction::unbiased) ==
              decoded_row(*fast, codes, row, Reconstruction::unbiased));
    }
  }
}

}  // namespace
}  // namespace polarquant::test
