// SPDX-License-Identifier: MIT
#include "src/capi/cuda_search.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/capi/metric_input.h"
#include "src/scan/search/filter_rules.h"
#ifdef POLARQUANT_HAS_FAISS
#include "src/core/call_threads.h"
#endif

namespace polarquant::capi {
namespace {

using device::ResidentArrays;
using device::ResidentUse;

/// Whose memory an array is in.
struct ArrayMemory {
  int32_t queries = cuda::kHostMemory;
  int32_t scores = cuda::kHostMemory;
  int32_t ids = cuda::kHostMemory;
  int32_t bits = cuda::kHostMemory;
};

ArrayMemory find_memory(const CudaSearchCall& call) {
  std::vector<const void*> pointers = {call.request.queries, call.result.scores, call.result.ids};
  if (call.bits.words != nullptr) pointers.push_back(call.bits.words);
  std::array<int32_t, 4> found = {};
  found.back() = cuda::kHostMemory;
  call.index.index->find_memory(pointers, found.data());
  return {found[0], found[1], found[2], found[3]};
}

/// An array of the caller's for the host: itself, or a copy of what the device has.
template <typename T>
const T* on_host(const CudaSearchCall& call, int32_t memory, const T* array, size_t count,
                 std::vector<T>* copy) {
  if (memory == cuda::kHostMemory) return array;
  copy->resize(count);
  call.index.index->copy(copy->data(), array, count * sizeof(T), call.stream);
  return copy->data();
}

/// Where a result is written before it is copied to a device; itself where it is not.
template <typename T>
class ResultArray {
 public:
  ResultArray(T* wanted, bool is_copied, size_t count) : wanted_(wanted), is_copied_(is_copied) {
    if (is_copied) copy_.resize(count);
  }
  T* data() { return is_copied_ ? copy_.data() : wanted_; }
  void finish(const CudaSearchCall& call) const {
    if (is_copied_)
      call.index.index->copy(wanted_, copy_.data(), copy_.size() * sizeof(T), call.stream);
  }

 private:
  T* wanted_;
  bool is_copied_;
  std::vector<T> copy_;
};

void search_request(const CudaSearchCall& call, const SearchRequest& request,
                    const ResidentArrays& arrays, const SearchResult& result) {
#ifdef POLARQUANT_HAS_FAISS
  if (call.index.refines()) {
    const CallThreads threads(request.threads);
    return call.index.refinement->search(*call.index.index, request, call.stream, result);
  }
#endif
  call.index.index->search_arrays(request, arrays, call.stream, result);
}

/// With queries in host memory, `queries`.
void search_host_queries(const CudaSearchCall& call, const float* queries, SearchRequest request,
                         const ResidentArrays& arrays, const SearchResult& result) {
  const MetricInput input(call.index.metric, call.index.index->dim(), request.nq, queries,
                          "queries");
  request.queries = input.data();
  search_request(call, request, arrays, result);
}

}  // namespace

void require_options_of(const polar_cuda_index& index, const SearchOptions& options) {
  require(options.nprobe == 0 || index.index->is_inverted_file(), StatusCode::unsupported,
          "options.nprobe: {} is for inverted files, which the index is not", options.nprobe);
  require(options.ef_search == 0, StatusCode::unsupported,
          "options.ef_search: {} is for HNSW graphs, which the index is not", options.ef_search);
  require(options.k_factor == 0 || index.refines(), StatusCode::unsupported,
          "options.k_factor: {} is for refinements, which the index is not", options.k_factor);
}

RowFilter filter_of_copied_bits(const device::CudaIndex& index, const polar_bitset& bits,
                                void* stream, std::vector<uint64_t>* words) {
  words->resize(static_cast<size_t>(bits.num_bits / 64 + (bits.num_bits % 64 != 0 ? 1 : 0)));
  index.copy(words->data(), bits.words, words->size() * sizeof(uint64_t), stream);
  return keep_bits(reinterpret_cast<const uint8_t*>(words->data()), bits.num_bits);
}

void search_cuda_index(const CudaSearchCall& call) {
  const device::CudaIndex& index = *call.index.index;
  const ArrayMemory memory = call.request.nq > 0 ? find_memory(call) : ArrayMemory{};
  const ResidentUse use = call.index.refines() ? ResidentUse{} : index.resident_use();
  const auto stays = [&](bool is_used, int32_t array) {
    return is_used && array != cuda::kHostMemory && array == use.device;
  };
  SearchRequest request = call.request;
  ResidentArrays arrays;
  std::vector<uint64_t> words;
  if (stays(use.allowed, memory.bits)) {
    arrays.allowed = {call.bits.words, call.bits.num_bits};
    request.filter = RowFilter();
  } else if (memory.bits != cuda::kHostMemory) {
    request.filter = filter_of_copied_bits(index, call.bits, call.stream, &words);
  }
  // The few rows that a prepared filter keeps, or none, may be searched as copies, whose ids the
  // host has.
  const bool is_prepared = request.filter.is_prepared();
  arrays.scores = stays(use.scores, memory.scores) && !is_prepared;
  arrays.ids = stays(use.ids, memory.ids) && !is_prepared;
  const auto count = static_cast<size_t>(request.nq * request.goal.k);
  ResultArray<float> scores(call.result.scores,
                            memory.scores != cuda::kHostMemory && !arrays.scores, count);
  ResultArray<int64_t> ids(call.result.ids, memory.ids != cuda::kHostMemory && !arrays.ids, count);
  const SearchResult result = {scores.data(), ids.data()};

  uint32_t refused = 1;
  // A search of lists with a filter reads queries again where it goes on in more lists.
  const bool is_read_again = index.is_inverted_file() && !request.filter.keeps_all();
  if (stays(use.queries, memory.queries) && !is_read_again && !is_prepared) {
    refused = 0;
    const bool normalizes = call.index.metric == Metric::cosine;
    arrays.queries = {request.queries, normalizes ? 1 : 0, 0, &refused};
    search_request(call, request, arrays, result);
  }
  if (refused != 0) {
    arrays.queries = {};
    std::vector<float> copy;
    const auto numbers = static_cast<size_t>(request.nq * index.dim());
    search_host_queries(call, on_host(call, memory.queries, request.queries, numbers, &copy),
                        request, arrays, result);
  }
  scores.finish(call);
  ids.finish(call);
}

}  // namespace polarquant::capi
