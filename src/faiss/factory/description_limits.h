// SPDX-License-Identifier: MIT
// What the numbers in factory strings may be, and what may stand in what: FAISS's factory divides
// by them, shifts by them and takes memory for them, and builds indexes that cannot do what they
// were built for.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <string>

namespace polarquant {

/// Lists that an inverted file may be made with, each of which takes memory before it has a row.
inline constexpr int64_t kMostNewLists = int64_t{1} << 20;

/// Throws bad_argument for a name with numbers that is not one of the table's, or with a number out
/// of its range, and where the tables of what FAISS would build have more than 2^28 numbers.
void require_description(int d, const std::string& description);

/// Throws unsupported unless an index that was built of a description can be trained, filled,
/// searched and written: id maps inside others, refinements whose rows cannot be scored one by one,
/// graphs of too few centroids, what FAISS does not write. Graphs of few centroids are told to
/// compare all of them, and inverted files that find lists to keep a map.
void make_usable(::faiss::Index& index, const std::string& description);

}  // namespace polarquant
