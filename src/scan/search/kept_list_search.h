// SPDX-License-Identifier: MIT
// Searches of an inverted file for the rows that a filter keeps. Where these are few, lists tell
// little: the lists nearest to a query have too few of them, and more lists take as long however
// few rows are read there. All rows that are kept are then scored in their place.
#pragma once

#include <cstdint>
#include <vector>

#include "src/scan/search/byte_vectors.h"
#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/list_search.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// The rows that a filter keeps as vectors rounded to bytes, whose products with a query tell which
/// of them can be among its best: Codec::score is linear in the rotated query, but for terms that
/// the rows share.
///
/// With ŷ, C and S the decoded row and its terms (RowTerms) about the list's centre c, and q the
/// rotated query (Codec::residual_query):
///   inner product: ⟨q,c⟩ + ⟨q,c⟩·C/‖c‖ + S⟨q − c⟨q,c⟩/‖c‖², ŷ⟩ = ⟨q, c(1 + C/‖c‖ − S⟨c,ŷ⟩/‖c‖²) +
///   Sŷ⟩ L2: ‖q−c‖² + C + S⟨q−c, ŷ⟩ = ‖q‖² + (‖c‖² + C − S⟨c,ŷ⟩) + ⟨q, Sŷ − 2c⟩
class KeptVectors {
 public:
  KeptVectors(const InvertedFile& file, const KeptListRows& kept);

  /// Finds the list_offsets of the rows that can be among the k best.
  struct Memory {
    AlignedVector<int8_t> values;
    AlignedVector<float> similarity;
    std::vector<int64_t> numbers;
  };
  void find_candidates(const PreparedQuery& query, int64_t k, Memory* memory,
                       std::vector<int64_t>* list_offsets) const;

 private:
  bool is_l2_;
  bool has_centres_;  // of lists
  std::vector<int64_t> list_offsets_;
  ByteVectors bytes_;
};

struct KeptRowsSearch {
  bool done = false;
  int64_t wanted_rows = 0;  // kept ones that a query's lists are to have (more_lists.h)
};
/// Searches for the k best rows by Codec::score of all that the request's filter keeps, ties to the
/// lower list_offset, where these are few enough for that to be fast, and is `done`. Else it gives
/// the request a filter that is asked faster, and an nprobe with which lists find as much of what
/// is kept as the request's own, 1 to all lists, finds of all rows.
KeptRowsSearch search_kept_rows(const InvertedFile& file, int64_t rows, SearchRequest* request,
                                const SearchResult& result);

}  // namespace polarquant
