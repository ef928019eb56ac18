// SPDX-License-Identifier: MIT
// index_factory: what it makes of our names, and what is told of those it cannot take.
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/index_factory.h>

#include <memory>
#include <typeinfo>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/threads.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "tests/faiss/composed_index.h"
#include "tests/support/catch.h"
#include "tests/support/forked_child.h"

namespace polarquant::test {
namespace {

const IndexPolar* as_polar(const ::faiss::Index* index) {
  return dynamic_cast<const IndexPolar*>(index);
}

TEST_CASE("The parts stand where the description puts them", "[faiss]") {
  auto alone = polarquant::index_factory(kDim, "Polar4+2-dense", kInnerProduct);
  REQUIRE(as_polar(alone.get()) != nullptr);
  CHECK(as_polar(alone.get())->spec() == "Polar4+2-dense");
  CHECK(alone->metric_type == kInnerProduct);

  auto transformed = polarquant::index_factory(kDim, "PCA48,Polar4");
  auto* transforms = dynamic_cast<::faiss::IndexPreTransform*>(transformed.get());
  REQUIRE(transforms != nullptr);
  CHECK(transforms->own_fields);
  CHECK(transforms->chain.size() == 1);
  CHECK(!transforms->is_trained);
  REQUIRE(as_polar(transforms->index) != nullptr);
  CHECK(transforms->index->d == 48);

  auto mapped = polarquant::index_factory(kDim, "IDMap2,Polar4");
  auto* map = dynamic_cast<::faiss::IndexIDMap2*>(mapped.get());
  REQUIRE(map != nullptr);
  CHECK(map->own_fields);
  CHECK(as_polar(map->index) != nullptr);

  auto refined = polarquant::index_factory(kDim, "Polar2,RFlat");
  auto* refine = dynamic_cast<::faiss::IndexRefine*>(refined.get());
  REQUIRE(refine != nullptr);
  CHECK((refine->own_fields && refine->own_refine_index));
  CHECK(as_polar(refine->base_index) != nullptr);
  CHECK(dynamic_cast<::faiss::IndexFlat*>(refine->refine_index) != nullptr);

  auto lifted = polarquant::index_factory(kDim, "IDMap2,Polar2,Refine(Polar8)");
  map = dynamic_cast<::faiss::IndexIDMap2*>(lifted.get());
  REQUIRE(map != nullptr);
  refine = dynamic_cast<::faiss::IndexRefine*>(map->index);
  REQUIRE(refine != nullptr);
  CHECK(as_polar(refine->base_index)->spec() == "Polar2");

  // The stand-ins of FAISS's own names must not be taken for ours.
  auto mixed = polarquant::index_factory(kDim, "SQfp16,Refine(Polar8)");
  refine = dynamic_cast<::faiss::IndexRefine*>(mixed.get());
  REQUIRE(refine != nullptr);
  CHECK(dynamic_cast<::faiss::IndexScalarQuantizer*>(refine->base_index) != nullptr);
  REQUIRE(as_polar(refine->refine_index) != nullptr);
  CHECK(as_polar(refine->refine_index)->spec() == "Polar8");

  auto both = polarquant::index_factory(kDim, "Polar2,Refine(Polar8)");
  refine = dynamic_cast<::faiss::IndexRefine*>(both.get());
  REQUIRE(refine != nullptr);
  CHECK(as_polar(refine->base_index)->spec() == "Polar2");
  CHECK(as_polar(refine->refine_index)->spec() == "Polar8");

  auto inverted = polarquant::index_factory(kDim, "IVF16(Polar8),Flat");
  auto* ivf = dynamic_cast<::faiss::IndexIVFFlat*>(inverted.get());
  REQUIRE(ivf != nullptr);
  CHECK(ivf->own_fields);
  CHECK(as_polar(ivf->quantizer) != nullptr);
}

TEST_CASE("is_trained tells what our index needs", "[faiss]") {
  for (const char* description : {"Polar4", "L2norm,Polar4", "IDMap,Polar4", "Polar2,RFlat"}) {
    INFO(description);
    CHECK(polarquant::index_factory(kDim, description)->is_trained);
  }
  for (const char* description :
       {"PolarPair4x4", "L2norm,PolarPair4x4", "IDMap,PolarPair4x4", "PolarPair4x4,RFlat",
        "Polar2,Refine(PolarPair4x4)", "Polar2,Refine(SQ8)", "PCA48,Polar4"}) {
    INFO(description);
    auto index = polarquant::index_factory(kDim, description);
    CHECK(!index->is_trained);
    index->train(kRows, rows().data());
    CHECK(index->is_trained);
  }
}

TEST_CASE("Cosine is L2norm in front and inner product", "[faiss]") {
  auto index = build_full("L2norm,Polar8", kInnerProduct);
  auto reference =
      std::unique_ptr<::faiss::Index>(::faiss::index_factory(kDim, "L2norm,Flat", kInnerProduct));
  reference->add(kRows, rows().data());
  const Found truth = find(*reference, queries(), kK);
  const Found found = find(*index, queries(), kK);
  CHECK(recall(found, truth, kK) > .9);
  for (size_t i = 0; i < found.distances.size(); ++i) {
    CHECK(std::abs(found.distances[i] - truth.distances[i]) < .02F);
  }
}

TEST_CASE("train reaches our index after transforms that need none", "[faiss]") {
  auto index = polarquant::index_factory(kDim, "L2norm,Polar4", kInnerProduct);
  index->train(kRows, rows().data());
  const auto* transforms = dynamic_cast<const ::faiss::IndexPreTransform*>(index.get());
  CHECK(as_polar(transforms->index)->codec().origin() == StateOrigin::trained);
  index->add(kRows, rows().data());
  require_faiss_error("train", [&] { index->train(kRows, rows().data()); });
  CHECK(index->ntotal == kRows);
}

TEST_CASE("A refinement raises recall, more with a larger k_factor", "[faiss]") {
  const char* description = GENERATE("Polar2,RFlat", "Polar2,Refine(Polar8)");
  INFO(description);
  const Found truth = find_exactly(rows(), queries(), kDim, kK, kL2);
  auto plain = build_full("Polar2", kL2);
  auto index = build_full(description, kL2);
  auto* refine = dynamic_cast<::faiss::IndexRefine*>(index.get());
  const double alone = recall(find(*plain, queries(), kK), truth, kK);
  CHECK(recall(find(*index, queries(), kK), truth, kK) == alone);  // the same ten, in better order
  refine->k_factor = 8;
  const double refined = recall(find(*index, queries(), kK), truth, kK);
  INFO(alone << " to " << refined);
  CHECK(refined > .97);
  refine->k_factor = 1e30F;  // more than there are rows
  CHECK(recall(find(*index, queries(), kK), truth, kK) >= refined);
  refine->k_factor = .5F;
  require_faiss_error("k_factor", [&] { find(*index, queries(), kK); });
}

TEST_CASE("Search parameters give a refinement another k_factor for one search", "[faiss]") {
  const char* description = GENERATE("Polar2,RFlat", "Polar2,RFlat,IDMap2", "L2norm,Polar2,RFlat");
  INFO(description);
  auto index = build_full(description, kL2);
  polarquant::set_index_parameters(*index, "k_factor_rf=8");
  const Found by_field = find(*index, queries(), kK);
  polarquant::set_index_parameters(*index, "k_factor_rf=1");
  polarquant::SearchParametersRefine params;
  params.k_factor = 8;
  const Found by_params = find(*index, queries(), kK, &params);
  CHECK(by_params.labels == by_field.labels);
  CHECK(by_params.labels != find(*index, queries(), kK).labels);

  // The selector is the base's.
  ::faiss::IDSelectorRange range(500, 1400);
  polarquant::SearchParametersPolar base;
  base.sel = &range;
  params.base_index_params = &base;
  for (const auto id : find(*index, queries(), kK, &params).labels) CHECK((id >= 500 && id < 1400));
  params.k_factor = .5F;
  require_faiss_error("k_factor", [&] { find(*index, queries(), kK, &params); });
}

TEST_CASE("Selectors pass through every container", "[faiss]") {
  const std::string description =
      GENERATE("Polar4", "PCA48,Polar4", "IDMap,Polar4", "IDMap2,PCA48,Polar4",
               "PCA48,IDMap,Polar4", "Polar2,RFlat", "Polar2,RFlat,IDMap2");
  INFO(description);
  auto index = build_full(description, kL2);
  ::faiss::IDSelectorRange range(500, 1400);
  ::faiss::SearchParameters params;
  params.sel = &range;
  const Found found = find(*index, queries(), kK, &params);
  for (const int64_t label : found.labels) CHECK(range.is_member(label));
  // More rows match than are asked for, so that the best of them are the best of the whole that
  // match.
  if (description.find("RFlat") == std::string::npos) {
    const Found all = find(*index, queries(), kRows);
    for (int64_t q = 0; q < kQueries; ++q) {
      auto at = all.labels.begin() + q * kRows;
      while (!range.is_member(*at)) ++at;
      CHECK(found.labels[static_cast<size_t>(q * kK)] == *at);
    }
  }
  ::faiss::SearchParametersPreTransform outer;
  outer.index_params = &params;
  if (description.find("PCA48") != std::string::npos) {
    CHECK(find(*index, queries(), kK, &outer) == found);
  }
  CHECK(params.sel == &range);
}

TEST_CASE("An id map refuses parameters it cannot translate", "[faiss]") {
  struct OwnParameters : ::faiss::SearchParameters {};
  auto index = build_full("IDMap,Polar4", kL2);
  const OwnParameters params;
  require_faiss_error("OwnParameters", [&] { find(*index, queries(), kK, &params); });
}

TEST_CASE("When one index of a refinement refuses rows, neither has them", "[faiss]") {
  // A row so short that Polar2's 16-bit factors refuse it, while Polar8 and SQ8 take it.
  const std::string description = GENERATE("Polar2,Refine(Polar8)", "Polar8,Refine(Polar2)",
                                           "Polar2,RFlat", "PCA64,Polar2,Refine(Polar8)");
  INFO(description);
  auto index = build_full(description, kL2);
  const auto* refine = dynamic_cast<const ::faiss::IndexRefine*>(index.get());
  const Found before = find(*index, queries(), kK);
  std::vector<float> bad(rows().begin(), rows().begin() + 10 * kDim);
  for (int i = 0; i < kDim; ++i) bad[static_cast<size_t>(7 * kDim + i)] *= 1e30F;
  require_faiss_error("row 7", [&] { index->add(10, bad.data()); });
  CHECK(refine->base_index->ntotal == kRows);
  CHECK(refine->refine_index->ntotal == kRows);
  CHECK(index->ntotal == kRows);
  CHECK(find(*index, queries(), kK) == before);
  index->add(7, bad.data());
  CHECK(index->ntotal == kRows + 7);
}

TEST_CASE("What FAISS cannot take yet is told", "[faiss]") {
  for (const char* description : {"MinMax,Polar4"}) {
    INFO(description);
    require_faiss_error("not supported at its place",
                        [&] { polarquant::index_factory(kDim, description, kL2); });
    require_faiss_error("stand alone", [&] { polarquant::index_factory(kDim, description, kL2); });
    require_faiss_error(description, [&] { polarquant::index_factory(kDim, description, kL2); });
  }
  require_faiss_error("put it in front",
                      [] { polarquant::index_factory(kDim, "PCA48,IDMap,Polar2,RFlat"); });
  require_faiss_error("of our names", [] {
    polarquant::index_factory(kDim,
                              "Polar1,Refine(Polar2),Refine(Polar3),Refine(Polar4),Refine(Polar8)");
  });
}

TEST_CASE("Wrong names and wrong metrics are told", "[faiss]") {
  require_faiss_error("PolarX", [] { polarquant::index_factory(kDim, "PCA48,PolarX"); });
  require_faiss_error("Polar9", [] { polarquant::index_factory(kDim, "Polar2,Refine(Polar9)"); });
  require_faiss_error("Nonsense", [] { polarquant::index_factory(kDim, "Nonsense,Polar4"); });
  require_faiss_error("\"Polar4,\"", [] { polarquant::index_factory(kDim, "Polar4,"); });
  require_faiss_error("PCA99999999999",
                      [] { polarquant::index_factory(kDim, "PCA99999999999,Polar4"); });
  require_faiss_error("METRIC_Canberra",
                      [] { polarquant::index_factory(kDim, "Polar4", ::faiss::METRIC_Canberra); });
  require_faiss_error("dim", [] { polarquant::index_factory(0, "Polar4"); });
  require_faiss_error("dim", [] { polarquant::index_factory(-3, "Polar4"); });
}

TEST_CASE("A string without our names is FAISS's", "[faiss]") {
  for (const char* description :
       {"Flat", "PCA32,SQ8", "IVF16,Flat", "HNSW16", "IDMap2,Flat", "PQ8", "SQ8,RFlat"}) {
    INFO(description);
    auto ours = polarquant::index_factory(kDim, description, kL2);
    const std::unique_ptr<::faiss::Index> theirs(::faiss::index_factory(kDim, description, kL2));
    CHECK(typeid(*ours) == typeid(*theirs));
  }
  CHECK(polarquant::index_factory(kDim, "Flat", ::faiss::METRIC_L1)->metric_type ==
        ::faiss::METRIC_L1);
  require_faiss_error("could not parse", [] { polarquant::index_factory(kDim, "Foo"); });
  require_faiss_error("could not parse", [] { polarquant::index_factory(kDim, ""); });
}

TEST_CASE("Compositions give the same results with any number of threads", "[faiss]") {
  const std::string description =
      GENERATE("L2norm,Polar4", "IDMap2,Polar4", "Polar2,RFlat", "Polar2,Refine(Polar8)");
  INFO(description);
  const int before = polarquant::default_threads();
  std::vector<Found> found;
  for (const int threads : {1, 2, 3, 8}) {
    polarquant::set_default_threads(threads);
    found.push_back(find(*build_full(description, kInnerProduct), queries(), kK));
  }
  polarquant::set_default_threads(before);
  for (const Found& other : found) CHECK(other == found[0]);
}

TEST_CASE("A fork()ed child searches every container after a threaded search", "[faiss]") {
  const std::string description =
      GENERATE("Polar4", "L2norm,Polar4", "PCA48,Polar4", "IDMap2,L2norm,Polar4", "Polar2,RFlat",
               "L2norm,Polar2,Refine(SQ8)");
  INFO(description);
  const int before = polarquant::default_threads();
  polarquant::set_default_threads(4);
  auto index = build_full(description, kInnerProduct);
  const Found found = find(*index, queries(), kK);
  CHECK(run_in_child([&] {
          if (find(*index, queries(), kK) != found) return false;
          if (!has_id_map(description)) index->add(kRows, rows().data());
          return true;
        }) == ChildEnd::right);
  polarquant::set_default_threads(before);
}

}  // namespace
}  // namespace polarquant::test
