// SPDX-License-Identifier: MIT
// What tests ask of the library that stands where libpolarquant_cuda would. It has devices in this
// machine's memory. Its scores are not those of codes but numbers made of a row's bytes and a
// query's, few different ones, so that splitting and merging must keep many ties.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polarquant::test {

inline constexpr int32_t kPlainDevices = 3;

struct PlainDevices {
  /// Indexes on a device now.
  int32_t (*indexes)(int32_t device);
  /// Searches that a device has done.
  int64_t (*searches)(int32_t device);
  /// A device's calls of one kind fail with this status and text; status 0: no more.
  void (*fail_create)(int32_t device, int32_t status, const char* text);
  /// The index after so many more, on any device, is not made for want of memory.
  void (*fail_create_after)(int32_t indexes);
  void (*fail_search)(int32_t device, int32_t status, const char* text);
  void (*fail_write)(int32_t device, int32_t status, const char* text);
  /// Searches from now on wait until so many run at the same time, up to ten seconds, and fail
  /// where they do not; 0: no more.
  void (*meet)(int32_t searches);
  /// Memory that counts as a device's from now on; 0 bytes: no more.
  void (*lend)(const void* first, size_t bytes, int32_t device);
  /// Copies that the library was asked for, of either direction.
  int64_t (*copies)();
  /// Blocks that came from the host to any device.
  int64_t (*written_blocks)();
};

/// extern "C" const PlainDevices* polarquant_plain_devices(void).
inline constexpr char kPlainDevicesEntry[] = "polarquant_plain_devices";

}  // namespace polarquant::test
