// SPDX-License-Identifier: MIT
// NSG graphs end, of any rows, and reach every row.
#include "src/faiss/graphs/nsg_builder.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"
#include "src/faiss/graphs/nn_descent.h"
#include "src/faiss/graphs/nsg_graph.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 24;

/// How many rows a walk along the links meets.
int64_t reached(const ::faiss::IndexNSG& index) {
  const auto& graph = *index.nsg.final_graph;
  std::vector<bool> seen(static_cast<size_t>(graph.N));
  std::vector<int> waiting = {index.nsg.enterpoint};
  seen[static_cast<size_t>(index.nsg.enterpoint)] = true;
  int64_t count = 0;
  for (; !waiting.empty(); ++count) {
    const int row = waiting.back();
    waiting.pop_back();
    for (int i = 0; i < graph.K; ++i) {
      const int node = graph.at(row, i);
      if (node < 0 || seen[static_cast<size_t>(node)]) continue;
      seen[static_cast<size_t>(node)] = true;
      waiting.push_back(node);
    }
  }
  return count;
}

void check_graph(const ::faiss::IndexNSG& index, int64_t n) {
  const auto& graph = *index.nsg.final_graph;
  CHECK(flaw_of(NsgLinks{graph.N, graph.K, graph.data}, index.nsg.enterpoint) == nullptr);
  CHECK(graph.N == n);
  CHECK(index.ntotal == n);
  CHECK(index.is_built);
  CHECK(reached(index) == n);
}

std::vector<float> rows_with_equal(int64_t n, int64_t equal) {
  std::vector<float> x = clustered_rows(n, kDim, 3);
  for (int64_t i = 1; i < equal; ++i) std::copy_n(x.data(), kDim, x.data() + i * kDim);
  return x;
}

TEST_CASE("NSG ends and reaches every row, however many are equal", "[faiss][graph]") {
  const int64_t n = 200;
  for (const int64_t equal : {1, 2, 17, 60, 66, 100, 199, 200}) {
    const std::vector<float> x = rows_with_equal(n, equal);
    for (const auto metric : {::faiss::METRIC_L2, ::faiss::METRIC_INNER_PRODUCT}) {
      for (const char* description : {"NSG16,Polar4", "NSG8,Flat", "NSG32,SQ8"}) {
        CAPTURE(equal, description, static_cast<int>(metric));
        const auto index = index_factory(kDim, description, metric);
        index->train(n, x.data());
        auto& graph = dynamic_cast<::faiss::IndexNSG&>(*index);
        build_nsg(graph, n, x.data());
        check_graph(graph, n);
      }
    }
  }
}

TEST_CASE("NSG of few rows is a graph of them", "[faiss][graph]") {
  for (const int64_t n : {1, 2, 3, 10, 30, 64, 65, 66, 100}) {
    CAPTURE(n);
    const std::vector<float> x = clustered_rows(n, kDim, 4);
    const auto index = index_factory(kDim, "NSG16,Flat", ::faiss::METRIC_L2);
    auto& graph = dynamic_cast<::faiss::IndexNSG&>(*index);
    build_nsg(graph, n, x.data());
    check_graph(graph, n);
  }
}

TEST_CASE("equal rows leave the others to be found", "[faiss][graph]") {
  const int64_t n = 1500;
  const std::vector<float> x = rows_with_equal(n, n / 2);
  for (const char* rows : {"Polar8", "Polar4"}) {
    CAPTURE(rows);
    const auto flat = index_factory(kDim, rows, ::faiss::METRIC_L2);
    flat->add(n, x.data());
    const auto index = index_factory(kDim, std::string("NSG16,") + rows, ::faiss::METRIC_L2);
    index->add(n, x.data());
    dynamic_cast<::faiss::IndexNSG&>(*index).nsg.search_L = 100;
    // Queries far from the equal rows.
    const std::vector<float> queries(x.begin() + (n - 100) * kDim, x.end());
    CHECK(recall(find(*index, queries, 10), find(*flat, queries, 10), 10) > .9);
  }
}

TEST_CASE("NN-descent finds most neighbours of each row, or fewer", "[faiss][graph]") {
  const int64_t n = 2000;
  const int k = 20;
  const std::vector<float> x = clustered_rows(n, kDim, 5);
  const auto flat = index_factory(kDim, "Flat", ::faiss::METRIC_L2);
  flat->add(n, x.data());
  const DescentNumbers numbers = {.K = k, .S = 10, .R = 100, .L = 70, .iter = 10};
  const std::vector<int32_t> found = descend_to_neighbours(*flat, numbers);
  const Found exact = find(*flat, x, k + 1);
  int64_t matches = 0;
  for (int64_t row = 0; row < n; ++row) {
    const auto exact_row = exact.labels.begin() + row * (k + 1);
    for (int i = 0; i < k; ++i)
      matches += std::count(exact_row, exact_row + k + 1, found[static_cast<size_t>(row * k + i)]);
  }
  CHECK(static_cast<double>(matches) / static_cast<double>(n * k) > .95);

  // All equal, and few.
  const auto few = index_factory(kDim, "Flat", ::faiss::METRIC_L2);
  few->add(10, std::vector<float>(10 * kDim, 1.0F).data());
  for (const int32_t node : descend_to_neighbours(*few, numbers)) CHECK((node >= -1 && node < 10));
}

TEST_CASE("building an NSG graph stops, and leaves an empty index", "[faiss][graph]") {
  const int64_t n = 1000;
  const std::vector<float> x = clustered_rows(n, kDim, 6);
  for (const char* description : {"NSG16,Polar4", "NSG16,Flat"}) {
    const auto index = index_factory(kDim, description, ::faiss::METRIC_L2);
    auto& graph = dynamic_cast<::faiss::IndexNSG&>(*index);
    for (const double at : {0.0, 0.3, 0.6, 0.9}) {
      CAPTURE(description, at);
      const std::function<bool(double)> report = [at](double done) { return done < at; };
      {
        WorkProgress work(report, "add");
        work.set_share(at);
        try {
          build_nsg(graph, n, x.data());
        } catch (const std::exception& error) {
          CHECK(std::string(error.what()).find("stopped") != std::string::npos);
        }
        CHECK(work.is_stopped());
      }
      CHECK(index->ntotal == 0);
      CHECK(graph.storage->ntotal == 0);
    }
    build_nsg(graph, n, x.data());
    check_graph(graph, n);
  }
}

}  // namespace
}  // namespace polarquant::test
