// SPDX-License-Identifier: MIT
#include "bench/recall/hdf5_reader.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "bench/recall/input_file.h"
#include "bench/recall/matrix_layout.h"
#include "src/core/checked_size.h"
#include "src/core/status.h"

namespace polarquant::bench {
namespace {

static_assert(sizeof(hid_t) == sizeof(int64_t));

/// Closes one HDF5 handle; a negative one (a failed call) is never closed.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  hid_t get() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

const char* dataset_name(MatrixRole role) {
  switch (role) {
    case MatrixRole::base:
      return "train";
    case MatrixRole::query:
      return "test";
    case MatrixRole::ground_truth:
      return "neighbors";
  }
  return "";
}

struct Shape {
  int64_t rows = 0;
  int64_t columns = 0;
};

// deflate's best case; a compressed data set that claims more than the whole file could unpack to
// is damaged or a bomb.
constexpr uint64_t kMaxCompression = 1032;

/// Checks type, shape and stored size, so that what is allocated next is known to be there.
Shape checked_shape(const Handle& dataset, H5T_class_t wanted, const char* allowed,
                    uint64_t file_size, const std::string& where) {
  const Handle type(H5Dget_type(dataset.get()), &H5Tclose);
  const H5T_class_t found = type.ok() ? H5Tget_class(type.get()) : H5T_NO_CLASS;
  require(found == wanted, StatusCode::unsupported, "{}: its values are no {}", where, allowed);
  const Handle space(H5Dget_space(dataset.get()), &H5Sclose);
  const int rank = space.ok() ? H5Sget_simple_extent_ndims(space.get()) : -1;
  require(rank == 2, StatusCode::unsupported,
          "{}: {} dimensions (allowed: 2; sparse data sets are not read)", where, rank);
  std::array<hsize_t, 2> extent = {0, 0};
  H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  require(extent[1] >= 1 && extent[1] <= static_cast<hsize_t>(kMaxColumns),
          StatusCode::corrupt_data, "{}: {} columns (allowed: 1 to {})", where, extent[1],
          kMaxColumns);
  require(extent[0] >= 1, StatusCode::corrupt_data, "{}: 0 rows (allowed: 1 and more)", where);

  const uint64_t row_bytes = extent[1] * H5Tget_size(type.get());
  const Handle plan(H5Dget_create_plist(dataset.get()), &H5Pclose);
  const bool filtered = plan.ok() && H5Pget_nfilters(plan.get()) > 0;
  const uint64_t stored = H5Dget_storage_size(dataset.get());
  const uint64_t most_bytes = std::min(stored, file_size) * (filtered ? kMaxCompression : 1);
  if (extent[0] > most_bytes / row_bytes) {
    fail(StatusCode::corrupt_data,
         "{}: {} rows of {} bytes, but the file ({} bytes) stores {} bytes of it", where, extent[0],
         row_bytes, file_size, stored);
  }
  return {static_cast<int64_t>(extent[0]), static_cast<int64_t>(extent[1])};
}

/// Reads rows [0, rows) in blocks, converted by HDF5 to `memory_type`.
template <typename T>
void read_blocks(const Handle& dataset, hid_t memory_type, const Shape& shape, int64_t rows, T* out,
                 const OnProgress& on_progress, const std::string& where) {
  const Handle space(H5Dget_space(dataset.get()), &H5Sclose);
  const int64_t block_rows = std::max<int64_t>(1, (int64_t{4} << 20) / shape.columns);
  for (int64_t first = 0; first < rows; first += block_rows) {
    const int64_t count = std::min(block_rows, rows - first);
    const std::array<hsize_t, 2> start = {static_cast<hsize_t>(first), 0};
    const std::array<hsize_t, 2> extent = {static_cast<hsize_t>(count),
                                           static_cast<hsize_t>(shape.columns)};
    const Handle memory(H5Screate_simple(2, extent.data(), nullptr), &H5Sclose);
    const bool read = memory.ok() &&
                      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr,
                                          extent.data(), nullptr) >= 0 &&
                      H5Dread(dataset.get(), memory_type, memory.get(), space.get(), H5P_DEFAULT,
                              out + first * shape.columns) >= 0;
    require(read, StatusCode::corrupt_data, "{}: rows {} to {} cannot be read", where, first,
            first + count - 1);
    if (on_progress) on_progress(first + count, rows);
  }
}

int64_t rows_to_read(int64_t rows, int64_t max_rows) {
  return max_rows == kAllRows ? rows : std::min(rows, max_rows);
}

}  // namespace

