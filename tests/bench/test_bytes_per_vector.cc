// SPDX-License-Identifier: MIT
// Bytes per vector by class of index, against counts made by hand.
#include "bench/recall/bytes_per_vector.h"

#include <faiss/IndexIDMap.h>
#include <faiss/index_factory.h>

#include <memory>
#include <numeric>
#include <vector>

#include "tests/support/catch.h"

namespace polarquant::bench {
namespace {

constexpr int kDim = 16;
constexpr int64_t kRows = 640;

std::unique_ptr<::faiss::Index> filled(const char* description) {
  std::vector<float> x;
  uint64_t state = 7;
  for (int64_t i = 0; i < kRows * kDim; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    x.push_back(static_cast<float>(state >> 40) * 0x1p-24F);
  }
  std::unique_ptr<::faiss::Index> index(::faiss::index_factory(kDim, description));
  index->train(kRows, x.data());
  if (dynamic_cast<::faiss::IndexIDMap*>(index.get()) != nullptr) {  // it takes no rows without ids
    std::vector<int64_t> ids(kRows);
    std::iota(ids.begin(), ids.end(), 0);
    index->add_with_ids(kRows, x.data(), ids.data());
  } else {
    index->add(kRows, x.data());
  }
  return index;
}

struct Expected {
  const char* description;
  double bytes;
  const char* rule;
};

}  // namespace

TEST_CASE("bytes per vector follow the index's parts", "[unit]") {
  const Expected expected =
      GENERATE(Expected{"Flat", 64, "IndexFlatCodes"}, Expected{"SQ8", 16, "IndexFlatCodes"},
               Expected{"SQ4", 8, "IndexFlatCodes"}, Expected{"SQfp16", 32, "IndexFlatCodes"},
               Expected{"PQ8x4np", 4, "IndexFlatCodes"}, Expected{"LSH", 2, "IndexFlatCodes"},
               Expected{"PQ8x4fs", 4, "IndexFastScan"},
               Expected{"IDMap,SQ8", 24, "IndexIDMap(IndexFlatCodes)"},
               Expected{"PCA8,SQ8", 8, "IndexPreTransform(IndexFlatCodes)"},
               Expected{"SQ4,RFlat", 72, "IndexRefine(IndexFlatCodes + IndexFlatCodes)"},
               Expected{"IVF4,Flat", 72, "IndexIVF"}, Expected{"IVF4,SQ8", 24, "IndexIVF"},
               Expected{"IVF4,PQ8x4np", 12, "IndexIVF"});
  INFO(expected.description);
  const VectorCost cost = bytes_per_vector(*filled(expected.description));
  REQUIRE(cost.bytes == expected.bytes);
  REQUIRE(cost.rule == expected.rule);
}

TEST_CASE("a graph's links are counted beside its storage", "[unit]") {
  const std::unique_ptr<::faiss::Index> index = filled("HNSW8,SQ8");
  const VectorCost cost = bytes_per_vector(*index);
  // Each node has 2·8 links of 4 bytes on the lowest level, an 8-byte offset and a 4-byte level;
  // the upper levels add links to one node in eight or so.
  REQUIRE(cost.bytes > 16 + 64 + 12);
  REQUIRE(cost.bytes < 16 + 64 + 12 + 16);
  REQUIRE(cost.rule == "IndexHNSW(IndexFlatCodes)");
}

TEST_CASE("an index without rows has no bytes per vector", "[unit]") {
  const std::unique_ptr<::faiss::Index> index(::faiss::index_factory(kDim, "Flat"));
  REQUIRE(bytes_per_vector(*index).bytes == -1);
}

TEST_CASE("every rule gives its reason", "[unit]") {
  for (const StorageRuleText& rule : storage_rules()) {
    REQUIRE_FALSE(rule.class_name.empty());
    REQUIRE_FALSE(rule.reason.empty());
  }
}

}  // namespace polarquant::bench
