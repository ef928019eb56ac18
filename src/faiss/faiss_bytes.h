// SPDX-License-Identifier: MIT
// Checks of the bytes that FAISS writes, before FAISS's reader sees them: it takes memory for any
// size it reads, and later follows numbers of lists, rows and neighbours wherever they lead.
//
// The layouts are those of FAISS's index_write.cpp, which keeps a layout for ever and gives a
// changed one another four-character name. Kinds without a row here are refused, or trusted where
// the caller says so. Everything throws corrupt_data, for unknown kinds unsupported.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polarquant {

/// What the bytes of an index say.
struct FaissFacts {
  int dim = 0;
  int64_t ntotal = 0;
  int metric = 0;
  bool is_trained = false;
  /// Whether each label of a search is −1 or below ntotal.
  bool labels_are_rows = false;
};

/// has_coarse: as read_faiss_section's.
FaissFacts check_faiss_index(const uint8_t* data, size_t bytes, bool has_coarse);
void check_faiss_transform(const uint8_t* data, size_t bytes);

}  // namespace polarquant
