// SPDX-License-Identifier: MIT
// Codec::score of rows of an inverted file, about their lists' centres. For one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/aligned_buffer.h"
#include "src/scan/search/list_search.h"

namespace polarquant {

class ListRowScorer {
 public:
  /// `file` is borrowed.
  explicit ListRowScorer(const InvertedFile& file)
      : file_(file),
        code_(file.lists.code_bytes()),
        decoded_(static_cast<size_t>(file.codec.dim())) {}

  /// The query about the list's centre, which may be in *memory.
  const PreparedQuery& residual(const PreparedQuery& query, int64_t list,
                                PreparedQuery* memory) const {
    if (file_.centres.empty()) return query;
    file_.codec.residual_query(query, file_.centres[static_cast<size_t>(list)], memory);
    return *memory;
  }
  /// The same: until the next one, or score.
  const PreparedQuery& residual(const PreparedQuery& query, int64_t list) {
    return residual(query, list, &residual_);
  }

  /// Decodes a row: until the next one is.
  RowTerms decode(int64_t list_offset) {
    file_.lists.get(list_of_offset(list_offset), row_of_offset(list_offset), code_.data());
    return file_.codec.decode_for_score({code_.data(), 1}, 0, decoded_.data());
  }
  const float* decoded() const { return decoded_.data(); }

  float score(const PreparedQuery& query, int64_t list_offset) {
    const RowTerms terms = decode(list_offset);
    return file_.codec.score_decoded(residual(query, list_of_offset(list_offset)), terms,
                                     decoded_.data());
  }

 private:
  const InvertedFile& file_;
  std::vector<uint8_t> code_;
  AlignedVector<float> decoded_;
  PreparedQuery residual_;
};

}  // namespace polarquant
