// SPDX-License-Identifier: MIT
// The C ABI's prepared searches on a device, which are started and not waited for.
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/cuda_handle.h"
#include "src/capi/cuda_search.h"
#include "src/capi/exception_wall.h"
#include "src/capi/search_options.h"
#include "src/core/checked_size.h"

struct polar_cuda_search {
  polarquant::device::CudaPreparedSearch prepared;
};

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

namespace {

/// Each array lies in the device's memory.
void require_there(const polar_cuda_search& search, const cuda::PreparedSearchArrays& arrays) {
  constexpr std::array kNames = {"queries", "scores", "ids", "unfinished"};
  const std::array<const void*, kNames.size()> pointers = {arrays.queries, arrays.scores,
                                                           arrays.ids, arrays.unfinished};
  std::array<int32_t, kNames.size()> found = {};
  for (size_t i = 0; i < kNames.size(); ++i)
    require(pointers[i] != nullptr, StatusCode::bad_argument, "{}: NULL is not allowed", kNames[i]);
  search.prepared.rows->find_memory(pointers, found.data());
  for (size_t i = 0; i < kNames.size(); ++i) {
    const int32_t device = search.prepared.rows->device();
    require(found[i] != cuda::kHostMemory, StatusCode::bad_argument,
            "{}: host memory is not allowed; memory of CUDA device {}", kNames[i], device);
    require(found[i] == device, StatusCode::bad_argument,
            "{}: memory of CUDA device {} is not allowed; of device {}", kNames[i], found[i],
            device);
  }
}

}  // namespace

extern "C" polar_status polar_cuda_search_create(const polar_cuda_index* index, int64_t nq,
                                                 int64_t k, const polar_search_options* options,
                                                 polar_cuda_search** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    const polar_cuda_index& checked = require_object("index", index);
    require_count("nq", nq, 1);
    require_count("k", k, 1);
    require(!checked.refines(), StatusCode::unsupported,
            "index: it is a refinement; one that is none takes prepared searches");
    checked_mul(checked_mul(nq, checked.index->dim(), "nq"), sizeof(float), "nq");
    checked_mul(checked_mul(nq, k, "k"), sizeof(int64_t), "k");
    SearchRequest request = read_request(nq, nullptr, SearchGoal::best(k), options);
    require_options_of(checked, request.options);
    const polar_bitset bits = read_bitset(options);
    std::vector<uint64_t> words;
    if (bits.words != nullptr) {
      const std::array<const void*, 1> pointer = {bits.words};
      int32_t found = cuda::kHostMemory;
      checked.index->find_memory(pointer, &found);
      if (found != cuda::kHostMemory)
        request.filter = filter_of_copied_bits(*checked.index, bits, nullptr, &words);
    }
    auto handle = std::make_unique<polar_cuda_search>();
    handle->prepared = checked.index->prepare_search(request, checked.metric == Metric::cosine);
    *out = handle.release();
  });
}

extern "C" void polar_cuda_search_destroy(polar_cuda_search* search) { delete search; }

extern "C" polar_status polar_cuda_search_start(const polar_cuda_search* search,
                                                const float* queries, void* stream, float* scores,
                                                int64_t* ids, int32_t* unfinished) {
  return run_guarded([&] {
    const polar_cuda_search& checked = require_object("search", search);
    const cuda::PreparedSearchArrays arrays = {queries, scores, ids, unfinished, stream};
    require_there(checked, arrays);
    checked.prepared.start(arrays);
  });
}

extern "C" polar_status polar_cuda_search_memory_bytes(const polar_cuda_search* search,
                                                       size_t* bytes) {
  return run_guarded([&] {
    const polar_cuda_search& checked = require_object("search", search);
    require_object("bytes", bytes) = checked.prepared.memory_bytes();
  });
}
