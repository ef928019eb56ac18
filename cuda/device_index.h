// SPDX-License-Identifier: MIT
// Codes of one index on one device, and the memory that searches of it work in.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "cuda/code_view.h"
#include "cuda/device_buffer.h"
#include "cuda/device_lists.h"
#include "cuda/query_preparation.h"
#include "cuda/workspace.h"

namespace polarquant::cuda {

class DeviceIndex {
 public:
  DeviceIndex(int device, const CodeDescription& code, int64_t rows);

  void write_blocks(int64_t first_block, int64_t blocks, const void* sketches,
                    const void* payloads);
  /// FunctionTable::read_rows.
  void read_rows(int64_t n, const int64_t* rows, void* sketches, void* payloads) const;
  /// FunctionTable::copy_rows.
  void copy_rows(const DeviceIndex& from, const int64_t* rows);
  /// Makes it an inverted file.
  void set_lists(const ListsDescription& lists);
  /// Lets searches take queries in the device's memory.
  void set_queries(const QueryDescription& queries);
  /// To be called when all blocks are there.
  void finish();

  int device() const { return device_; }
  int multiprocessors() const { return multiprocessors_; }
  /// For a thread block, at most.
  size_t shared_bytes() const { return shared_bytes_; }
  const CodeView& code() const { return view_; }
  /// Null unless it is an inverted file.
  const DeviceLists* lists() const { return lists_.get(); }
  /// Null unless queries may lie in the device's memory.
  const QueryPreparation* queries() const { return queries_.get(); }
  size_t memory_bytes() const;

  WorkspacePool& workspaces() const { return workspaces_; }

 private:
  void describe(const CodeDescription& code, int64_t rows);
  void upload_tables(const CodeDescription& code);
  void upload_plan(const PlanDescription& plan);
  void measure_squared_norms();

  int device_;
  int multiprocessors_ = 0;
  size_t shared_bytes_ = 0;
  CodeView view_ = {};
  DeviceBuffer sketches_;
  DeviceBuffer payloads_;
  DeviceBuffer tables_;
  DeviceBuffer cells_;
  DeviceBuffer plan_;
  std::unique_ptr<DeviceLists> lists_;
  std::unique_ptr<QueryPreparation> queries_;
  mutable WorkspacePool workspaces_;
};

}  // namespace polarquant::cuda
