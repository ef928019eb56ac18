// SPDX-License-Identifier: MIT
// The single export of libpolarquant_cuda: its table of functions. No exception leaves it.
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "cuda/cuda_check.h"
#include "cuda/device_bits.h"
#include "cuda/device_codec.h"
#include "cuda/device_encoder.h"
#include "cuda/device_index.h"
#include "cuda/device_memory.h"
#include "cuda/interface.h"
#include "cuda/list_search.h"
#include "cuda/listed_scores.h"
#include "cuda/prepared_search.h"
#include "cuda/search.h"

namespace polarquant::cuda {
namespace {

void keep(Failure* failure, StatusCode status, const char* text) noexcept {
  failure->status = static_cast<int32_t>(status);
  const size_t length = std::min(std::strlen(text), sizeof failure->text - 1);
  std::memcpy(failure->text, text, length);
  failure->text[length] = 0;
}

template <typename Body>
void guarded(Failure* failure, const Body& body) noexcept {
  failure->status = 0;
  failure->text[0] = 0;
  try {
    body();
  } catch (const DeviceError& error) {
    keep(failure, error.status(), error.what());
  } catch (const std::bad_alloc&) {
    keep(failure, StatusCode::out_of_memory, "an allocation failed");
  } catch (const std::exception& error) {
    keep(failure, StatusCode::internal, error.what());
  } catch (...) {
    keep(failure, StatusCode::internal, "an exception of an unknown type");
  }
}

int count_devices() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess) return count;
  cudaGetLastError();
  if (result == cudaErrorNoDevice) return 0;
  // Without a driver its version is 0.
  int driver = 0;
  if (result == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
      driver == 0)
    return 0;
  throw DeviceError(StatusCode::cuda, std::string("cudaGetDeviceCount: ") +
                                          cudaGetErrorName(result) + " (" +
                                          cudaGetErrorString(result) + ")");
}

void device_count(int32_t* count, Failure* failure) {
  guarded(failure, [&] { *count = count_devices(); });
}

void device_info(int32_t device, DeviceInfo* info, Failure* failure) {
  guarded(failure, [&] {
    cudaDeviceProp properties;
    POLAR_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    *info = {};
    info->compute_major = properties.major;
    info->compute_minor = properties.minor;
    info->multiprocessors = properties.multiProcessorCount;
    static_assert(sizeof info->name >= sizeof properties.name);
    std::memcpy(info->name, properties.name, sizeof properties.name);
    const CurrentDevice current(device);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    POLAR_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    info->total_bytes = total_bytes;
    info->free_bytes = free_bytes;
  });
}

DeviceIndex* create(int32_t device, const CodeDescription* code, int64_t rows, Failure* failure) {
  DeviceIndex* index = nullptr;
  guarded(failure, [&] { index = new DeviceIndex(device, *code, rows); });
  return index;
}

void write_blocks(DeviceIndex* index, int64_t first_block, int64_t blocks, const void* sketches,
                  const void* payloads, Failure* failure) {
  guarded(failure, [&] { index->write_blocks(first_block, blocks, sketches, payloads); });
}

DeviceIndex* extend(const DeviceIndex* from, int64_t rows, const int64_t* sources,
                    Failure* failure) {
  DeviceIndex* index = nullptr;
  guarded(failure, [&] { index = new DeviceIndex(*from, rows, sources); });
  return index;
}

void put_blocks(DeviceIndex* index, int64_t blocks, const int64_t* numbers, const void* sketches,
                const void* payloads, Failure* failure) {
  guarded(failure, [&] { index->put_blocks(blocks, numbers, sketches, payloads); });
}

void finish(DeviceIndex* index, Failure* failure) {
  guarded(failure, [&] { index->finish(); });
}

void set_lists(DeviceIndex* index, const ListsDescription* lists, Failure* failure) {
  guarded(failure, [&] { index->set_lists(*lists); });
}

void set_queries(DeviceIndex* index, const QueryDescription* queries, Failure* failure) {
  guarded(failure, [&] { index->set_queries(*queries); });
}

void search_index(const DeviceIndex* index, const SearchRequest* request, Failure* failure) {
  guarded(failure, [&] {
    if (request->resident.queries != nullptr && index->queries() == nullptr)
      throw DeviceError(StatusCode::internal, "the index prepares no queries");
    if (index->lists() != nullptr) {
      search_lists(*index, *request);
    } else {
      search(*index, *request);
    }
  });
}

