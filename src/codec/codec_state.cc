// SPDX-License-Identifier: MIT
// A codec's state in memory: how it begins, how learned parts enter it, and how two states differ.
// Learning is codec_training.cc, bytes are codec_state_bytes.cc.
#include "src/codec/codec_state.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "src/codec/dot.h"
#include "src/codec/planned_quantizer.h"
#include "src/core/checksum.h"

namespace polarquant {
namespace {

const Spec& checked(const Spec& spec, int dim, Metric metric) {
  require(dim >= 1 && dim <= kMaxDim, StatusCode::bad_argument, "dim: {} is not allowed; 1 to {}",
          dim, kMaxDim);
  require(metric == Metric::inner_product || metric == Metric::l2 || metric == Metric::cosine,
          StatusCode::bad_argument, "metric: {} is not allowed; 0 inner product, 1 L2, 2 cosine",
          static_cast<int>(metric));
  return spec;
}

// Powers of two near a positive number, without libm, whose last bit could differ between machines.
int nearest_exponent(double positive) {
  int exponent = 0;
  const double fraction = std::frexp(positive, &exponent);  // in [½, 1)
  return fraction < 0.70710678118654752 ? exponent - 1 : exponent;
}

int exponent_at_least(double positive) {
  int exponent = 0;
  const double fraction = std::frexp(positive, &exponent);
  return fraction == 0.5 ? exponent - 1 : exponent;
}

/// centre_norm: of the centre, or the longest of the centroids.
FactorFormat factor_format_of(const Spec& spec, int dim, Metric metric, int unit_exponent,
                              double centre_norm, ShortFloat short_float) {
  FactorFormat format;
  format.has_centroid = spec.centroids > 0;
  format.form = factor_form_of(spec);
  if (format.form == FactorForm::wide16 && short_float == ShortFloat::float16)
    format.form = FactorForm::float16;
  format.signed_bias = metric != Metric::l2;
  // s ≈ ‖x−c‖/√dim, so its unit is smaller by the power of two under √dim.
  const int root_exponent = (std::bit_width(static_cast<unsigned>(dim)) - 1) / 2;
  format.scale_unit = std::ldexp(1.0F, unit_exponent - root_exponent);
  // |⟨c, x−c⟩| ≤ ‖c‖·‖x−c‖; for L2 the term is ‖x−c‖ itself.
  int bias_exponent = unit_exponent;
  if (metric != Metric::l2 && centre_norm > 0) {
    bias_exponent += std::max(-kMaxUnitExponent, exponent_at_least(centre_norm));
  }
  if (spec.centroids > 0) {
    // t is a share, n a square: of ‖E‖, and of it by ‖C‖.
    format.signed_bias = true;
    bias_exponent = 0;
    if (metric == Metric::l2)
      bias_exponent =
          1 + unit_exponent +
          std::max(unit_exponent, centre_norm > 0 ? exponent_at_least(centre_norm) : unit_exponent);
  }
  // Small biases matter more than large ones, of which few are larger than what they are units of.
  if (spec.family == CodecFamily::bytes && format.signed_bias) bias_exponent -= 2;
  format.bias_unit = std::ldexp(1.0F, bias_exponent);
  return format;
}

}  // namespace

int unit_exponent_for(double norm) {
  if (norm == 0) return 0;
  return std::clamp(nearest_exponent(norm), -kMaxUnitExponent, kMaxUnitExponent);
}

void require_centre(const std::vector<float>& centre, StatusCode code) {
  for (size_t j = 0; j < centre.size(); ++j) {
    require(std::isfinite(centre[j]), code, "centre: column {} is {}; finite numbers are allowed",
            j, centre[j]);
  }
  const double norm =
      std::sqrt(dot_exact(centre.data(), centre.data(), static_cast<int>(centre.size())));
  require(norm <= kMostCentreNorm, code, "centre: its norm is {:.6g}; 0 to {:.6g} are allowed",
          norm, kMostCentreNorm);
}

Codec::Codec(const Spec& spec, int dim, Metric metric, const CodecOptions& options)
    : spec_(checked(spec, dim, metric)),
      dim_(dim),
      metric_(metric),
      seed_(options.seed),
      learn_centre_(options.learn_centre && options.centre.empty() && spec.centroids == 0),
      learn_unit_(options.norm_unit == 0),
      quantizer_(make_quantizer(spec, dim)),
      rotation_(spec.rotation, dim, options.seed) {
  Learned initial;
  initial.centre.assign(dim, 0.0F);
  if (!options.centre.empty()) {
    require(spec.centroids == 0, StatusCode::bad_argument,
            "centre: {} has centroids in the place of a centre; none is allowed", print_spec(spec));
    require(options.centre.size() == static_cast<size_t>(dim), StatusCode::bad_argument,
            "centre: {} numbers given; dim is {}", options.centre.size(), dim);
    initial.centre.assign(options.centre.begin(), options.centre.end());
    require_centre(initial.centre, StatusCode::bad_argument);
  }
  const double unit = options.norm_unit;
  const double most_unit = std::ldexp(1.0, kMaxUnitExponent);
  require(unit == 0 || (unit >= 1 / most_unit && unit <= most_unit), StatusCode::bad_argument,
          "norm_unit: {} is not allowed; 0 (learned) or 2^-{} to 2^{}", unit, kMaxUnitExponent,
          kMaxUnitExponent);
  initial.unit_exponent = unit_exponent_for(unit);
  adopt(std::move(initial));
}

double Codec::norm_unit() const { return std::ldexp(1.0, unit_exponent_); }

void Codec::use_kernels(const CodecKernels& kernels) {
  kernels_ = kernels;
  centroid_finder_.reset();
  rotation_.use_kernels(kernels_.rotation);
  quantizer_->use_kernels(kernels_);
}

// Where memory runs out on the way, what was replaced comes back: codes of two states would pass as
// those of one otherwise.
void Codec::adopt(Learned learned) {
  auto parts =
      std::tie(centre_, unit_exponent_, origin_, search_margins_, centre_norm2_, centre_norm_,
               rotated_centre_, factor_format_, layout_, state_id_, short_float_, centroids_);
  std::tuple before(centre_, unit_exponent_, origin_, search_margins_, centre_norm2_, centre_norm_,
                    rotated_centre_, factor_format_, layout_, state_id_, short_float_, centroids_);
  std::optional<Rotation> rotation;
  if (!learned.basis.empty()) {
    rotation.emplace(dim_, std::move(learned.basis));
    rotation->use_kernels(kernels_.rotation);
    std::swap(rotation_, *rotation);
  }
  if (learned.quantizer) std::swap(quantizer_, learned.quantizer);
  AlignedVector<float> rotated_centroids;
  std::swap(rotated_centroids_, rotated_centroids);
  try {
    centre_ = std::move(learned.centre);
    unit_exponent_ = learned.unit_exponent;
    origin_ = learned.origin;
    search_margins_ = learned.search_margins;
    quantizer_->use_kernels(kernels_);
    centre_norm2_ = dot_exact(centre_.data(), centre_.data(), dim_);
    centre_norm_ = std::sqrt(centre_norm2_);
    rotated_centre_.assign(centre_.begin(), centre_.end());
    rotation_.apply(rotated_centre_.data());
    centroid_finder_.reset();
    centroids_ = std::move(learned.centroids);
    double most_centre_norm = centre_norm_;
    if (centroids_ != nullptr) {
      rotated_centroids_.assign(centroids_->rows().begin(), centroids_->rows().end());
      rotation_.apply(rotated_centroids_.data(), centroids_->count(), dim_);
      most_centre_norm = std::sqrt(centroids_->most_norm2());
    }
    layout_.group_rows = quantizer_->group_rows();
    layout_.group_bytes = quantizer_->code_bytes();
    short_float_ = learned.short_float;
    quantizer_->set_short_float(short_float_);
    if (has_factors()) {
      factor_format_ =
          factor_format_of(spec_, dim_, metric_, unit_exponent_, most_centre_norm, short_float_);
      factor_format_.shares = learned.shares;
      layout_.group_bytes += factor_format_.bytes();
    }
    if (layout_.group_rows > 1) layout_.tail_row_bytes = static_cast<size_t>(dim_) * sizeof(float);
    const std::vector<uint8_t> body = state_body();
    state_id_ = checksum64(body.data(), body.size());
  } catch (...) {
    parts = std::move(before);
    std::swap(rotated_centroids_, rotated_centroids);
    if (learned.quantizer) std::swap(quantizer_, learned.quantizer);
    if (rotation) std::swap(rotation_, *rotation);
    quantizer_->set_short_float(short_float_);
    throw;
  }
}

const PlannedQuantizer* Codec::planned() const {
  return dynamic_cast<const PlannedQuantizer*>(quantizer_.get());
}

bool Codec::has_short_floats() const {
  if (!has_factors()) return quantizer_->has_short_floats();
  return factor_format_.form == FactorForm::float16 || factor_format_.form == FactorForm::wide16;
}

bool Codec::has_wide_floats() const {
  return has_short_floats() && short_float_ == ShortFloat::wide16;
}

std::string Codec::difference(const Codec& other) const {
  if (state_id_ == other.state_id_) return "";
  if (!(spec_ == other.spec_)) {
    const std::string name = print_spec(spec_);
    if (name != print_spec(other.spec_))
      return format_text("spec ({} and {})", name, print_spec(other.spec_));
    const auto version = [](const Codec& codec) { return codec.format_version(); };
    return format_text("format version ({} and {})", version(*this), version(other));
  }
  if (dim_ != other.dim_) return format_text("dim ({} and {})", dim_, other.dim_);
  if (metric_ != other.metric_) {
    return format_text("metric ({} and {})", static_cast<int>(metric_),
                       static_cast<int>(other.metric_));
  }
  if (seed_ != other.seed_) return format_text("seed ({} and {})", seed_, other.seed_);
  if (has_wide_floats() != other.has_wide_floats()) {
    const auto name = [](const Codec& codec) {
      return codec.has_wide_floats() ? "wide16" : "float16";
    };
    return format_text("format of factors ({} and {})", name(*this), name(other));
  }
  if (unit_exponent_ != other.unit_exponent_) {
    return format_text("norm_unit ({:.6g} and {:.6g})", norm_unit(), other.norm_unit());
  }
  if (centre_ != other.centre_) return "centre";
  if (centroids_ != nullptr && other.centroids_ != nullptr &&
      centroids_->rows() != other.centroids_->rows())
    return "centroids";
  return "trained tables";
}

size_t Codec::memory_bytes() const {
  return sizeof *this + centre_.size() * sizeof(float) + rotated_centre_.size() * sizeof(float) +
         (centroids_ != nullptr ? 2 * rotated_centroids_.size() * sizeof(float) : 0) +
         rotation_.memory_bytes() + quantizer_->memory_bytes();
}

}  // namespace polarquant
