// SPDX-License-Identifier: MIT
// Ranges of the numbers in factory strings, and which index may be inside which: FAISS's factory
// divides by these numbers, shifts by them and takes memory for them, and builds indexes that
// cannot do their work.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <string>

namespace polarquant {

/// The most lists of a new inverted file: each takes memory before it has a row.
inline constexpr int64_t kMostNewLists = int64_t{1} << 20;

/// Throws bad_argument for a name with numbers that is not one of the table's, or with a number out
/// of its range, and where FAISS would build tables of more than 2^28 numbers.
void require_description(int d, const std::string& description);

/// Throws unsupported unless an index that was built of a description can be trained, filled,
/// searched and written: refused are id maps inside others, refinements whose rows cannot be scored
/// one by one, graphs of too few centroids, and indexes that FAISS does not write. Graphs of few
/// centroids are told to compare all of them, and inverted files that find lists to keep a map.
void make_usable(::faiss::Index& index, const std::string& description);

}  // namespace polarquant
