// SPDX-License-Identifier: MIT
// FAISS's way to copy a range of ids between inverted files, whose arguments differ by release.
#pragma once

#include <faiss/IndexIVF.h>

#include <cstdint>

namespace polarquant::test {

/// Subset: int, in newer FAISS an enumeration; 0 is a range of ids.
template <typename Subset>
void copy_ids_by(void (::faiss::IndexIVF::*copy)(::faiss::IndexIVF&, Subset, int64_t, int64_t)
                     const,
                 const ::faiss::IndexIVF& from, ::faiss::IndexIVF* to, int64_t first, int64_t end) {
  (from.*copy)(*to, static_cast<Subset>(0), first, end);
}

/// Rows with ids first … end−1.
inline void copy_ids(const ::faiss::IndexIVF& from, ::faiss::IndexIVF* to, int64_t first,
                     int64_t end) {
  copy_ids_by(&::faiss::IndexIVF::copy_subset_to, from, to, first, end);
}

}  // namespace polarquant::test
