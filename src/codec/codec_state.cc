// SPDX-License-Identifier: MIT
// The codec's state: how it comes to be, what training changes, and its bytes (docs/format.md).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "src/codec/codec.h"
#include "src/codec/dot.h"
#include "src/codec/plan_training.h"
#include "src/codec/planned_quantizer.h"
#include "src/core/checked_size.h"
#include "src/core/checksum.h"

namespace polarquant {
namespace {

constexpr char kMagic[8] = {'P', 'Q', 'C', 'O', 'D', 'E', 'C', '\0'};
constexpr uint32_t kFormatVersion = 4;
/// States with a basis are of this version, others of the first.
constexpr uint32_t kFormatVersionOfBasis = 2;
/// And those for which searches' margins were measured of this one.
constexpr uint32_t kFormatVersionOfMargins = 3;
/// And those with 16-bit floats that reach far of this one, which begins with flags.
constexpr uint32_t kFormatVersionOfFlags = 4;
constexpr uint32_t kFlagWideFloats = 1;
constexpr uint32_t kFlagMargins = 2;
constexpr size_t kChecksumBytes = 8;
constexpr uint32_t kMaxSpecBytes = 256;

constexpr double kMaxCentreNorm = 0x1p62;
// Factors have 16 bits each up to this many half bits a dimension: 4 bits.
constexpr int kShortFactorTwiceBits = 8;

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

// Exponent of the unit for a typical norm; 0 for norm 0, which gives no hint.
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
  require(norm <= kMaxCentreNorm, code, "centre: its norm is {:.6g}; 0 to {:.6g} are allowed", norm,
          kMaxCentreNorm);
}

FactorFormat factor_format_of(const Spec& spec, int dim, Metric metric, int unit_exponent,
                              double centre_norm, ShortFloat short_float) {
  FactorFormat format;
  if (twice_bits_of(spec) > kShortFactorTwiceBits) {
    format.form = FactorForm::float32;
  } else {
    format.form = short_float == ShortFloat::wide16 ? FactorForm::wide16 : FactorForm::float16;
  }
  format.signed_bias = metric != Metric::l2;
  // s ≈ ‖x−c‖/√dim, so its unit is smaller by the power of two under √dim.
  const int root_exponent = (std::bit_width(static_cast<unsigned>(dim)) - 1) / 2;
  format.scale_unit = std::ldexp(1.0F, unit_exponent - root_exponent);
  // |⟨c, x−c⟩| ≤ ‖c‖·‖x−c‖; for L2 the term is ‖x−c‖ itself.
  int bias_exponent = unit_exponent;
  if (metric != Metric::l2 && centre_norm > 0) {
    bias_exponent += std::max(-kMaxUnitExponent, exponent_at_least(centre_norm));
  }
  format.bias_unit = std::ldexp(1.0F, bias_exponent);
  return format;
}

// Sums of a row's products stay within 32 bits because rows are no longer than that.
AlignedVector<int16_t> load_basis(ByteReader& in, int dim, uint32_t version) {
  const auto numbers = static_cast<uint64_t>(dim) * static_cast<uint64_t>(dim);
  const std::vector<int16_t> basis = in.get_array<int16_t>("basis", numbers);
  require(basis.empty() || basis.size() == numbers, StatusCode::corrupt_data,
          "basis: {} numbers; dim {} has {}", basis.size(), dim, numbers);
  require(basis.empty() || version >= kFormatVersionOfBasis, StatusCode::corrupt_data,
          "basis: of format version {}, in which its numbers were others; train and encode anew",
          version);
  constexpr double kLongest = kLongestBasisRow * kBasisOne;
  for (size_t row = 0; row < basis.size(); row += static_cast<size_t>(dim)) {
    const auto first = basis.begin() + static_cast<std::ptrdiff_t>(row);
    const int64_t length2 = std::inner_product(first, first + dim, first, int64_t{0});
    require(static_cast<double>(length2) <= kLongest * kLongest, StatusCode::corrupt_data,
            "basis: row {} is {:.6g} long; at most {} is allowed", row / static_cast<size_t>(dim),
            std::sqrt(static_cast<double>(length2)) / kBasisOne, kLongestBasisRow);
  }
  return {basis.begin(), basis.end()};
}

SearchMargins load_margins(ByteReader& in) {
  SearchMargins margins;
  for (float* margin : {&margins.sketch, &margins.next}) {
    *margin = in.get<float>("search margins");
    require(*margin >= SearchMargins::kLeast && *margin <= SearchMargins::kMost,
            StatusCode::corrupt_data, "search margins: {} is not allowed; {} to {}", *margin,
            SearchMargins::kLeast, SearchMargins::kMost);
  }
  require(margins != SearchMargins{}, StatusCode::corrupt_data,
          "search margins: of a state that has some, both are 1");
  return margins;
}

}  // namespace

