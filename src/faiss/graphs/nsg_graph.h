// SPDX-License-Identifier: MIT
// The rules of an NSG graph, so that no walk over it leaves its arrays and FAISS's way of building
// it ends. The names are those of faiss::IndexNSG and faiss::NSG, of which these are the public
// fields.
#pragma once

#include <faiss/IndexNSG.h>

#include <cstdint>
#include <span>

namespace polarquant {

/// The least of links of a row in factory strings, FAISS's R. With fewer FAISS often never finds a
/// row that has a free link, and goes on looking.
inline constexpr int64_t kLeastNsgLinks = 8;
inline constexpr int64_t kMostNsgLinks = 1024;

/// The numbers that FAISS builds and searches a graph by.
struct NsgNumbers {
  int32_t R, L, C, search_L;
  int32_t GK, build_type;
  int32_t nndescent_S, nndescent_R, nndescent_L, nndescent_iter;
};

struct NsgField {
  const char* name;
  int32_t NsgNumbers::*value;
  int32_t least;
  int32_t most;
};
/// In the order in which files have them.
std::span<const NsgField> nsg_fields();

NsgNumbers nsg_numbers(const ::faiss::IndexNSG& index);
void set_nsg_numbers(const NsgNumbers& numbers, ::faiss::IndexNSG& index);

/// Null when each number is in its range, else the row of the first that is not.
const NsgField* nsg_field_out_of_range(const NsgNumbers& numbers);

/// Whether the neighbours of n rows, which FAISS builds a graph of, are found by comparing each
/// with all, and not by FAISS's NN-descent.
bool compares_all_rows(const ::faiss::IndexNSG& index, int64_t n);

/// Throws bad_argument unless FAISS can build a graph of n rows: with too few for the index's
/// numbers it reads memory that it never wrote, or never ends.
void require_buildable(const ::faiss::IndexNSG& index, int64_t n);
/// The same for a graph of FAISS's own, which is told to compare all rows where they are few.
void prepare_building(::faiss::IndexNSG& index, int64_t n);

/// Rows times links of a row, which FAISS counts by an int.
inline constexpr int64_t kMaxNsgLinks = INT32_MAX;

/// Links of a graph: (n, degree), of each row those to others, then −1s.
struct NsgLinks {
  int64_t n = 0;
  int64_t degree = 0;
  const int32_t* links = nullptr;
};
/// Null when the links are sound and the entry point is one of the rows (−1 where there are none),
/// else what is wrong.
const char* flaw_of(const NsgLinks& graph, int64_t entry_point);

}  // namespace polarquant
