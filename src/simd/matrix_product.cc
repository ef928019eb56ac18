// SPDX-License-Identifier: MIT
// As Goto and van de Geijn (ACM TOMS 34, 2008): both matrices are copied into strips in the order
// in which they are read; a tile of two vectors by six numbers stays in registers meanwhile.
#include "src/simd/matrix_product.h"

#include <algorithm>

#include "src/core/aligned_buffer.h"
#include "src/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/simd/matrix_product.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef POLARQUANT_TILE_KERNEL
#define POLARQUANT_TILE_KERNEL
namespace polarquant {

constexpr int64_t kTileColumns = 6;

template <class T>
struct TileKernel {
  int64_t rows;
  /// tile[column·rows + row] := Σ_k a[k·rows + row]·b[k·kTileColumns + column]; `a` and `tile` are
  /// aligned.
  void (*multiply)(int64_t inner, const T* a, const T* b, T* tile);
};

}  // namespace polarquant
#endif

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_ATTR void multiply_tile(int64_t inner, const T* a, const T* b, T* tile) {
  using Numbers = hn::ScalableTag<T>;
  const Numbers d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<Numbers> upper[kTileColumns], lower[kTileColumns];
#pragma GCC unroll 6
  for (int64_t j = 0; j < kTileColumns; ++j) upper[j] = lower[j] = hn::Zero(d);
  for (int64_t k = 0; k < inner; ++k) {
    const auto first = hn::Load(d, a + k * 2 * lanes);
    const auto second = hn::Load(d, a + k * 2 * lanes + lanes);
#pragma GCC unroll 6
    for (int64_t j = 0; j < kTileColumns; ++j) {
      const auto number = hn::Set(d, b[k * kTileColumns + j]);
      upper[j] = hn::Add(upper[j], hn::Mul(first, number));
      lower[j] = hn::Add(lower[j], hn::Mul(second, number));
    }
  }
#pragma GCC unroll 6
  for (int64_t j = 0; j < kTileColumns; ++j) {
    hn::Store(upper[j], d, tile + j * 2 * lanes);
    hn::Store(lower[j], d, tile + j * 2 * lanes + lanes);
  }
}

TileKernel<float> float_tile() {
  return {2 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())), multiply_tile<float>};
}
TileKernel<double> double_tile() {
  return {2 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>())), multiply_tile<double>};
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(float_tile);
HWY_EXPORT(double_tile);

namespace {

template <class T>
TileKernel<T> best_tile();
template <>
TileKernel<float> best_tile() {
  return HWY_DYNAMIC_DISPATCH(float_tile)();
}
template <>
TileKernel<double> best_tile() {
  return HWY_DYNAMIC_DISPATCH(double_tile)();
}

/// Two of at most 512 columns or rows lie in a core's cache beside the tiles.
constexpr int64_t kMostPacked = 4096;
/// Tiles of one task: 8 strips of a, 32 of b.
constexpr int64_t kTaskRows = 8, kTaskColumns = 32;
/// Multiplications that pay for other threads.
constexpr int64_t kLeastWork = int64_t{1} << 18;
/// The most rows of a tile on any target.
constexpr int64_t kMostTileRows = 256;

int64_t count_parts(int64_t all, int64_t part) { return (all + part - 1) / part; }

/// Numbers [first, first + count) of an axis.
struct Range {
  int64_t first, count;
};

/// The other way about: element (i, j) of the view is (j, i) of `view`.
template <class T>
MatrixView<T> transpose(MatrixView<T> view) {
  view.transposed = !view.transposed;
  return view;
}

/// Rows `rows` and columns `inner` of `view` in strips of `height` rows, each with the numbers of a
/// column together; the last strip has zeros below.
template <class T>
void pack_strips(const MatrixView<T>& view, Range rows, Range inner, int64_t height, T* strips) {
  const int64_t count = count_parts(rows.count, height);
  const int threads = thread_count(rows.count * inner.count < kLeastWork ? 1 : 0, count);
  parallel_for(count, threads, [&](int64_t strip, int) {
    T* to = strips + strip * height * inner.count;
    const int64_t top = strip * height;
    const int64_t filled = std::min(height, rows.count - top);
    if (filled < height) std::fill_n(to, height * inner.count, T{0});
    for (int64_t i = 0; i < filled; ++i) {
      const int64_t row = rows.first + top + i;
      const int64_t step = view.transposed ? 1 : view.stride;
      const T* from = view.transposed ? view.data + row * view.stride + inner.first
                                      : view.data + row + inner.first * view.stride;
      for (int64_t k = 0; k < inner.count; ++k) to[k * height + i] = from[k * step];
    }
  });
}

/// One block of the product: what its strips hold.
template <class T>
struct ProductBlock {
  const MatrixProduct<T>& product;
  TileKernel<T> kernel;
  Range rows, columns, inner;
  const T* a_strips;
  const T* b_strips;

