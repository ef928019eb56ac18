// SPDX-License-Identifier: MIT
// Vectors and ids from files: .npy, .fvecs, .ivecs, .fbin, .f16bin, .ibin, and the data sets of
// ann-benchmarks' HDF5 files.
#pragma once

#include <string>

#include "bench/recall/matrix.h"

namespace polarquant::bench {

/// Which of a benchmark's three matrices is wanted; an HDF5 file holds them all.
enum class MatrixRole { base, query, ground_truth };

/// "a.npy, .fvecs, …": what the two functions below can read, for help texts.
std::string float_formats();
std::string id_formats();

/// Reads the first max_rows rows (kAllRows: every one) as float32. float16 is widened exactly.
/// Throws Error naming the file and: the field, its value and what is allowed (corrupt_data,
/// unsupported, newer_format), or the first row with a NaN or infinity (bad_argument).
FloatMatrix read_float_matrix(const std::string& path, MatrixRole role, int64_t max_rows,
                              const OnProgress& on_progress);

/// The same for ids of 32 or 64 bits. Ids are not checked here: the base is not known.
IdMatrix read_id_matrix(const std::string& path, MatrixRole role, int64_t max_rows,
                        const OnProgress& on_progress);

}  // namespace polarquant::bench
