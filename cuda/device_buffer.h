// SPDX-License-Identifier: MIT
// Memory of the device, and of the host where the device reaches it, owned and growing: what a
// search needs is taken once and kept for the next one.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "cuda/cuda_check.h"

namespace polarquant::cuda {

/// Makes a device current, and the previous one again at the end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    POLAR_CUDA_CHECK(cudaGetDevice(&before_));
    if (before_ != device) POLAR_CUDA_CHECK(cudaSetDevice(device));
    device_ = device;
  }
  ~CurrentDevice() {
    if (before_ != device_) cudaSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
  int device_ = 0;
};

enum class Memory { device, pinned };

/// Untyped memory of one kind; contents are lost when it grows.
template <Memory kind>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&&) = delete;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  size_t bytes() const { return bytes_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

  /// Grows to at least `bytes`; costs nothing where there are as many already.
  void need(size_t bytes) {
    if (bytes <= bytes_) return;
    release();
    if constexpr (kind == Memory::device) {
      POLAR_CUDA_CHECK(cudaMalloc(&data_, bytes));
    } else {
      POLAR_CUDA_CHECK(cudaMallocHost(&data_, bytes));
    }
    bytes_ = bytes;
  }

 private:
  void release() noexcept {
    if (data_ == nullptr) return;
    if constexpr (kind == Memory::device) {
      cudaFree(data_);
    } else {
      cudaFreeHost(data_);
    }
    data_ = nullptr;
    bytes_ = 0;
  }

  void* data_ = nullptr;
  size_t bytes_ = 0;
};

using DeviceBuffer = Buffer<Memory::device>;
using PinnedBuffer = Buffer<Memory::pinned>;

/// Hands out parts of one buffer, each on a 256-byte boundary. Without a buffer it counts.
class Carver {
 public:
  explicit Carver(void* base) : base_(static_cast<unsigned char*>(base)) {}
  template <typename T>
  T* take(size_t count) {
    T* place = base_ != nullptr ? reinterpret_cast<T*>(base_ + used_) : nullptr;
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return place;
  }
  size_t used() const { return used_; }

 private:
  unsigned char* base_;
  size_t used_ = 0;
};

}  // namespace polarquant::cuda