  void add_tile(int64_t strip_row, int64_t strip_column) const {
    alignas(64) T tile[kMostTileRows * kTileColumns];
    kernel.multiply(inner.count, a_strips + strip_row * kernel.rows * inner.count,
                    b_strips + strip_column * kTileColumns * inner.count, tile);
    const int64_t top = strip_row * kernel.rows, left = strip_column * kTileColumns;
    const int64_t height = std::min(kernel.rows, rows.count - top);
    const int64_t width = std::min(kTileColumns, columns.count - left);
    // The first part of the inner products meets what c held.
    const T kept = inner.first == 0 ? product.beta : T{1};
    for (int64_t j = 0; j < width; ++j) {
      T* c = product.c + rows.first + top + (columns.first + left + j) * product.c_stride;
      const T* sums = tile + j * kernel.rows;
      if (kept == T{0}) {
        for (int64_t i = 0; i < height; ++i) c[i] = product.alpha * sums[i];
      } else if (kept == T{1}) {
        for (int64_t i = 0; i < height; ++i) c[i] += product.alpha * sums[i];
      } else {
        for (int64_t i = 0; i < height; ++i) c[i] = product.alpha * sums[i] + kept * c[i];
      }
    }
  }

  void add() const {
    const int64_t tall = count_parts(rows.count, kernel.rows);
    const int64_t wide = count_parts(columns.count, kTileColumns);
    const int64_t task_rows = count_parts(tall, kTaskRows);
    const int64_t tasks = task_rows * count_parts(wide, kTaskColumns);
    const bool small = rows.count * columns.count * inner.count < kLeastWork;
    parallel_for(tasks, thread_count(small ? 1 : 0, tasks), [&](int64_t task, int) {
      const int64_t first_row = task % task_rows * kTaskRows;
      const int64_t first_column = task / task_rows * kTaskColumns;
      for (int64_t j = first_column; j < std::min(wide, first_column + kTaskColumns); ++j)
        for (int64_t i = first_row; i < std::min(tall, first_row + kTaskRows); ++i) add_tile(i, j);
    });
  }
};

template <class T>
void scale_columns(const MatrixProduct<T>& product) {
  for (int64_t j = 0; j < product.columns; ++j) {
    T* c = product.c + j * product.c_stride;
    for (int64_t i = 0; i < product.rows; ++i)
      c[i] = product.beta == T{0} ? T{0} : product.beta * c[i];
  }
}

}  // namespace

template <class T>
void multiply_matrices(const MatrixProduct<T>& product) {
  if (product.inner == 0 || product.alpha == T{0}) {
    scale_columns(product);
    return;
  }
  const TileKernel<T> kernel = best_tile<T>();
  const int64_t inner_most = std::min(kSumOfProducts, product.inner);
  const auto packed_numbers = [&](int64_t all, int64_t height) {
    return static_cast<size_t>(count_parts(std::min(all, kMostPacked), height) * height *
                               inner_most);
  };
  AlignedVector<T> a(packed_numbers(product.rows, kernel.rows));
  AlignedVector<T> b(packed_numbers(product.columns, kTileColumns));
  for (int64_t k = 0; k < product.inner; k += kSumOfProducts) {
    const Range inner{k, std::min(kSumOfProducts, product.inner - k)};
    for (int64_t j = 0; j < product.columns; j += kMostPacked) {
      const Range columns{j, std::min(kMostPacked, product.columns - j)};
      pack_strips(transpose(product.b), columns, inner, kTileColumns, b.data());
      for (int64_t i = 0; i < product.rows; i += kMostPacked) {
        const Range rows{i, std::min(kMostPacked, product.rows - i)};
        pack_strips(product.a, rows, inner, kernel.rows, a.data());
        ProductBlock<T>{product, kernel, rows, columns, inner, a.data(), b.data()}.add();
      }
    }
  }
}

template void multiply_matrices(const MatrixProduct<float>& product);
template void multiply_matrices(const MatrixProduct<double>& product);

}  // namespace polarquant
#endif
