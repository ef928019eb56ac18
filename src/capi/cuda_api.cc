// SPDX-License-Identifier: MIT
// The CUDA calls of the C ABI: devices, and indexes copied to them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/cuda_handle.h"
#include "src/capi/cuda_options.h"
#include "src/capi/cuda_search.h"
#include "src/capi/exception_wall.h"
#include "src/capi/handles.h"
#include "src/capi/options.h"
#include "src/capi/search_options.h"
#include "src/device/cuda_encoder.h"
#include "src/device/cuda_library.h"
#include "src/scan/layout/code_blocks.h"
#ifdef POLARQUANT_HAS_FAISS
#include "src/capi/cuda_copies.h"
#endif

struct polar_cuda_encoder {
  std::unique_ptr<polarquant::device::CudaEncoder> encoder;
};

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

namespace {

/// Row-format codes are packed so many at a time.
constexpr int64_t kPackedRows = int64_t{1} << 16;

const Codec& require_scannable(const polar_codec* codec) {
  const Codec& checked = *require_object("codec", codec).codec;
  require(BlockLayout::supports(checked), StatusCode::unsupported,
          "codec: {} has no int8 values; Polar0.5 to Polar8 and residual codes have",
          print_spec(checked.spec()));
  require_trained(checked);
  return checked;
}

}  // namespace

extern "C" polar_status polar_cuda_device_count(int32_t* count) {
  return run_guarded([&] {
    int32_t& checked = require_object("count", count);
    checked = 0;
    int32_t found = 0;
    device::call_cuda(device::cuda_functions().device_count, &found);
    require(found > 0, StatusCode::unsupported, "CUDA: there is no device, or no driver for one");
    checked = found;
  });
}

extern "C" polar_status polar_cuda_get_device_info(int32_t device, polar_cuda_device_info* info) {
  return run_guarded([&] {
    require_object("info", info);
    device::require_cuda_device("device", device);
    cuda::DeviceInfo found = {};
    device::call_cuda(device::cuda_functions().device_info, device, &found);
    polar_cuda_device_info filled = {};
    filled.compute_major = found.compute_major;
    filled.compute_minor = found.compute_minor;
    filled.multiprocessors = found.multiprocessors;
    filled.total_bytes = found.total_bytes;
    filled.free_bytes = found.free_bytes;
    static_assert(sizeof filled.name >= sizeof found.name);
    std::memcpy(filled.name, found.name, sizeof found.name);
    write_over("info", filled, info);
  });
}

extern "C" polar_status polar_cuda_index_from_index(const polar_index* index,
                                                    const polar_cuda_options* options,
                                                    polar_cuda_index** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
#ifdef POLARQUANT_HAS_FAISS
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    const polar_cuda_options read = read_cuda_options(options);
    *out = copy_to_devices(checked, cuda_places(read), read.num_threads).release();
#else
    (void)index, (void)options;
    fail(StatusCode::unsupported, "index: this library was built without FAISS and has no indexes");
#endif
  });
}

extern "C" polar_status polar_cuda_index_from_codes(const polar_codec* codec, int64_t n,
                                                    const uint8_t* codes, size_t codes_bytes,
                                                    const polar_cuda_options* options,
                                                    polar_cuda_index** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    const Codec& checked = require_scannable(codec);
    const CodeRows given = require_codes(checked, "n", n, "codes", codes, codes_bytes);
    const device::CudaPlaces places = cuda_places(read_cuda_options(options));
    CodeBlocks blocks{BlockLayout(checked)};
    const size_t row_bytes = blocks.layout().row_format_bytes();
    for (int64_t first = 0; first < n; first += kPackedRows)
      blocks.append(std::min(kPackedRows, n - first),
                    given.data + static_cast<size_t>(first) * row_bytes);
    // Codes of cosine are of normalized rows, and the codec normalizes queries itself.
    const std::vector<BlockRows> spans = blocks.spans();
    auto made = std::make_unique<polar_cuda_index>();
    made->index =
        std::make_unique<device::CudaIndex>(checked, spans, std::span<const int64_t>(), places);
    made->metric = Metric::inner_product;
    made->places = places;
    *out = made.release();
  });
}

extern "C" polar_status polar_cuda_index_refresh(polar_cuda_index* copy, const polar_index* index) {
  return run_guarded([&] {
    polar_cuda_index& checked_copy = require_object("copy", copy);
#ifdef POLARQUANT_HAS_FAISS
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    refresh_copy(checked, &checked_copy);
#else
    (void)index, (void)checked_copy;
    fail(StatusCode::unsupported, "index: this library was built without FAISS and has no indexes");
#endif
  });
}

extern "C" void polar_cuda_index_destroy(polar_cuda_index* index) { delete index; }

extern "C" polar_status polar_cuda_index_search(const polar_cuda_index* index, int64_t nq,
                                                const float* queries, int64_t k,
                                                const polar_search_options* options, void* stream,
                                                float* scores, int64_t* ids) {
  return run_guarded([&] {
    const polar_cuda_index& checked = require_object("index", index);
    require_count("nq", nq, 0);
    require_count("k", k, 1);
    require_array("queries", queries, nq, checked.index->dim(), sizeof(float));
    const SearchRequest request = read_request(nq, queries, SearchGoal::best(k), options);
    require_options_of(checked, request.options);
    require_array("scores", scores, nq, k, sizeof(float));
    require_array("ids", ids, nq, k, sizeof(int64_t));
    search_cuda_index({checked, request, read_bitset(options), stream, {scores, ids}});
  });
}

extern "C" int64_t polar_cuda_index_ntotal(const polar_cuda_index* index) {
  return index != nullptr ? index->index->rows() : 0;
}

extern "C" polar_status polar_cuda_index_memory_bytes(const polar_cuda_index* index,
                                                      size_t* bytes) {
  return run_guarded([&] {
    const polar_cuda_index& checked = require_object("index", index);
    size_t& all = require_object("bytes", bytes);
    all = checked.index->memory_bytes();
#ifdef POLARQUANT_HAS_FAISS
    if (checked.refines()) all += checked.refinement->memory_bytes();
#endif
  });
}

extern "C" polar_status polar_cuda_encoder_create(const polar_codec* codec,
                                                  const polar_cuda_options* options,
                                                  polar_cuda_encoder** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    const Codec& checked = *require_object("codec", codec).codec;
    const int32_t device = cuda_device(read_cuda_options(options));
    require_trained(checked);
    auto handle = std::make_unique<polar_cuda_encoder>();
    handle->encoder = std::make_unique<device::CudaEncoder>(checked, device);
    *out = handle.release();
  });
}

extern "C" void polar_cuda_encoder_destroy(polar_cuda_encoder* encoder) { delete encoder; }

extern "C" polar_status polar_cuda_encoder_encode(const polar_cuda_encoder* encoder, int64_t n,
                                                  const float* x, uint8_t* codes,
                                                  size_t codes_bytes, void* stream) {
  return run_guarded([&] {
    const device::CudaEncoder& checked = *require_object("encoder", encoder).encoder;
    require_count("n", n, 0);
    require_array("x", x, n, checked.dim(), sizeof(float));
    require_array("codes", codes, n, static_cast<int64_t>(checked.row_bytes()), 1);
    const size_t wanted = static_cast<size_t>(n) * checked.row_bytes();
    require(codes_bytes == wanted, StatusCode::bad_argument,
            "codes_bytes: {} is not allowed; {} rows take {}", codes_bytes, n, wanted);
    checked.encode(n, x, codes, stream);
  });
}
