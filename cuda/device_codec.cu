// SPDX-License-Identifier: MIT
#include "cuda/device_codec.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "cuda/cuda_check.h"
#include "cuda/device_memory.h"
#include "cuda/row_scores.h"
#include "cuda/row_sums.h"

namespace polarquant::cuda {
namespace {

/// Copies to the device what a call is given in host memory, into pieces of a workspace.
struct Staging {
  cudaStream_t stream;

  /// The array itself where it is on the device already; else `place`, to which it is copied.
  template <typename T>
  const T* bring(const T* from, T* place, size_t count) const {
    if (place == nullptr || count == 0) return from;
    POLAR_CUDA_CHECK(
        cudaMemcpyAsync(place, from, count * sizeof(T), cudaMemcpyHostToDevice, stream));
    return place;
  }
};

}  // namespace

DeviceCodec::DeviceCodec(int device, const RowDescription& rows) : device_(device), rows_(rows) {
  const CurrentDevice current(device);
  POLAR_CUDA_CHECK(
      cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
  int shared = 0;
  POLAR_CUDA_CHECK(
      cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const auto units = static_cast<size_t>(rows.units);
  const auto entries = static_cast<size_t>(rows.entries);
  if (entries * sizeof(TablePoint) > static_cast<size_t>(shared))
    throw DeviceError(StatusCode::unsupported,
                      "tables of " + std::to_string(entries) + " entries are too large for it");
  const size_t cells = rows.cells != nullptr ? units : 0;
  const size_t steps = rows.steps != nullptr ? units * kUnitPairs : 0;
  const auto carve = [&](Carver carver) {
    rows_.table = upload_place(&carver, entries, rows.table);
    rows_.cells = upload_place(&carver, cells, rows.cells);
    rows_.steps = upload_place(&carver, steps, rows.steps);
    return carver.used();
  };
  tables_.need(carve(Carver(nullptr)));
  carve(Carver(tables_.as<void>()));
}

void DeviceCodec::score(const RowScoresRequest& request) const {
  const auto queries = static_cast<size_t>(request.heads * request.nq);
  const auto scores = queries * static_cast<size_t>(request.n);
  if (scores == 0) return;
  const CurrentDevice current(device_);
  auto* stream = static_cast<cudaStream_t>(request.stream);
  const WorkspaceLease lease(workspaces_, stream);
  Workspace& workspace = *lease;
  const auto codes_bytes = static_cast<size_t>(request.heads) * request.head_bytes;
  const size_t query_floats = queries * static_cast<size_t>(rows_.units) * kUnitValues;
  const bool has_codes = is_on_device(request.codes);
  const bool has_scores = is_on_device(request.scores);
  float* query_place = nullptr;
  QueryTerms* terms_place = nullptr;
  uint8_t* codes_place = nullptr;
  float* scores_place = nullptr;
  const auto carve = [&](Carver carver) {
    query_place = carver.take<float>(query_floats);
    terms_place = carver.take<QueryTerms>(queries);
    codes_place = has_codes ? nullptr : carver.take<uint8_t>(codes_bytes);
    scores_place = has_scores ? nullptr : carver.take<float>(scores);
    return carver.used();
  };
  workspace.device.need(carve(Carver(nullptr)));
  carve(Carver(workspace.device.as<void>()));
  const size_t term_bytes = queries * sizeof(QueryTerms);
  workspace.pinned.need(query_floats * sizeof(float) + term_bytes);
  auto* pinned = workspace.pinned.as<uint8_t>();
  std::memcpy(pinned, request.terms, term_bytes);
  std::memcpy(pinned + term_bytes, request.queries, query_floats * sizeof(float));
  const Staging staging = {stream};
  RowScores job = {};
  job.heads = request.heads;
  job.nq = request.nq;
  job.n = request.n;
  job.head_bytes = request.head_bytes;
  job.terms = staging.bring(reinterpret_cast<const QueryTerms*>(pinned), terms_place, queries);
  job.queries =
      staging.bring(reinterpret_cast<const float*>(pinned + term_bytes), query_place, query_floats);
  job.codes = staging.bring(request.codes, codes_place, codes_bytes);
  job.scores = has_scores ? request.scores : scores_place;
  score_rows(rows_, job, multiprocessors_, stream);
  if (!has_scores)
    POLAR_CUDA_CHECK(cudaMemcpyAsync(request.scores, scores_place, scores * sizeof(float),
                                     cudaMemcpyDeviceToHost, stream));
  POLAR_CUDA_CHECK(cudaStreamSynchronize(stream));
}

void DeviceCodec::combine(const RowSumsRequest& request) const {
  const auto vectors = static_cast<size_t>(request.heads * request.nw);
  const auto sums = vectors * static_cast<size_t>(row_sum_width(rows_));
  if (vectors == 0) return;
  if (request.n == 0) {
    std::fill_n(request.sums, sums, 0.0);
    return;
  }
  const CurrentDevice current(device_);
  auto* stream = static_cast<cudaStream_t>(request.stream);
  const WorkspaceLease lease(workspaces_, stream);
  Workspace& workspace = *lease;
  const auto codes_bytes = static_cast<size_t>(request.heads) * request.head_bytes;
  const size_t weights = vectors * static_cast<size_t>(request.n);
  const bool has_codes = is_on_device(request.codes);
  const bool has_weights = is_on_device(request.weights);
  const size_t parts = row_sum_parts(rows_, request.heads, request.nw, request.n, multiprocessors_);
  SumJob job = {};
  job.heads = request.heads;
  job.nw = request.nw;
  job.n = request.n;
  job.head_bytes = request.head_bytes;
  uint8_t* codes_place = nullptr;
  float* weights_place = nullptr;
  const auto carve = [&](Carver carver) {
    job.parts = carver.take<float>(parts);
    job.sums = carver.take<double>(sums);
    codes_place = has_codes ? nullptr : carver.take<uint8_t>(codes_bytes);
    weights_place = has_weights ? nullptr : carver.take<float>(weights);
    return carver.used();
  };
  workspace.device.need(carve(Carver(nullptr)));
  carve(Carver(workspace.device.as<void>()));
  workspace.pinned.need(sums * sizeof(double));
  const Staging staging = {stream};
  job.codes = staging.bring(request.codes, codes_place, codes_bytes);
  job.weights = staging.bring(request.weights, weights_place, weights);
  sum_rows(rows_, job, multiprocessors_, stream);
  auto* found = workspace.pinned.as<double>();
  POLAR_CUDA_CHECK(
      cudaMemcpyAsync(found, job.sums, sums * sizeof(double), cudaMemcpyDeviceToHost, stream));
  POLAR_CUDA_CHECK(cudaStreamSynchronize(stream));
  std::memcpy(request.sums, found, sums * sizeof(double));
}

}  // namespace polarquant::cuda
