// SPDX-License-Identifier: MIT
// Decoding and scoring rows. codec_encoding.cc encodes them, codec_state.cc and its neighbours have
// the state.
#include "src/codec/codec_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/codec/dot.h"
#include "src/codec/planned_quantizer.h"

namespace polarquant {
namespace {

// Longer queries could overflow float sums.
constexpr double kMaxQueryNorm = 0x1p63;
// For a shorter query the inverse of its 8-bit step could overflow a float. Distances do not depend
// on it, as the rows' own lengths decide them.
constexpr double kMinQueryNorm = 0x1p-112;

}  // namespace

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
  const Factors factors = decode_direction(codes, row, y);
  const float scale = factors.scale;
  if (centroids_ != nullptr) {
    add_centroid(factors, kind, y);
    return 1;
  }
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
  const bool coded = wanted == Coordinates::coded && spec_.centroids == 0;
  rotation_.apply(rotated.data(), n, coded ? planned()->coded_dims() : dim_);
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
    if (centroids_ != nullptr) {
      query.offset = decode_for_score(codes, row, y).constant;
      return query;
    }
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
    if (centroids_ != nullptr) {
      add_centroid(factors, Reconstruction::unbiased, y);
      if (metric_ != Metric::l2) return {0, 1};
      // Any bytes are a code.
      const double norm2 = centroids_->norm2(std::min(factors.centroid, centroids_->count() - 1));
      return {static_cast<float>(norm2 + factors.bias), -2};
    }
    return score_terms(factors);
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
  return score_decoded_rows(terms_a, ya, terms_b, yb);
}

float Codec::score_decoded_rows(const RowTerms& terms_a, const float* ya, const RowTerms& terms_b,
                                const float* yb) const {
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
