// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/faiss_codes.h"

#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexScalarQuantizer.h>

#include <algorithm>
#include <vector>

#include "src/core/parallel.h"

namespace polarquant {
namespace {

/// Rows of one task, and rows whose residuals are in memory at a time.
constexpr int64_t kTaskRows = 64;
constexpr idx_t kBlockRows = 4096;
/// From this many numbers a part on, FAISS codes by matrices, in loops that take no memory.
constexpr size_t kWidePart = 16;

template <typename Body>
void for_tasks(int64_t n, const Body& body) {
  const int64_t tasks = (n + kTaskRows - 1) / kTaskRows;
  parallel_for(tasks, thread_count(0, tasks), [&](int64_t task, int) {
    const int64_t end = std::min(n, (task + 1) * kTaskRows);
    for (int64_t row = task * kTaskRows; row < end; ++row) body(row);
  });
}

void encode_product(const ::faiss::ProductQuantizer& pq, idx_t n, const float* x, uint8_t* codes) {
  if (pq.dsub >= kWidePart) {
    pq.compute_codes(x, codes, static_cast<size_t>(n));
    return;
  }
  for_tasks(n, [&](int64_t row) {
    const auto at = static_cast<size_t>(row);
    pq.compute_code(x + at * pq.d, codes + at * pq.code_size);
  });
}

/// encode(count, x, codes) of x less the centroids of its lists, block by block.
template <typename Encode>
void encode_residuals(const ::faiss::IndexIVF& index, idx_t n, const float* x, const idx_t* lists,
                      uint8_t* codes, const Encode& encode) {
  const auto d = static_cast<size_t>(index.d);
  std::vector<float> residuals(static_cast<size_t>(std::min(n, kBlockRows)) * d);
  for (idx_t first = 0; first < n; first += kBlockRows) {
    const idx_t count = std::min(kBlockRows, n - first);
    for_tasks(count, [&](int64_t row) {
      float* residual = &residuals[static_cast<size_t>(row) * d];
      const idx_t list = lists[first + row];
      if (list < 0) {
        std::fill_n(residual, d, 0.0F);
      } else {
        index.quantizer->compute_residual(x + static_cast<size_t>(first + row) * d, residual, list);
      }
    });
    encode(count, residuals.data(), codes + static_cast<size_t>(first) * index.code_size);
  }
}

}  // namespace

void encode_for_lists(const ::faiss::IndexIVF& index, idx_t n, const float* x, const idx_t* lists,
                      uint8_t* codes) {
  const auto* scalar = dynamic_cast<const ::faiss::IndexIVFScalarQuantizer*>(&index);
  const auto* product = dynamic_cast<const ::faiss::IndexIVFPQ*>(&index);
  if (scalar != nullptr && scalar->by_residual) {
    encode_residuals(index, n, x, lists, codes,
                     [&](idx_t count, const float* residuals, uint8_t* to) {
                       scalar->sq.compute_codes(residuals, to, static_cast<size_t>(count));
                     });
  } else if (scalar != nullptr) {
    scalar->sq.compute_codes(x, codes, static_cast<size_t>(n));
  } else if (product != nullptr && product->by_residual) {
    encode_residuals(index, n, x, lists, codes,
                     [&](idx_t count, const float* residuals, uint8_t* to) {
                       encode_product(product->pq, count, residuals, to);
                     });
  } else if (product != nullptr) {
    encode_product(product->pq, n, x, codes);
  } else {
    index.encode_vectors(n, x, lists, codes);
  }
}

void encode_flat(const ::faiss::IndexPQ& index, idx_t n, const float* x, uint8_t* codes) {
  encode_product(index.pq, n, x, codes);
}

}  // namespace polarquant
