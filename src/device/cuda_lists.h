// SPDX-License-Identifier: MIT
// The lists of an inverted file as devices have them: every list begins a block, so that row
// numbers count spare rows after a list's last one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cuda/interface.h"
#include "src/device/cuda_parts.h"
#include "src/device/list_ids.h"
#include "src/scan/search/list_search.h"

namespace polarquant::device {

/// An inverted file that is to be copied to devices; all is borrowed.
struct ListsSource {
  InvertedFile file;
  const float* centroids;  // (lists, dim), the nearest of which are a query's lists
  Metric centroid_metric;
  int64_t nprobe;  // for searches that give none
};

class CudaLists {
 public:
  explicit CudaLists(const ListsSource& source);
  /// The same, without ids: grow() gives them those of lists of which these have all rows, and
  /// more.
  static std::unique_ptr<CudaLists> without_ids(const ListsSource& source);
  /// Takes the memory that grow() needs; nothing else changes.
  void reserve_ids(const InvertedFile& grown) { ids_.reserve(grown); }
  /// Takes the ids of `before`, and adds those of the rows that came.
  void grow(CudaLists* before, const InvertedFile& grown) noexcept;

  int64_t count() const { return std::ssize(rows_); }
  int64_t rows(int64_t list) const { return rows_[static_cast<size_t>(list)]; }
  int64_t first_row(int64_t list) const { return first_rows_[static_cast<size_t>(list)]; }
  /// In how many pieces a list lay when it was copied.
  size_t spans(int64_t list) const { return spans_[static_cast<size_t>(list)]; }
  /// As of InvertedFile; they are copies.
  std::span<const ListCentre> centres() const { return centres_; }
  std::span<const int64_t> list_offsets() const { return ids_.list_offsets(); }
  int64_t nprobe() const { return nprobe_; }
  void set_nprobe(int64_t nprobe) { nprobe_ = nprobe; }
  int64_t ntotal() const { return ntotal_; }
  /// With the spare rows after lists.
  int64_t row_numbers() const { return first_rows_.back(); }
  /// −1 for a spare row: an index's rows have other ids.
  int64_t id(int64_t row_number) const { return ids_[row_number]; }
  /// Those of a list's rows.
  const int64_t* ids(int64_t list) const { return ids_.list(list); }
  /// The lists as at most `parts` ranges of row numbers that are about equal. None is empty but the
  /// only one of no rows.
  std::vector<PartRange> split(int64_t parts) const;
  /// (lists): how many rows of each list lie in a range of split().
  std::vector<int64_t> rows_in(PartRange range) const;

 private:
  CudaLists(const ListsSource& source, ListIds ids);

  std::vector<int64_t> rows_;        // (lists)
  std::vector<int64_t> first_rows_;  // (lists + 1)
  ListIds ids_;
  std::vector<size_t> spans_;        // (lists)
  std::vector<float> rotated_;       // (lists, dim), or empty
  std::vector<ListCentre> centres_;  // likewise
  int64_t nprobe_;
  int64_t ntotal_ = 0;
};

/// The description of lists for devices, beside their rows; valid while this and the source are.
class ListsForDevices {
 public:
  explicit ListsForDevices(const ListsSource& source);

  /// `rows`: (lists), those that are on the device.
  cuda::ListsDescription with_rows(const std::vector<int64_t>& rows) const;
  /// Their blocks, list by list.
  const std::vector<BlockRows>& spans() const { return spans_; }

 private:
  cuda::ListsDescription description_ = {};
  std::vector<float> rotated_centres_;
  std::vector<float> centre_norms_;
  std::vector<BlockRows> spans_;
};

}  // namespace polarquant::device
