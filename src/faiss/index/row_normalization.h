// SPDX-License-Identifier: MIT
// Scaling rows to length 1, FAISS's "L2norm", with sums in one order: a row is scaled to the same
// floats, and so has the same code, on every machine and with every release of FAISS. FAISS's own
// sum depends on the instructions that it was built for, and on the compiler in newer releases.
#pragma once

#include <faiss/VectorTransform.h>

#include <memory>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

struct RowNormalization final : ::faiss::NormalizationTransform {
  using NormalizationTransform::NormalizationTransform;

  /// x, (n, d), to xt, (n, d). Rows of length 0 stay as they are. Takes the threads that the
  /// call has (core/call_threads.h).
  void apply_noalloc(idx_t n, const float* x, float* xt) const override;
};

/// A RowNormalization in the place of a transform that scales rows to length 1; any other is
/// returned as it is.
std::unique_ptr<::faiss::VectorTransform> with_own_normalization(
    std::unique_ptr<::faiss::VectorTransform> transform);

}  // namespace polarquant
