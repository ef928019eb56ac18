// SPDX-License-Identifier: MIT
// A FAISS index over polar codes, written to a file and read back.
#include <faiss/Index.h>
#include <polarquant/faiss.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

int main() {
  constexpr int kDim = 384;
  constexpr int kRows = 1000;
  constexpr int kResults = 3;

  // Stands in for your embeddings.
  std::vector<float> rows(kRows * kDim);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (float& x : rows) x = normal(random);

  auto index = polarquant::index_factory(kDim, "L2norm,Polar4", faiss::METRIC_INNER_PRODUCT);
  index->add(kRows, rows.data());
  polarquant::write_index(*index, "vectors-faiss.polarquant");
  auto same = polarquant::read_index("vectors-faiss.polarquant");

  // The nearest to row 7 is row 7.
  std::vector<float> scores(kResults);
  std::vector<int64_t> ids(kResults);
  same->search(1, &rows[7 * kDim], kResults, scores.data(), ids.data());
  for (int i = 0; i < kResults; ++i) {
    std::printf("row %d, cosine about %.2f\n", static_cast<int>(ids[i]), scores[i]);
  }
  std::remove("vectors-faiss.polarquant");
}
