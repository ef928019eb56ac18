// SPDX-License-Identifier: MIT
// Rows far from the others, and rows that are alike, in indexes: each is accepted and found, and
// the others are found as well as without them.
#include <faiss/IndexFlat.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/faiss.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 64;
constexpr int64_t kRows = 3000;
constexpr int64_t kK = 10;
constexpr ::faiss::MetricType kInnerProduct = ::faiss::METRIC_INNER_PRODUCT;
constexpr ::faiss::MetricType kL2 = ::faiss::METRIC_L2;

void lengthen(std::vector<float>* rows, int64_t row, double factor) {
  for (int j = 0; j < kDim; ++j) {
    float& value = (*rows)[static_cast<size_t>(row * kDim + j)];
    value = static_cast<float>(value * factor);
  }
}

std::unique_ptr<::faiss::Index> trained_index(const std::string& description,
                                              ::faiss::MetricType metric,
                                              const std::vector<float>& rows) {
  auto index = index_factory(kDim, description.c_str(), metric);
  index->train(std::ssize(rows) / kDim, rows.data());
  return index;
}

/// Recall@10 of the rows but one, by an index trained on all.
double recall_of_others(const std::string& description, const std::vector<float>& rows,
                        int64_t one) {
  std::vector<float> others = rows;
  others.erase(others.begin() + one * kDim, others.begin() + (one + 1) * kDim);
  const std::vector<float> queries = clustered_rows(100, kDim, 2);
  ::faiss::IndexFlatL2 exact(kDim);
  exact.add(kRows - 1, others.data());
  auto index = trained_index(description, kL2, rows);
  index->add(kRows - 1, others.data());
  return recall(find(*index, queries, kK), find(exact, queries, kK), kK);
}

TEST_CASE("one long row among those trained on takes nothing from the others", "[faiss][extreme]") {
  for (const std::string description :
       {"Polar4", "Polar2-pca", "Polar8", "PolarScalar4", "PolarTree4.2.2.2", "PolarPair4x4"}) {
    const std::vector<float> rows = clustered_rows(kRows, kDim, 1);
    const double expected = recall_of_others(description, rows, 17);
    for (const double factor : {1e3, 1e5, 1e12}) {
      std::vector<float> with_long = rows;
      lengthen(&with_long, 17, factor);
      CAPTURE(description, factor, expected);
      CHECK(recall_of_others(description, with_long, 17) >= expected - .02);
    }
  }
}

TEST_CASE("duplicates, and rows at a centroid, are coded in inverted files", "[faiss][extreme]") {
  for (const std::string description : {"IVF64,Polar4", "IVF16,Polar8", "IVF16,Polar2"}) {
    for (const ::faiss::MetricType metric : {kL2, kInnerProduct}) {
      std::vector<float> rows = clustered_rows(kRows, kDim, 3);
      for (int64_t i = 1; i < 50; ++i)
        std::copy_n(rows.begin(), kDim, rows.begin() + i * 60 * kDim);
      CAPTURE(description, static_cast<int>(metric));
      auto index = trained_index(description, metric, rows);
      index->add(kRows, rows.data());
      // Their centroids too.
      auto& ivf = dynamic_cast<::faiss::IndexIVF&>(*index);
      std::vector<float> centroids(ivf.nlist * kDim);
      ivf.quantizer->reconstruct_n(0, static_cast<int64_t>(ivf.nlist), centroids.data());
      index->add(static_cast<int64_t>(ivf.nlist), centroids.data());
      CHECK(index->ntotal == kRows + static_cast<int64_t>(ivf.nlist));
      if (metric != kL2) continue;
      const Found found = find(*index, {rows.begin(), rows.begin() + kDim}, 50);
      for (const int64_t label : found.labels)
        CHECK((label >= kRows || (label % 60 == 0 && label < 3000)));
    }
  }
}

TEST_CASE("rows of any length are added to a trained index, and found", "[faiss][extreme]") {
  for (const std::string description :
       {"Polar2", "Polar4", "Polar8", "Polar4+2", "Polar2-pca", "PolarScalar4", "PolarTree4.2.2.2",
        "IVF16,Polar4", "HNSW8,Polar4", "Polar2,Refine(Flat)"}) {
    for (const ::faiss::MetricType metric : {kL2, kInnerProduct}) {
      std::vector<float> rows = clustered_rows(1000, kDim, 4);
      auto index = trained_index(description, metric, rows);
      index->add(1000, rows.data());
      CAPTURE(description, static_cast<int>(metric));
      std::vector<float> far = clustered_rows(6, kDim, 5);
      const double factors[] = {1e4, 1e6, 1e9, 1e12, 1e-6, 1e-30};
      for (int64_t i = 0; i < 6; ++i) lengthen(&far, i, factors[i]);
      index->add(6, far.data());
      for (int64_t i = 0; i < 4; ++i) {
        const std::vector<float> query(far.begin() + i * kDim, far.begin() + (i + 1) * kDim);
        const Found found = find(*index, query, 5);
        CAPTURE(i, found.labels, found.distances);
        for (const float score : found.distances) CHECK(std::isfinite(score));
        // Of inner product the longest of all in about the same direction may be another.
        if (metric == kL2) CHECK(found.labels[0] == 1000 + i);
        if (metric != kL2) CHECK(found.labels[0] >= 1000);
      }
    }
  }
}

}  // namespace
}  // namespace polarquant::test
