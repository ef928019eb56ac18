// SPDX-License-Identifier: MIT
// The CUDA calls of the C ABI for codes that callers hold: scores and weighted sums.
#include <cstdint>
#include <memory>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/cuda_options.h"
#include "src/capi/exception_wall.h"
#include "src/capi/handles.h"
#include "src/core/checked_size.h"
#include "src/device/cuda_codec.h"

struct polar_cuda_codec {
  std::unique_ptr<polarquant::device::CudaCodec> codec;
};

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

namespace {

/// The limits of a grid of thread blocks.
constexpr int64_t kMostHeads = 65535;
constexpr int64_t kMostVectors = 65535;

/// Codes of `heads` heads side by side, n rows each.
void require_heads(const Codec& codec, int64_t heads, int64_t n, const uint8_t* codes,
                   size_t codes_bytes) {
  require_count("heads", heads, 0);
  require(heads <= kMostHeads, StatusCode::bad_argument, "heads: {} is not allowed; 0 to {}", heads,
          kMostHeads);
  require_count("n", n, 0);
  const size_t head_bytes = codec.layout().bytes(n);
  require_array("codes", codes, heads, static_cast<int64_t>(head_bytes), 1);
  const size_t wanted = static_cast<size_t>(heads) * head_bytes;
  require(codes_bytes == wanted, StatusCode::bad_argument,
          "codes_bytes: {} is not allowed; {} heads of {} rows take {}", codes_bytes, heads, n,
          wanted);
}

/// Vectors of a head, and arrays of `cols` numbers for each.
void require_vectors(const char* name, int64_t count) {
  require_count(name, count, 0);
  require(count <= kMostVectors, StatusCode::bad_argument, "{}: {} is not allowed; 0 to {}", name,
          count, kMostVectors);
}

}  // namespace

extern "C" polar_status polar_cuda_codec_create(const polar_codec* codec,
                                                const polar_cuda_options* options,
                                                polar_cuda_codec** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    const Codec& checked = *require_object("codec", codec).codec;
    const polar_cuda_options read = read_cuda_options(options);
    const int32_t device = cuda_device(read);
    require_trained(checked);
    auto handle = std::make_unique<polar_cuda_codec>();
    handle->codec = std::make_unique<device::CudaCodec>(checked, device, read.num_threads);
    *out = handle.release();
  });
}

extern "C" void polar_cuda_codec_destroy(polar_cuda_codec* codec) { delete codec; }

extern "C" polar_status polar_cuda_codec_score(const polar_cuda_codec* codec, int64_t heads,
                                               int64_t nq, const float* queries, int64_t n,
                                               const uint8_t* codes, size_t codes_bytes,
                                               void* stream, float* scores) {
  return run_guarded([&] {
    const device::CudaCodec& checked = *require_object("codec", codec).codec;
    require_heads(checked.codec(), heads, n, codes, codes_bytes);
    require_vectors("nq", nq);
    require_finite("queries", queries, heads * nq, checked.codec().dim());
    require_array("scores", scores, heads * nq, n, sizeof(float));
    if (heads == 0 || nq == 0 || n == 0) return;
    checked.score({heads, n, codes}, nq, queries, stream, scores);
  });
}

extern "C" polar_status polar_cuda_codec_combine(const polar_cuda_codec* codec, int64_t heads,
                                                 int64_t nw, const float* weights, int64_t n,
                                                 const uint8_t* codes, size_t codes_bytes,
                                                 void* stream, float* out) {
  return run_guarded([&] {
    const device::CudaCodec& checked = *require_object("codec", codec).codec;
    require_heads(checked.codec(), heads, n, codes, codes_bytes);
    require_vectors("nw", nw);
    require_array("weights", weights, heads * nw, n, sizeof(float));
    require_array("out", out, heads * nw, checked.codec().dim(), sizeof(float));
    if (heads == 0 || nw == 0) return;
    checked.combine({heads, n, codes}, nw, weights, stream, out);
  });
}
