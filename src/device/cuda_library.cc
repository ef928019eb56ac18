// SPDX-License-Identifier: MIT
#include "src/device/cuda_library.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "src/core/platform/platform.h"

namespace polarquant::device {
namespace {

struct Loaded {
  const cuda::FunctionTable* functions = nullptr;
  std::string error;
};

std::vector<std::string> places() {
  const char* given = std::getenv("POLARQUANT_CUDA_LIBRARY");
  if (given != nullptr && *given != 0) return {given};
  const std::string file = platform::library_file("polarquant_cuda");
  const std::string folder =
      platform::folder_of_code(reinterpret_cast<const void*>(&cuda_functions));
  if (folder.empty()) return {file};
  return {folder + file, file};
}

Loaded load() {
  Loaded loaded;
  for (const std::string& place : places()) {
    std::string error;
    void* const library = platform::open_library(place, &error);
    if (library == nullptr) {
      loaded.error += (loaded.error.empty() ? "" : "; ") + error;
      continue;
    }
    using EntryPoint = const cuda::FunctionTable* (*)();
    const auto entry =
        reinterpret_cast<EntryPoint>(platform::find_function(library, cuda::kEntryPoint));
    const cuda::FunctionTable* functions = entry != nullptr ? entry() : nullptr;
    if (functions != nullptr && functions->version == cuda::kInterfaceVersion &&
        functions->table_bytes == sizeof(cuda::FunctionTable)) {
      loaded.functions = functions;
      return loaded;
    }
    loaded.error = place + ": it belongs to another version of this library";
    platform::close_library(library);
    return loaded;
  }
  return loaded;
}

}  // namespace

const cuda::FunctionTable& cuda_functions() {
  static const Loaded loaded = load();
  require(loaded.functions != nullptr, StatusCode::unsupported,
          "CUDA: libpolarquant_cuda is not loaded ({})", loaded.error);
  return *loaded.functions;
}

void require_cuda_device(const char* name, int32_t device) {
  int32_t count = 0;
  call_cuda(cuda_functions().device_count, &count);
  require(count > 0, StatusCode::unsupported, "CUDA: there is no device, or no driver for one");
  require(device >= 0 && device < count, StatusCode::bad_argument, "{}: {} is not allowed; 0 to {}",
          name, device, count - 1);
}

}  // namespace polarquant::device
