// SPDX-License-Identifier: MIT
#include "src/io/mapped_file.h"

#include <windows.h>

// After windows.h, which it needs.
#include <psapi.h>

#include "src/core/status.h"
#include "src/io/system_file.h"

namespace polarquant {

MappedFile::MappedFile(const std::string& path) {
  const SystemFile file(path, SystemFile::Opening::read);
  bytes_ = file.bytes();
  require(bytes_ > 0, StatusCode::corrupt_data, "{}: is empty; it is no index file", path);
  const HANDLE mapping = CreateFileMappingW(reinterpret_cast<HANDLE>(file.handle()), nullptr,
                                            PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr) fail_by_system(path, "map");
  data_ = static_cast<const uint8_t*>(MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0));
  // The view keeps what it needs of both.
  const DWORD error = GetLastError();
  CloseHandle(mapping);
  SetLastError(error);
  if (data_ == nullptr) fail_by_system(path, "map");
}

// Unlocking what is not locked takes it out of the process's memory, and says that it failed.
void MappedFile::release_pages() const {
  static_cast<void>(VirtualUnlock(const_cast<uint8_t*>(data_), bytes_));
}

// A mapping has no such hint here: the system reads some pages more than are asked for.
void MappedFile::expect_scattered(size_t /*offset*/, size_t /*bytes*/) const {}

// What the system refuses costs time alone.
void MappedFile::read_ahead(size_t offset, size_t bytes) const {
  WIN32_MEMORY_RANGE_ENTRY range = {const_cast<uint8_t*>(data_) + offset, bytes};
  static_cast<void>(PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0));
}

bool MappedFile::is_resident(size_t offset) const {
  PSAPI_WORKING_SET_EX_INFORMATION page = {};
  page.VirtualAddress = const_cast<uint8_t*>(data_) + offset;
  return K32QueryWorkingSetEx(GetCurrentProcess(), &page, sizeof page) == 0 ||
         page.VirtualAttributes.Valid != 0;
}

MappedFile::~MappedFile() { UnmapViewOfFile(data_); }

}  // namespace polarquant
