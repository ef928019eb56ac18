// SPDX-License-Identifier: MIT
// Inverted files of trained codes on a device give the CPU's rows and scores, to the bit.
#include "tests/cuda/listed_rows.h"

namespace polarquant::test {
namespace {

TEST_CASE("inverted files of trained codes", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::string spec =
      GENERATE("Polar0.5-pca", "Polar1-pca", "Polar1.5-pca", "Polar2-pca", "Polar3-pca",
               "Polar4-pca", "Polar5-pca", "Polar2+2-pca", "Polar4+2-pca");
  const int dim = GENERATE(130, 384);
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  const double decay = GENERATE(.4, 1.2);
  CAPTURE(spec, dim, metric, decay);
  const std::vector<float> x = falling_rows(2500, dim, decay, 3);
  const ListedRows rows("IVF20," + spec, dim, metric, x);
  const std::vector<float> queries = queries_near(x, dim, 70, 4);
  for (const float exactness : {2.25F, kEveryRow}) {
    for (const int64_t nprobe : {1, 6, 20}) {
      for (const int64_t nq : {1, 3, 70})
        rows.compare(first_of(queries, dim, nq), 10, probing(nprobe, exactness));
    }
  }
}

TEST_CASE("inverted files of trained codes: many segments, results and lists", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar1-pca", "Polar2-pca", "Polar4-pca");
  const int dim = GENERATE(321, 768);
  const std::vector<float> x = falling_rows(6000, dim, .5, 5);
  const ListedRows rows("IVF60," + spec, dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = queries_near(x, dim, 100, 6);
  CAPTURE(spec, dim);
  for (const float exactness : {0.0F, 1.0F, 2.25F, kEveryRow}) {
    for (const int64_t k : {1, 10, 1000}) {
      rows.compare(first_of(queries, dim, 2), k, probing(17, exactness));
      rows.compare(queries, k, probing(17, exactness));
    }
  }
}

TEST_CASE("inverted files of trained codes on several devices", "[cuda][lists][several]") {
  if (!has_indexes()) return;
  const int dim = 192;
  const std::vector<float> x = falling_rows(5000, dim, .6, 7);
  const ListedRows rows("IVF24,Polar4-pca", dim, POLAR_METRIC_L2, x);
  const std::vector<float> queries = queries_near(x, dim, 40, 8);
  for (const polar_cuda_layout layout : {POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED}) {
    const Handle<polar_cuda_index> copy = rows.on({0, 0}, layout);
    for (const float exactness : {2.25F, kEveryRow}) {
      const polar_search_options options = probing(7, exactness);
      CHECK(rows.search(copy.get(), queries, 10, options) == rows.on_cpu(queries, 10, options));
    }
  }
}

}  // namespace
}  // namespace polarquant::test
