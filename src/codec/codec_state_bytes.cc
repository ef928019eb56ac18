// SPDX-License-Identifier: MIT
// The bytes of a codec's state (docs/format.md, "Codec state").
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "src/codec/codec_state.h"
#include "src/core/checksum.h"

namespace polarquant {
namespace {

constexpr char kMagic[8] = {'P', 'Q', 'C', 'O', 'D', 'E', 'C', '\0'};
constexpr uint32_t kFormatVersion = 6;
// The first versions with a basis, margins of searches, flags, which tell of wide16, codes of a
// number of bytes (PolarB…), with or without centroids, and balanced factors of the former.
constexpr uint32_t kFormatVersionOfBasis = 2;
constexpr uint32_t kFormatVersionOfMargins = 3;
constexpr uint32_t kFormatVersionOfFlags = 4;
constexpr uint32_t kFormatVersionOfBytes = 5;
constexpr uint32_t kFormatVersionOfBalance = 6;
constexpr uint32_t kFlagWideFloats = 1;
constexpr uint32_t kFlagMargins = 2;
constexpr size_t kChecksumBytes = 8;
constexpr uint32_t kMaxSpecBytes = 256;

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

/// Null where there are none yet.
std::shared_ptr<const Centroids> load_centroids(ByteReader& in, const Spec& spec, int dim) {
  const auto numbers = static_cast<uint64_t>(spec.centroids) * static_cast<uint64_t>(dim);
  std::vector<float> rows = in.get_array<float>("centroids", numbers);
  if (rows.empty()) return nullptr;
  require(rows.size() == numbers, StatusCode::corrupt_data,
          "centroids: {} numbers; {} of dim {} have {}", rows.size(), spec.centroids, dim, numbers);
  for (const float number : rows)
    require(std::isfinite(number), StatusCode::corrupt_data, "centroids: not all are finite");
  auto centroids = std::make_shared<const Centroids>(dim, std::move(rows));
  require(centroids->most_norm2() <= kMostCentreNorm * kMostCentreNorm, StatusCode::corrupt_data,
          "centroids: one has norm {:.6g}; 0 to {:.6g} are allowed",
          std::sqrt(centroids->most_norm2()), kMostCentreNorm);
  return centroids;
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

void Codec::require_shares() const {
  const Shares& shares = factor_format_.shares;
  const Shares most = most_shares();
  require(shares.square >= 0 && shares.square <= most.square && shares.step >= FLT_MIN &&
              shares.step <= most.step,
          StatusCode::corrupt_data,
          "shares: {} and {} are not allowed; 0 to {:.6g}, and above 0 to {:.6g}", shares.square,
          shares.step, most.square, most.step);
}

// The oldest version that can hold the state.
uint32_t Codec::format_version() const {
  if (has_balanced_factors()) return kFormatVersionOfBalance;
  if (spec_.family == CodecFamily::bytes) return kFormatVersionOfBytes;
  if (has_wide_floats()) return kFormatVersionOfFlags;
  if (search_margins_ != SearchMargins{}) return kFormatVersionOfMargins;
  return has_basis() ? kFormatVersionOfBasis : 1;
}

// The parts that decide codes and their meaning, in the order that difference() compares them.
std::vector<uint8_t> Codec::state_body() const {
  ByteWriter out;
  const bool margins = search_margins_ != SearchMargins{};
  if (format_version() >= kFormatVersionOfFlags)
    out.put<uint32_t>((has_wide_floats() ? kFlagWideFloats : 0) | (margins ? kFlagMargins : 0));
  out.put_string(print_spec(spec_));
  out.put<uint32_t>(static_cast<uint32_t>(dim_));
  out.put<int32_t>(static_cast<int32_t>(metric_));
  out.put<uint64_t>(seed_);
  out.put<int32_t>(unit_exponent_);
  out.put_array(centre_);
  quantizer_->save_tables(out);
  if (spec_.rotation == RotationKind::pca) out.put_array(rotation_.basis());
  if (spec_.centroids > 0)
    out.put_array(centroids_ != nullptr ? centroids_->rows() : std::vector<float>());
  if (has_balanced_factors() && centroids_ != nullptr) {
    out.put<float>(factor_format_.shares.square);
    out.put<float>(factor_format_.shares.step);
  }
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

std::unique_ptr<Codec> Codec::load_state(const uint8_t* data, size_t bytes,
                                         const CodecKernels& kernels) {
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
  const uint32_t least_flags = version == kFormatVersionOfFlags ? kFlagWideFloats : 0;
  require(!has_flags || (flags | kFlagMargins) == (kFlagMargins | least_flags),
          StatusCode::corrupt_data, "{}: flags {} are not allowed; {} and {}", kWhat, flags,
          least_flags, least_flags | kFlagMargins);
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
    Spec spec = parse_spec(spec_text);
    if (spec.centroids > 0 && version < kFormatVersionOfBalance)
      spec.centroid_factors = CentroidFactors::exact;
    auto codec =
        std::make_unique<Codec>(spec, static_cast<int>(dim), static_cast<Metric>(metric), options);
    codec->use_kernels(kernels);
    Learned learned;
    learned.centre = centre;
    learned.unit_exponent = unit_exponent;
    learned.origin = static_cast<StateOrigin>(origin);
    learned.quantizer = make_quantizer(codec->spec_, codec->dim_);
    learned.quantizer->load_tables(in);
    if (codec->spec_.rotation == RotationKind::pca)
      learned.basis = load_basis(in, codec->dim_, version);
    require((codec->spec_.family == CodecFamily::bytes) == (version >= kFormatVersionOfBytes) &&
                codec->has_balanced_factors() == (version >= kFormatVersionOfBalance),
            StatusCode::corrupt_data, "{}: of format version {}, but {}", kWhat, version,
            spec_text);
    if (codec->spec_.centroids > 0)
      learned.centroids = load_centroids(in, codec->spec_, codec->dim_);
    if (codec->has_balanced_factors() && learned.centroids != nullptr)
      learned.shares = {in.get<float>("shares"), in.get<float>("shares")};
    require(codec->spec_.centroids == 0 ||
                (learned.centroids != nullptr) == learned.quantizer->is_trained(),
            StatusCode::corrupt_data, "{}: a plan without centroids, or the other way round",
            kWhat);
    const bool wants_basis = has_margins || (!has_flags && version >= kFormatVersionOfBasis);
    require(!wants_basis || !learned.basis.empty(), StatusCode::corrupt_data,
            "{}: of format version {}, which has a basis, without one", kWhat, version);
    if (has_margins) learned.search_margins = load_margins(in);
    in.expect_end();
    learned.short_float = has_flags ? ShortFloat::wide16 : ShortFloat::float16;
    require(version != kFormatVersionOfFlags || codec->has_short_floats(), StatusCode::corrupt_data,
            "{}: of format version {}, but {} has no 16-bit floats", kWhat, version, spec_text);
    codec->learn_unit_ = learn_unit == 1;
    codec->adopt(std::move(learned));
    if (codec->has_balanced_factors() && codec->is_trained()) codec->require_shares();
    return codec;
  } catch (const Error& error) {
    if (error.code() == StatusCode::corrupt_data) throw;
    fail(StatusCode::corrupt_data, "{}: {}", kWhat, error.what());
  }
}

}  // namespace polarquant
