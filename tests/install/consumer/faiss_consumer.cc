// SPDX-License-Identifier: MIT
// Makes an index through the installed C++ header, beside this program's own FAISS.
#include <faiss/IndexFlat.h>
#include <polarquant/faiss.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr int kDim = 16, kRows = 50;
  std::vector<float> x(kDim * kRows);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>((i * 2654435761u >> 7) % 1000) - 500;
  const auto index = polarquant::index_factory(kDim, "IDMap2,Polar4");
  std::vector<int64_t> ids(kRows);
  for (int i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = 100 + i;
  index->add_with_ids(kRows, x.data(), ids.data());
  faiss::IndexFlatL2 exact(kDim);
  exact.add(kRows, x.data());
  float distance[2];
  int64_t found = -1, expected = -1;
  index->search(1, x.data() + 7 * kDim, 1, &distance[0], &found);
  exact.search(1, x.data() + 7 * kDim, 1, &distance[1], &expected);
  const bool good = found == 100 + expected;
  std::printf("nearest: %lld, expected %lld\n", static_cast<long long>(found),
              static_cast<long long>(100 + expected));
  return good ? 0 : 1;
}
