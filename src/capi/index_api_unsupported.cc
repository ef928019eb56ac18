// SPDX-License-Identifier: MIT
// The index calls of the C ABI in a library built without FAISS: each says so.
#include "polarquant/polarquant.h"
#include "src/capi/error_text.h"

namespace {

template <typename Handle = polar_index>
polar_status unsupported(Handle** out = nullptr) noexcept {
  if (out != nullptr) *out = nullptr;
  polarquant::capi::set_last_error(
      "index: this library was built without FAISS (POLARQUANT_FAISS=OFF); codec calls are "
      "allowed");
  return POLAR_ERROR_UNSUPPORTED;
}

}  // namespace

extern "C" polar_status polar_index_create(const char*, int32_t, polar_metric, polar_index** out) {
  return unsupported(out);
}

extern "C" void polar_index_destroy(polar_index*) {}

extern "C" polar_status polar_index_train(polar_index*, int64_t, const float*,
                                          const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_add(polar_index*, int64_t, const float*,
                                        const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_add_with_ids(polar_index*, int64_t, const float*,
                                                 const int64_t*, const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_search(const polar_index*, int64_t, const float*, int64_t,
                                           const polar_search_options*, float*, int64_t*) {
  return unsupported();
}

extern "C" polar_status polar_index_get_info(const polar_index*, polar_index_info*) {
  return unsupported();
}

extern "C" polar_status polar_index_explain(const polar_index*, int64_t, int64_t,
                                            const polar_search_options*, char*, size_t, size_t*) {
  return unsupported();
}

extern "C" size_t polar_index_description(const polar_index*, char* buf, size_t cap) {
  return polarquant::capi::copy_text("", buf, cap);
}

extern "C" int64_t polar_index_ntotal(const polar_index*) { return 0; }

extern "C" int32_t polar_index_is_trained(const polar_index*) { return 0; }

extern "C" polar_status polar_index_code_size(const polar_index*, size_t*) { return unsupported(); }

extern "C" polar_status polar_index_reconstruct(const polar_index*, int64_t, float*) {
  return unsupported();
}

extern "C" polar_status polar_index_range_search(const polar_index*, int64_t, const float*, float,
                                                 const polar_search_options*, int64_t, int64_t*,
                                                 float*, int64_t*) {
  return unsupported();
}

extern "C" polar_status polar_index_remove(polar_index*, int64_t, const int64_t*, int64_t*) {
  return unsupported();
}

extern "C" polar_status polar_index_remove_filtered(polar_index*, const polar_filter*, int64_t*) {
  return unsupported();
}

extern "C" polar_status polar_index_update(polar_index*, int64_t, const int64_t*, const float*,
                                           const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_upsert(polar_index*, int64_t, const int64_t*, const float*,
                                           const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_compact(polar_index*, const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_merge(polar_index*, polar_index*, const polar_work_options*) {
  return unsupported();
}

extern "C" int64_t polar_index_nlist(const polar_index*) { return 0; }

extern "C" int64_t polar_index_nprobe(const polar_index*) { return 0; }

extern "C" polar_status polar_index_set_nprobe(polar_index*, int64_t) { return unsupported(); }

extern "C" polar_status polar_index_train_with_centroids(polar_index*, int64_t, const float*,
                                                         int64_t, const float*,
                                                         const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_add_to_lists(polar_index*, int64_t, const float*,
                                                 const int64_t*, const int64_t*,
                                                 const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_save(const polar_index*, const char*,
                                         const polar_save_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_save_to(const polar_index*, polar_write_fn, void*,
                                            const polar_save_options*) {
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

extern "C" polar_status polar_merge_files(int64_t, const char* const*, const char*,
                                          const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_index_open_shards(int64_t, const char* const*, polar_index** out) {
  return unsupported(out);
}

extern "C" polar_status polar_index_partial_bytes(const polar_index*, int64_t, int64_t, size_t*) {
  return unsupported();
}

extern "C" polar_status polar_index_search_partial(const polar_index*, int64_t, int64_t,
                                                   const float*, int64_t,
                                                   const polar_search_options*, size_t, uint8_t*,
                                                   size_t*) {
  return unsupported();
}

extern "C" polar_status polar_index_load_empty(const char*, polar_index** out) {
  return unsupported(out);
}

extern "C" polar_status polar_builder_create(const polar_index*, const char*,
                                             const polar_builder_options*, polar_builder** out) {
  return unsupported(out);
}

extern "C" polar_status polar_builder_resume(const char*, const polar_builder_options*,
                                             polar_builder** out) {
  return unsupported(out);
}

extern "C" void polar_builder_destroy(polar_builder*) {}

extern "C" polar_status polar_builder_add(polar_builder*, int64_t, const float*,
                                          const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_builder_add_with_ids(polar_builder*, int64_t, const float*,
                                                   const int64_t*, const polar_work_options*) {
  return unsupported();
}

extern "C" polar_status polar_builder_write_part(polar_builder*) { return unsupported(); }

extern "C" polar_status polar_builder_finish(polar_builder*, const polar_work_options*) {
  return unsupported();
}

extern "C" int32_t polar_builder_dim(const polar_builder*) { return 0; }

extern "C" int64_t polar_builder_ntotal(const polar_builder*) { return 0; }

extern "C" int64_t polar_builder_written(const polar_builder*) { return 0; }
