// SPDX-License-Identifier: MIT
#include "src/codec/plan_training.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "src/codec/dot.h"
#include "src/codec/principal_axes.h"
#include "src/codec/rotation.h"
#include "src/core/parallel.h"
#include "src/core/random.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"

namespace polarquant {
namespace {

/// One row of ten is held out, or fewer: 2,000 rows tell an error within 1 %.
constexpr int64_t kHoldOutStride = 10;
constexpr int64_t kMostHeldOut = 2000;
/// A basis has to gain this share of the untrained code's error. It makes a query's rotation cost
/// dim² instead of dim·log dim, searches lose more to bounds by a trained code's signs, and queries
/// that are not like the rows gain less: of 20,000 rows of exponential numbers and inner product, a
/// gain of .09 at 3 bits and of .07 at 4 became recall@10 that is lower by .004 and .002. Real
/// embeddings gain .3 and more.
constexpr double kLeastGain = .1;
/// Streams of the codec's seed, one for each segment.
constexpr uint64_t kSegmentStream = 1000;
/// Rows whose error a thread measures at a time.
constexpr int64_t kRowsOfTask = 16;
/// A code that points away from its vector counts as one that nearly does.
constexpr double kLeastAlignment = .05;

double sum_of(const std::vector<double>& variances) {
  double total = 0;
  for (const double variance : variances) total += variance;
  return total;
}

std::vector<double> variances_of_segments(int dim, const std::vector<double>& variances) {
  const double total = sum_of(variances);
  std::vector<double> means;
  for (int segment = 0; segment < segments_of(dim); ++segment) {
    const int dims = segment_dims(dim, segment);
    double sum = 0;
    for (int j = 0; j < dims; ++j)
      sum += variances[static_cast<size_t>(segment * kSegmentDims + j)];
    means.push_back(sum / dims * dim / total);
  }
  return means;
}

/// Axes as the rows of a rotation, turned at random within each segment; the first `coded` ones of
/// a segment among themselves.
AlignedVector<int16_t> turned_axes(int dim, int coded, uint64_t seed,
                                   const std::vector<double>& axes) {
  AlignedVector<int16_t> basis(axes.size());
  std::vector<float> column(kSegmentDims);
  for (int first = 0, end = 0; first < dim; first = end) {
    const int segment = first / kSegmentDims;
    end = segment * kSegmentDims + segment_dims(dim, segment);
    if (first < coded && coded < end) end = coded;
    const int dims = end - first;
    const uint64_t own_seed = Random(seed, kSegmentStream + static_cast<uint64_t>(segment)).next();
    const Rotation turn(RotationKind::dense, dims, own_seed);
    for (int j = 0; j < dim; ++j) {
      const auto at = [&](int i) {
        return static_cast<size_t>(first + i) * static_cast<size_t>(dim) + static_cast<size_t>(j);
      };
      for (int i = 0; i < dims; ++i)
        column[static_cast<size_t>(i)] = static_cast<float>(axes[at(i)]);
      turn.apply(column.data());
      for (int i = 0; i < dims; ++i) basis[at(i)] = basis_number(column[static_cast<size_t>(i)]);
    }
  }
  return basis;
}

}  // namespace

CodingError coding_error(const Rotation& rotation, const Quantizer& quantizer,
                         const RowDirections& rows, int64_t first, int64_t stride) {
  const auto dim = static_cast<size_t>(rows.dim);
  // One for each row, summed in their order: the sum is the same on any number of threads.
  std::vector<CodingError> row_errors;
  if (first < rows.n) row_errors.resize(static_cast<size_t>((rows.n - 1 - first) / stride + 1));
  const int64_t tasks = (std::ssize(row_errors) + kRowsOfTask - 1) / kRowsOfTask;
  parallel_for(tasks, thread_count(0, tasks), [&](int64_t task, int) {
    AlignedVector<float> u(dim), rotated(dim), decoded(dim);
    std::vector<uint8_t> code(quantizer.code_bytes());
    const int64_t end = std::min<int64_t>(std::ssize(row_errors), (task + 1) * kRowsOfTask);
    for (int64_t i = task * kRowsOfTask; i < end; ++i) {
      if (!rows.write(first + i * stride, u.data())) continue;
      rotated = u;
      rotation.apply(rotated.data());
      quantizer.encode_and_decode(rotated.data(), code.data(), decoded.data());
      rotation.apply_transpose(decoded.data());
      const int scaled = quantizer.scaled_dims(rows.dim);
      const double share =
          scaled == rows.dim ? 1 : dot_exact(rotated.data(), rotated.data(), scaled) / rows.dim;
      const double aligned = dot_exact(u.data(), decoded.data(), rows.dim) / rows.dim;
      const double alignment =
          std::max(share > 0 ? aligned / share : kLeastAlignment, kLeastAlignment);
      const double length2 = dot_exact(decoded.data(), decoded.data(), rows.dim) / rows.dim;
      row_errors[static_cast<size_t>(i)] = {length2 / (alignment * alignment) + (1 - 2 * share),
                                            alignment};
    }
  });
  CodingError sums;
  int64_t count = 0;
  for (const CodingError& row : row_errors) {
    if (row.alignment == 0) continue;  // it has no direction
    sums.error += row.error;
    sums.alignment += row.alignment;
    ++count;
  }
  if (count == 0) return sums;
  const auto coded = static_cast<double>(count);
  return {sums.error / coded, sums.alignment / coded};
}

namespace {

int64_t held_out_stride(int64_t n) { return std::max(kHoldOutStride, n / kMostHeldOut); }

SecondMoments::Axes axes_of(const RowDirections& rows) {
  const int64_t n = rows.n;
  require(n >= kMinRowsPerDim * rows.dim, StatusCode::bad_argument,
          "n: {} training rows; -pca at dim {} needs at least {}, and does well from {} on", n,
          rows.dim, kMinRowsPerDim * rows.dim, kGoodRowsPerDim * rows.dim);
  SecondMoments moments(rows.dim);
  AlignedVector<float> u(static_cast<size_t>(rows.dim));
  int64_t count = 0;
  for (int64_t row = 0; row < n; ++row) {
    report_work(.3 * static_cast<double>(row) / static_cast<double>(n));
    if (is_held_out(row, n) || !rows.write(row, u.data())) continue;
    moments.add(u.data());
    ++count;
  }
  require(count > 0, StatusCode::bad_argument, "x: its {} rows all equal the centre", n);
  return moments.axes();
}

CodingError error_of_held_out(const RowDirections& rows, const Rotation& rotation,
                              const Quantizer& quantizer) {
  const int64_t stride = held_out_stride(rows.n);
  return coding_error(rotation, quantizer, rows, stride - 1, stride);
}

/// Few dimensions may align better than they should.
double mse_of_alignment(double alignment) { return std::clamp(1 - alignment, 0.0, .99); }

}  // namespace

bool is_held_out(int64_t row, int64_t n) {
  const int64_t stride = held_out_stride(n);
  return row % stride == stride - 1;
}

TrainedPlan train_plan(const RowDirections& rows, int twice_bits, const Quantizer& untrained,
                       uint64_t seed, const CodecKernels& kernels) {
  const int dim = rows.dim;
  const SecondMoments::Axes axes = axes_of(rows);
  PlannedQuantizer planned(dim, untrained.code_bytes());
  const auto take_plan = [&](const SegmentPlan& plan) {
    planned.set_plan(plan, {});
    planned.use_kernels(kernels);
  };
  TrainedPlan result;
  result.plan =
      allocate_rates(dim, variances_of_segments(dim, axes.variances), planned.code_bytes());
  result.basis = turned_axes(dim, dim, seed, axes.rows);
  take_plan(result.plan);
  Rotation basis(dim, result.basis);
  basis.use_kernels(kernels.rotation);
  const CodingError trained = error_of_held_out(rows, basis, planned);

  Rotation hadamard(RotationKind::hadamard, dim, seed);
  hadamard.use_kernels(kernels.rotation);
  const double untrained_error = error_of_held_out(rows, hadamard, untrained).error;
  const SegmentPlan even = even_plan(dim, twice_bits, planned.code_bytes());
  take_plan(even);
  const double even_error = error_of_held_out(rows, hadamard, planned).error;
  result.errors = {mse_of_alignment(trained.alignment), trained.error, untrained_error};
  if (trained.error <= (1 - kLeastGain) * even_error) return result;
  return {{}, even, {plan_mse(dim, even), even_error, untrained_error}};
}

TrainedPlan train_plan_of_bytes(const RowDirections& rows, size_t bytes, uint64_t seed,
                                const CodecKernels& kernels) {
  const int dim = rows.dim;
  const SecondMoments::Axes axes = axes_of(rows);
  TrainedPlan result;
  result.plan = allocate_rates(dim, variances_of_segments(dim, axes.variances), bytes);
  code_part(dim, bytes, &result.plan);
  const int coded = coded_dims(dim, result.plan, bytes);
  if (coded % kSegmentDims != 0) {
    const int segment = coded / kSegmentDims;
    const int first = segment * kSegmentDims;
    double sum = 0;
    for (int j = first; j < coded; ++j) sum += axes.variances[static_cast<size_t>(j)];
    result.plan[static_cast<size_t>(segment)].scale =
        scale_of_variance(sum / (coded - first) * dim / sum_of(axes.variances));
  }
  result.basis = turned_axes(dim, coded, seed, axes.rows);
  PlannedQuantizer planned(dim, bytes, SizeIn::bytes);
  planned.set_plan(result.plan, {});
  planned.use_kernels(kernels);
  Rotation basis(dim, result.basis);
  basis.use_kernels(kernels.rotation);
  const CodingError trained = error_of_held_out(rows, basis, planned);
  result.errors = {mse_of_alignment(trained.alignment), trained.error, 0};
  return result;
}

}  // namespace polarquant
