// SPDX-License-Identifier: MIT
#include "src/device/cuda_lists.h"

#include <algorithm>
#include <utility>

#include "src/device/cuda_description.h"
#include "src/scan/search/query_tasks.h"

namespace polarquant::device {

CudaLists::CudaLists(const ListsSource& source) : CudaLists(source, ListIds(source.file)) {}

std::unique_ptr<CudaLists> CudaLists::without_ids(const ListsSource& source) {
  return std::unique_ptr<CudaLists>(new CudaLists(source, ListIds()));
}

void CudaLists::grow(CudaLists* before, const InvertedFile& grown) noexcept {
  ids_ = std::move(before->ids_);
  ids_.follow(grown);
}

CudaLists::CudaLists(const ListsSource& source, ListIds ids)
    : ids_(std::move(ids)), nprobe_(source.nprobe) {
  const CodeLists& lists = source.file.lists;
  first_rows_.push_back(0);
  for (int64_t list = 0; list < lists.count(); ++list) {
    const int64_t rows = lists.rows(list);
    rows_.push_back(rows);
    spans_.push_back(rows > 0 && lists.has_blocks() ? lists.span_count(list) : 0);
    first_rows_.push_back(first_rows_.back() + div_up(rows, kBlockRows) * kBlockRows);
    ntotal_ += rows;
  }
  const auto dim = static_cast<size_t>(source.file.codec.dim());
  rotated_.reserve(source.file.centres.size() * dim);
  for (const ListCentre& centre : source.file.centres) {
    rotated_.insert(rotated_.end(), centre.rotated, centre.rotated + dim);
    centres_.push_back({rotated_.data() + rotated_.size() - dim, centre.norm});
  }
}

std::vector<PartRange> CudaLists::split(int64_t parts) const {
  std::vector<PartRange> ranges;
  int64_t first = 0;
  for (int64_t part = 1; part <= parts; ++part) {
    const int64_t wanted = row_numbers() / parts * part + row_numbers() % parts * part / parts;
    auto end = std::lower_bound(first_rows_.begin(), first_rows_.end(), wanted);
    if (end != first_rows_.begin() && wanted - *(end - 1) < *end - wanted) --end;
    if (*end <= first) continue;
    ranges.push_back({first, *end - first});
    first = *end;
  }
  if (ranges.empty()) ranges.push_back({0, 0});
  return ranges;
}

std::vector<int64_t> CudaLists::rows_in(PartRange range) const {
  std::vector<int64_t> rows(rows_.size());
  for (size_t list = 0; list < rows_.size(); ++list) {
    const bool is_inside =
        first_rows_[list] >= range.first && first_rows_[list] < range.first + range.count;
    if (is_inside) rows[list] = rows_[list];
  }
  return rows;
}

ListsForDevices::ListsForDevices(const ListsSource& source) {
  const InvertedFile& file = source.file;
  const auto dim = static_cast<size_t>(file.codec.dim());
  description_.count = file.lists.count();
  description_.coarse_is_l2 = source.centroid_metric == Metric::l2 ? 1 : 0;
  description_.centroids = source.centroids;
  description_.values = describe_values(*file.scan_codec);
  for (const ListCentre& centre : file.centres) {
    rotated_centres_.insert(rotated_centres_.end(), centre.rotated, centre.rotated + dim);
    centre_norms_.push_back(centre.norm);
  }
  if (!file.centres.empty()) {
    description_.rotated_centres = rotated_centres_.data();
    description_.centre_norms = centre_norms_.data();
  }
  for (int64_t list = 0; list < file.lists.count(); ++list) {
    if (file.lists.rows(list) == 0) continue;
    for (size_t i = 0; i < file.lists.span_count(list); ++i)
      spans_.push_back(file.lists.span(list, i));
  }
}

cuda::ListsDescription ListsForDevices::with_rows(const std::vector<int64_t>& rows) const {
  cuda::ListsDescription description = description_;
  description.rows = rows.data();
  return description;
}

}  // namespace polarquant::device
