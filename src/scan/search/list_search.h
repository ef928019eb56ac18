// SPDX-License-Identifier: MIT
// Searches of some lists of an inverted file, those that are probed for each query.
// docs/dev/kernels.md, "Inverted files", explains it.
#pragma once

#include <cstdint>
#include <span>

#include "src/codec/codec.h"
#include "src/scan/layout/code_lists.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// An inverted file as a search reads it; everything is borrowed.
struct InvertedFile {
  const Codec& codec;
  const ScanCodec* scan_codec;  // null for codes without int8 values
  const CodeLists& lists;
  /// The centre of each list's codes; empty: all lists have the codec's own centre.
  std::span<const ListCentre> centres;
  /// By id, −1 for none, where ids are positions; empty: not known.
  std::span<const int64_t> list_offsets = {};
};

/// The lists to search for each query, (nq, nprobe), nearest first; −1: none.
struct ListProbes {
  const int64_t* lists;
  int64_t nprobe;
  /// A query's lists are searched until so many rows were read; 0: all lists.
  int64_t max_rows = 0;

  int64_t list(int64_t query, int64_t probe) const { return lists[query * nprobe + probe]; }
};

/// The label that a search returns for a row.
enum class RowLabel {
  id,
  list_offset,  // list << 32 | row of the list
};

/// A row's list_offset as one number.
constexpr int64_t list_offset(int64_t list, int64_t row) { return list << 32 | row; }
constexpr int64_t list_of_offset(int64_t list_offset) { return list_offset >> 32; }
constexpr int64_t row_of_offset(int64_t list_offset) { return list_offset & 0xffffffff; }

/// Searches the probed lists for each query; result ids are labels, ties by lower label, and the
/// filter is over ids. The k best rows are those of the largest min(score, bounds), by int8 values
/// where the codec has them, ties to the lower list_offset, and by score alone in lists with few
/// rows that the filter is known to keep (KeptListRows); it returns Codec::score of each about its
/// list's centre, to the bit, in the order of these. Rows within a radius are those whose score is,
/// except rows that have a bound outside, as in block_search. The result does not depend on threads
/// or the machine. Throws bad_argument for a request that is not allowed, lists that are not there,
/// and queries that are not finite.
void list_search(const InvertedFile& file, const ListProbes& probes, RowLabel label,
                 const SearchRequest& request, const SearchResult& result);

}  // namespace polarquant
