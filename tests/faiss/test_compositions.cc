// SPDX-License-Identifier: MIT
// Every place that our names can stand in: built, searched, set, named, written and read.
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <typeinfo>

#include "src/faiss/index/index_parts.h"
#include "tests/faiss/composed_index.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

struct Composition {
  const char* description;
  double least_recall;  // at 10, against the exact neighbours
  bool reconstructs;
  const char* written = nullptr;  // by reverse_index_factory, where it is another string
};

// Bounds are .05 under the lower of what was measured with L2 and inner product.
const Composition kCompositions[] = {
    {"Polar2", .57, true},
    {"Polar4-dense", .85, true},
    {"PCA48,Polar4", .61, true},
    {"PCAR48,Polar4", .62, true},
    {"RR64,Polar4-norot", .84, true},
    {"L2norm,Polar4", .43, false},
    {"Pad80,Polar4", .83, true},
    {"ITQ48,Polar4", .37, false},
    {"PCA56,RR56,Polar4", .64, true},
    {"IDMap,Polar4", .84, false},
    {"Polar4,IDMap", .84, false, "IDMap,Polar4"},
    {"IDMap2,Polar4", .84, true},
    {"Polar4,IDMap2", .84, true, "IDMap2,Polar4"},
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
    {"Polar2,RFlat,IDMap", .57, false, "IDMap,Polar2,RFlat"},
    {"Polar2,RFlat,IDMap2", .57, true, "IDMap2,Polar2,RFlat"},
    {"IDMap2,Polar2,RFlat", .57, true},
    {"IDMap2,Polar2,Refine(Polar8)", .57, true},
    {"Polar2,IDMap,RFlat", .57, false, "IDMap,Polar2,RFlat"},
    {"IDMap,SQ4,Refine(Polar8)", .78, false},
    {"IDMap2,PCA48,Polar2,Refine(Polar8)", .48, true},
    {"PolarPair4x4", .76, true},
    {"PolarPair4x4g128,RFlat", .77, true},
    {"IDMap2,PolarPair4x4g128", .77, true},
    {"PolarTree4.2.2.2,RFlat", .70, true},
    {"HNSW16,Polar4", .80, true},
    {"HNSW16_Polar4", .80, true, "HNSW16,Polar4"},
    {"PCA48,HNSW16,Polar4", .58, true},
    {"NSG16,Polar4", .80, true},
    {"HNSW16,Polar2,RFlat", .50, true},
    {"IDMap2,HNSW16,Polar4", .80, true},
    {"IDMap,NSG16,Polar4", .80, false},
    {"PCA48,NSG16,Polar4", .60, true},
    {"NSG16,Polar2,RFlat", .50, true},
    {"NSG16,Polar2,Refine(Polar8)", .50, true},
    {"HNSW16,Polar2,Refine(Polar8)", .50, true},
    {"HNSW16,Polar4,IDMap", .80, false, "IDMap,HNSW16,Polar4"},
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
    {"PCA48,IVF16_HNSW8,Polar4", .60, false},
    {"IDMap,IVF16,Polar4", .85, false},
    {"IDMap2,PCA48,IVF16,Polar4", .60, false},
    {"IVF16,Polar2,RFlat", .57, false},
    {"IVF16,Polar2,Refine(Polar8)", .57, false},
};

bool has(const std::string& description, const char* name) {
  return description.find(name) != std::string::npos;
}

/// The part of the two that a graph or an inverted file takes, and a selector.
struct Parameters {
  Parameters(const std::string& description, ::faiss::IDSelector* selector) {
    ivf.nprobe = 1000;
    hnsw.efSearch = 200;
    used = &plain;
    if (has(description, "HNSW")) used = &hnsw;
    if (has(description, "IVF") || has(description, "IMI")) used = &ivf;
    used->sel = selector;
  }

  ::faiss::SearchParameters plain;
  ::faiss::SearchParametersHNSW hnsw;
  ::faiss::SearchParametersIVF ivf;
  ::faiss::SearchParameters* used;
};

void check_selector(const ::faiss::Index& index, const std::string& description) {
  ::faiss::IDSelectorRange range(500, 1400);
  const Parameters params(description, &range);
  const Found found = find(index, queries(), kK, params.used);
  CHECK(std::count(found.labels.begin(), found.labels.end(), -1) == 0);
  CHECK(std::all_of(found.labels.begin(), found.labels.end(),
                    [&](int64_t label) { return range.is_member(label); }));
}

void check_parameters(::faiss::Index& index) {
  std::string all;
  for (const IndexParameter& parameter : index_parameters(index)) {
    INFO(parameter.name);
    CHECK(parameter.value >= parameter.least);
    CHECK(parameter.value <= parameter.most);
    CHECK(std::is_sorted(parameter.values.begin(), parameter.values.end()));
    for (const double value : parameter.values) {
      set_index_parameter(index, parameter.name, value);
      const auto now = index_parameters(index);
      const auto same = std::find_if(
          now.begin(), now.end(), [&](const auto& other) { return other.name == parameter.name; });
      REQUIRE(same != now.end());
      CHECK(same->value == value);
    }
    all += (all.empty() ? "" : ",") + parameter.name + "=" +
           (std::isinf(parameter.value) ? "inf" : std::to_string(parameter.value));
  }
  set_index_parameters(index, all);
  require_faiss_error("takes no \"nprob\"", [&] { set_index_parameters(index, "nprob=1"); });
}

std::vector<const char*> classes_of(const ::faiss::Index& index) {
  std::vector<const char*> names;
  for_each_part(index, [&](const ::faiss::Index& part) { names.push_back(typeid(part).name()); });
  return names;
}

void check_name(const ::faiss::Index& index, const Composition& row) {
  const std::string expected = row.written != nullptr ? row.written : row.description;
  CHECK(reverse_index_factory(index) == expected);
  const auto again = polarquant::index_factory(index.d, expected, index.metric_type);
  CHECK(reverse_index_factory(*again) == expected);
  CHECK(classes_of(*again) == classes_of(index));
}

void check_files(const ::faiss::Index& index, const std::string& description) {
  ReadOptions options;
  for (const char* name : {"ITQ", "IMI", "SQ4", "),Flat", "),SQ8"})
    options.trust_faiss = options.trust_faiss || has(description, name);
  const Found found = find(index, queries(), kK);
  const auto read = read_from(written(index), options);
  CHECK(find(*read, queries(), kK) == found);
  CHECK(find(*clone_index(index), queries(), kK) == found);
  if (has(description, "OPQ")) {
    require_faiss_error("LinearTransform", [&] { reverse_index_factory(*read); });
  } else {
    CHECK(reverse_index_factory(*read) == reverse_index_factory(index));
  }
}

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

  if (has(description, "IVF") || has(description, "IMI")) {
    set_index_parameters(*index, "nprobe=1000");
  } else if (has(description, "NSG")) {
    // More than the rows of a cluster: the links between clusters are few.
    set_index_parameters(*index, "search_L=200");
  }
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
  check_selector(*index, description);
  check_parameters(*index);
  check_name(*index, row);
  check_files(*index, description);
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
TEST_CASE("Codes stand after optimized rotations", "[faiss][slow]") {
  check_composition({"OPQ8_64,Polar4", .80, true}, kL2);
  check_composition({"OPQ8_64,IVF16,Polar4", .80, false}, kInnerProduct);
}

}  // namespace
}  // namespace polarquant::test
