// SPDX-License-Identifier: MIT
// Threads that wait for devices. They are kept from call to call: CUDA makes its own state for
// every thread, so that a new one costs more than the device takes for a search of one query.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace polarquant::device {

class DeviceThreads {
 public:
  DeviceThreads();
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;
  ~DeviceThreads();

  /// Calls body(0) … body(count − 1) at the same time, all but the first on threads of their own,
  /// not OpenMP's, which are for work and may be fewer. Returns when all have ended, and throws the
  /// error of the lowest number that failed. Several callers at a time have as many threads each. A
  /// forked child, which has lost the threads, runs one part after the other.
  void run_together(size_t count, const std::function<void(size_t part)>& body);

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace polarquant::device
