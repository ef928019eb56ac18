// SPDX-License-Identifier: MIT
// reverse_index_factory of FAISS's own indexes, and of what no string makes. Those of ours:
// test_compositions.cc.
#include <faiss/IndexIDMap.h>
#include <faiss/IndexLattice.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/VectorTransform.h>

#include <memory>
#include <typeinfo>
#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/index/index_parts.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 32;

std::vector<const char*> classes_of(const ::faiss::Index& index) {
  std::vector<const char*> names;
  for_each_part(index, [&](const ::faiss::Index& part) { names.push_back(typeid(part).name()); });
  return names;
}

TEST_CASE("The string of what FAISS's factory makes is told", "[faiss]") {
  struct Case {
    const char* description;
    const char* written = nullptr;
  };
  for (const Case& made : std::initializer_list<Case>{
           {"Flat"},
           {"SQ4"},
           {"SQ6"},
           {"SQ8"},
           {"SQfp16"},
           {"PQ8x8", "PQ8"},
           {"PQ8x6np"},
           {"PQ8x4fs"},
           {"PQ8x4fs_64"},
           {"LSH"},
           {"LSHrt"},
           {"PCA16,Flat"},
           {"PCAR16,SQ8"},
           {"PCAW16,SQ8"},
           {"PCAWR16,SQ8"},
           {"OPQ8_16,PQ8x4"},
           {"OPQ8,PQ8x4", "OPQ8_32,PQ8x4"},
           {"ITQ,LSH"},
           {"ITQ16,LSHt"},
           {"RR,Flat", "RR32,Flat"},
           {"RR16,Flat"},
           {"L2norm,Flat"},
           {"Pad48,Flat"},
           {"PCA24,RR16,L2norm,Flat"},
           {"IVF16,Flat"},
           {"IVF16,FlatDedup"},
           {"IVF16,SQ8"},
           {"IVF16,PQ8x8", "IVF16,PQ8"},
           {"IVF16,PQ8x6np"},
           {"IVF16,PQ8+4"},
           {"IVF16,PQ8x4fs"},
           {"IVF16,PQ8x4fsr_64"},
           {"IVF16_HNSW,Flat", "IVF16_HNSW32,Flat"},
           {"IVF16_HNSW8,SQ8"},
           {"IVF128_NSG16,SQ8"},
           {"IVF16(PCA16,SQ8),Flat"},
           {"IMI2x3,SQ8"},
           {"PCA16,IVF16,SQ8"},
           {"HNSW", "HNSW32,Flat"},
           {"HNSW16_SQ8", "HNSW16,SQ8"},
           {"HNSW16_PQ8np", "HNSW16,PQ8np"},
           {"NSG", "NSG32,Flat"},
           {"NSG16,SQ8"},
           {"IDMap,Flat"},
           {"SQ8,IDMap2", "IDMap2,SQ8"},
           {"IDMap2,PCA16,SQ8"},
           {"PCA16,IDMap,SQ8"},
           {"SQ8,RFlat"},
           {"SQ4,Refine(SQ8)"},
           {"SQ4,Refine(SQ8),RFlat"},
           {"PCA16,SQ8,RFlat"},
           {"SQ4,Refine(SQ8,RFlat)"},
       }) {
    INFO(made.description);
    const auto index = polarquant::index_factory(kDim, made.description);
    const std::string written = reverse_index_factory(*index);
    CHECK(written == (made.written != nullptr ? made.written : made.description));
    const auto again = polarquant::index_factory(kDim, written);
    CHECK(reverse_index_factory(*again) == written);
    CHECK(classes_of(*again) == classes_of(*index));
  }
}

// FAISS's releases read these in two ways, so that the strings differ; what they make must not.
TEST_CASE("The string of a refinement among id maps makes the same again", "[faiss]") {
  for (const char* description : {
           "SQ8,Refine(Flat)",
           "IDMap,SQ8,RFlat",
           "SQ8,RFlat,IDMap",
           "SQ8,IDMap,RFlat",
           "IDMap2,SQ8,RFlat",
           "SQ8,RFlat,IDMap2",
           "SQ8,IDMap,RFlat,IDMap2",
           "SQ8,IDMap2,IDMap,RFlat",
           "IDMap,SQ8,RFlat,IDMap2",
           "IDMap,PCA16,SQ8,RFlat",
           "PCA16,IDMap,SQ8,RFlat",
           "PCA16,SQ8,IDMap,RFlat",
           "PCA16,SQ8,RFlat,IDMap",
           "SQ4,IDMap,Refine(SQ8)",
           "SQ4,Refine(IDMap,SQ8)",
           "IVF16,SQ8,RFlat,IDMap",
       }) {
    INFO(description);
    std::unique_ptr<::faiss::Index> index;
    try {
      index = polarquant::index_factory(kDim, description);
    } catch (const ::faiss::FaissException& error) {
      // As this release reads it, it could not be filled.
      CHECK(std::string(error.what()).find("has an id map inside") != std::string::npos);
      continue;
    }
    const std::string written = reverse_index_factory(*index);
    INFO(written);
    const auto again = polarquant::index_factory(kDim, written);
    CHECK(classes_of(*again) == classes_of(*index));
    CHECK(reverse_index_factory(*again) == written);
  }
}

TEST_CASE("What no string makes is said by name", "[faiss]") {
  IndexPolar polar(kDim, "Polar4");
  ::faiss::IndexFlat flat(kDim);
  ::faiss::IndexRefine refined(&polar, &flat);
  SECTION("transforms of a refinement") {
    ::faiss::IndexPreTransform index(&refined);
    index.prepend_transform(new ::faiss::NormalizationTransform(kDim));
    index.own_fields = true;  // of the transform
    index.index = &refined;
    require_faiss_error("transforms in front of a refinement",
                        [&] { reverse_index_factory(index); });
    index.index = nullptr;
  }
  SECTION("a refinement of an id map of ours") {
    ::faiss::IndexIDMap map(&polar);
    ::faiss::IndexRefine index(&map, &flat);
    require_faiss_error("a refinement of an id map", [&] { reverse_index_factory(index); });
  }
  SECTION("a refinement by a refinement") {
    ::faiss::IndexRefine by_polar(&flat, &polar);
    ::faiss::IndexRefine index(&flat, &by_polar);
    require_faiss_error("a refinement inside another's", [&] { reverse_index_factory(index); });
  }
  SECTION("a transform") {
    ::faiss::CenteringTransform centering(kDim);
    ::faiss::IndexPreTransform index(&centering, &polar);
    require_faiss_error("faiss::CenteringTransform", [&] { reverse_index_factory(index); });
  }
  SECTION("an index") {
    const ::faiss::IndexLattice index(kDim, 4, 4, 10);
    require_faiss_error("faiss::IndexLattice", [&] { reverse_index_factory(index); });
  }
}

}  // namespace
}  // namespace polarquant::test
