// SPDX-License-Identifier: MIT
// The rows that a filter keeps of an inverted file, as vectors rounded to bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/aligned_buffer.h"
#include "src/scan/search/byte_vectors.h"
#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/list_search.h"

namespace polarquant {

/// Their products with a query tell which of the rows can be among its best: Codec::score is linear
/// in the rotated query, but for terms that the rows share.
///
/// With ŷ, C and S the decoded row and its terms (RowTerms) about the list's centre c, and q the
/// rotated query (Codec::residual_query):
///   inner product: ⟨q,c⟩ + ⟨q,c⟩·C/‖c‖ + S⟨q − c⟨q,c⟩/‖c‖², ŷ⟩ = ⟨q, c(1 + C/‖c‖ − S⟨c,ŷ⟩/‖c‖²) +
///   Sŷ⟩ L2: ‖q−c‖² + C + S⟨q−c, ŷ⟩ = ‖q‖² + (‖c‖² + C − S⟨c,ŷ⟩) + ⟨q, Sŷ − 2c⟩
///
/// Vectors lie in tiles of 16, those of a list together, and lists whose centres are near each
/// other too, so that the mean of a tile tells how near its vectors are: where there are many, the
/// tiles of the best means are read alone. Lists would serve as well, but have few of the rows
/// each.
class KeptVectors {
 public:
  KeptVectors(const InvertedFile& file, const KeptListRows& kept);

  struct Memory {
    AlignedVector<int8_t> values;
    AlignedVector<float> all;  // similarity, by number
    std::vector<int64_t> tiles;
    std::vector<float> similarity;  // of the vectors of these
    std::vector<int64_t> found;
  };
  /// Finds the list_offsets of the rows that can be among the k best, of all rows or, if there are
  /// more than `most`, of about so many, k at least.
  void find_candidates(const PreparedQuery& query, int64_t k, int64_t most, Memory* memory,
                       std::vector<int64_t>* list_offsets) const;

 private:
  void put_rows(const InvertedFile& file);
  int64_t count() const { return static_cast<int64_t>(list_offsets_.size()); }

  bool is_l2_;
  bool has_centres_;  // of lists
  std::vector<int64_t> list_offsets_;
  ByteVectors bytes_;
  ByteVectors means_;  // of tiles
};

/// The numbers of lists in an order in which neighbours have centres that are near each other, as
/// far as that is found in little time; rising where lists have no centres.
std::vector<int64_t> lists_by_place(const InvertedFile& file);

}  // namespace polarquant
