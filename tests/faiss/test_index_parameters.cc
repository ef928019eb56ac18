// SPDX-License-Identifier: MIT
// Parameters by name: who takes which, what is refused, and FAISS's ParameterSpace over them. Every
// composition's: test_compositions.cc.
#include <faiss/AutoTune.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPQ.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexShards.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/faiss/composed_index.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

std::string names_of(const ::faiss::Index& index) {
  std::string names;
  for (const IndexParameter& parameter : index_parameters(index))
    names += (names.empty() ? "" : " ") + parameter.name;
  return names;
}

double value_of(const ::faiss::Index& index, const std::string& name) {
  for (const IndexParameter& parameter : index_parameters(index))
    if (parameter.name == name) return parameter.value;
  return NAN;
}

TEST_CASE("Indexes tell which parameters they take", "[faiss]") {
  struct Case {
    const char* description;
    const char* names;
  };
  for (const Case& made : std::initializer_list<Case>{
           {"Flat", ""},
           {"Polar4", "exactness"},
           {"PCA48,IDMap2,Polar4", "exactness"},
           {"Polar2,Refine(Polar8)", "k_factor_rf exactness"},
           {"IVF16,Polar4", "nprobe max_codes exactness"},
           {"PCA48,IVF16_HNSW8,Polar4",
            "nprobe max_codes exactness quantizer_efSearch quantizer_efConstruction"},
           {"IVF16(Polar8),SQ8", "nprobe max_codes quantizer_exactness"},
           {"IVF16(Polar8),Polar4", "nprobe max_codes exactness quantizer_exactness"},
           {"HNSW16,Polar4", "efSearch efConstruction"},
           {"NSG16,Polar4,RFlat", "k_factor_rf search_L"},
           {"IVF16,PQ8x4", "nprobe max_codes ht"},
           {"PQ8x4", "ht"},
           {"IVF16,PQ8+4", "nprobe max_codes ht k_factor"},
       }) {
    INFO(made.description);
    CHECK(names_of(*polarquant::index_factory(kDim, made.description)) == made.names);
  }
}

TEST_CASE("Parameters reach the fields that FAISS has for them", "[faiss]") {
  const auto index = polarquant::index_factory(kDim, "PCA48,IVF64_HNSW8,Polar4,RFlat");
  set_index_parameters(
      *index, "nprobe=7, k_factor_rf=2.5,exactness=inf quantizer_efSearch=99,max_codes=500");
  const auto& refine = dynamic_cast<const ::faiss::IndexRefine&>(*index);
  const auto& chain = dynamic_cast<const ::faiss::IndexPreTransform&>(*refine.base_index);
  auto& ivf = dynamic_cast<IndexIVFPolar&>(*chain.index);
  const auto& graph = dynamic_cast<const ::faiss::IndexHNSW&>(*ivf.quantizer);
  CHECK(refine.k_factor == 2.5F);
  CHECK(ivf.nprobe == 7);
  CHECK(ivf.max_codes == 500);
  CHECK(ivf.exactness == std::numeric_limits<float>::infinity());
  CHECK(graph.hnsw.efSearch == 99);
  // FAISS's other name of it.
  set_index_parameter(*index, "efSearch", 77);
  CHECK(graph.hnsw.efSearch == 77);
  set_index_parameters(*index, "max_codes=inf");
  CHECK(ivf.max_codes == 0);
  CHECK(std::isinf(value_of(*index, "max_codes")));
  set_index_parameter(*index, "verbose", 1);
  CHECK((index->verbose && chain.verbose && ivf.verbose));
  CHECK(!graph.verbose);

  const auto nsg = polarquant::index_factory(kDim, "IDMap,NSG16,Polar4");
  set_index_parameters(*nsg, "search_L=44");
  CHECK(value_of(*nsg, "search_L") == 44);
  set_index_parameters(*nsg, "");
  set_index_parameters(*nsg, " ");
}

