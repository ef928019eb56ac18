// SPDX-License-Identifier: MIT
// Rows that go from NSG graphs and come in the place of others: no link leads to a row that went,
// every row that is left can be reached, and recall stays.
#include <faiss/IndexHNSW.h>  // SearchParametersHNSW
#include <faiss/IndexNSG.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/IDSelector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/random.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/nsg_graph.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 40;
constexpr int64_t kRows = 1500;
constexpr int64_t kK = 10;

/// In clusters of clusters, with rows between them: of clusters far from each other a new graph,
/// too, finds some or not as its draws have it.
std::vector<float> mixed_rows(int64_t n, uint64_t seed) {
  std::vector<float> rows = clustered_rows(n, kDim, seed);
  const std::vector<float> others = clustered_rows(n, kDim, seed + 1000, 98);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] += others[i];
  return rows;
}

const std::vector<float>& queries() {
  static const std::vector<float> values = mixed_rows(200, 2);
  return values;
}

/// An index over a graph, and the rows that it should hold, in order.
struct CheckedNsg {
  std::unique_ptr<::faiss::Index> index;
  std::vector<float> rows;

  CheckedNsg(const std::string& description, std::vector<float> x)
      : index(index_factory(kDim, description, ::faiss::METRIC_L2)), rows(std::move(x)) {
    index->train(ntotal(), rows.data());
    index->add(ntotal(), rows.data());
  }
  int64_t ntotal() const { return std::ssize(rows) / kDim; }
  ::faiss::IndexNSG& nsg() const { return dynamic_cast<::faiss::IndexNSG&>(*index); }

  void remove(double share, uint64_t seed) {
    Random random(seed);
    std::vector<idx_t> gone;
    std::vector<float> left;
    for (int64_t row = 0; row < ntotal(); ++row) {
      const auto at = rows.begin() + row * kDim;
      if (static_cast<double>(random.below(1000)) < 1000 * share) {
        gone.push_back(row);
      } else {
        left.insert(left.end(), at, at + kDim);
      }
    }
    const ::faiss::IDSelectorBatch selected(gone.size(), gone.data());
    CHECK(index->remove_ids(selected) == gone.size());
    rows = std::move(left);
    CHECK(index->ntotal == ntotal());
  }
  void update(const std::vector<idx_t>& ids, const std::vector<float>& x) {
    update_vectors(*index, std::ssize(ids), ids.data(), x.data());
    for (size_t i = 0; i < ids.size(); ++i)
      std::copy_n(x.begin() + static_cast<ptrdiff_t>(i) * kDim, kDim, rows.begin() + ids[i] * kDim);
  }

  int64_t count_reached() const {
    const auto& graph = *nsg().nsg.final_graph;
    std::vector<bool> seen(static_cast<size_t>(graph.N));
    std::vector<int> waiting = {nsg().nsg.enterpoint};
    seen[static_cast<size_t>(waiting[0])] = true;
    int64_t count = 0;
    for (; !waiting.empty(); ++count) {
      const int row = waiting.back();
      waiting.pop_back();
      for (int i = 0; i < graph.K && graph.at(row, i) >= 0; ++i) {
        const int node = graph.at(row, i);
        CHECK(node != row);
        if (seen[static_cast<size_t>(node)]) continue;
        seen[static_cast<size_t>(node)] = true;
        waiting.push_back(node);
      }
    }
    return count;
  }
  void check_whole() const {
    if (ntotal() == 0) {
      CHECK(nsg().nsg.final_graph == nullptr);
      CHECK(find(*index, queries(), 1).labels[0] == -1);
    } else {
      const auto& graph = *nsg().nsg.final_graph;
      CHECK(graph.N == ntotal());
      CHECK(flaw_of(NsgLinks{graph.N, graph.K, graph.data}, nsg().nsg.enterpoint) == nullptr);
      CHECK(count_reached() == ntotal());
      ::faiss::SearchParametersHNSW wide;
      wide.efSearch = static_cast<int>(ntotal());
      std::vector<idx_t> all = find(*index, std::vector<float>(kDim), ntotal(), &wide).labels;
      std::sort(all.begin(), all.end());
      std::vector<idx_t> expected(static_cast<size_t>(ntotal()));
      std::iota(expected.begin(), expected.end(), 0);
      CHECK((all == expected));
    }
    // The rules of files, too.
    CHECK(find(*clone_index(*index), queries(), kK) == find(*index, queries(), kK));
  }
  double recall_of(int ef) const {
    ::faiss::SearchParametersHNSW wide;
    wide.efSearch = ef;
    return recall(find(*index, queries(), kK, &wide),
                  find_exactly(rows, queries(), kDim, kK, ::faiss::METRIC_L2), kK);
  }
};

TEST_CASE("Rows go from an NSG graph, and what is left is whole", "[faiss][graph]") {
  const std::string description = GENERATE("NSG16,Polar4", "NSG8,Polar2");
  const double share = GENERATE(.001, .3, .97);
  CAPTURE(description, share);
  CheckedNsg graph(description, mixed_rows(kRows, 1));
  for (uint64_t round = 0; round < 3; ++round) {
    graph.remove(share, round);
    graph.check_whole();
  }
}

