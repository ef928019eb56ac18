// SPDX-License-Identifier: MIT
// IndexIVFPolar against FAISS's own inverted files, and everything FAISS does with one.
#include <faiss/IVFlib.h>
#include <faiss/IndexFlat.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/impl/AuxIndexStructures.h>

#include <algorithm>
#include <limits>
#include <set>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/threads.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "tests/faiss/clustered_lists.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/faiss/copy_ids.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/catch.h"
#include "tests/support/forked_child.h"

namespace polarquant::test {

using namespace clustered_lists;  // NOLINT: this file is of nothing else
namespace {

Found truth(::faiss::MetricType metric) {
  return find_exactly(rows(), queries(), kDim, kK, metric);
}

/// What FAISS's own search finds, scanning unpacked codes with our scanner.
Found find_by_scanners(const IndexIVFPolar& index, int64_t k) {
  const auto nq = std::ssize(queries()) / kDim;
  const auto nprobe = static_cast<idx_t>(index.nprobe);
  std::vector<idx_t> lists(static_cast<size_t>(nq * nprobe));
  std::vector<float> coarse(lists.size());
  index.quantizer->search(nq, queries().data(), nprobe, coarse.data(), lists.data());
  Found found{std::vector<float>(static_cast<size_t>(nq * k)),
              std::vector<int64_t>(static_cast<size_t>(nq * k))};
  index.::faiss::IndexIVF::search_preassigned(nq, queries().data(), k, lists.data(), coarse.data(),
                                              found.distances.data(), found.labels.data(), false);
  return found;
}

}  // namespace

TEST_CASE("IndexIVFPolar finds what an exact search finds", "[faiss][ivf]") {
  struct Quality {
    const char* spec;
    double least_recall;
  };
  const ::faiss::MetricType metric = GENERATE(kL2, kInnerProduct);
  for (const Quality& quality : {Quality{"Polar1", .40}, Quality{"Polar2", .60},
                                 Quality{"Polar4", .87}, Quality{"Polar8", .97}}) {
    auto index = filled_index(quality.spec, metric);
    index->nprobe = kLists;
    const double share = recall(find(*index, queries(), kK), truth(metric), kK);
    INFO(quality.spec << ", metric " << metric << ", recall " << share);
    CHECK(share >= quality.least_recall);
    // Rows lie nearer to their list's centroid than to the mean of all.
    Options options;
    options.by_residual = false;
    auto by_mean = filled_index(quality.spec, metric, options);
    by_mean->nprobe = kLists;
    CHECK(share >= recall(find(*by_mean, queries(), kK), truth(metric), kK) - .02);
  }
}

TEST_CASE("A quantizer that takes the place of the trained one is asked for lists",
          "[faiss][ivf]") {
  const ::faiss::MetricType metric = GENERATE(kL2, kInnerProduct);
  auto index = filled_index("Polar4", metric);
  const auto& trained = dynamic_cast<const ::faiss::IndexFlat&>(*index->quantizer);
  ::faiss::IndexFlat other(kDim, metric);
  for (int64_t list = kLists - 1; list >= 0; --list) other.add(1, trained.get_xb() + list * kDim);
  const Found before = find(*index, queries(), kK);
  index->quantizer = &other;
  const Found found = find(*index, queries(), kK);
  CHECK(found.labels != before.labels);
  const Found expected = find_by_scanners(*index, kK);
  CHECK(recall(found, expected, kK) > .95);  // scanners score rows by floats
}

TEST_CASE("Searches of ours and FAISS's scan of our codes agree", "[faiss][ivf]") {
  const ::faiss::MetricType metric = GENERATE(kL2, kInnerProduct);
  for (const bool by_residual : {true, false}) {
    for (const char* spec : {"Polar4+4", "PolarScalar4"}) {
      Options options;
      options.by_residual = by_residual;
      auto index = filled_index(spec, metric, options);
      index->exactness = std::numeric_limits<float>::infinity();
      const Found ours = find(*index, queries(), kK);
      const Found faiss = find_by_scanners(*index, kK);
      INFO(spec << ", metric " << metric << ", by_residual " << by_residual);
      // Ours picks candidates by int8 values first: the last of the ten can differ.
      CHECK(recall(ours, faiss, kK) > .99);
      for (size_t i = 0; i < ours.labels.size(); i += kK) {
        CHECK(ours.labels[i] == faiss.labels[i]);
        CHECK(ours.distances[i] == faiss.distances[i]);
      }
    }
  }
}

TEST_CASE("Results of an inverted file do not depend on threads or batches", "[faiss][ivf]") {
  auto index = filled_index("Polar4", kInnerProduct);
  const Found expected = find(*index, queries(), kK);
  const int before = polarquant::default_threads();
  for (const int threads : {1, 2, 5}) {
    polarquant::set_default_threads(threads);
    INFO(threads);
    CHECK(find(*index, queries(), kK) == expected);
    for (size_t q = 0; q < 5; ++q) {
      const auto first = queries().begin() + static_cast<ptrdiff_t>(q * kDim);
      const Found one = find(*index, {first, first + kDim}, kK);
      CHECK(std::equal(one.labels.begin(), one.labels.end(),
                       expected.labels.begin() + static_cast<ptrdiff_t>(q * kK)));
    }
  }
  polarquant::set_default_threads(before);
}

TEST_CASE("Search parameters of an inverted file", "[faiss][ivf]") {
  auto index = filled_index("Polar4", kL2);
  index->nprobe = 2;
  const Found two = find(*index, queries(), kK);
  index->nprobe = 6;
  const Found six = find(*index, queries(), kK);
  CHECK(!(two == six));

  SearchParametersIVFPolar params;
  params.nprobe = 2;
  CHECK(find(*index, queries(), kK, &params) == two);
  ::faiss::SearchParametersIVF plain;
  plain.nprobe = 2;
  CHECK(find(*index, queries(), kK, &plain) == two);
  plain.nprobe = 1000;  // as many as there are
  index->nprobe = kLists;
  CHECK(find(*index, queries(), kK, &plain) == find(*index, queries(), kK));
  index->nprobe = 6;

  params.nprobe = 6;
  params.exactness = 0;
  index->exactness = 0;
  const Found hasty = find(*index, queries(), kK);
  index->exactness = 2.25F;
  CHECK(find(*index, queries(), kK, &params) == hasty);

  // As many rows as the nearest list has end the search after it.
  params.exactness = 2.25F;
  params.max_codes = 1;
  plain.nprobe = 1;
  CHECK(find(*index, queries(), kK, &params) == find(*index, queries(), kK, &plain));

  const ::faiss::IDSelectorRange range(100, 900);
  ::faiss::SearchParameters selected;
  selected.sel = const_cast<::faiss::IDSelectorRange*>(&range);
  const Found some = find(*index, queries(), kK, &selected);
  CHECK(std::all_of(some.labels.begin(), some.labels.end(),
                    [](int64_t label) { return label >= 100 && label < 900; }));

  params = {};
  params.nprobe = 0;
  require_faiss_error("nprobe is 0", [&] { find(*index, queries(), kK, &params); });
  params.nprobe = 3;
  params.exactness = -1;
  require_faiss_error("exactness: -1", [&] { find(*index, queries(), kK, &params); });
  params.exactness = 1;
  params.progress = [](double) { return false; };
  require_faiss_error("stopped", [&] { find(*index, queries(), kK, &params); });
  index->parallel_mode = index->PARALLEL_MODE_NO_HEAP_INIT;
  require_faiss_error("parallel_mode 1024", [&] { find(*index, queries(), kK); });
}

TEST_CASE("FAISS's tools walk our lists", "[faiss][ivf]") {
  auto index = filled_index("Polar4", kL2);
  const Found expected = find(*index, queries(), kK);

  // Its codes stand alone.
  std::vector<uint8_t> codes(index->sa_code_size() * 50);
  index->sa_encode(50, row(200), codes.data());
  std::vector<float> decoded(size_t{50} * kDim);
  index->sa_decode(50, codes.data(), decoded.data());
  index->make_direct_map();
  std::vector<float> x(kDim);
  index->reconstruct(249, x.data());
  CHECK(std::equal(x.begin(), x.end(), decoded.begin() + 49 * kDim));

  auto half = make_index("Polar4", kL2);
  index->make_direct_map(false);
  copy_ids(*index, half.get(), 0, 1500);
  CHECK(half->ntotal == 1500);
  auto first = make_index("Polar4", kL2);
  first->add(1500, rows().data());
  CHECK(find(*half, queries(), kK) == find(*first, queries(), kK));

  // Labels as places, and floats from them.
  std::vector<float> distances(kK);
  std::vector<idx_t> labels(kK);
  std::vector<float> recons(size_t{kK} * kDim);
  index->search_and_reconstruct(1, queries().data(), kK, distances.data(), labels.data(),
                                recons.data());
  CHECK(labels[0] == expected.labels[0]);
  index->make_direct_map();
  index->reconstruct(labels[0], x.data());
  CHECK(std::equal(x.begin(), x.end(), recons.begin()));

  // Lists of FAISS's own work too.
  index->make_direct_map(false);
  take_lists<::faiss::ArrayInvertedLists>(*index);
  CHECK(recall(find(*index, queries(), kK), expected, kK) > .97);
}

TEST_CASE("Rows within a radius are found in an inverted file", "[faiss][ivf]") {
  const ::faiss::MetricType metric = GENERATE(kL2, kInnerProduct);
  auto index = filled_index("Polar4", metric);
  const auto nq = std::ssize(queries()) / kDim;
  const Found found = find_by_scanners(*index, 20);
  const float radius = found.distances[19];  // the 20th of the first query, itself outside
  ::faiss::RangeSearchResult result(static_cast<size_t>(nq));
  index->range_search(nq, queries().data(), radius, &result);
  CHECK(result.lims[1] == 19);
  std::set<int64_t> labels(result.labels, result.labels + 19);
  CHECK(labels == std::set<int64_t>(found.labels.begin(), found.labels.begin() + 19));
}

TEST_CASE("What an inverted file cannot take is told, and changes nothing", "[faiss][ivf]") {
  auto* quantizer = const_cast<::faiss::Index*>(&coarse_quantizer(kL2));
  IndexIVFPolar untrained(quantizer, kDim, kLists, "Polar4", kL2);
  require_faiss_error("not trained", [&] { untrained.add(10, rows().data()); });
  require_faiss_error("not trained", [&] { find(untrained, queries(), kK); });
  require_faiss_error("PolarX", [&] { IndexIVFPolar(quantizer, kDim, kLists, "PolarX", kL2); });
  require_faiss_error("128 rows together",
                      [&] { IndexIVFPolar(quantizer, kDim, kLists, "PolarPair4x4g128", kL2); });
  require_faiss_error(
      "metric", [&] { IndexIVFPolar(quantizer, kDim, kLists, "Polar4", ::faiss::METRIC_L1); });

  auto index = filled_index("Polar4", kL2);
  const Found before = find(*index, queries(), kK);
  std::vector<float> bad(row(0), row(20));
  bad[7 * kDim + 3] = std::numeric_limits<float>::quiet_NaN();
  require_faiss_error("row 7", [&] { index->add(20, bad.data()); });
  bad.assign(row(0), row(20));
  for (int j = 0; j < kDim; ++j) bad[static_cast<size_t>(7 * kDim + j)] = 1e30F;
  require_faiss_error("row 7", [&] { index->add(20, bad.data()); });
  require_faiss_error("holds 3000 rows", [&] { index->train(kRows, rows().data()); });
  const std::vector<idx_t> wrong(20, static_cast<idx_t>(kLists));
  require_faiss_error("list 24",
                      [&] { index->add_core(20, rows().data(), nullptr, wrong.data()); });
  CHECK(index->ntotal == kRows);
  CHECK(find(*index, queries(), kK) == before);
  index->reset();
  CHECK(index->ntotal == 0);
  CHECK(find(*index, queries(), kK).labels[0] == -1);
  index->add(kRows, rows().data());
  CHECK(find(*index, queries(), kK) == before);
}

TEST_CASE("Rows far from where an inverted file was trained keep their scores", "[faiss][ivf]") {
  // Centres, and so b, are as small, or as large, as the rows; the codec's unit follows.
  for (const float scale : {1e-6F, 1e5F}) {
    std::vector<float> x = rows();
    std::vector<float> q = queries();
    for (float& value : x) value *= scale;
    for (float& value : q) value *= scale;
    auto index = polarquant::index_factory(kDim, "IVF24,Polar4", kInnerProduct);
    index->train(kRows, x.data());
    index->add(kRows, x.data());
    dynamic_cast<IndexIVFPolar&>(*index).nprobe = kLists;
    INFO(scale);
    CHECK(recall(find(*index, q, kK), find_exactly(x, q, kDim, kK, kInnerProduct), kK) > .87);
  }
}

TEST_CASE("A fork()ed child searches an inverted file", "[faiss][ivf]") {
  auto index = filled_index("Polar4", kL2);
  const Found expected = find(*index, queries(), kK);
  REQUIRE(run_in_child([&] { return find(*index, queries(), kK) == expected; }) == ChildEnd::right);
}

TEST_CASE("An inverted file takes little more memory than its codes and ids", "[faiss][ivf]") {
  auto index = filled_index("Polar4", kL2);
  const size_t codes = kRows * (index->code_size + sizeof(idx_t));
  const size_t centres = kLists * kDim * sizeof(float);
  const size_t before = make_index("Polar4", kL2)->memory_bytes();
  CHECK(index->memory_bytes() - before >= codes);
  // For 64 dimensions the capacity of 8 rows, and bytes that are read ahead, weigh more than for
  // 384.
  CHECK(index->memory_bytes() - before <= codes + codes / 8);
  CHECK(before >= centres);
}

}  // namespace polarquant::test
