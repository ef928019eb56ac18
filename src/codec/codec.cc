// SPDX-License-Identifier: MIT
// Encoding, decoding and scoring rows. codec_state.cc and its neighbours have the state.
#include "src/codec/codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "src/codec/dot.h"
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
// Longer queries could overflow float sums.
constexpr double kMaxQueryNorm = 0x1p63;
// For a shorter query the inverse of its 8-bit step could overflow a float. Distances do not depend
// on it, as the rows' own lengths decide them.
constexpr double kMinQueryNorm = 0x1p-112;

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

}  // namespace

double Codec::least_norm2() const { return kCentreRounding * kCentreRounding * centre_norm2_; }

double Codec::least_alignment() const { return kAlignmentFloor * (1 - mse()); }

double Codec::least_norm() const { return norm_unit() * factor_format_.min_norm_units(); }

double Codec::most_norm() const {
  const double units =
      has_factors() ? factor_format_.max_norm_units() : FactorFormat().max_norm_units();
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

// docs/codec.md, "Factors": code of u = √dim·R(x−c)/‖x−c‖, then s = ‖x−c‖/(√dim·⟨u,û⟩/dim) and b.
void Codec::encode_direction(const float* x, const Centre& centre, uint8_t* code) const {
  thread_local AlignedVector<float> scratch;
  scratch.resize(3 * static_cast<size_t>(dim_));
  float* v = scratch.data();
  float* u = v + dim_;
  float* decoded = u + dim_;
  metric_input(x, u);
  std::fill_n(code, layout_.group_bytes, uint8_t{0});
  const double norm2 = centred(u, centre.vector, centre.norm2, v);
  if (norm2 == 0) return;

  const double norm = std::sqrt(norm2);
  require_codable(norm);
  if (norm < least_norm()) return;
  const double root_dim = std::sqrt(static_cast<double>(dim_));
  const double to_direction = root_dim / norm;
  for (int j = 0; j < dim_; ++j) u[j] = static_cast<float>(v[j] * to_direction);
  rotation_.apply(u);
  quantizer_->encode_and_decode(u, code, decoded);

  const double alignment = std::max(kernels_.dot_exact(u, decoded, dim_) / dim_, least_alignment());
  // A row that may be coded has a scale that can be stored, unless the code lies so badly that its
  // alignment was raised to the least one.
  const double scale = std::min<double>(norm / (root_dim * alignment), factor_format_.max_scale());
  const double bias =
      metric_ == Metric::l2 ? norm : centre.bias_scale * kernels_.dot_exact(centre.vector, v, dim_);
  const Factors factors = {static_cast<float>(scale), static_cast<float>(bias)};
  const bool stored = store_factors(factor_format_, factors, code + quantizer_->code_bytes());
  // False only where a state's tables, which may come from a file, give scales that no training
  // gives.
  require(stored, StatusCode::corrupt_data,
          "its factors {} and {} cannot be stored; the tables of the codec's state are not such as "
          "training makes",
          scale, bias);
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

// centre_of(row): the centre that the row is coded about.
template <typename CentreOf>
void Codec::encode_rows(int64_t n, const float* x, const CentreOf& centre_of, uint8_t* codes,
                        int threads) const {
  require(n >= 0, StatusCode::bad_argument, "n: {} rows are not allowed; 0 or more", n);
  require(is_trained(), StatusCode::not_trained, "{} must be trained before it can encode",
          print_spec(spec_));
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
  encode_rows(
      n, x, [this](int64_t) { return own_centre(); }, codes, threads);
}

void Codec::encode_residuals(int64_t n, const float* x,
                             const std::function<const float*(int64_t row)>& centre_of,
                             uint8_t* codes, int threads) const {
  require(layout_.group_rows == 1, StatusCode::unsupported,
          "{}: codes {} rows together, so that a row cannot have a centre of its own",
          print_spec(spec_), layout_.group_rows);
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

Factors Codec::decode_direction(CodeRows codes, int64_t row, float* y) const {
  const uint8_t* code = codes.data + row * layout_.group_bytes;
  quantizer_->decode(code, 0, y);
  return load_factors(factor_format_, code + quantizer_->code_bytes());
}

// R(x̂−c)/unit of a codec of vectors.
void Codec::decode_vector(CodeRows codes, int64_t row, float* y) const {
  const int64_t group = row / layout_.group_rows;
  const int64_t full_groups = codes.rows / layout_.group_rows;
  if (group < full_groups) {
    quantizer_->decode(codes.data + group * layout_.group_bytes,
                       static_cast<int>(row % layout_.group_rows), y);
    return;
  }
  const int64_t tail_row = row - full_groups * layout_.group_rows;
  std::memcpy(y, codes.data + full_groups * layout_.group_bytes + tail_row * layout_.tail_row_bytes,
              layout_.tail_row_bytes);
}

// y and the number it is multiplied by to make R(x̂−c).
float Codec::decode_scaled(CodeRows codes, int64_t row, Reconstruction kind, float* y) const {
  if (!has_factors()) {
    decode_vector(codes, row, y);
    return static_cast<float>(norm_unit());
  }
  const float scale = decode_direction(codes, row, y).scale;
  return kind == Reconstruction::least_error ? static_cast<float>(scale * (1 - mse())) : scale;
}

void Codec::decode(CodeRows codes, int64_t first, int64_t count, Reconstruction kind,
                   float* x) const {
  for (int64_t i = 0; i < count; ++i) {
    float* row = x + i * dim_;
    const float scale = decode_scaled(codes, first + i, kind, row);
    rotation_.apply_transpose(row);
    for (int j = 0; j < dim_; ++j) row[j] = centre_[j] + scale * row[j];
  }
}

PreparedQuery Codec::prepare_query(const float* q) const {
  PreparedQuery query = centre_query(q);
  rotation_.apply(query.rotated.data());
  return query;
}

std::vector<PreparedQuery> Codec::prepare_queries(int64_t n, const float* q,
                                                  Coordinates wanted) const {
  std::vector<PreparedQuery> queries;
  queries.reserve(static_cast<size_t>(n));
  if (!has_basis()) {
    for (int64_t i = 0; i < n; ++i) queries.push_back(prepare_query(q + i * dim_));
    return queries;
  }
  AlignedVector<float> rotated;
  for (int64_t i = 0; i < n; ++i) {
    queries.push_back(centre_query(q + i * dim_));
    rotated.insert(rotated.end(), queries.back().rotated.begin(), queries.back().rotated.end());
  }
  rotation_.apply(rotated.data(), n, wanted == Coordinates::coded ? planned()->coded_dims() : dim_);
  for (int64_t i = 0; i < n; ++i)
    std::copy_n(&rotated[static_cast<size_t>(i * dim_)], dim_,
                queries[static_cast<size_t>(i)].rotated.begin());
  return queries;
}

// All but the rotation.
PreparedQuery Codec::centre_query(const float* q) const {
  require_finite(q, dim_, "query", 0);
  const double norm = std::sqrt(kernels_.dot_exact(q, q, dim_));
  require(norm <= kMaxQueryNorm, StatusCode::bad_argument,
          "query: its norm is {:.6g}; 0 to {:.6g} are allowed", norm, kMaxQueryNorm);
  require(metric_ != Metric::inner_product || norm == 0 || norm >= kMinQueryNorm,
          StatusCode::bad_argument, "query: its norm is {:.6g}; 0, or {:.6g} to {:.6g} are allowed",
          norm, kMinQueryNorm, kMaxQueryNorm);
  PreparedQuery query;
  query.state_id = state_id_;
  query.rotated.resize(dim_);
  AlignedVector<float> input(dim_);
  metric_input(q, input.data());
  float* rotated = query.rotated.data();
  if (metric_ == Metric::l2) {
    kernels_.subtract_multiple(input.data(), 1, centre_.data(), dim_, rotated);
    query.offset = static_cast<float>(kernels_.dot_exact(rotated, rotated, dim_));
  } else {
    // ⟨q,x⟩ = ⟨q,c⟩ + β⟨c,x−c⟩ + ⟨q−βc,x−c⟩ for any β. The middle term is stored exactly, so the
    // code's error only meets q−βc, which is shortest for β = ⟨q,c⟩/‖c‖². Codecs of vectors store
    // no middle term: β = 0.
    const double along_centre = kernels_.dot_exact(input.data(), centre_.data(), dim_);
    query.offset = static_cast<float>(along_centre);
    const double beta =
        has_factors() && centre_norm_ > 0 ? along_centre / (centre_norm_ * centre_norm_) : 0.0;
    query.bias_weight = static_cast<float>(beta);
    for (int j = 0; j < dim_; ++j) rotated[j] = static_cast<float>(input[j] - beta * centre_[j]);
  }
  return query;
}

ListCentre Codec::list_centre(const float* centre, float* rotated) const {
  std::copy_n(centre, dim_, rotated);
  rotation_.apply(rotated);
  return {rotated, static_cast<float>(std::sqrt(kernels_.dot_exact(centre, centre, dim_)))};
}

// centre_query for the rotated domain: R(q − βc) = Rq − βRc. With b = ⟨c, x−c⟩/‖c‖ its weight is
// β‖c‖ = ⟨q, c⟩/‖c‖.
void Codec::residual_query(const PreparedQuery& query, const ListCentre& centre,
                           PreparedQuery* residual) const {
  residual->state_id = query.state_id;
  residual->rotated.resize(static_cast<size_t>(dim_));
  float* rotated = residual->rotated.data();
  const float* q = query.rotated.data();
  if (metric_ == Metric::l2) {
    kernels_.subtract_multiple(q, 1, centre.rotated, dim_, rotated);
    residual->offset = kernels_.dot_float(rotated, rotated, dim_);
    return;
  }
  residual->offset = kernels_.dot_float(q, centre.rotated, dim_);
  const bool has_bias = has_factors() && centre.norm > 0;
  residual->bias_weight = has_bias ? residual->offset / centre.norm : 0;
  const float beta = has_bias ? residual->bias_weight / centre.norm : 0;
  kernels_.subtract_multiple(q, beta, centre.rotated, dim_, rotated);
}

PreparedQuery Codec::prepare_query_from_code(CodeRows codes, int64_t row) const {
  PreparedQuery query;
  query.state_id = state_id_;
  query.rotated.resize(dim_);
  float* y = query.rotated.data();
  const double centre_norm2 = centre_norm_ * centre_norm_;
  if (has_factors()) {
    const Factors factors = decode_direction(codes, row, y);
    for (int j = 0; j < dim_; ++j) y[j] *= factors.scale;
    const double bias = factors.bias;
    query.offset = static_cast<float>(metric_ == Metric::l2 ? bias * bias : centre_norm2 + bias);
    return query;
  }
  decode_vector(codes, row, y);
  const auto unit = static_cast<float>(norm_unit());
  for (int j = 0; j < dim_; ++j) y[j] *= unit;
  if (metric_ == Metric::l2) {
    query.offset = static_cast<float>(kernels_.dot_exact(y, y, dim_));
  } else {
    query.offset =
        static_cast<float>(centre_norm2 + kernels_.dot_exact(y, rotated_centre_.data(), dim_));
    for (int j = 0; j < dim_; ++j) y[j] += rotated_centre_[j];
  }
  return query;
}

RowTerms Codec::decode_for_score(CodeRows codes, int64_t row, float* y) const {
  if (has_factors()) {
    const Factors factors = decode_direction(codes, row, y);
    if (metric_ == Metric::l2) return {factors.bias * factors.bias, -2 * factors.scale};
    return {factors.bias, factors.scale};
  }
  decode_vector(codes, row, y);
  const double unit = norm_unit();
  if (metric_ != Metric::l2) return {0, static_cast<float>(unit)};
  return {static_cast<float>(unit * unit * kernels_.dot_exact(y, y, dim_)),
          static_cast<float>(-2 * unit)};
}

void Codec::score(const PreparedQuery& query, CodeRows codes, int64_t first, int64_t count,
                  float* scores) const {
  require_same_state(query);
  AlignedVector<float> y(dim_);
  for (int64_t i = 0; i < count; ++i) {
    const RowTerms terms = decode_for_score(codes, first + i, y.data());
    scores[i] = score_decoded(query, terms, y.data());
  }
}

float Codec::score_codes(CodeRows a, int64_t row_a, CodeRows b, int64_t row_b) const {
  AlignedVector<float> y(2 * static_cast<size_t>(dim_));
  float* ya = y.data();
  float* yb = ya + dim_;
  const RowTerms terms_a = decode_for_score(a, row_a, ya);
  const RowTerms terms_b = decode_for_score(b, row_b, yb);
  const double dot = kernels_.dot_exact(ya, yb, dim_);
  if (metric_ == Metric::l2) {
    const double scales = static_cast<double>(terms_a.scale) * terms_b.scale;  // 4·s_a·s_b
    return static_cast<float>(static_cast<double>(terms_a.constant) + terms_b.constant -
                              scales * dot / 2);
  }
  const double scales = static_cast<double>(terms_a.scale) * terms_b.scale;
  double bias = static_cast<double>(terms_a.constant) + terms_b.constant;
  if (!has_factors()) {
    bias = norm_unit() * (kernels_.dot_exact(ya, rotated_centre_.data(), dim_) +
                          kernels_.dot_exact(yb, rotated_centre_.data(), dim_));
  }
  return static_cast<float>(centre_norm_ * centre_norm_ + bias + scales * dot);
}

void Codec::combine(CodeRows codes, const float* weights, float* out) const {
  AlignedVector<float> y(dim_);
  std::vector<double> sum(dim_, 0.0);
  double weight_sum = 0;
  for (int64_t row = 0; row < codes.rows; ++row) {
    const double weight = weights[row];
    const double factor = weight * decode_scaled(codes, row, Reconstruction::least_error, y.data());
    kernels_.add_multiple(factor, y.data(), dim_, sum.data());
    weight_sum += weight;
  }
  finish_combine(sum.data(), weight_sum, out);
}

void Codec::finish_combine(const double* sum, double weight_sum, float* out) const {
  AlignedVector<float> y(dim_);
  for (int j = 0; j < dim_; ++j) y[j] = static_cast<float>(sum[j]);
  rotation_.apply_transpose(y.data());
  for (int j = 0; j < dim_; ++j) out[j] = static_cast<float>(weight_sum * centre_[j] + y[j]);
}

void Codec::require_same_state(const PreparedQuery& query) const {
  require(query.state_id == state_id_, StatusCode::state_mismatch,
          "query: prepared by a codec of state {:016x}; this codec's state is {:016x}",
          query.state_id, state_id_);
}

}  // namespace polarquant
