// SPDX-License-Identifier: MIT
// Trained codes on a device: segments of different rates and scales, one stage and two, give the
// CPU's rows and scores, to the bit.
#include <algorithm>

#include "tests/cuda/cuda_support.h"

namespace polarquant::test {
namespace {

/// The first rows with some noise.
std::vector<float> queries_near(const std::vector<float>& x, int dim, int64_t count,
                                uint64_t seed) {
  Random random(seed);
  std::vector<float> queries(x.begin(), x.begin() + count * dim);
  for (float& value : queries) value *= 1 + .2F * static_cast<float>(random.normal());
  return queries;
}

std::vector<float> first_of(const std::vector<float>& queries, int dim, int64_t count) {
  return {queries.begin(), queries.begin() + count * dim};
}

TEST_CASE("trained codes of every size and metric", "[cuda]") {
  const std::string spec =
      GENERATE("Polar0.5-pca", "Polar1-pca", "Polar1.5-pca", "Polar2-pca", "Polar2.5-pca",
               "Polar3-pca", "Polar4-pca", "Polar5-pca", "Polar2+2-pca", "Polar4+2-pca");
  const int dim = GENERATE(64, 128, 384);
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  const double decay = GENERATE(.4, 1.2);
  CAPTURE(spec, dim, metric, decay);
  const std::vector<float> x = falling_rows(2000, dim, decay, 3);
  const CodedRows rows(spec, dim, metric, x);
  const std::vector<float> queries = queries_near(x, dim, 150, 4);
  for (const float exactness : {2.25F, kEveryRow}) {
    for (const int64_t nq : {1, 2, 3, 4, 40, 150})
      rows.compare(first_of(queries, dim, nq), 10, search_options(exactness));
  }
}

TEST_CASE("trained codes of odd dimensions and few rows", "[cuda]") {
  const std::string spec = GENERATE("Polar1-pca", "Polar2-pca", "Polar4-pca", "Polar4+2-pca");
  const int dim = GENERATE(7, 33, 65, 100, 127, 130, 200, 321);
  const int64_t n = GENERATE(800, 1777);
  CAPTURE(spec, dim, n);
  const std::vector<float> x = falling_rows(n, dim, .8, 5);
  const CodedRows rows(spec, dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = queries_near(x, dim, 9, 6);
  for (const float exactness : {1.0F, kEveryRow}) {
    rows.compare(first_of(queries, dim, 1), 5, search_options(exactness));
    rows.compare(queries, 5, search_options(exactness));
  }
}

TEST_CASE("trained codes of many segments", "[cuda]") {
  const std::string spec = GENERATE("Polar1-pca", "Polar2-pca", "Polar4-pca");
  const int dim = GENERATE(512, 768, 1100);
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  CAPTURE(spec, dim, metric);
  const std::vector<float> x = falling_rows(3000, dim, .5, 7);
  const CodedRows rows(spec, dim, metric, x);
  const std::vector<float> queries = queries_near(x, dim, 130, 8);
  for (const float exactness : {0.0F, 2.25F, kEveryRow}) {
    for (const int64_t nq : {1, 20, 130})
      rows.compare(first_of(queries, dim, nq), 10, search_options(exactness));
  }
}

TEST_CASE("trained codes whose lists are too short", "[cuda]") {
  const std::string spec = GENERATE("Polar2-pca", "Polar4-pca", "Polar1-pca");
  const int dim = 128;
  std::vector<float> x = falling_rows(150000, dim, .6, 9);
  const bool copies = GENERATE(false, true);
  if (copies) {
    for (size_t i = static_cast<size_t>(20000) * dim; i < x.size(); ++i)
      x[i] = x[i % (static_cast<size_t>(7) * dim)];
  }
  const CodedRows rows(spec, dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = queries_near(x, dim, 150, 10);
  CAPTURE(spec, copies);
  for (const float exactness : {0.0F, 2.25F, kEveryRow}) {
    for (const int64_t k : {1, 10, 1000})
      rows.compare(first_of(queries, dim, 1), k, search_options(exactness));
    rows.compare(queries, 10, search_options(exactness));
  }
}

TEST_CASE("queries of a trained code that one stage has nothing of", "[cuda]") {
  const int dim = 256;
  const std::vector<float> x = falling_rows(2000, dim, .6, 11);
  const CodedRows rows("Polar4-pca", dim, POLAR_METRIC_INNER_PRODUCT, x);
  std::vector<float> queries(static_cast<size_t>(12) * dim, 0.0F);
  for (size_t q = 1; q < 12; ++q) {
    const float length = q % 3 == 0 ? 1e-30F : q % 3 == 1 ? 1.0F : 1e15F;
    queries[q * dim + q * 20] = length;
  }
  for (const float exactness : {2.25F, kEveryRow}) {
    rows.compare(queries, 10, search_options(exactness));
    for (int64_t q = 0; q < 3; ++q)
      rows.compare({queries.begin() + q * dim, queries.begin() + (q + 1) * dim}, 10,
                   search_options(exactness));
  }
}

TEST_CASE("trained codes with filters and on several devices", "[cuda]") {
  const int dim = 192;
  const std::vector<float> x = falling_rows(5000, dim, .6, 13);
  const std::string spec = GENERATE("Polar2-pca", "Polar4-pca");
  const CodedRows rows(spec, dim, POLAR_METRIC_L2, x);
  const std::vector<float> queries = queries_near(x, dim, 20, 14);
  const std::vector<PlacedCopy> copies = copies_of(rows, {{0, 0}, {0, 0, 0}});
  for (const float exactness : {2.25F, kEveryRow}) {
    const polar_search_options options = search_options(exactness);
    for (const int64_t nq : {1, 20}) {
      const std::vector<float> some = first_of(queries, dim, nq);
      check_copies(rows, copies, some, 10, options, rows.on_cpu(some, 10, options));
    }
  }
  const std::vector<uint64_t> bits(5000 / 64 + 1, 0x9111111111111111U);
  const polar_filter filter = bitset_filter(bits.data(), 5000);
  polar_search_options options = search_options(2.25F);
  options.filter = &filter;
  for (const int64_t nq : {1, 20}) rows.compare(first_of(queries, dim, nq), 10, options);
}

}  // namespace
}  // namespace polarquant::test
