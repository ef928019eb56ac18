// SPDX-License-Identifier: MIT
#include "src/device/cuda_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace polarquant::device {
namespace {

constexpr char kLibraryName[] = "libpolarquant_cuda.so.0";

struct Loaded {
  const cuda::FunctionTable* functions = nullptr;
  std::string error;
};

/// The folder of the library, or program, that this code is in; "" where that is not known.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&cuda_functions), &info) == 0) return "";
  const std::string path = info.dli_fname != nullptr ? info.dli_fname : "";
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::vector<std::string> places() {
  const char* given = std::getenv("POLARQUANT_CUDA_LIBRARY");
  if (given != nullptr && *given != 0) return {given};
  std::vector<std::string> found;
  const std::string folder = own_folder();
  if (!folder.empty()) found.push_back(folder + kLibraryName);
  found.emplace_back(kLibraryName);
  return found;
}

Loaded load() {
  Loaded loaded;
  for (const std::string& place : places()) {
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* text = dlerror();
      loaded.error += (loaded.error.empty() ? "" : "; ") + std::string(text != nullptr ? text : "");
      continue;
    }
    using EntryPoint = const cuda::FunctionTable* (*)();
    const auto entry = reinterpret_cast<EntryPoint>(dlsym(library, cuda::kEntryPoint));
    const cuda::FunctionTable* functions = entry != nullptr ? entry() : nullptr;
    if (functions != nullptr && functions->version == cuda::kInterfaceVersion &&
        functions->table_bytes == sizeof(cuda::FunctionTable)) {
      loaded.functions = functions;
      return loaded;
    }
    loaded.error = place + ": it belongs to another version of this library";
    dlclose(library);
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