TEST_CASE("FAISS's product quantizers take ht as FAISS sets it", "[faiss]") {
  for (const char* description : {"PQ8", "IVF16,PQ8"}) {
    const auto ours = polarquant::index_factory(kDim, description);
    const auto theirs = polarquant::index_factory(kDim, description);
    for (const double ht : {0., 10., 63., 64., 65.}) {
      INFO(description << ", ht " << ht);
      set_index_parameter(*ours, "ht", ht);
      ::faiss::ParameterSpace().set_index_parameter(theirs.get(), "ht", ht);
      CHECK(value_of(*ours, "ht") == value_of(*theirs, "ht"));
      if (const auto* pq = dynamic_cast<const ::faiss::IndexPQ*>(ours.get()))
        CHECK(pq->search_type == dynamic_cast<const ::faiss::IndexPQ&>(*theirs).search_type);
      if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVFPQ*>(ours.get()))
        CHECK(ivf->polysemous_ht ==
              dynamic_cast<const ::faiss::IndexIVFPQ&>(*theirs).polysemous_ht);
    }
  }
}

TEST_CASE("All shards take a parameter", "[faiss]") {
  IndexPolar first(kDim, "Polar4");
  IndexPolar second(kDim, "Polar4");
  ::faiss::IndexShards shards(kDim);
  shards.add_shard(&first);
  shards.add_shard(&second);
  set_index_parameter(shards, "exactness", 3);
  CHECK((first.exactness == 3 && second.exactness == 3));
  CHECK(names_of(shards) == "exactness");
}

TEST_CASE("Wrong parameters are told, and nothing is set", "[faiss]") {
  const auto index = polarquant::index_factory(kDim, "IVF16,Polar4");
  const auto refused = [&](const char* parameters, const char* text) {
    INFO(parameters);
    require_faiss_error(text, [&] { set_index_parameters(*index, parameters); });
    CHECK(value_of(*index, "nprobe") == 1);
  };
  refused("nprobe=8,nprob=8", "takes no \"nprob\"; it takes nprobe, max_codes, exactness");
  refused("nprobe=8,efSearch=8", "takes no \"efSearch\"");
  refused("nprobe=8,quantizer_nprobe=8", "takes no \"quantizer_nprobe\"");
  refused("nprobe=8,k_factor_rf=8", "takes no \"k_factor_rf\"");
  refused("nprobe=0", "nprobe is 0; whole numbers from 1 to 2147483647 are allowed");
  refused("nprobe=2.5", "nprobe is 2.5; whole numbers");
  refused("nprobe=inf", "nprobe is inf; whole numbers");
  refused("nprobe=8,exactness=-1", "exactness is \"-1\"; a number from 0 on, or inf, is needed");
  refused("nprobe=8,exactness=nan", "exactness is \"nan\"");
  refused("nprobe=8x", "nprobe is \"8x\"");
  refused("nprobe=1e999", "nprobe is \"1e999\"");
  refused("nprobe=8,,exactness=1", "part \"\"");
  refused("nprobe", "part \"nprobe\"");
  refused("nprobe=", "part \"nprobe=\"");
  refused("=8", "part \"=8\"");
  require_faiss_error("nprobe is nan", [&] { set_index_parameter(*index, "nprobe", NAN); });
  require_faiss_error("it takes none", [] {
    set_index_parameters(*polarquant::index_factory(kDim, "Flat"), "nprobe=8");
  });
}

TEST_CASE("FAISS's ParameterSpace explores our indexes", "[faiss]") {
  const auto index = build_full("PCA48,IVF16,Polar4", kL2);
  ParameterSpace space;
  space.verbose = 0;
  space.initialize(index.get());
  REQUIRE(space.parameter_ranges.size() == 2);
  CHECK(space.parameter_ranges[0].name == "nprobe");
  CHECK(space.parameter_ranges[0].values == std::vector<double>{1, 2, 4, 8});
  CHECK(space.parameter_ranges[1].name == "exactness");
  space.parameter_ranges[1].values = {1, std::numeric_limits<double>::infinity()};

  const Found truth = find_exactly(rows(), queries(), kDim, kK, kL2);
  ::faiss::IntersectionCriterion criterion(kQueries, kK);
  criterion.set_groundtruth(kK, nullptr, truth.labels.data());
  ::faiss::OperatingPoints points;
  space.explore(index.get(), static_cast<size_t>(kQueries), queries().data(), criterion, &points);
  CHECK(points.all_pts.size() <= 8 + 1);
  const auto best = std::max_element(points.all_pts.begin(), points.all_pts.end(),
                                     [](const auto& a, const auto& b) { return a.perf < b.perf; });
  space.set_index_parameters(index.get(), best->key.c_str());
  CHECK(std::fabs(recall(find(*index, queries(), kK), truth, kK) - best->perf) < 1e-6);
  CHECK(best->perf > .6);
}

}  // namespace
}  // namespace polarquant::test
