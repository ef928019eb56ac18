// SPDX-License-Identifier: MIT
// Where the rows lie in a file of one matrix. Each format has one function that reads its header,
// checks it against the file's length and says so; matrix_reader.cc then reads the rows of all.
#pragma once

#include <cstdint>
#include <string>

#include "bench/recall/input_file.h"

namespace polarquant::bench {

enum class ElementType { float32, float16, int32, int64 };

uint64_t element_bytes(ElementType type);
/// "float32", "int64", …
const char* element_name(ElementType type);
bool is_float(ElementType type);

struct MatrixLayout {
  int64_t rows = 0;
  int64_t dim = 0;
  ElementType type = ElementType::float32;
  uint64_t data_offset = 0;
  /// Bytes in front of each row; TEXMEX puts the dimension there, again in each row.
  uint64_t row_prefix_bytes = 0;

  uint64_t row_bytes() const {
    return row_prefix_bytes + static_cast<uint64_t>(dim) * element_bytes(type);
  }
};

/// Larger claims are taken for damage: no embedding and no neighbour list is this wide.
inline constexpr int64_t kMaxColumns = int64_t{1} << 20;

/// NumPy's .npy, versions 1 to 3: two dimensions, C order, little-endian; see "allowed" in the
/// errors.
MatrixLayout npy_layout(const InputFile& file);
/// TEXMEX .fvecs and .ivecs: per row an int32 dimension, then that many values.
MatrixLayout texmex_layout(const InputFile& file, ElementType type);
/// big-ann .fbin, .f16bin, .ibin: uint32 rows, uint32 dim, then the rows. After the ids of an
/// .ibin the same number of float32 distances may follow, as in that project's ground truth.
MatrixLayout big_ann_layout(const InputFile& file, ElementType type);

/// Throws corrupt_data unless 1 ≤ dim ≤ kMaxColumns, rows ≥ 1 and the rows fit after data_offset;
/// returns the bytes they take. No product here can wrap.
uint64_t checked_data_bytes(const InputFile& file, const MatrixLayout& layout);

}  // namespace polarquant::bench
