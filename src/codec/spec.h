// SPDX-License-Identifier: MIT
// The names of codecs: "Polar2", "Polar4+2-dense", "PolarTree4.2.2.2", … One table (spec.cc) of
// rows {family, form, parse, make, help} parses, prints and makes them all; parse and print
// round-trip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/codec/factors.h"
#include "src/codec/quantizer.h"
#include "src/codec/rotation.h"

namespace polarquant {

/// How the factors of codes about centroids are made and stored (factors.h, centroids.h).
enum class CentroidFactors : uint8_t {
  exact,    // of states before format 6
  balanced  // what finds most of the nearest rows
};

enum class CodecFamily { trellis, byte, residual, bytes, tree, pair, pair_group, scalar };

struct Spec {
  CodecFamily family = CodecFamily::trellis;
  /// trellis: {2·bits per dimension}; byte: {16}; residual: {2·bits of stage A, 2·bits of stage B};
  /// bytes: {bytes of a row's code, factors included}; tree: bits per angle of each level; pair,
  /// pair_group: {angle bits, radius bits}; scalar: {bits}.
  std::vector<int> numbers;
  RotationKind rotation = RotationKind::hadamard;
  /// Only PolarTree: codebooks by k-means over training angles instead of the analytic density.
  bool online = false;
  /// Only PolarB: how many centroids rows are coded about; 0: their mean.
  int centroids = 0;
  /// Of these: no part of the name, since names are for new codecs.
  CentroidFactors centroid_factors = CentroidFactors::balanced;

  bool operator==(const Spec&) const = default;
};

/// Throws bad_argument naming the bad part of `text` and what is allowed there.
Spec parse_spec(std::string_view text);
/// The canonical name: options that are the family's default are left out.
std::string print_spec(const Spec& spec);
/// True when `text` begins like one of our names, right or wrong ("Polar…"): then it is ours to
/// judge.
bool looks_like_spec(std::string_view text);
/// Twice the bits a dimension of a trellis, byte or residual code, both stages together.
int twice_bits_of(const Spec& spec);
/// Bytes of the factors, and of the centroid's number, of a code of the family `bytes`.
size_t factor_bytes_of(const Spec& spec);
/// How a new codec with factors stores them.
FactorForm factor_form_of(const Spec& spec);
inline constexpr int kMostCentroids = 65536;
/// For a trained code, the one whose bytes it has; for others, and where there is none, the code
/// itself.
Spec untrained_counterpart(const Spec& spec);
/// The same about one centre.
Spec without_centroids(const Spec& spec);
/// Whether codes of this dimension can have the bytes of a spec of few bytes (PolarB…).
bool fits_bytes(const Spec& spec, int dim);
/// Makes the quantizer of a spec; throws bad_argument when the spec does not fit `dim`.
std::unique_ptr<Quantizer> make_quantizer(const Spec& spec, int dim);

struct SpecHelp {
  std::string form;
  std::string meaning;
  std::string example;
};
/// One row per family, in the table's order.
std::vector<SpecHelp> spec_help();

}  // namespace polarquant
