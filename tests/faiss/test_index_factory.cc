// SPDX-License-Identifier: MIT
// index_factory: each place our names can stand in works, and each it cannot is told.
#include <faiss/AutoTune.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/index_factory.h>
#include <omp.h>

#include <memory>
#include <typeinfo>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/faiss_compat.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/faiss/forked_search.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 64;
constexpr int64_t kRows = 1500;
constexpr int64_t kQueries = 40;
constexpr int64_t kK = 10;
constexpr ::faiss::MetricType kInnerProduct = ::faiss::METRIC_INNER_PRODUCT;
constexpr ::faiss::MetricType kL2 = ::faiss::METRIC_L2;

const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
const std::vector<float>& queries() {
  static const std::vector<float> values = clustered_rows(kQueries, kDim, 2);
  return values;
}

int64_t id_of(int64_t row) { return 100 + 3 * row; }

const IndexPolar* as_polar(const ::faiss::Index* index) {
  return dynamic_cast<const IndexPolar*>(index);
}

bool has_id_map(const std::string& description) {
  return description.find("IDMap") != std::string::npos;
}

void add_rows(::faiss::Index& index, const std::string& description) {
  if (!has_id_map(description)) {
    index.add(kRows, rows().data());
    return;
  }
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = id_of(i);
  index.add_with_ids(kRows, rows().data(), ids.data());
}

std::unique_ptr<::faiss::Index> build_full(const std::string& description,
                                           ::faiss::MetricType metric) {
  std::unique_ptr<::faiss::Index> index = polarquant::index_factory(kDim, description, metric);
  index->train(kRows, rows().data());
  add_rows(*index, description);
  return index;
}

struct Composition {
  const char* description;
  double least_recall;  // at 10, against the exact neighbours
  bool reconstructs;
};

// Bounds are .05 under the lower of what was measured with L2 and inner product.
const Composition kCompositions[] = {
    {"Polar2", .57, true},
    {"Polar4-dense", .85, true},
    {"PCA48,Polar4", .61, true},
    {"PCAR48,Polar4", .62, true},
    {"RR64,Polar4-norot", .84, true},
    {"Pad80,Polar4", .83, true},
    {"ITQ48,Polar4", .37, false},
    {"PCA56,RR56,Polar4", .64, true},
    {"IDMap,Polar4", .84, false},
    {"Polar4,IDMap", .84, false},
    {"IDMap2,Polar4", .84, true},
    {"Polar4,IDMap2", .84, true},
    {"PCA48,IDMap,Polar4", .61, false},
    {"PCA48,IDMap2,Polar4", .61, true},
    {"IDMap2,PCA48,Polar4", .61, true},
    {"Polar2,RFlat", .57, true},
    {"Polar2,Refine(SQ8)", .57, true},
    {"Polar2,Refine(Polar8)", .57, true},
    {"Polar2,Refine(PCA64,Polar8)", .57, true},
    {"SQ4,Refine(Polar8)", .78, true},
    {"PCA48,Polar2,RFlat", .48, true},
    {"PCA48,Polar2,Refine(Polar8)", .48, true},
    {"Polar1,Refine(Polar4),Refine(Polar8)", .36, true},
    {"Polar2,RFlat,IDMap", .57, false},
    {"Polar2,RFlat,IDMap2", .57, true},
    {"IDMap2,Polar2,RFlat", .57, true},
    {"IDMap2,Polar2,Refine(Polar8)", .57, true},
    {"Polar2,IDMap,RFlat", .57, false},
    {"IDMap,SQ4,Refine(Polar8)", .78, false},
    {"IDMap2,PCA48,Polar2,Refine(Polar8)", .48, true},
    {"PolarPair4x4", .76, true},
    {"PolarPair4x4g128,RFlat", .77, true},
    {"IDMap2,PolarPair4x4g128", .77, true},
    {"PolarTree4.2.2.2,RFlat", .70, true},
    {"HNSW16,Polar4", .80, true},
    {"HNSW16_Polar4", .80, true},
    {"PCA48,HNSW16,Polar4", .58, true},
    {"NSG16,Polar4", .55, true},
    {"HNSW16,Polar2,RFlat", .50, true},
    {"IDMap2,HNSW16,Polar4", .80, true},
    {"HNSW16,Polar4,IDMap", .80, false},
    {"IVF16(Polar8),Flat", .92, false},
    {"IVF16(RR64,Polar8),SQ8", .60, false},
    {"IVF16,Polar1", .35, false},
    {"IVF16,Polar4", .85, false},
    {"IVF16,Polar8", .90, false},
    {"IVF16,Polar2+2", .80, false},
    {"IVF16,Polar2-pca", .55, false},
    {"IVF16,PolarScalar4", .65, false},
    {"IVF16_HNSW8,Polar4", .85, false},
    {"IVF16(Polar8),Polar4", .85, false},
    {"PCA48,IVF16,Polar4", .60, false},
    {"IVF16,Polar2,RFlat", .57, false},
    {"IVF16,Polar2,Refine(Polar8)", .57, false},
};