Codec::Codec(const Spec& spec, int dim, Metric metric, const CodecOptions& options)
    : spec_(checked(spec, dim, metric)),
      dim_(dim),
      metric_(metric),
      seed_(options.seed),
      learn_centre_(options.learn_centre && options.centre.empty()),
      learn_unit_(options.norm_unit == 0),
      quantizer_(make_quantizer(spec, dim)),
      rotation_(spec.rotation, dim, options.seed) {
  Learned initial;
  initial.centre.assign(dim, 0.0F);
  if (!options.centre.empty()) {
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
  rotation_.use_kernels(kernels_.rotation);
  quantizer_->use_kernels(kernels_);
}

// Where memory runs out on the way, what was replaced comes back: codes of two states would pass as
// those of one otherwise.
void Codec::adopt(Learned learned) {
  auto parts =
      std::tie(centre_, unit_exponent_, origin_, search_margins_, centre_norm2_, centre_norm_,
               rotated_centre_, factor_format_, layout_, state_id_, short_float_);
  std::tuple before(centre_, unit_exponent_, origin_, search_margins_, centre_norm2_, centre_norm_,
                    rotated_centre_, factor_format_, layout_, state_id_, short_float_);
  std::optional<Rotation> rotation;
  if (!learned.basis.empty()) {
    rotation.emplace(dim_, std::move(learned.basis));
    rotation->use_kernels(kernels_.rotation);
    std::swap(rotation_, *rotation);
  }
  if (learned.quantizer) std::swap(quantizer_, learned.quantizer);
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
    layout_.group_rows = quantizer_->group_rows();
    layout_.group_bytes = quantizer_->code_bytes();
    short_float_ = learned.short_float;
    quantizer_->set_short_float(short_float_);
    if (has_factors()) {
      factor_format_ =
          factor_format_of(spec_, dim_, metric_, unit_exponent_, centre_norm_, short_float_);
      layout_.group_bytes += factor_format_.bytes();
    }
    if (layout_.group_rows > 1) layout_.tail_row_bytes = static_cast<size_t>(dim_) * sizeof(float);
    const std::vector<uint8_t> body = state_body();
    state_id_ = checksum64(body.data(), body.size());
  } catch (...) {
    parts = std::move(before);
    if (learned.quantizer) std::swap(quantizer_, learned.quantizer);
    if (rotation) std::swap(rotation_, *rotation);
    quantizer_->set_short_float(short_float_);
    throw;
  }
}

