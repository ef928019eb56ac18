// SPDX-License-Identifier: MIT
#include "cuda/device_lists.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/cuda_check.h"
#include "cuda/device_memory.h"

namespace polarquant::cuda {

DeviceLists::DeviceLists(const ListsDescription& lists, int dim, int64_t blocks) {
  const auto count = static_cast<size_t>(lists.count);
  std::vector<uint32_t> first_blocks(count);
  std::vector<uint32_t> rows(count);
  int64_t block = 0;
  int64_t with_rows = 0;
  for (size_t list = 0; list < count; ++list) {
    first_blocks[list] = static_cast<uint32_t>(block);
    rows[list] = static_cast<uint32_t>(lists.rows[list]);
    block += (lists.rows[list] + kBlockRows - 1) / kBlockRows;
    rows_ += lists.rows[list];
    with_rows += lists.rows[list] > 0 ? 1 : 0;
    longest_ = std::max(longest_, lists.rows[list]);
  }
  if (block != blocks)
    throw DeviceError(StatusCode::internal, "lists of " + std::to_string(block) +
                                                " blocks are not those of an index of " +
                                                std::to_string(blocks));
  if (with_rows > 0) mean_ = rows_ / with_rows;
  view_.count = lists.count;
  view_.coarse_is_l2 = lists.coarse_is_l2;
  view_.values = lists.values;
  const size_t numbers = count * static_cast<size_t>(dim);
  const bool has_centres = lists.rotated_centres != nullptr;
  const auto carve = [&](void* base) {
    Carver carver(base);
    view_.first_blocks = upload_place(&carver, count, first_blocks.data());
    view_.rows = upload_place(&carver, count, rows.data());
    view_.centroids = upload_place(&carver, numbers, lists.centroids);
    if (has_centres) {
      view_.rotated_centres = upload_place(&carver, numbers, lists.rotated_centres);
      view_.centre_norms = upload_place(&carver, count, lists.centre_norms);
    }
    return carver.used();
  };
  memory_.need(carve(nullptr));
  carve(memory_.as<void>());
}

}  // namespace polarquant::cuda