void check_composition(const Composition& row, ::faiss::MetricType metric) {
  const std::string description = row.description;
  INFO(description << ", metric " << metric);
  std::unique_ptr<::faiss::Index> index = polarquant::index_factory(kDim, description, metric);
  REQUIRE(index != nullptr);
  CHECK(index->d == kDim);
  CHECK(index->metric_type == metric);
  CHECK(index->ntotal == 0);
  index->train(kRows, rows().data());
  REQUIRE(index->is_trained);
  add_rows(*index, description);
  REQUIRE(index->ntotal == kRows);

  if (description.find("IVF") != std::string::npos || description.find("IMI") == 0)
    ::faiss::ParameterSpace().set_index_parameter(index.get(), "nprobe", 1000);
  const Found found = find(*index, queries(), kK);
  Found truth = find_exactly(rows(), queries(), kDim, kK, metric);
  if (has_id_map(description)) {
    for (int64_t& label : truth.labels) label = id_of(label);
  }
  const double share = recall(found, truth, kK);
  INFO("recall " << share);
  CHECK(share >= row.least_recall);

  const Found wide =
      find(*index, std::vector<float>(queries().begin(), queries().begin() + kDim), kRows + 5);
  CHECK(std::count(wide.labels.end() - 5, wide.labels.end(), -1) == 5);

  if (row.reconstructs) {
    std::vector<float> x(kDim);
    index->reconstruct(has_id_map(description) ? id_of(1234) : 1234, x.data());
    double error = 0;
    for (size_t i = 0; i < kDim; ++i) error += std::pow(x[i] - rows()[1234 * kDim + i], 2);
    CHECK(error / kDim < .6);  // of a variance of 1.4
  }
  index->reset();
  CHECK(index->ntotal == 0);
}

TEST_CASE("Every composition is built, trained, filled and searched", "[faiss]") {
  const ::faiss::MetricType metric = GENERATE(kL2, kInnerProduct);
  for (const Composition& row : kCompositions) check_composition(row, metric);
  // FAISS has multi-index quantizers for L2 alone.
  if (metric == kL2) check_composition({"IMI2x2,Polar4", .80, false}, metric);
}

// FAISS's training takes its time, and warns of few rows.
TEST_CASE("Codes stand behind optimized rotations", "[faiss][slow]") {
  check_composition({"OPQ8_64,Polar4", .80, true}, kL2);
  check_composition({"OPQ8_64,IVF16,Polar4", .80, false}, kInnerProduct);
}

TEST_CASE("The parts stand where the description puts them", "[faiss]") {
  auto alone = polarquant::index_factory(kDim, "Polar4+2-dense", kInnerProduct);
  REQUIRE(as_polar(alone.get()) != nullptr);
  CHECK(as_polar(alone.get())->spec() == "Polar4+2-dense");
  CHECK(alone->metric_type == kInnerProduct);

  auto behind = polarquant::index_factory(kDim, "PCA48,Polar4");
  auto* transforms = dynamic_cast<::faiss::IndexPreTransform*>(behind.get());
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

TEST_CASE("train reaches our index behind transforms that need none", "[faiss]") {
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
  const int before = omp_get_max_threads();
  std::vector<Found> found;
  for (const int threads : {1, 2, 3, 8}) {
    omp_set_num_threads(threads);
    found.push_back(find(*build_full(description, kInnerProduct), queries(), kK));
  }
  omp_set_num_threads(before);
  for (const Found& other : found) CHECK(other == found[0]);
}

TEST_CASE("A fork()ed child searches every container after a threaded search", "[faiss]") {
  const std::string description =
      GENERATE("Polar4", "L2norm,Polar4", "PCA48,Polar4", "IDMap2,L2norm,Polar4", "Polar2,RFlat",
               "L2norm,Polar2,Refine(SQ8)");
  INFO(description);
  const int before = omp_get_max_threads();
  omp_set_num_threads(4);
  auto index = build_full(description, kInnerProduct);
  const Found found = find(*index, queries(), kK);
  CHECK(run_in_child([&] {
          if (find(*index, queries(), kK) != found) return false;
          if (!has_id_map(description)) index->add(kRows, rows().data());
          return true;
        }) == ChildEnd::right);
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace polarquant::test
