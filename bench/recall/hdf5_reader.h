// SPDX-License-Identifier: MIT
// The HDF5 files of ann-benchmarks: data sets train (n, dim), test (nq, dim), neighbors (nq, k),
// and the attribute "distance". Their sparse and binary variants are refused.
#pragma once

#include <optional>
#include <string>

#include "bench/recall/matrix.h"
#include "bench/recall/matrix_reader.h"

namespace polarquant::bench {

/// By the file's ending (.hdf5, .h5).
bool is_hdf5(const std::string& path);

/// Errors: as matrix_reader.h; the field is the data set's name.
class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  bool holds(MatrixRole role) const;
  /// float16, float32 and float64 data are read as float32.
  FloatMatrix read_floats(MatrixRole role, int64_t max_rows, const OnProgress& on_progress) const;
  IdMatrix read_ids(MatrixRole role, int64_t max_rows, const OnProgress& on_progress) const;
  /// The file's "distance" attribute ("angular", "euclidean", …), if it has one that is a text.
  std::optional<std::string> distance() const;

 private:
  std::string path_;
  int64_t file_ = -1;  // hid_t, which is an int64_t; keeps HDF5's header out of this one
};

}  // namespace polarquant::bench
