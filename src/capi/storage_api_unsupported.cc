// SPDX-License-Identifier: MIT
// The index calls that save and load, in a library built without FAISS: each says so.
#include "polarquant/polarquant.h"
#include "src/capi/error_text.h"

namespace {

polar_status unsupported(polar_index** out = nullptr) noexcept {
  if (out != nullptr) *out = nullptr;
  polarquant::capi::set_last_error(
      "index: this library was built without FAISS (POLARQUANT_FAISS=OFF); codec calls are "
      "allowed");
  return POLAR_ERROR_UNSUPPORTED;
}

}  // namespace

extern "C" polar_status polar_index_save(const polar_index*, const char*) { return unsupported(); }

extern "C" polar_status polar_index_save_with_options(const polar_index*, const char*,
                                                      const polar_save_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_save_to(const polar_index*, polar_write_fn, void*) {
  return unsupported();
}

extern "C" polar_status polar_index_load(const char*, const polar_load_options*,
                                         polar_index** out) {
  return unsupported(out);
}

extern "C" polar_status polar_index_load_from(polar_read_fn, void*, const polar_load_options*,
                                              polar_index** out) {
  return unsupported(out);
}

extern "C" polar_status polar_index_verify(const polar_index*) { return unsupported(); }

extern "C" polar_status polar_index_clone(const polar_index*, polar_index** out) {
  return unsupported(out);
}

extern "C" polar_status polar_index_memory_bytes(const polar_index*, size_t*) {
  return unsupported();
}
