// SPDX-License-Identifier: MIT
// A warp a row, or a thread block where rows are long. Every float operation is one of src/codec's
// plain code.
#include "cuda/cuda_check.h"
#include "cuda/directions.h"
#include "cuda/row_rotation.cuh"
#include "cuda/shared_limit.h"

namespace polarquant::cuda {
namespace {

constexpr int kMostThreads = 256;
/// No less than the kernel has beside its row.
constexpr size_t kStaticBytes = 64;

/// A warp's rows are short enough for shared memory to hold those of as many warps as there can be,
/// so that a warp waits for no other threads.
constexpr int kMostWarpDim = 1024;
constexpr int kBlockWarps = 4;

/// Makes the row's u, in shared memory, and its length; no u where the length is 0.
template <bool kWarp>
__global__ void __launch_bounds__(kWarp ? kBlockWarps * 32 : kMostThreads, kWarp ? 12 : 1)
    make_directions_kernel(EncodeView view, EncodeRows given) {
  using Threads = RowThreads<kWarp>;
  extern __shared__ float rows[];
  const int dim = view.dim;
  const int in_block = kWarp ? static_cast<int>(threadIdx.x) / 32 : 0;
  const int64_t number = kWarp ? int64_t{kBlockWarps} * blockIdx.x + in_block : blockIdx.x;
  if (number >= given.n) return;
  float* row = rows + in_block * row_floats(dim);
  const float* input = given.x + number * dim;
  bool finite = true;
  for (int j = Threads::index(); j < dim; j += Threads::count()) {
    const float value = input[j];
    finite = finite && isfinite(value);
    row[place(j)] = value;
  }
  finite = Threads::all(finite);
  if (finite && view.is_cosine != 0) {
    Threads::wait();
    double norm = 0;
    if (Threads::index() < 32) {
      norm = sqrt(dot_exact(dim, threadIdx.x % kSums,
                            [&](int i) { return make_float2(row[place(i)], row[place(i)]); }));
    }
    norm = Threads::first(norm);
    if (norm != 0) {
      for (int j = Threads::index(); j < dim; j += Threads::count())
        row[place(j)] = static_cast<float>(row[place(j)] / norm);
    }
  }
  // Until here each thread reads its own values alone.
  for (int j = Threads::index(); j < dim; j += Threads::count()) row[place(j)] -= view.centre[j];
  Threads::wait();
  double norm = 0;
  if (Threads::index() < 32) {
    // Half a warp sums the length, the other half the centre's part.
    const bool has_length = threadIdx.x % 32 < kSums;
    double norm2 = dot_exact(dim, threadIdx.x % kSums, [&](int i) {
      const float value = row[place(i)];
      return make_float2(has_length ? value : view.centre[i], value);
    });
    const double along = __shfl_sync(~0U, norm2, kSums);
    if (Threads::index() == 0) {
      if (!(norm2 > view.nearly_centre2)) norm2 = 0;
      norm = sqrt(norm2);
      if (norm < view.shortest) norm = 0;
      const bool allowed = finite && norm <= view.longest;
      if (!allowed) {
        const Refusal why = finite ? Refusal::length : Refusal::not_finite;
        atomicMin(given.refused, static_cast<Refused>(given.first_row + number) << kRefusalBits |
                                     static_cast<Refused>(why));
        norm = 0;
      }
      given.lengths[number] = {norm, view.is_l2 != 0 ? norm : along};
    }
  }
  norm = Threads::first(norm);
  const double to_direction = norm == 0 ? 0 : view.root_dim / norm;
  for (int j = Threads::index(); j < dim; j += Threads::count())
    row[place(j)] = norm == 0 ? 0.0F : static_cast<float>(row[place(j)] * to_direction);
  Threads::wait();
  const RotationView& rotation = view.rotation;
  if (rotation.kind == Rotation::basis) {
    const float unit = round_for_basis<Threads>(
        rotation, row, given.values + number * 2 * static_cast<int64_t>(rotation.value_stride));
    if (Threads::index() == 0) given.units[number] = unit / rotation.basis_one;
    return;
  }
  if (norm != 0) rotate<Threads>(rotation, row);
  float* to = given.u + number * dim;
  for (int j = Threads::index(); j < dim; j += Threads::count()) to[j] = row[place(j)];
}

}  // namespace

size_t direction_shared_bytes(const EncodeView& view) {
  const int rows = view.dim <= kMostWarpDim ? kBlockWarps : 1;
  return static_cast<size_t>(rows) * row_floats(view.dim) * sizeof(float) + kStaticBytes;
}

void make_directions(const EncodeView& view, const EncodeRows& rows, cudaStream_t stream) {
  const size_t shared_bytes = direction_shared_bytes(view) - kStaticBytes;
  if (view.dim <= kMostWarpDim) {
    allow_shared_memory<make_directions_kernel<true>>(kStaticBytes);
    const auto blocks = static_cast<unsigned>((rows.n + kBlockWarps - 1) / kBlockWarps);
    make_directions_kernel<true><<<blocks, kBlockWarps * 32, shared_bytes, stream>>>(view, rows);
  } else {
    allow_shared_memory<make_directions_kernel<false>>(kStaticBytes);
    const int threads = row_threads(view.rotation, kMostThreads);
    make_directions_kernel<false>
        <<<static_cast<unsigned>(rows.n), threads, shared_bytes, stream>>>(view, rows);
  }
  POLAR_CUDA_CHECK_LAUNCH(make_directions_kernel);
}

}  // namespace polarquant::cuda
