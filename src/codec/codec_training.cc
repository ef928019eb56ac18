// SPDX-License-Identifier: MIT
// What a codec learns from rows: centre, unit, tables, margins. codec_centroid_training.cc has what
// those about centroids learn.
#include <cmath>
#include <utility>

#include "src/codec/codec_state.h"
#include "src/codec/dot.h"
#include "src/codec/plan_training.h"
#include "src/codec/planned_quantizer.h"
#include "src/core/checked_size.h"

namespace polarquant {
void Codec::require_finite_rows(int64_t n, const float* x) const {
  for (int64_t row = 0; row < n; ++row, x += dim_) {
    require_finite(x, dim_, "x", row);
    if (metric_ == Metric::cosine) continue;
    const double norm = std::sqrt(kernels_.dot_exact(x, x, dim_));
    require(norm <= kMaxRowNorm, StatusCode::bad_argument,
            "x: row {}: its length is {:.6g}; up to {:.6g} is allowed, by what scores in floats "
            "can hold",
            row, norm, kMaxRowNorm);
  }
}

// A few rows far beyond the others decide nothing (typical_rows.h).
Codec::Learned Codec::learn(int64_t n, const float* x, bool with_centre) const {
  require(n >= 1, StatusCode::bad_argument, "n: {} training rows are not allowed; 1 or more", n);
  require_finite_rows(n, x);
  Learned learned;
  learned.centre = centre_;
  learned.unit_exponent = unit_exponent_;
  AlignedVector<float> input(dim_);
  const auto input_of = [&](int64_t row) {
    metric_input(x + row * dim_, input.data());
    return input.data();
  };
  if (with_centre) learned.centre = typical_mean(n, dim_, input_of, kernels_);
  AlignedVector<float> v(dim_);
  const double centre_norm2 = dot_exact(learned.centre.data(), learned.centre.data(), dim_);
  std::vector<double> norms2;
  norms2.reserve(static_cast<size_t>(n));
  for (int64_t row = 0; row < n; ++row)
    norms2.push_back(centred(input_of(row), learned.centre.data(), centre_norm2, v.data()));
  learned.typical = TypicalRows(norms2);
  if (!learn_unit_) return learned;
  double sum = 0;
  for (int64_t row = 0; row < n; ++row)
    if (learned.typical.has(row)) sum += norms2[static_cast<size_t>(row)];
  const auto count = static_cast<double>(learned.typical.count(n));
  learned.unit_exponent = unit_exponent_for(std::sqrt(sum / count));
  return learned;
}

// v := x−c, x as the metric sees it, and its squared length.
double Codec::residual(const float* x, const float* centre, double centre_norm2, float* v) const {
  thread_local AlignedVector<float> input;
  input.resize(static_cast<size_t>(dim_));
  metric_input(x, input.data());
  return centred(input.data(), centre, centre_norm2, v);
}

// √dim·(x−c)/‖x−c‖; false where x is c.
bool Codec::direction_of(const float* x, const float* centre, double centre_norm2, float* u) const {
  const double norm2 = residual(x, centre, centre_norm2, u);
  if (norm2 == 0) return false;
  const double to_direction = std::sqrt(dim_ / norm2);
  for (int j = 0; j < dim_; ++j) u[j] = static_cast<float>(u[j] * to_direction);
  return true;
}

void Codec::take_plan(TrainedPlan trained, Learned* learned) const {
  learned->quantizer = make_quantizer(spec_, dim_);
  static_cast<PlannedQuantizer&>(*learned->quantizer)
      .set_plan(std::move(trained.plan), trained.errors);
  learned->basis = std::move(trained.basis);
}

// Everything is borrowed.
RowDirections Codec::row_directions(const std::vector<float>& centre, double centre_norm2,
                                    int64_t n, const float* x) const {
  return {dim_, n, [this, &centre, centre_norm2, x](int64_t row, float* u) {
            return direction_of(x + row * dim_, centre.data(), centre_norm2, u);
          }};
}

RowDirections Codec::row_directions(const Centroids& centroids, const std::vector<int32_t>& nearest,
                                    const float* x) const {
  return {dim_, std::ssize(nearest), [this, &centroids, &nearest, x](int64_t row, float* to) {
            const int centroid = nearest[static_cast<size_t>(row)];
            return direction_of(x + row * dim_, centroids.row(centroid), centroids.norm2(centroid),
                                to);
          }};
}

void Codec::train_quantizer(int64_t n, const float* x, Learned* learned) const {
  if (!quantizer_->needs_training()) return;
  if (spec_.centroids > 0) return train_with_centroids(n, x, learned);
  if (spec_.rotation == RotationKind::pca) {
    const std::vector<float>& centre = learned->centre;
    const RowDirections directions =
        row_directions(centre, dot_exact(centre.data(), centre.data(), dim_), n, x);
    if (spec_.family == CodecFamily::bytes)
      return take_plan(train_plan_of_bytes(directions, quantizer_->code_bytes(), seed_, kernels_),
                       learned);
    const std::unique_ptr<Quantizer> untrained = make_quantizer(untrained_counterpart(spec_), dim_);
    untrained->use_kernels(kernels_);
    return take_plan(train_plan(directions, twice_bits_of(spec_), *untrained, seed_, kernels_),
                     learned);
  }
  const auto dim = static_cast<size_t>(dim_);
  const int64_t count = learned->typical.count(n);
  AlignedVector<float> vectors(checked_mul(count, dim, "n x dim"));
  float* vector = vectors.data();
  for (int64_t row = 0; row < n; ++row) {
    if (!learned->typical.has(row)) continue;
    rotated_vector(x + row * dim_, learned->centre.data(), learned->unit_exponent, vector);
    vector += dim;
  }
  learned->quantizer = make_quantizer(spec_, dim_);
  learned->quantizer->train(count, vectors.data(), seed_);
}

double Codec::drift(int64_t n, const float* x) const {
  require(planned() != nullptr, StatusCode::unsupported,
          "{}: only -pca and PolarB… codecs know drift", print_spec(spec_));
  require(is_trained(), StatusCode::not_trained, "{}: is not trained", print_spec(spec_));
  require(n >= 1, StatusCode::bad_argument, "n: {} rows are not allowed; 1 or more", n);
  require_finite_rows(n, x);
  std::vector<int32_t> nearest;
  if (centroids_ != nullptr) nearest = nearest_centroids(n, x, 0);
  const RowDirections directions = centroids_ != nullptr
                                       ? row_directions(*centroids_, nearest, x)
                                       : row_directions(centre_, centre_norm2_, n, x);
  const CodingError now = coding_error(rotation_, *quantizer_, directions, 0, 1);
  require(now.error > 0, StatusCode::bad_argument, "x: its {} rows all equal the centre", n);
  return now.error / planned()->errors().error;
}

// A codec of its own has what was learned meanwhile: a failure changes nothing here.
void Codec::with_learned(Learned* learned,
                         const std::function<void(Codec& trained)>& measure) const {
  CodecOptions options;
  options.seed = seed_;
  Codec trained(spec_, dim_, metric_, options);
  trained.use_kernels(kernels_);
  trained.adopt({learned->centre,
                 learned->unit_exponent,
                 std::move(learned->quantizer),
                 learned->basis,
                 learned->centroids,
                 learned->shares,
                 learned->short_float,
                 learned->search_margins,
                 learned->origin,
                 {}});
  measure(trained);
  learned->quantizer = std::move(trained.quantizer_);
}

// Few of the rows' nearest ones say how wide a margin is: those of one row far out would be most of
// them.
void Codec::measure_margins(int64_t n, const float* x, const MeasureMargins& measure,
                            Learned* learned) const {
  std::vector<float> typical;
  for (int64_t row = 0; row < n && !learned->typical.all(); ++row) {
    const float* from = x + row * dim_;
    if (learned->typical.has(row)) typical.insert(typical.end(), from, from + dim_);
  }
  const bool all = learned->typical.all();
  with_learned(learned, [&](Codec& trained) {
    learned->search_margins = measure(trained, learned->typical.count(n), all ? x : typical.data());
  });
}

void Codec::train(int64_t n, const float* x, const MeasureMargins& measure) {
  require(!encoded_anything_.load(std::memory_order_relaxed), StatusCode::state_mismatch,
          "train: this codec has encoded rows already, and training would change what their codes "
          "mean; "
          "make a new codec");
  Learned learned = learn(n, x, learn_centre_ && has_factors());
  train_quantizer(n, x, &learned);
  learned.origin = StateOrigin::trained;
  if (measure && !learned.basis.empty()) measure_margins(n, x, measure, &learned);
  adopt(std::move(learned));
}

}  // namespace polarquant
