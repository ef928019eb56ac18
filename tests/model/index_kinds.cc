// SPDX-License-Identifier: MIT
#include "tests/model/index_kinds.h"

namespace polarquant::test {
namespace {

constexpr unsigned kRows = kTakesIds | kReconstructs | kFindsAll | kFilters;
constexpr unsigned kOurs =
    kRows | kRemovesIds | kRenumbers | kUpdates | kUpserts | kFindsRanges | kMerges | kMaps;
constexpr unsigned kOurLists =
    kRows | kRemovesIds | kUpdates | kUpserts | kFindsRanges | kMerges | kMaps;
constexpr unsigned kTheirLists =
    (kRows & ~kFilters) | kRemovesIds | kFindsRanges | kMerges | kHashesIds;
constexpr unsigned kRefined =
    kMaps | kReconstructs | kFindsAll | kFilters | kRenumbers | kUpdates | kFindsRanges;
constexpr unsigned kGraph = kReconstructs | kFilters | kBatchesShow;

// Errors are for about three times what each code's is on average.
constexpr IndexKind kKinds[] = {
    {"Polar0.5", 70, kOurs, 2},
    {"Polar2", 64, kOurs, .3},
    {"Polar2", 130, kOurs, .3},
    {"Polar4", 20, kOurs, .1},
    {"Polar8", 33, kOurs, .01},
    {"Polar4+2", 64, kOurs, .02},
    {"Polar2-pca", 70, kOurs, .9},
    {"PolarTree4.2.2.2", 16, kOurs, .6},
    {"PolarPair4x4", 16, kOurs | kClips, .3},
    {"PolarScalar4", 20, kOurs, .1},
    {"IDMap,Polar4", 20, kOurs & ~(kRenumbers | kUpserts | kReconstructs), .1},
    {"IDMap2,Polar4", 20, kOurs & ~(kRenumbers | kUpserts), .1},
    {"PCA12,Polar4", 20, kOurs | kBatchesShow, 1.2},
    {"PCA12,IDMap2,Polar8", 20, (kOurs & ~(kRenumbers | kUpserts)) | kBatchesShow, 1.2},
    {"IVF4,Polar4", 20, kOurLists, .1},
    {"IVF7,Polar2", 70, kOurLists, .3},
    {"IVF3,PolarTree4.2.2.2", 16, kOurLists, .6},
    {"IVF4_HNSW4,Polar4", 16, kOurLists, .1},
    {"PCA12,IVF4,Polar8", 20, kOurLists | kBatchesShow, 1.2},
    {"IDMap2,IVF4,Polar4", 20, kOurLists & ~kUpserts, .1},
    {"IVF4,Flat", 16, kTheirLists, 1e-9},
    {"IVF4,SQ8", 16, kTheirLists | kClips, .2},
    {"Flat", 16, kReconstructs | kFindsAll | kRenumbers | kFindsRanges | kMerges, 1e-9},
    {"IDMap2,Flat", 16, (kRows & ~kFilters) | kRemovesIds | kFindsRanges | kMerges, 1e-9},
    {"SQ8", 16, kReconstructs | kFindsAll | kRenumbers | kMerges | kClips, .2},
    {"Polar2,RFlat", 20, kRefined, 1e-9},
    {"IVF4,Polar2,Refine(Polar8)", 20, kRefined, .01},
    {"IDMap2,Polar2,RFlat", 20, kMaps | kRows | kRemovesIds | kUpdates | kFindsRanges, 1e-9},
    {"IDMap2,IVF4,Polar4,RFlat", 20, kMaps | kRows | kRemovesIds | kUpdates | kFindsRanges, 1e-9},
    {"HNSW8,Polar4", 20, kGraph | kRenumbers | kUpdates | kFindsRanges, .1},
    {"IDMap2,HNSW8,Polar4", 20, kGraph | kTakesIds | kRemovesIds | kUpdates | kFindsRanges, .1},
    {"HNSW8x,Polar8", 20, kGraph | kRenumbers | kUpdates | kFindsRanges, .01},
    {"IDMap2,HNSW5x,Polar4", 20, kGraph | kTakesIds | kRemovesIds | kUpdates | kFindsRanges, .1},
    {"HNSW8,Flat", 16, kGraph | kRenumbers, 1e-9},
    {"HNSW8,Polar2,Refine(Polar8)", 20, kGraph | kRenumbers | kMaps | kUpdates | kFindsRanges, .01},
    {"IDMap2,HNSW8,Polar2,RFlat", 20, kGraph | kTakesIds | kRemovesIds | kUpdates | kFindsRanges,
     1e-9},
    {"NSG8,Polar4", 20, kGraph | kBuildsOnce | kRenumbers | kUpdates | kFindsRanges, .1},
    {"IDMap2,NSG8,Polar4", 20,
     kGraph | kBuildsOnce | kTakesIds | kRemovesIds | kUpdates | kFindsRanges, .1},
    {"NSG8,Polar2,RFlat", 20, kGraph | kBuildsOnce | kRenumbers | kUpdates | kFindsRanges, 1e-9},
};

}  // namespace

std::span<const IndexKind> index_kinds() { return kKinds; }

}  // namespace polarquant::test
