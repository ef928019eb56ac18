// SPDX-License-Identifier: MIT
// Refinements on a device: candidates by one index, scored again by another. Rows and scores are
// the CPU's, to the bit.
#include "tests/cuda/listed_rows.h"

namespace polarquant::test {
namespace {

TEST_CASE("refinements by codes and by floats", "[cuda][refine]") {
  if (!has_indexes()) return;
  const std::string description = GENERATE(
      "Polar2,Refine(Polar8)", "Polar2,RFlat", "Polar1,Refine(Polar4+4)", "Polar2,Refine(Polar4)",
      "Polar2-pca,Refine(Polar8)", "Polar1,Refine(Polar4-pca)", "IVF20,Polar2,Refine(Polar8)",
      "IVF20,Polar4-pca,RFlat", "Polar2,Refine(PolarScalar8)");
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  const int dim = GENERATE(100, 384);
  CAPTURE(description, metric, dim);
  const std::vector<float> x = falling_rows(3000, dim, .4, 31);
  const ListedRows rows(description, dim, metric, x);
  const std::vector<float> queries = queries_near(x, dim, 40, 32);
  for (const float exactness : {2.25F, kEveryRow}) {
    for (const double k_factor : {0.0, 1.0, 7.5}) {
      polar_search_options options = search_options(exactness);
      options.k_factor = k_factor;
      for (const int64_t nq : {1, 40}) {
        rows.compare(first_of(queries, dim, nq), 10, options);
        rows.compare(first_of(queries, dim, nq), 700, options);
      }
    }
  }
  const polar_filter filter = range_filter(1000, 2300);
  polar_search_options options = search_options(2.25F);
  options.filter = &filter;
  options.k_factor = 4;
  rows.compare(queries, 10, options);
  for (const polar_cuda_layout layout : {POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED}) {
    const Handle<polar_cuda_index> copy = rows.on({0, 0, 0}, layout);
    CHECK(rows.search(copy.get(), queries, 10, options) == rows.on_cpu(queries, 10, options));
  }
}

}  // namespace
}  // namespace polarquant::test
