// SPDX-License-Identifier: MIT
// Scratch memory of calls: taken once, grown to their needs, and kept for the next one.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cuda/device_buffer.h"

namespace polarquant::cuda {

/// The memory of one call at a time.
struct Workspace {
  DeviceBuffer device;
  PinnedBuffer pinned;
};

class WorkspacePool {
 public:
  /// Takes a workspace that nobody else uses until it is put back.
  std::unique_ptr<Workspace> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return std::make_unique<Workspace>();
    std::unique_ptr<Workspace> workspace = std::move(idle_.back());
    idle_.pop_back();
    return workspace;
  }
  void put_back(std::unique_ptr<Workspace> workspace) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(workspace));
  }
  /// Bytes on the device of workspaces that nobody uses.
  size_t idle_bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    size_t bytes = 0;
    for (const auto& workspace : idle_) bytes += workspace->device.bytes();
    return bytes;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
};

/// Puts its workspace back once nothing that was started uses it.
class WorkspaceLease {
 public:
  WorkspaceLease(WorkspacePool& pool, cudaStream_t stream)
      : pool_(pool), stream_(stream), workspace_(pool.take()) {}
  ~WorkspaceLease() {
    cudaStreamSynchronize(stream_);
    pool_.put_back(std::move(workspace_));
  }
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;
  Workspace& operator*() const { return *workspace_; }

 private:
  WorkspacePool& pool_;
  cudaStream_t stream_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace polarquant::cuda
