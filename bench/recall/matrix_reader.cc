// SPDX-License-Identifier: MIT
#include "bench/recall/matrix_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "bench/recall/hdf5_reader.h"
#include "bench/recall/matrix_layout.h"
#include "src/codec/float16.h"
#include "src/core/checked_size.h"
#include "src/core/status.h"

namespace polarquant::bench {
namespace {

struct Format {
  const char* extension;
  bool holds_floats;
  bool holds_ids;
  MatrixLayout (*layout)(const InputFile& file);
};

constexpr Format kFormats[] = {
    {".npy", true, true, &npy_layout},
    {".fvecs", true, false,
     [](const InputFile& f) { return texmex_layout(f, ElementType::float32); }},
    {".ivecs", false, true,
     [](const InputFile& f) { return texmex_layout(f, ElementType::int32); }},
    {".fbin", true, false,
     [](const InputFile& f) { return big_ann_layout(f, ElementType::float32); }},
    {".f16bin", true, false,
     [](const InputFile& f) { return big_ann_layout(f, ElementType::float16); }},
    {".ibin", false, true,
     [](const InputFile& f) { return big_ann_layout(f, ElementType::int32); }},
};

std::string formats(bool Format::*wanted) {
  std::string out;
  for (const Format& format : kFormats) {
    if (format.*wanted) out += std::string(format.extension) + ", ";
  }
  return out + ".hdf5, .h5";
}

const Format& format_of(const std::string& path, bool Format::*wanted, const char* what) {
  for (const Format& format : kFormats) {
    if (path.ends_with(format.extension) && format.*wanted) return format;
  }
  fail(StatusCode::unsupported, "{}: the file name's ending is none for {} (allowed: {})", path,
       what, formats(wanted));
}

/// Calls use(first row, rows, bytes) for blocks of a few MiB, so that memory holds the result and
/// little else. The prefix of each row is checked on the way.
template <typename Use>
void for_each_block(const InputFile& file, const MatrixLayout& layout, int64_t rows,
                    const OnProgress& on_progress, Use&& use) {
  const uint64_t row_bytes = layout.row_bytes();
  const auto block_rows =
      static_cast<int64_t>(std::max<uint64_t>(1, (uint64_t{4} << 20) / row_bytes));
  std::vector<unsigned char> block;
  for (int64_t first = 0; first < rows; first += block_rows) {
    const int64_t count = std::min(block_rows, rows - first);
    block.resize(static_cast<uint64_t>(count) * row_bytes);
    file.read_at(layout.data_offset + static_cast<uint64_t>(first) * row_bytes, block.data(),
                 block.size(), "the rows");
    for (int64_t r = 0; r < count; ++r) {
      const unsigned char* row = block.data() + static_cast<uint64_t>(r) * row_bytes;
      if (layout.row_prefix_bytes != 0) {
        int32_t dim = 0;
        std::memcpy(&dim, row, sizeof dim);
        require(dim == layout.dim, StatusCode::corrupt_data,
                "{}: row {} says dimension {} (allowed: {}, as row 0 says)", file.path(), first + r,
                dim, layout.dim);
      }
      use(first + r, row + layout.row_prefix_bytes);
    }
    if (on_progress) on_progress(first + count, rows);
  }
}

int64_t rows_to_read(int64_t rows, int64_t max_rows) {
  return max_rows == kAllRows ? rows : std::min(rows, max_rows);
}

void widen_row(const unsigned char* bytes, ElementType type, int64_t dim, float* out) {
  if (type == ElementType::float32) {
    std::memcpy(out, bytes, static_cast<size_t>(dim) * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < dim; ++i) {
    uint16_t half = 0;
    std::memcpy(&half, bytes + 2 * i, sizeof half);
    out[i] = half_to_float(half);
  }
}

void widen_ids(const unsigned char* bytes, ElementType type, int64_t k, int64_t* out) {
  if (type == ElementType::int64) {
    std::memcpy(out, bytes, static_cast<size_t>(k) * sizeof(int64_t));
    return;
  }
  for (int64_t i = 0; i < k; ++i) {
    int32_t id = 0;
    std::memcpy(&id, bytes + 4 * i, sizeof id);
    out[i] = id;
  }
}

void require_finite(const FloatMatrix& matrix, const std::string& path) {
  for (int64_t r = 0; r < matrix.rows; ++r) {
    const float* row = matrix.row(r);
    for (int64_t c = 0; c < matrix.dim; ++c) {
      if (!std::isfinite(row[c])) {
        fail(StatusCode::bad_argument, "{}: row {} column {} is {} (allowed: finite numbers)", path,
             r, c, row[c]);
      }
    }
  }
}

}  // namespace

std::string float_formats() { return formats(&Format::holds_floats); }
std::string id_formats() { return formats(&Format::holds_ids); }

FloatMatrix read_float_matrix(const std::string& path, MatrixRole role, int64_t max_rows,
                              const OnProgress& on_progress) {
  FloatMatrix out;
  if (is_hdf5(path)) {
    out = Hdf5File(path).read_floats(role, max_rows, on_progress);
  } else {
    const Format& format = format_of(path, &Format::holds_floats, "vectors");
    const InputFile file(path);
    const MatrixLayout layout = format.layout(file);
    require(is_float(layout.type), StatusCode::unsupported,
            "{}: {} values (allowed for vectors: float32, float16)", path,
            element_name(layout.type));
    out.rows_in_source = layout.rows;
    out.rows = rows_to_read(layout.rows, max_rows);
    out.dim = layout.dim;
    out.values.resize(checked_mul(out.rows, out.dim, path.c_str()));
    for_each_block(file, layout, out.rows, on_progress, [&](int64_t r, const unsigned char* bytes) {
      widen_row(bytes, layout.type, out.dim, out.row(r));
    });
  }
  require_finite(out, path);
  return out;
}

IdMatrix read_id_matrix(const std::string& path, MatrixRole role, int64_t max_rows,
                        const OnProgress& on_progress) {
  if (is_hdf5(path)) return Hdf5File(path).read_ids(role, max_rows, on_progress);
  const Format& format = format_of(path, &Format::holds_ids, "ids");
  const InputFile file(path);
  const MatrixLayout layout = format.layout(file);
  require(!is_float(layout.type), StatusCode::unsupported,
          "{}: {} values (allowed for ids: int32, int64)", path, element_name(layout.type));
  IdMatrix out;
  out.rows_in_source = layout.rows;
  out.rows = rows_to_read(layout.rows, max_rows);
  out.k = layout.dim;
  out.values.resize(checked_mul(out.rows, out.k, path.c_str()));
  for_each_block(file, layout, out.rows, on_progress, [&](int64_t r, const unsigned char* bytes) {
    widen_ids(bytes, layout.type, out.k, out.row(r));
  });
  return out;
}

}  // namespace polarquant::bench
