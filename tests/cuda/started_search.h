// SPDX-License-Identifier: MIT
// A search that is started and not waited for, with its stream and its arrays.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "tests/cuda/cuda_support.h"
#include "tests/cuda/device_array.h"

namespace polarquant::test {

/// A stream of its own, which waits for no other.
class Stream {
 public:
  Stream() { REQUIRE(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait() const { REQUIRE(cudaStreamSynchronize(stream_) == cudaSuccess); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A prepared search and its arrays.
class Prepared {
 public:
  Prepared(const polar_cuda_index* index, int64_t nq, int dim, int64_t k,
           const polar_search_options& options)
      : queries_(std::vector<float>(static_cast<size_t>(nq * dim))),
        scores_(std::vector<float>(static_cast<size_t>(nq * k), 77.0F)),
        ids_(std::vector<int64_t>(static_cast<size_t>(nq * k), 77)),
        unfinished_({77}) {
    polar_cuda_search* search = nullptr;
    require_ok(polar_cuda_search_create(index, nq, k, &options, &search));
    search_.reset(search);
  }

  void put(const std::vector<float>& queries, cudaStream_t stream) const {
    REQUIRE(cudaMemcpyAsync(queries_.data(), queries.data(), queries.size() * sizeof(float),
                            cudaMemcpyHostToDevice, stream) == cudaSuccess);
  }
  void start(cudaStream_t stream) const {
    require_ok(polar_cuda_search_start(search_.get(), queries_.data(), stream, scores_.data(),
                                       ids_.data(), unfinished_.data()));
  }
  /// Once the stream has been waited for.
  SearchResult found() const { return {scores_.values(), ids_.values()}; }
  int32_t unfinished() const { return unfinished_.values().front(); }

 private:
  DeviceArray<float> queries_;
  DeviceArray<float> scores_;
  DeviceArray<int64_t> ids_;
  DeviceArray<int32_t> unfinished_;
  Handle<polar_cuda_search> search_;
};

/// A graph of one start of a search, which may be launched again and again.
class SearchGraph {
 public:
  SearchGraph(const Prepared& search, const Stream& stream) {
    REQUIRE(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
    search.start(stream.get());
    REQUIRE(cudaStreamEndCapture(stream.get(), &graph_) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&launched_, graph_, 0) == cudaSuccess);
  }
  ~SearchGraph() {
    cudaGraphExecDestroy(launched_);
    cudaGraphDestroy(graph_);
  }
  SearchGraph(const SearchGraph&) = delete;
  SearchGraph& operator=(const SearchGraph&) = delete;

  void launch(const Stream& stream) const {
    REQUIRE(cudaGraphLaunch(launched_, stream.get()) == cudaSuccess);
    stream.wait();
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t launched_ = nullptr;
};

}  // namespace polarquant::test
