// SPDX-License-Identifier: MIT
// Codes of one index on one device, and the memory that searches of it work in. How an index is
// made of another one, with more rows, is in extended_index.cu.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "cuda/code_view.h"
#include "cuda/device_buffer.h"
#include "cuda/device_lists.h"
#include "cuda/query_preparation.h"
#include "cuda/workspace.h"

namespace polarquant::cuda {

/// Blocks of rows, which an index and those that were extended from it in place have together.
struct BlockMemory {
  DeviceBuffer sketches;
  DeviceBuffer payloads;
  int64_t rows = 0;  // of the finished index that has most: others may write after these
};

/// What kernels look a code up in; the same for all rows.
struct CodeTables {
  DeviceBuffer tables;
  DeviceBuffer cells;
  DeviceBuffer plan;

  size_t bytes() const { return tables.bytes() + cells.bytes() + plan.bytes(); }
};

class DeviceIndex {
 public:
  DeviceIndex(int device, const CodeDescription& code, int64_t rows);
  /// FunctionTable::extend.
  DeviceIndex(const DeviceIndex& from, int64_t rows, const int64_t* sources);

  void write_blocks(int64_t first_block, int64_t blocks, const void* sketches,
                    const void* payloads);
  /// FunctionTable::put_blocks.
  void put_blocks(int64_t blocks, const int64_t* numbers, const void* sketches,
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

  WorkspacePool& workspaces() const { return *workspaces_; }

 private:
  void describe(const CodeDescription& code, int64_t rows);
  void upload_tables(const CodeDescription& code);
  void upload_plan(const PlanDescription& plan);
  void measure_squared_norms();
  size_t sketches_bytes() const;
  size_t payloads_bytes() const;
  /// The memory of `from`, if what is new fits there; else new memory with its blocks, and room.
  void stay_or_move(const DeviceIndex& from);
  void use(std::shared_ptr<BlockMemory> blocks);

  int device_;
  int multiprocessors_ = 0;
  size_t shared_bytes_ = 0;
  CodeView view_ = {};
  int64_t measured_rows_ = 0;  // the first rows, whose largest numbers `view_` has
  std::shared_ptr<BlockMemory> blocks_;
  std::shared_ptr<CodeTables> tables_ = std::make_shared<CodeTables>();
  std::unique_ptr<DeviceLists> lists_;
  std::shared_ptr<const QueryPreparation> queries_;
  std::shared_ptr<WorkspacePool> workspaces_ = std::make_shared<WorkspacePool>();
};

}  // namespace polarquant::cuda
