// SPDX-License-Identifier: MIT
// The headers of TEXMEX and big-ann files, and the size checks all formats share. For .npy see
// npy_layout.cc.
#include "bench/recall/matrix_layout.h"

#include <bit>

#include "src/core/status.h"

namespace polarquant::bench {

static_assert(std::endian::native == std::endian::little, "the readers copy little-endian files");

uint64_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return 2;
    case ElementType::int64:
      return 8;
    case ElementType::float32:
    case ElementType::int32:
      return 4;
  }
  return 0;
}

const char* element_name(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return "float32";
    case ElementType::float16:
      return "float16";
    case ElementType::int32:
      return "int32";
    case ElementType::int64:
      return "int64";
  }
  return "unknown";
}

bool is_float(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float16;
}

uint64_t checked_data_bytes(const InputFile& file, const MatrixLayout& layout) {
  require(layout.dim >= 1 && layout.dim <= kMaxColumns, StatusCode::corrupt_data,
          "{}: dimension {} (allowed: 1 to {})", file.path(), layout.dim, kMaxColumns);
  require(layout.rows >= 1, StatusCode::corrupt_data, "{}: {} rows (allowed: 1 and more)",
          file.path(), layout.rows);
  const uint64_t data_bytes = file.size() - layout.data_offset;
  if (static_cast<uint64_t>(layout.rows) > data_bytes / layout.row_bytes()) {
    fail(
        StatusCode::corrupt_data,
        "{}: {} rows x {} {} need {} bytes a row, but only {} bytes follow the header (room for {} "
        "rows)",
        file.path(), layout.rows, layout.dim, element_name(layout.type), layout.row_bytes(),
        data_bytes, data_bytes / layout.row_bytes());
  }
  return static_cast<uint64_t>(layout.rows) * layout.row_bytes();
}

MatrixLayout texmex_layout(const InputFile& file, ElementType type) {
  int32_t dim = 0;
  file.read_at(0, &dim, sizeof dim, "the first row's dimension");
  MatrixLayout layout{
      .rows = 1, .dim = dim, .type = type, .data_offset = 0, .row_prefix_bytes = sizeof dim};
  checked_data_bytes(file, layout);
  require(
      file.size() % layout.row_bytes() == 0, StatusCode::corrupt_data,
      "{}: {} bytes are no multiple of {}, the bytes of a row of dimension {}: truncated, or no "
      "TEXMEX file",
      file.path(), file.size(), layout.row_bytes(), dim);
  layout.rows = static_cast<int64_t>(file.size() / layout.row_bytes());
  return layout;
}

MatrixLayout big_ann_layout(const InputFile& file, ElementType type) {
  uint32_t header[2] = {0, 0};
  file.read_at(0, header, sizeof header, "the header (rows, dimension)");
  const MatrixLayout layout{.rows = header[0],
                            .dim = header[1],
                            .type = type,
                            .data_offset = sizeof header,
                            .row_prefix_bytes = 0};
  const uint64_t bytes = checked_data_bytes(file, layout);
  const uint64_t remaining_bytes = file.size() - sizeof header - bytes;
  const bool distances_follow = type == ElementType::int32 && remaining_bytes == bytes;
  require(remaining_bytes == 0 || distances_follow, StatusCode::corrupt_data,
          "{}: {} rows x {} {} take {} bytes after the header, but {} follow (allowed: exactly as "
          "many{})",
          file.path(), layout.rows, layout.dim, element_name(type), bytes, bytes + remaining_bytes,
          type == ElementType::int32 ? ", or twice as many: ids, then float32 distances" : "");
  return layout;
}

}  // namespace polarquant::bench