void Codec::require_finite_rows(int64_t n, const float* x) const {
  for (int64_t row = 0; row < n; ++row, x += dim_) {
    for (int j = 0; j < dim_; ++j) {
      require(std::isfinite(x[j]), StatusCode::bad_argument,
              "x: row {} column {} is {}; finite numbers are allowed", row, j, x[j]);
    }
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

// √dim·(x−c)/‖x−c‖; false where x is c.
bool Codec::direction_of(const float* x, const std::vector<float>& centre, double centre_norm2,
                         float* u) const {
  thread_local AlignedVector<float> input;
  input.resize(static_cast<size_t>(dim_));
  metric_input(x, input.data());
  const double norm2 = centred(input.data(), centre.data(), centre_norm2, u);
  if (norm2 == 0) return false;
  const double to_direction = std::sqrt(dim_ / norm2);
  for (int j = 0; j < dim_; ++j) u[j] = static_cast<float>(u[j] * to_direction);
  return true;
}

void Codec::train_quantizer(int64_t n, const float* x, Learned* learned) const {
  if (!quantizer_->needs_training()) return;
  if (spec_.rotation == RotationKind::pca) {
    const std::vector<float>& centre = learned->centre;
    const double centre_norm2 = dot_exact(centre.data(), centre.data(), dim_);
    const RowDirections directions = {dim_, n, [&](int64_t row, float* u) {
                                        return direction_of(x + row * dim_, centre, centre_norm2,
                                                            u);
                                      }};
    const std::unique_ptr<Quantizer> untrained = make_quantizer(untrained_counterpart(spec_), dim_);
    untrained->use_kernels(kernels_);
    TrainedPlan trained = train_plan(directions, twice_bits_of(spec_), *untrained, seed_, kernels_);
    auto quantizer = std::make_unique<PlannedQuantizer>(dim_, untrained->code_bytes());
    quantizer->set_plan(std::move(trained.plan), trained.errors);
    learned->quantizer = std::move(quantizer);
    learned->basis = std::move(trained.basis);
    return;
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

const PlannedQuantizer* Codec::planned() const {
  return dynamic_cast<const PlannedQuantizer*>(quantizer_.get());
}

double Codec::drift(int64_t n, const float* x) const {
  require(planned() != nullptr, StatusCode::unsupported, "{}: only -pca codecs know drift",
          print_spec(spec_));
  require(is_trained(), StatusCode::not_trained, "{}: is not trained", print_spec(spec_));
  require(n >= 1, StatusCode::bad_argument, "n: {} rows are not allowed; 1 or more", n);
  require_finite_rows(n, x);
  const RowDirections directions = {dim_, n, [&](int64_t row, float* u) {
                                      return direction_of(x + row * dim_, centre_, centre_norm2_,
                                                          u);
                                    }};
  const CodingError now = coding_error(rotation_, *quantizer_, directions, 0, 1);
  require(now.error > 0, StatusCode::bad_argument, "x: its {} rows all equal the centre", n);
  return now.error / planned()->errors().error;
}

// A codec of its own has what was learned meanwhile: a failure changes nothing here. Few of the
// rows' nearest ones say how wide a margin is: those of one row far out would be most of them.
void Codec::measure_margins(int64_t n, const float* x, const MeasureMargins& measure,
                            Learned* learned) const {
  CodecOptions options;
  options.seed = seed_;
  Codec trained(spec_, dim_, metric_, options);
  trained.use_kernels(kernels_);
  Learned of_trained = {learned->centre,
                        learned->unit_exponent,
                        std::move(learned->quantizer),
                        learned->basis,
                        learned->short_float,
                        learned->search_margins,
                        learned->origin,
                        {}};
  trained.adopt(std::move(of_trained));
  std::vector<float> typical;
  for (int64_t row = 0; row < n && !learned->typical.all(); ++row) {
    const float* from = x + row * dim_;
    if (learned->typical.has(row)) typical.insert(typical.end(), from, from + dim_);
  }
  const bool all = learned->typical.all();
  learned->search_margins = measure(trained, learned->typical.count(n), all ? x : typical.data());
  learned->quantizer = std::move(trained.quantizer_);
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

bool Codec::has_short_floats() const {
  return has_factors() ? factor_format_.form != FactorForm::float32
                       : quantizer_->has_short_floats();
}

bool Codec::has_wide_floats() const {
  return has_short_floats() && short_float_ == ShortFloat::wide16;
}

// The oldest one that says all.
uint32_t Codec::format_version() const {
  if (has_wide_floats()) return kFormatVersionOfFlags;
  if (search_margins_ != SearchMargins{}) return kFormatVersionOfMargins;
  return has_basis() ? kFormatVersionOfBasis : 1;
}

// The parts that decide codes and their meaning, in the order that difference() compares them.
std::vector<uint8_t> Codec::state_body() const {
  ByteWriter out;
  const bool margins = search_margins_ != SearchMargins{};
  if (format_version() >= kFormatVersionOfFlags)
    out.put<uint32_t>(kFlagWideFloats | (margins ? kFlagMargins : 0));
  out.put_string(print_spec(spec_));
  out.put<uint32_t>(static_cast<uint32_t>(dim_));
  out.put<int32_t>(static_cast<int32_t>(metric_));
  out.put<uint64_t>(seed_);
  out.put<int32_t>(unit_exponent_);
  out.put_array(centre_);
  quantizer_->save_tables(out);
  if (spec_.rotation == RotationKind::pca) out.put_array(rotation_.basis());
  if (margins) {
    out.put<float>(search_margins_.sketch);
    out.put<float>(search_margins_.next);
  }
  return out.bytes();
}

std::vector<uint8_t> Codec::save_state() const {
  ByteWriter out;
  out.put_bytes(kMagic, sizeof kMagic);
  out.put<uint32_t>(format_version());
  out.put<uint8_t>(static_cast<uint8_t>(origin_));
  out.put<uint8_t>(learn_centre_ ? 1 : 0);
  out.put<uint8_t>(learn_unit_ ? 1 : 0);
  out.put<uint8_t>(0);
  const std::vector<uint8_t> body = state_body();
  out.put_bytes(body.data(), body.size());
  out.put<uint64_t>(checksum64(out.bytes().data(), out.bytes().size()));
  return out.bytes();
}

std::unique_ptr<Codec> Codec::load_state(const uint8_t* data, size_t bytes) {
  constexpr const char* kWhat = "codec state";
  ByteReader header(data, bytes, kWhat);
  for (const char expected : kMagic) {
    require(header.get<char>("magic") == expected, StatusCode::corrupt_data,
            "{}: does not begin with {}", kWhat, kMagic);
  }
  const auto version = header.get<uint32_t>("format version");
  require(version <= kFormatVersion, StatusCode::newer_format,
          "{}: format version {} is newer than this library's {}", kWhat, version, kFormatVersion);
  require(version >= 1, StatusCode::corrupt_data, "{}: format version {} is not allowed; 1 to {}",
          kWhat, version, kFormatVersion);
  require(bytes >= kChecksumBytes, StatusCode::corrupt_data, "{}: {} bytes are too few", kWhat,
          bytes);
  const size_t covered = bytes - kChecksumBytes;
  ByteReader trailer(data + covered, kChecksumBytes, kWhat);
  require(trailer.get<uint64_t>("checksum") == checksum64(data, covered), StatusCode::corrupt_data,
          "{}: its checksum does not match its bytes; it is damaged or cut", kWhat);

  ByteReader in(data, covered, kWhat);
  for (size_t i = 0; i < sizeof kMagic; ++i) in.get<char>("magic");
  in.get<uint32_t>("format version");
  const auto origin = in.get<uint8_t>("origin");
  const auto learn_centre = in.get<uint8_t>("learn_centre");
  const auto learn_unit = in.get<uint8_t>("learn_unit");
  const auto reserved = in.get<uint8_t>("reserved");
  require(origin <= static_cast<uint8_t>(StateOrigin::trained) && learn_centre <= 1 &&
              learn_unit <= 1 && reserved == 0,
          StatusCode::corrupt_data, "{}: origin {}, flags {} {} {}; at most {} 1 1 0 are allowed",
          kWhat, origin, learn_centre, learn_unit, reserved,
          static_cast<int>(StateOrigin::trained));
  const bool has_flags = version >= kFormatVersionOfFlags;
  const uint32_t flags = has_flags ? in.get<uint32_t>("flags") : 0;
  require(!has_flags || (flags | kFlagMargins) == (kFlagMargins | kFlagWideFloats),
          StatusCode::corrupt_data, "{}: flags {} are not allowed; {} and {}", kWhat, flags,
          kFlagWideFloats, kFlagWideFloats | kFlagMargins);
  const bool has_margins =
      has_flags ? (flags & kFlagMargins) != 0 : version >= kFormatVersionOfMargins;
  const std::string spec_text = in.get_string("spec", kMaxSpecBytes);
  const auto dim = in.get<uint32_t>("dim");
  const auto metric = in.get<int32_t>("metric");
  CodecOptions options;
  options.seed = in.get<uint64_t>("seed");
  options.learn_centre = learn_centre == 1;
  const auto unit_exponent = in.get<int32_t>("unit exponent");
  require(dim <= kMaxDim, StatusCode::corrupt_data, "{}: dim {} is not allowed; 1 to {}", kWhat,
          dim, kMaxDim);
  require(std::abs(static_cast<int64_t>(unit_exponent)) <= kMaxUnitExponent,
          StatusCode::corrupt_data, "{}: unit exponent {} is not allowed; -{} to {}", kWhat,
          unit_exponent, kMaxUnitExponent, kMaxUnitExponent);
  const auto centre = in.get_array<float>("centre", dim);
  require(centre.size() == dim, StatusCode::corrupt_data, "{}: centre has {} numbers; dim is {}",
          kWhat, centre.size(), dim);
  require_centre(centre, StatusCode::corrupt_data);
  try {
    auto codec = std::make_unique<Codec>(parse_spec(spec_text), static_cast<int>(dim),
                                         static_cast<Metric>(metric), options);
    Learned learned;
    learned.centre = centre;
    learned.unit_exponent = unit_exponent;
    learned.origin = static_cast<StateOrigin>(origin);
    learned.quantizer = make_quantizer(codec->spec_, codec->dim_);
    learned.quantizer->load_tables(in);
    if (codec->spec_.rotation == RotationKind::pca)
      learned.basis = load_basis(in, codec->dim_, version);
    const bool wants_basis = has_margins || (!has_flags && version >= kFormatVersionOfBasis);
    require(!wants_basis || !learned.basis.empty(), StatusCode::corrupt_data,
            "{}: of format version {}, which has a basis, without one", kWhat, version);
    if (has_margins) learned.search_margins = load_margins(in);
    in.expect_end();
    learned.short_float = has_flags ? ShortFloat::wide16 : ShortFloat::float16;
    require(!has_flags || codec->has_short_floats(), StatusCode::corrupt_data,
            "{}: of format version {}, but {} has no 16-bit floats", kWhat, version, spec_text);
    codec->learn_unit_ = learn_unit == 1;
    codec->adopt(std::move(learned));
    return codec;
  } catch (const Error& error) {
    if (error.code() == StatusCode::corrupt_data) throw;
    fail(StatusCode::corrupt_data, "{}: {}", kWhat, error.what());
  }
}

std::string Codec::difference(const Codec& other) const {
  if (state_id_ == other.state_id_) return "";
  if (!(spec_ == other.spec_)) {
    return format_text("spec ({} and {})", print_spec(spec_), print_spec(other.spec_));
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
  return "trained tables";
}

size_t Codec::memory_bytes() const {
  return sizeof *this + centre_.size() * sizeof(float) + rotated_centre_.size() * sizeof(float) +
         rotation_.memory_bytes() + quantizer_->memory_bytes();
}

}  // namespace polarquant
