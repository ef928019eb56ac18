// SPDX-License-Identifier: MIT
// An inverted file of polar codes, searched with more lists and less exactness than it has by
// itself.
#include <faiss/Index.h>
#include <polarquant/faiss.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

int main() {
  constexpr int kDim = 64;
  constexpr int kRows = 4000;
  constexpr int kResults = 3;

  // Stands in for your embeddings.
  std::vector<float> rows(kRows * kDim);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (float& x : rows) x = normal(random);

  auto index = polarquant::index_factory(kDim, "IVF64,Polar4", faiss::METRIC_L2);
  index->train(kRows, rows.data());
  index->add(kRows, rows.data());

  polarquant::set_index_parameters(*index, "nprobe=16,exactness=2");
  for (const auto& parameter : polarquant::index_parameters(*index))
    std::printf("%s=%g\n", parameter.name.c_str(), parameter.value);

  // The nearest to row 7 is row 7.
  std::vector<float> distances(kResults);
  std::vector<int64_t> ids(kResults);
  index->search(1, &rows[7 * kDim], kResults, distances.data(), ids.data());
  for (int i = 0; i < kResults; ++i) {
    std::printf("row %d, squared distance about %.2f\n", static_cast<int>(ids[i]), distances[i]);
  }
}
