// SPDX-License-Identifier: MIT
// Encoding rows. codec.cc decodes and scores them, codec_centroids.cc has what is different about
// centroids, codec_state.cc and its neighbours have the state.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "src/codec/codec_state.h"
#include "src/codec/planned_quantizer.h"
#include "src/core/parallel.h"
#include "src/core/work_progress.h"

namespace polarquant {
namespace {

// Rows of one task of encode: enough to hide the task's cost, few enough to share evenly.
constexpr int64_t kRowsPerTask = 64;
// A direction whose code points away from it, or nearly so (possible in few dimensions), would get
// a negative or huge scale; its alignment ⟨u,û⟩/dim is taken as at least this share of the usual 1
// − D.
constexpr double kAlignmentFloor = 0.25;
// x−c shorter than this share of ‖c‖ is the rounding of float inputs: x is the centre.
constexpr double kCentreRounding = 0x1p-22;
// Of ‖E‖ where its square is stored in 8 bits: exact factors (centroids.h).
constexpr double kMostUnitsOfSquare = 16;

}  // namespace

void require_finite(const float* x, int dim, const char* name, int64_t row) {
  // No branch for each number: the exponent of what is not finite carries into the sign's place.
  uint32_t carries = 0;
  for (int j = 0; j < dim; ++j)
    carries |= (std::bit_cast<uint32_t>(x[j]) & 0x7fffffffU) + 0x00800000U;
  if ((carries & 0x80000000U) == 0) return;
  for (int j = 0; j < dim; ++j) {
    require(std::isfinite(x[j]), StatusCode::bad_argument,
            "{}: row {} column {} is {}; finite numbers are allowed", name, row, j, x[j]);
  }
}

double Codec::least_norm2() const { return kCentreRounding * kCentreRounding * centre_norm2_; }

double Codec::least_alignment() const { return kAlignmentFloor * (1 - mse()); }

double Codec::least_norm() const { return norm_unit() * factor_format_.min_norm_units(); }

double Codec::most_norm() const {
  double units = has_factors() ? factor_format_.max_norm_units() : FactorFormat().max_norm_units();
  // n is a square.
  if (spec_.centroids > 0 && metric_ == Metric::l2 && !has_balanced_factors())
    units = kMostUnitsOfSquare;
  return std::min(kMaxRowNorm, norm_unit() * units);
}

void Codec::require_codable(double norm) const {
  require(norm <= most_norm(), StatusCode::bad_argument,
          "its distance to the centre is {:.6g}; up to {:.3g} is allowed, by the unit {:.3g} and "
          "what scores in floats can hold",
          norm, most_norm(), norm_unit());
}

// The vector as the metric sees it: itself, or normalized for cosine (zero stays zero).
void Codec::metric_input(const float* x, float* input) const {
  std::copy_n(x, dim_, input);
  if (metric_ != Metric::cosine) return;
  const double norm = std::sqrt(kernels_.dot_exact(x, x, dim_));
  if (norm == 0) return;
  for (int j = 0; j < dim_; ++j) input[j] = static_cast<float>(x[j] / norm);
}

// v := input − centre, and its squared length: 0, and v = 0, when the two are equal within the
// rounding of floats.
double Codec::centred(const float* input, const float* centre, double centre_norm2,
                      float* v) const {
  kernels_.subtract_multiple(input, 1, centre, dim_, v);
  const double norm2 = kernels_.dot_exact(v, v, dim_);
  if (norm2 > kCentreRounding * kCentreRounding * centre_norm2) return norm2;
  std::fill_n(v, dim_, 0.0F);
  return 0;
}

// What quantizers of vectors code: R(x−c)/unit. Returns ‖x−c‖.
double Codec::rotated_vector(const float* x, const float* centre, int unit_exponent,
                             float* v) const {
  AlignedVector<float> input(dim_);
  metric_input(x, input.data());
  kernels_.subtract_multiple(input.data(), 1, centre, dim_, v);
  const double norm = std::sqrt(kernels_.dot_exact(v, v, dim_));
  const double to_units = std::ldexp(1.0, -unit_exponent);
  for (int j = 0; j < dim_; ++j) v[j] = static_cast<float>(v[j] * to_units);
  rotation_.apply(v);
  return norm;
}

// ⟨u,û⟩ by ⟨u,u⟩, over the coordinates that the scale is for.
double Codec::alignment_of(const float* u, const float* decoded) const {
  const int scaled = quantizer_->scaled_dims(dim_);
  const double length2 = scaled == dim_ ? dim_ : kernels_.dot_exact(u, u, scaled);
  const double alignment = length2 > 0 ? kernels_.dot_exact(u, decoded, dim_) / length2 : 0;
  return std::max(alignment, least_alignment());
}

// A row that may be coded has a scale that can be stored, unless the code lies so badly that its
// alignment was raised to the least one, or the row has hardly anything where there are bits.
double Codec::scale_of(double norm, const float* u, const float* decoded) const {
  const double root_dim = std::sqrt(static_cast<double>(dim_));
  double scale = norm / (root_dim * alignment_of(u, decoded));
  if (has_balanced_factors()) {
    const double length = std::sqrt(kernels_.dot_exact(decoded, decoded, dim_));
    if (length > 0) scale = std::sqrt(scale * norm / length);
  }
  return std::clamp<double>(scale, factor_format_.min_scale(), factor_format_.max_scale());
}

// docs/codec.md, "Factors": code of u = √dim·R(x−c)/‖x−c‖, then s = ‖x−c‖/(√dim·⟨u,û⟩/dim).
Codec::CodedRow Codec::code_row(const float* x, const Centre& centre, uint8_t* code) const {
  thread_local AlignedVector<float> scratch;
  scratch.resize(3 * static_cast<size_t>(dim_));
  float* v = scratch.data();
  float* u = v + dim_;
  float* decoded = u + dim_;
  metric_input(x, u);
  std::fill_n(code, layout_.group_bytes, uint8_t{0});
  CodedRow row = {{0, 0, centre.centroid}, centred(u, centre.vector, centre.norm2, v), v, decoded};
  const double norm = std::sqrt(row.norm2);
  require_codable(norm);
  if (norm == 0 || norm < least_norm()) return row;
  const double to_direction = std::sqrt(static_cast<double>(dim_)) / norm;
  for (int j = 0; j < dim_; ++j) u[j] = static_cast<float>(v[j] * to_direction);
  // What a code has no bits for stays out of its scale, too.
  rotation_.apply(u, 1, has_basis() ? planned()->coded_dims() : dim_);
  quantizer_->encode_and_decode(u, code, decoded);
  row.factors.scale = static_cast<float>(scale_of(norm, u, decoded));
  return row;
}

void Codec::encode_direction(const float* x, const Centre& centre, uint8_t* code) const {
  const CodedRow row = code_row(x, centre, code);
  Factors factors = row.factors;
  if (factors.scale != 0) {
    factors.bias = static_cast<float>(centroids_ != nullptr ? centroid_bias(row)
                                      : metric_ == Metric::l2
                                          ? std::sqrt(row.norm2)
                                          : centre.bias_scale *
                                                kernels_.dot_exact(centre.vector, row.v, dim_));
  }
  uint8_t* stored = code + quantizer_->code_bytes();
  // False only where a state's tables, which may come from a file, give scales that no training
  // gives.
  require(store_factors(factor_format_, factors, stored), StatusCode::corrupt_data,
          "its factors {} and {} cannot be stored; the tables of the codec's state are not such as "
          "training makes",
          factors.scale, factors.bias);
}

void Codec::encode_group(int64_t first_row, const float* x, const Centre& centre,
                         uint8_t* code) const {
  const int rows = layout_.group_rows;
  int64_t row = first_row;
  try {
    if (has_factors()) {
      encode_direction(x, centre, code);
      return;
    }
    AlignedVector<float> vectors(static_cast<size_t>(rows) * dim_);
    for (; row < first_row + rows; ++row) {
      const size_t offset = static_cast<size_t>(row - first_row) * dim_;
      require_codable(rotated_vector(x + offset, centre.vector, unit_exponent_, &vectors[offset]));
    }
    row = first_row;
    quantizer_->encode(vectors.data(), code);
  } catch (const Error& error) {
    if (rows == 1) fail(error.code(), "x: row {}: {}", row, error.what());
    fail(error.code(), "x: rows {} to {}: {}", first_row, first_row + rows - 1, error.what());
  }
}

void Codec::require_can_encode(int64_t n) const {
  require(n >= 0, StatusCode::bad_argument, "n: {} rows are not allowed; 0 or more", n);
  require(is_trained(), StatusCode::not_trained, "{} must be trained before it can encode",
          print_spec(spec_));
}

// centre_of(row): the centre that the row is coded about.
template <typename CentreOf>
void Codec::encode_rows(int64_t n, const float* x, const CentreOf& centre_of, uint8_t* codes,
                        int threads) const {
  require_can_encode(n);
  const int64_t groups = n / layout_.group_rows;
  const int64_t task_groups = std::max<int64_t>(1, kRowsPerTask / layout_.group_rows);
  const int64_t tasks = (groups + task_groups - 1) / task_groups;
  const auto row_of_x = [&](int64_t row) { return x + row * dim_; };
  parallel_for(tasks, thread_count(threads, tasks), [&](int64_t task, int) {
    report_work(static_cast<double>(task) / static_cast<double>(tasks));
    const int64_t end = std::min(groups, (task + 1) * task_groups);
    for (int64_t group = task * task_groups; group < end; ++group) {
      const int64_t first = group * layout_.group_rows;
      for (int64_t row = first; row < first + layout_.group_rows; ++row) {
        require_finite(row_of_x(row), dim_, "x", row);
      }
      encode_group(first, row_of_x(first), centre_of(first), codes + group * layout_.group_bytes);
    }
  });
  uint8_t* tail = codes + groups * layout_.group_bytes;
  AlignedVector<float> vector(dim_);
  for (int64_t row = groups * layout_.group_rows; row < n; ++row, tail += layout_.tail_row_bytes) {
    require_finite(row_of_x(row), dim_, "x", row);
    const double norm =
        rotated_vector(row_of_x(row), centre_of(row).vector, unit_exponent_, vector.data());
    try {
      require_codable(norm);
    } catch (const Error& error) {
      fail(error.code(), "x: row {}: {}", row, error.what());
    }
    std::memcpy(tail, vector.data(), layout_.tail_row_bytes);
  }
  if (n > 0) encoded_anything_.store(true, std::memory_order_relaxed);
}

void Codec::encode(int64_t n, const float* x, uint8_t* codes, int threads) const {
  if (centroids_ != nullptr) {
    require_can_encode(n);
    require_finite_rows(n, x);
    const std::vector<int32_t> nearest = nearest_centroids(n, x, threads);
    const auto centre_of = [&](int64_t row) {
      const int centroid = nearest[static_cast<size_t>(row)];
      return Centre{centroids_->row(centroid), centroids_->norm2(centroid), 1, centroid};
    };
    encode_rows(n, x, centre_of, codes, threads);
    return;
  }
  encode_rows(
      n, x, [this](int64_t) { return own_centre(); }, codes, threads);
}

void Codec::encode_residuals(int64_t n, const float* x,
                             const std::function<const float*(int64_t row)>& centre_of,
                             uint8_t* codes, int threads) const {
  require(layout_.group_rows == 1, StatusCode::unsupported,
          "{}: codes {} rows together, so that a row cannot have a centre of its own",
          print_spec(spec_), layout_.group_rows);
  require(spec_.centroids == 0, StatusCode::unsupported,
          "{}: its codes are about centroids of its own; lists of an inverted file are such "
          "centroids, so take {} there",
          print_spec(spec_), print_spec(without_centroids(spec_)));
  require(centre_norm2_ == 0, StatusCode::unsupported,
          "a codec with a centre of its own, of norm {:.6g}, cannot code about others",
          centre_norm_);
  const auto view_of = [&](int64_t row) {
    const float* centre = centre_of(row);
    const double norm2 = kernels_.dot_exact(centre, centre, dim_);
    return Centre{centre, norm2, norm2 > 0 ? 1 / std::sqrt(norm2) : 0};
  };
  encode_rows(n, x, view_of, codes, threads);
}

}  // namespace polarquant