bool is_hdf5(const std::string& path) { return path.ends_with(".hdf5") || path.ends_with(".h5"); }

Hdf5File::Hdf5File(const std::string& path) : path_(path) {
  const InputFile readable(path);  // a clear reason when there is no such file
  // HDF5 prints its own stack of errors otherwise.
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  require(file_ >= 0, StatusCode::corrupt_data, "{}: HDF5 cannot open it: damaged or no HDF5 file",
          path);
}

Hdf5File::~Hdf5File() { H5Fclose(file_); }

bool Hdf5File::holds(MatrixRole role) const {
  return H5Lexists(file_, dataset_name(role), H5P_DEFAULT) > 0;
}

FloatMatrix Hdf5File::read_floats(MatrixRole role, int64_t max_rows,
                                  const OnProgress& on_progress) const {
  const std::string where = path_ + ": data set '" + dataset_name(role) + "'";
  const Handle dataset(H5Dopen2(file_, dataset_name(role), H5P_DEFAULT), &H5Dclose);
  require(dataset.ok(), StatusCode::not_found, "{} is not there", where);
  const Shape shape =
      checked_shape(dataset, H5T_FLOAT, "floating-point numbers", InputFile(path_).size(), where);
  FloatMatrix out;
  out.rows_in_source = shape.rows;
  out.rows = rows_to_read(shape.rows, max_rows);
  out.dim = shape.columns;
  out.values.resize(checked_mul(out.rows, out.dim, where.c_str()));
  read_blocks(dataset, H5T_NATIVE_FLOAT, shape, out.rows, out.values.data(), on_progress, where);
  return out;
}

IdMatrix Hdf5File::read_ids(MatrixRole role, int64_t max_rows,
                            const OnProgress& on_progress) const {
  const std::string where = path_ + ": data set '" + dataset_name(role) + "'";
  const Handle dataset(H5Dopen2(file_, dataset_name(role), H5P_DEFAULT), &H5Dclose);
  require(dataset.ok(), StatusCode::not_found, "{} is not there", where);
  const Shape shape =
      checked_shape(dataset, H5T_INTEGER, "integers", InputFile(path_).size(), where);
  IdMatrix out;
  out.rows_in_source = shape.rows;
  out.rows = rows_to_read(shape.rows, max_rows);
  out.k = shape.columns;
  out.values.resize(checked_mul(out.rows, out.k, where.c_str()));
  read_blocks(dataset, H5T_NATIVE_INT64, shape, out.rows, out.values.data(), on_progress, where);
  return out;
}

std::optional<std::string> Hdf5File::distance() const {
  if (H5Aexists(file_, "distance") <= 0) return std::nullopt;
  const Handle attribute(H5Aopen(file_, "distance", H5P_DEFAULT), &H5Aclose);
  if (!attribute.ok()) return std::nullopt;
  const Handle type(H5Aget_type(attribute.get()), &H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), &H5Sclose);
  if (!type.ok() || !space.ok() || H5Tget_class(type.get()) != H5T_STRING ||
      H5Sget_simple_extent_npoints(space.get()) != 1) {
    return std::nullopt;
  }
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    const Handle memory(H5Tcopy(type.get()), &H5Tclose);
    if (H5Aread(attribute.get(), memory.get(), static_cast<void*>(&text)) < 0 || text == nullptr) {
      return std::nullopt;
    }
    std::string out(text);
    H5free_memory(text);
    return out;
  }
  std::vector<char> text(H5Tget_size(type.get()) + 1, '\0');
  if (text.size() > 4096 || H5Aread(attribute.get(), type.get(), text.data()) < 0) {
    return std::nullopt;
  }
  return std::string(text.data());
}

}  // namespace polarquant::bench
