// SPDX-License-Identifier: MIT
// The differences between FAISS releases, in one place. Features are detected, never versions
// compared: the version macros of some releases name another one.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <type_traits>

// DistanceComputer has moved out of AuxIndexStructures.h, IDSelector too.
#if __has_include(<faiss/impl/DistanceComputer.h>)
#include <faiss/impl/DistanceComputer.h>
#else
#include <faiss/impl/AuxIndexStructures.h>
#endif
#if __has_include(<faiss/impl/IDSelector.h>)
#include <faiss/impl/IDSelector.h>
#endif

namespace faiss {
// Only declared: newer releases define it (IndexRefine.h): k_factor and the base's parameters.
struct IndexRefineSearchParameters;
// The same (IDSelector.h): selectors made from two others.
struct IDSelectorAnd;
struct IDSelectorOr;
struct IDSelectorXOr;
}  // namespace faiss

namespace polarquant {

/// Whether the FAISS at hand defines T. To be used after the #include that would define it.
template <typename T>
concept Defined = requires {
  sizeof(T);
};

/// The type of ids: faiss::idx_t, in older releases faiss::Index::idx_t.
using idx_t = std::remove_const_t<decltype(::faiss::Index::ntotal)>;
static_assert(std::is_same_v<idx_t, int64_t>, "IndexPolar's overrides take int64_t ids");

}  // namespace polarquant