void find_memory(const DeviceIndex* index, int32_t count, const void* const* pointers,
                 int32_t* found, Failure* failure) {
  guarded(failure, [&] {
    const CurrentDevice current(index->device());
    for (int32_t i = 0; i < count; ++i) found[i] = device_of(pointers[i], index->device());
  });
}

void copy(const DeviceIndex* index, void* to, const void* from, size_t bytes, void* stream,
          Failure* failure) {
  guarded(failure, [&] {
    const CurrentDevice current(index->device());
    auto* on = static_cast<cudaStream_t>(stream);
    POLAR_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on));
    POLAR_CUDA_CHECK(cudaStreamSynchronize(on));
  });
}

void score_listed_rows(const DeviceIndex* index, const ListedRowsRequest* request,
                       Failure* failure) {
  guarded(failure, [&] { score_listed(*index, *request); });
}

void read_rows(const DeviceIndex* index, int64_t n, const int64_t* rows, void* sketches,
               void* payloads, Failure* failure) {
  guarded(failure, [&] { index->read_rows(n, rows, sketches, payloads); });
}

void copy_rows(DeviceIndex* to, const DeviceIndex* from, const int64_t* rows, Failure* failure) {
  guarded(failure, [&] { to->copy_rows(*from, rows); });
}

PreparedSearch* create_search(const DeviceIndex* index, const SearchRequest* shape,
                              const int64_t* ids, Failure* failure) {
  PreparedSearch* search = nullptr;
  guarded(failure, [&] { search = new PreparedSearch(*index, *shape, ids); });
  return search;
}
void start_search(const PreparedSearch* search, const PreparedSearchArrays* arrays,
                  Failure* failure) {
  guarded(failure, [&] { search->start(*arrays); });
}
size_t search_bytes(const PreparedSearch* search) { return search->memory_bytes(); }
void destroy_search(PreparedSearch* search) { delete search; }

size_t memory_bytes(const DeviceIndex* index) { return index->memory_bytes(); }

DeviceBits* create_bits(const DeviceIndex* index, const uint64_t* words, const ListFilter* lists,
                        Failure* failure) {
  DeviceBits* bits = nullptr;
  guarded(failure, [&] { bits = new DeviceBits(*index, words, lists); });
  return bits;
}
void destroy_bits(DeviceBits* bits) { delete bits; }

void destroy(DeviceIndex* index) { delete index; }

DeviceEncoder* create_encoder(int32_t device, const EncoderDescription* description,
                              Failure* failure) {
  DeviceEncoder* encoder = nullptr;
  guarded(failure, [&] { encoder = new DeviceEncoder(device, *description); });
  return encoder;
}

void encode(const DeviceEncoder* encoder, EncodeRequest* request, Failure* failure) {
  guarded(failure, [&] { encoder->encode(request); });
}

void destroy_encoder(DeviceEncoder* encoder) { delete encoder; }

DeviceCodec* create_codec(int32_t device, const RowDescription* rows, Failure* failure) {
  DeviceCodec* codec = nullptr;
  guarded(failure, [&] { codec = new DeviceCodec(device, *rows); });
  return codec;
}

void score_codec_rows(const DeviceCodec* codec, const RowScoresRequest* request, Failure* failure) {
  guarded(failure, [&] { codec->score(*request); });
}

void sum_codec_rows(const DeviceCodec* codec, const RowSumsRequest* request, Failure* failure) {
  guarded(failure, [&] { codec->combine(*request); });
}

void destroy_codec(DeviceCodec* codec) { delete codec; }

}  // namespace
}  // namespace polarquant::cuda

extern "C" __attribute__((visibility("default"))) const polarquant::cuda::FunctionTable*
polarquant_cuda_functions() {
  using namespace polarquant::cuda;
  static const FunctionTable table = {kInterfaceVersion,
                                      sizeof(FunctionTable),
                                      device_count,
                                      device_info,
                                      create,
                                      write_blocks,
                                      extend,
                                      put_blocks,
                                      finish,
                                      set_lists,
                                      set_queries,
                                      search_index,
                                      find_memory,
                                      copy,
                                      score_listed_rows,
                                      read_rows,
                                      copy_rows,
                                      create_bits,
                                      destroy_bits,
                                      create_search,
                                      start_search,
                                      search_bytes,
                                      destroy_search,
                                      memory_bytes,
                                      destroy,
                                      create_encoder,
                                      encode,
                                      destroy_encoder,
                                      create_codec,
                                      score_codec_rows,
                                      sum_codec_rows,
                                      destroy_codec};
  return &table;
}
