// SPDX-License-Identifier: MIT
// A thread block rotates a query, since there may be one alone; half a warp makes its values.
#include "cuda/query_preparation.h"

#include "cuda/basis_product.h"
#include "cuda/cuda_check.h"
#include "cuda/item_values.cuh"
#include "cuda/row_rotation.cuh"
#include "cuda/shared_limit.h"

namespace polarquant::cuda {
namespace {

constexpr int kMostRotateThreads = 256;
constexpr int kValueThreads = 64;
/// No less than a kernel has beside its row.
constexpr size_t kStaticBytes = 64;
/// The host decides about queries near the limits of MetricInput and Codec::centre_query: these lie
/// at 2^61 and 2^−112.
constexpr double kLongest = 0x1p60;
constexpr double kShortest = 0x1p-110;

using Threads = RowThreads<false>;

/// dot_exact by the first warp, for all threads.
template <typename Get>
__device__ inline double block_dot(int n, const Get& get) {
  double sum = 0;
  if (Threads::index() < 32) sum = dot_exact(n, threadIdx.x % kSums, get);
  return Threads::first(sum);
}

__device__ inline double squared_norm(const float* row, int dim) {
  return block_dot(dim, [&](int i) { return make_float2(row[place(i)], row[place(i)]); });
}

/// MetricInput of cosine: its sum is one after the other.
__device__ inline void normalize(int dim, float* row) {
  double sum = 0;
  if (Threads::index() == 0) {
#pragma unroll 8
    for (int i = 0; i < dim; ++i) {
      const double value = row[place(i)];
      // The product of two floats is exact.
      sum = __fma_rn(value, value, sum);
    }
  }
  sum = Threads::first(sum);
  const double factor = sum > 0 ? 1 / sqrt(sum) : 0;
  for (int j = Threads::index(); j < dim; j += Threads::count())
    row[place(j)] = static_cast<float>(row[place(j)] * factor);
  Threads::wait();
}

/// Codec::metric_input of cosine.
__device__ inline void divide_by_norm(int dim, float* row) {
  const double norm = sqrt(squared_norm(row, dim));
  if (norm == 0) return;
  for (int j = Threads::index(); j < dim; j += Threads::count())
    row[place(j)] = static_cast<float>(row[place(j)] / norm);
  Threads::wait();
}

/// Codec::centre_query without its checks.
__device__ inline QueryTerms centre(const QueryPreparationView& view, float* row) {
  const int dim = view.rotation.dim;
  if (view.is_l2 != 0) {
    for (int j = Threads::index(); j < dim; j += Threads::count()) row[place(j)] -= view.centre[j];
    Threads::wait();
    return {static_cast<float>(squared_norm(row, dim)), 1};
  }
  const double along =
      block_dot(dim, [&](int i) { return make_float2(row[place(i)], view.centre[i]); });
  const double beta = view.centre_norm > 0 ? along / (view.centre_norm * view.centre_norm) : 0.0;
  for (int j = Threads::index(); j < dim; j += Threads::count()) {
    const double part = beta * static_cast<double>(view.centre[j]);
    row[place(j)] = static_cast<float>(static_cast<double>(row[place(j)]) - part);
  }
  Threads::wait();
  return {static_cast<float>(along), static_cast<float>(beta)};
}

/// Loads a query; zeros where the host is to look at it.
__device__ inline void load(const float* from, int dim, uint32_t* refused, float* row) {
  bool finite = true;
  for (int j = Threads::index(); j < dim; j += Threads::count()) {
    const float value = from[j];
    finite = finite && isfinite(value);
    row[place(j)] = value;
  }
  bool allowed = Threads::all(finite);
  if (allowed) {
    const double norm = sqrt(squared_norm(row, dim));
    allowed = norm == 0 || (norm >= kShortest && norm <= kLongest);
  }
  if (allowed) return;
  if (Threads::index() == 0) *refused = 1;
  for (int j = Threads::index(); j < dim; j += Threads::count()) row[place(j)] = 0;
  Threads::wait();
}

__global__ void __launch_bounds__(kMostRotateThreads)
    rotate_queries_kernel(QueryPreparationView view, RotatedQueries queries) {
  extern __shared__ float row[];
  const int64_t number = blockIdx.x;
  const int dim = view.rotation.dim;
  load(queries.given + number * dim, dim, queries.refused, row);
  if (queries.normalizes != 0) normalize(dim, row);
  if (queries.taken != nullptr) {
    for (int j = Threads::index(); j < dim; j += Threads::count())
      queries.taken[number * dim + j] = row[place(j)];
  }
  if (view.is_cosine != 0) divide_by_norm(dim, row);
  const QueryTerms terms = centre(view, row);
  if (Threads::index() == 0) queries.terms[number] = terms;
  if (view.rotation.kind == Rotation::basis) {
    const int64_t stride = view.rotation.value_stride;
    const float unit =
        round_for_basis<Threads>(view.rotation, row, queries.basis_values + number * 2 * stride);
    if (Threads::index() == 0) queries.basis_units[number] = unit / view.rotation.basis_one;
    return;
  }
  rotate<Threads>(view.rotation, row);
  for (int j = Threads::index(); j < dim; j += Threads::count())
    queries.rotated[number * dim + j] = row[place(j)];
}

__global__ void __launch_bounds__(kValueThreads)
    make_values_kernel(CodeView code, Int8Description values, RotatedQueries queries,
                       QueryGoal goal, QueryConstants* constants, int8_t* arranged) {
  const int64_t q = (static_cast<int64_t>(blockIdx.x) * kValueThreads + threadIdx.x) / kHalfWarp;
  if (q >= queries.n) return;
  const QueryTerms terms = queries.terms[q];
  const ResidualQuery query = {queries.rotated + q * code.dim, nullptr, 0, terms.offset,
                               terms.bias_weight};
  const ValueSteps steps = find_steps(code, query);
  const Int8Sums sums = write_values<WordOrder::by_words>(code, query, steps, goal.bounded,
                                                          arranged + q * code.padded_dim());
  if (threadIdx.x % kHalfWarp != 0) return;
  constants[q] = make_constants(code, values, query, steps);
  if (goal.bounded) set_bounds(code, values, sums, steps, goal.exactness, constants + q);
}

}  // namespace

QueryPreparation::QueryPreparation(const QueryDescription& given, const CodeView& code)
    : rotation_(given.rotation, code.dim, code.dim) {
  const size_t bytes = static_cast<size_t>(code.dim) * sizeof(float);
  centre_.need(bytes);
  POLAR_CUDA_CHECK(cudaMemcpy(centre_.as<void>(), given.centre, bytes, cudaMemcpyHostToDevice));
  view_ = {rotation_.view(), centre_.as<float>(), given.centre_norm,
           given.is_cosine,  code.is_l2,          given.values};
}

void QueryPreparation::take_scratch(Carver* carver, size_t n, RotatedQueries* queries) const {
  const size_t rows = view_.rotation.kind == Rotation::basis ? n : 0;
  queries->basis_values = carver->take<int8_t>(rows * 2 * view_.rotation.value_stride);
  queries->basis_units = carver->take<float>(rows);
}

void QueryPreparation::rotate(const RotatedQueries& queries, cudaStream_t stream) const {
  allow_shared_memory<rotate_queries_kernel>(kStaticBytes);
  const size_t shared_bytes = static_cast<size_t>(row_floats(view_.rotation.dim)) * sizeof(float);
  const int threads = row_threads(view_.rotation, kMostRotateThreads);
  rotate_queries_kernel<<<static_cast<unsigned>(queries.n), threads, shared_bytes, stream>>>(
      view_, queries);
  POLAR_CUDA_CHECK_LAUNCH(rotate_queries_kernel);
  if (view_.rotation.kind == Rotation::basis)
    multiply_by_basis(view_.rotation,
                      {queries.n, queries.basis_values, queries.basis_units, queries.rotated},
                      stream);
}

void QueryPreparation::make_values(const CodeView& code, const RotatedQueries& queries,
                                   QueryGoal goal, QueryConstants* constants, int8_t* arranged,
                                   cudaStream_t stream) const {
  goal.exactness = limited_exactness(goal.exactness);
  constexpr int kQueries = kValueThreads / kHalfWarp;
  const auto blocks = static_cast<unsigned>((queries.n + kQueries - 1) / kQueries);
  make_values_kernel<<<blocks, kValueThreads, 0, stream>>>(code, view_.values, queries, goal,
                                                           constants, arranged);
  POLAR_CUDA_CHECK_LAUNCH(make_values_kernel);
}

}  // namespace polarquant::cuda
