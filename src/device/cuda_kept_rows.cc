// SPDX-License-Identifier: MIT
#include "src/device/cuda_kept_rows.h"

#include <bit>

namespace polarquant::device {
namespace {

/// Rows of a range that are kept, counted from its first one, which begins a block.
std::vector<int64_t> rows_in(const KeptRows& kept, const PartRange& range) {
  std::vector<int64_t> rows;
  for (int64_t first = 0; first < range.count; first += kBlockRows) {
    uint64_t left = kept.words()[static_cast<size_t>((range.first + first) / kBlockRows)];
    // A part that does not end with its last block is the last one.
    for (; left != 0; left &= left - 1) rows.push_back(first + std::countr_zero(left));
  }
  return rows;
}

}  // namespace

CudaKeptRows::CudaKeptRows(const CudaParts& parts, const cuda::CodeDescription& code,
                           const KeptRows& kept, bool are_few, DeviceThreads* threads) {
  if (!are_few) {
    bits_.resize(parts.size());
    threads->run_together(parts.size(), [&](size_t i) {
      bits_[i] = parts[i]->copy_bits(kept.words().data() + parts[i]->rows().first / kBlockRows);
    });
    return;
  }
  copies_.resize(parts.size());
  rows_.resize(parts.size());
  threads->run_together(parts.size(), [&](size_t i) {
    rows_[i] = rows_in(kept, parts[i]->rows());
    copies_[i] = std::make_shared<const CudaRows>(*parts[i], code, rows_[i]);
  });
}

void CudaKeptRows::number(size_t i, std::span<int64_t> rows) const {
  if (copies_.empty()) return;
  for (int64_t& row : rows)
    if (row >= 0) row = rows_[i][static_cast<size_t>(row)];
}

}  // namespace polarquant::device
