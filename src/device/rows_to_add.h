// SPDX-License-Identifier: MIT
// What a copy of an index lacks where rows have only been added to the index since.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/device/cuda_lists.h"
#include "src/scan/layout/block_layout.h"
#include "src/scan/layout/code_lists.h"

namespace polarquant::device {

/// New blocks, and blocks that had places for more rows, whose rows are copied to the device.
struct RowsToAdd {
  int64_t rows = 0;              // with those that are there
  std::vector<BlockRows> spans;  // the rows of these blocks; each span begins one
  int64_t first_block = 0;       // they are this block and those after it, or, of lists:
  std::vector<int64_t> numbers;  // these blocks
  /// Of lists, for each block the block that it is of the copy, −1 for one of these.
  std::vector<int64_t> sources;
};

/// Of an index without lists, whose rows lie in `spans`; of these the first `before` are there.
RowsToAdd rows_after(const BlockLayout& layout, std::span<const BlockRows> spans, int64_t before);

/// Of lists: how they are, how they were when they were copied, and their rows.
RowsToAdd rows_after(const CudaLists& now, const CudaLists& before, const CodeLists& rows);

}  // namespace polarquant::device
