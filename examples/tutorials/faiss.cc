// SPDX-License-Identifier: MIT
// From a FAISS index of floats to one of codes: the same calls, another string; what it finds of
// the exact neighbours, with which parameters; selectors, refinement and files.
#include <faiss/IndexFlat.h>
#include <faiss/impl/IDSelector.h>
#include <polarquant/faiss.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kDim = 128;
constexpr int kRows = 20000;
constexpr int kQueries = 100;
constexpr int kResults = 10;

// Stands in for your embeddings: rows around 200 centers.
std::vector<float> make_vectors(int count, unsigned seed) {
  std::normal_distribution<float> normal;
  std::mt19937 shared(1), own(seed);
  std::vector<float> centers(200 * kDim), vectors(static_cast<size_t>(count) * kDim);
  for (float& x : centers) x = 0.65F * normal(shared);
  for (int i = 0; i < count; ++i) {
    const float* center = &centers[own() % 200 * kDim];
    for (int j = 0; j < kDim; ++j)
      vectors[static_cast<size_t>(i) * kDim + j] = center[j] + normal(own);
  }
  return vectors;
}

const std::vector<float> rows = make_vectors(kRows, 2);
const std::vector<float> queries = make_vectors(kQueries, 3);

std::vector<int64_t> search(const faiss::Index& index,
                            const faiss::SearchParameters* parameters = nullptr) {
  std::vector<float> distances(kQueries * kResults);
  std::vector<int64_t> ids(kQueries * kResults);
  index.search(kQueries, queries.data(), kResults, distances.data(), ids.data(), parameters);
  return ids;
}

// The share of the exact neighbours that were found.
double recall(const std::vector<int64_t>& ids, const std::vector<int64_t>& exact) {
  int found = 0;
  for (int i = 0; i < kQueries * kResults; ++i) {
    const int64_t* expected = &exact[i / kResults * kResults];
    for (int j = 0; j < kResults; ++j) found += ids[i] == expected[j] ? 1 : 0;
  }
  return static_cast<double>(found) / (kQueries * kResults);
}

}  // namespace

int main() {
  faiss::IndexFlatL2 flat(kDim);
  flat.add(kRows, rows.data());
  const auto exact = search(flat);

  // Another string: "IVF128,Flat" becomes "IVF128,Polar4".
  auto index = polarquant::index_factory(kDim, "IVF128,Polar4", faiss::METRIC_L2);
  index->train(kRows, rows.data());
  index->add(kRows, rows.data());

  // More lists find more neighbors, and take longer.
  for (const char* parameters : {"nprobe=1", "nprobe=8", "nprobe=32"}) {
    polarquant::set_index_parameters(*index, parameters);
    std::printf("%s: recall@10 %.2f\n", parameters, recall(search(*index), exact));
  }

  // A selector, and parameters of one search.
  faiss::IDSelectorRange first_half(0, kRows / 2);
  polarquant::SearchParametersIVFPolar parameters;
  parameters.sel = &first_half;
  parameters.nprobe = 32;
  for (int64_t id : search(*index, &parameters))
    if (id >= kRows / 2) return 1;

  // The floats kept beside the codes: the best 40 are scored again.
  auto refined = polarquant::index_factory(kDim, "IVF128,Polar4,RFlat", faiss::METRIC_L2);
  refined->train(kRows, rows.data());
  refined->add(kRows, rows.data());
  polarquant::set_index_parameters(*refined, "nprobe=32,k_factor_rf=4");
  std::printf("refined: recall@10 %.2f\n", recall(search(*refined), exact));

  // polarquant's own functions write and read the file.
  polarquant::write_index(*index, "tutorial.polarquant");
  auto same = polarquant::read_index("tutorial.polarquant");
  std::printf("read back: recall@10 %.2f\n", recall(search(*same), exact));
  std::remove("tutorial.polarquant");
}
