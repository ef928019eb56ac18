// SPDX-License-Identifier: MIT
// Numbers of factory strings that are out of their range, and compositions that could not be used
// or saved, are refused when they are made, before memory is taken for them.
#include <faiss/IndexIVF.h>
#include <faiss/IndexNSG.h>

#include <string>

#include "tests/faiss/clustered_rows.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

struct Refused {
  const char* description;
  const char* text;
};

const Refused kRefused[] = {
    {"IVF0,Flat", "0 lists; 1 to 1048576"},
    {"IVF2147483647,Polar4", "2147483647 lists; 1 to 1048576"},
    {"IVF99999999999999999999,Flat", "too large by far"},
    {"IMI2x16,Polar4", "16 bits; 1 to 10"},
    {"IMI3x4,Polar4", "3 parts; 2 to 2"},
    {"HNSW1,Polar4", "1 links; 2 to 512"},
    {"HNSW1,Flat", "1 links; 2 to 512"},
    {"HNSW1073741824,Polar4", "1073741824 links; 2 to 512"},
    {"IVF4_HNSW1,Polar4", "1 links; 2 to 512"},
    {"NSG2147483647,Flat", "2147483647 links; 8 to 1024"},
    {"NSG4,Polar4", "4 links; 8 to 1024"},
    {"PQ0", "0 parts; 1 to 65535"},
    {"PQ1x32", "32 bits; 1 to 16"},
    {"PQ2x40np", "40 bits; 1 to 16"},
    {"IVF2,PQ1x32", "32 bits; 1 to 16"},
    {"PQ2x13", "more than 12 are allowed with np"},
    {"RQ64x8", "16384 centroids in all stages; up to 4096"},
    {"RQ65x4", "65 stages; 1 to 64"},
    {"RQ2", "\"RQ2\" names no bits; \"RQ2x4\" has 4 in each stage"},
    {"IVF4,LSQ8", "\"LSQ8\" names no bits"},
    {"PLSQ2", "\"PLSQ2\" names no bits"},
    {"LSQ2x9", "9 bits; 1 to 8"},
    {"RCQ4x8", "4 times 8 bits; up to 20"},
    {"PCA0,Polar4", "0 dimensions; 1 to 65535"},
    {"PCA32,Polar4", "principal axes of 32 dimensions; 1 to 16"},
    {"Pad65536,Polar4", "65536 dimensions; 1 to 65535"},
    {"Pad65535,RR65535,Polar4", "tables of more than 2^28 numbers"},
    {"Pad65535,RR,Polar4", "tables of more than 2^28 numbers"},
    {"HNSW4_2+PQ2", "two levels"},
    {"Residual16,PQ4", "two levels"},
    {"ZnLattice2x3_4", "lattices"},
    {"Foo3,Flat", "\"Foo3\" in \"Foo3,Flat\" is not a name with numbers that is known"},
    {"IVF2_NSG8,Polar4", "graph of 2 centroids"},
    {"IVF64_NSG8,Polar4", "at least 65 are needed"},
    {"IDMap,IDMap,Polar4", "id map inside another"},
    {"IDMap2,IDMap2,Flat", "id map inside another"},
    {"IVF2,Flat,IDMap,IDMap2", "id map inside another"},
    {"IDMap,PCA8,IDMap2,Polar4", "id map inside another"},
    {"Flat,Refine(IDMap2,Flat)", "id map inside a refinement"},
    {"IVF4(IDMap,Polar8),Polar4", "id map inside a coarse quantizer"},
    {"Flat,Refine(IVF2,Flat)", "does not score rows one by one"},
    {"Polar2,Refine(IVF2,Polar4)", "does not score rows one by one"},
    {"RCQ2x2", "holds no rows"},
    {"IVF4,PQ4x4fs_65504", "blocks of 65504 rows; up to 160"},
    {"IVF4(Polar8),RQ2x4", "clone not supported"},
};

TEST_CASE("Descriptions that nothing can be made of are refused by name", "[faiss]") {
  const Refused& refused = GENERATE(from_range(std::begin(kRefused), std::end(kRefused)));
  INFO(refused.description);
  require_faiss_error(refused.text, [&] {
    polarquant::index_factory(16, refused.description, ::faiss::METRIC_L2);
  });
}

TEST_CASE("A metric that FAISS does not build an index for is refused", "[faiss]") {
  require_faiss_error("for metric 1 alone", [&] {
    polarquant::index_factory(16, "HNSW8,PQ4np", ::faiss::METRIC_INNER_PRODUCT);
  });
}

TEST_CASE("A description is of 1000 bytes at the most", "[faiss]") {
  std::string description = "Polar4";
  while (description.size() < 1001) description.insert(0, "L2norm,");
  require_faiss_error("at most 1000 are allowed",
                      [&] { polarquant::index_factory(16, description, ::faiss::METRIC_L2); });
}

TEST_CASE("A graph of few centroids compares them all", "[faiss]") {
  const auto index = polarquant::index_factory(16, "IVF100_NSG8,Polar4", ::faiss::METRIC_L2);
  const std::vector<float> x = clustered_rows(4000, 16, 3);
  index->train(4000, x.data());
  index->add(4000, x.data());
  CHECK(find(*index, clustered_rows(5, 16, 4), 3).labels.size() == 15);
}

}  // namespace
}  // namespace polarquant::test