TEST_CASE("An NSG graph of which half the rows went has the recall of a new one",
          "[faiss][graph]") {
  CheckedNsg graph("NSG32,Polar4", mixed_rows(2 * kRows, 1));
  for (uint64_t round = 0; round < 7; ++round) graph.remove(.1, round);
  graph.check_whole();
  const CheckedNsg fresh("NSG32,Polar4", graph.rows);
  for (const int ef : {16, 30}) CHECK(graph.recall_of(ef) >= fresh.recall_of(ef) - .015);
  compact_index(*graph.index);
  graph.check_whole();
  for (const int ef : {16, 30}) CHECK(graph.recall_of(ef) >= fresh.recall_of(ef) - .005);
}

TEST_CASE("Rows of an NSG graph are updated in place", "[faiss][graph]") {
  CheckedNsg graph("NSG16,Polar4", mixed_rows(kRows, 1));
  for (uint64_t round = 0; round < 4; ++round) {
    const auto n = static_cast<size_t>(round == 3 ? kRows : 200);
    std::vector<idx_t> ids(static_cast<size_t>(kRows));
    std::iota(ids.begin(), ids.end(), 0);
    Random random(round);
    for (size_t i = 0; i < n; ++i) std::swap(ids[i], ids[i + random.below(ids.size() - i)]);
    ids.resize(n);
    graph.update(ids, mixed_rows(std::ssize(ids), 70 + round));
    graph.check_whole();
  }
  // Links of rows that come lead no farther than to their neighbours; those of a new graph do.
  compact_index(*graph.index);
  graph.check_whole();
  const CheckedNsg fresh("NSG16,Polar4", graph.rows);
  CHECK(graph.recall_of(30) >= fresh.recall_of(30) - .02);
  const idx_t missing = kRows;
  require_faiss_error("id 1500 is not in the index",
                      [&] { update_vectors(*graph.index, 1, &missing, queries().data()); });
  graph.check_whole();
}

TEST_CASE("Equal rows of an NSG graph go and come", "[faiss][graph]") {
  std::vector<float> x = clustered_rows(300, kDim, 1);
  for (int64_t row = 1; row < 120; ++row) std::copy_n(x.begin(), kDim, x.begin() + row * kDim);
  CheckedNsg graph("NSG8,Polar4", x);
  for (uint64_t round = 0; round < 4; ++round) {
    graph.remove(.1, round);
    graph.check_whole();
    // Rows that become equal to others, and others that no longer are.
    std::vector<float> changed(x.begin(), x.begin() + kDim);
    for (int i = 0; i < 2; ++i)
      changed.insert(changed.end(), x.begin() + (200 + i) * kDim, x.begin() + (201 + i) * kDim);
    graph.update({graph.ntotal() - 1, 3, 4}, changed);
    graph.check_whole();
  }
}

TEST_CASE("All rows of an NSG graph go, and others come", "[faiss][graph]") {
  CheckedNsg graph("NSG16,Polar4", mixed_rows(kRows, 1));
  graph.remove(.97, 4);
  compact_index(*graph.index);  // fewer rows than a graph is built of
  graph.check_whole();
  graph.remove(1, 0);
  compact_index(*graph.index);
  graph.check_whole();
  graph.rows = mixed_rows(kRows, 5);
  graph.index->add(kRows, graph.rows.data());
  graph.check_whole();
}

TEST_CASE("Searches of an NSG graph with a filter or radius know what went", "[faiss][graph]") {
  CheckedNsg graph("NSG16,Polar8", mixed_rows(kRows, 1));
  graph.remove(.4, 9);
  ::faiss::SearchParametersHNSW some;
  const ::faiss::IDSelectorRange half(0, graph.ntotal() / 2);
  some.sel = const_cast<::faiss::IDSelectorRange*>(&half);
  some.efSearch = static_cast<int>(graph.ntotal());
  for (const idx_t id : find(*graph.index, queries(), kK, &some).labels)
    CHECK((id >= 0 && id < graph.ntotal() / 2));
  ::faiss::RangeSearchResult within(1);
  graph.index->range_search(1, queries().data(), 1e30F, &within);
  CHECK(static_cast<int64_t>(within.lims[1]) == graph.ntotal());
}

TEST_CASE("Links of an NSG graph to the row itself mark nothing", "[faiss][graph]") {
  CheckedNsg graph("NSG8,Polar4", clustered_rows(300, kDim, 1));
  auto& links = *graph.nsg().nsg.final_graph;
  // As a file may have them: HNSW's way to say that a row is one of equal ones.
  for (int row = 0; row < 300; row += 3) {
    links.at(row, 0) = row;
    links.at(row, 1) = (row + 3) % 300;
    links.at(row, 2) = row;
  }
  graph.remove(.5, 3);
  graph.check_whole();
}

}  // namespace
}  // namespace polarquant::test
