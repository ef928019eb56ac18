// SPDX-License-Identifier: MIT
// The one table of codec names. To add a codec: a CodecFamily, a row here, a quantizer.
#include "src/codec/spec.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include "src/codec/byte_quantizer.h"
#include "src/codec/factors.h"
#include "src/codec/planned_quantizer.h"
#include "src/codec/published/pair_group_quantizer.h"
#include "src/codec/published/pair_quantizer.h"
#include "src/codec/published/scalar_quantizer.h"
#include "src/codec/published/tree_quantizer.h"
#include "src/codec/residual_quantizer.h"
#include "src/codec/trellis_codebooks.h"
#include "src/codec/trellis_quantizer.h"
#include "src/core/format.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

constexpr std::string_view kPrefix = "Polar";
constexpr int kByteTwiceBits = 16;
constexpr std::string_view kOnline = "online";
constexpr std::string_view kPca = "pca";
constexpr std::string_view kCentroids = "km";
constexpr int kMaxPlannedTwiceBits = 14;

// The parser's input: the whole spec for error texts, and the body between "Polar" and the options.
struct Body {
  std::string_view spec;
  std::string_view text;
};

struct Row {
  CodecFamily family;
  RotationKind default_rotation;
  std::string_view own_option;  // that no other family has
  bool (*owns)(std::string_view body);
  std::vector<int> (*parse)(const Body& body);
  std::string (*print)(const Spec& spec);
  std::unique_ptr<Quantizer> (*make)(const Spec& spec, int dim);
  SpecHelp help;
};

[[noreturn]] void fail_part(const Body& body, std::string_view part, const std::string& allowed) {
  fail(StatusCode::bad_argument, "spec: \"{}\": \"{}\" is not allowed there; {}", body.spec, part,
       allowed);
}

std::string print_rate(int twice_bits) {
  return format_text("{}{}", twice_bits / 2, twice_bits % 2 == 0 ? "" : ".5");
}

std::string allowed_rates() {
  std::string text = "bits a dimension:";
  for (const TrellisCodebook& book : trellis_codebooks()) {
    text += format_text(" {}", print_rate(book.twice_bits));
  }
  return format_text("{} {}", text, print_rate(kByteTwiceBits));
}

std::string allowed_residuals() {
  std::string text = "two stages:";
  for (const ResidualCodebook& book : residual_codebooks()) {
    text += format_text(" {}+{}", print_rate(book.first_twice_bits),
                        print_rate(book.second.twice_bits));
  }
  return text;
}

// "2" → 4, "1.5" → 3; only the spelling that print_rate gives.
std::optional<int> parse_rate(std::string_view text) {
  for (int twice_bits = 1; twice_bits <= kByteTwiceBits; ++twice_bits) {
    if (text == print_rate(twice_bits)) return twice_bits;
  }
  return std::nullopt;
}

// A decimal integer without sign or leading zeros.
std::optional<int> parse_integer(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || format_text("{}", value) != text) return std::nullopt;
  return value;
}

int parse_bits(const Body& body, std::string_view part, int min, int max) {
  const std::optional<int> bits = parse_integer(part);
  if (!bits || *bits < min || *bits > max) {
    fail_part(body, part, format_text("bits: {} to {}", min, max));
  }
  return *bits;
}

std::vector<int> parse_trellis(const Body& body) {
  const std::optional<int> twice_bits = parse_rate(body.text);
  if (!twice_bits || find_trellis_codebook(*twice_bits) == nullptr) {
    fail_part(body, body.text, allowed_rates() + "; or B…, Tree…, Pair…, Scalar…");
  }
  return {*twice_bits};
}

std::vector<int> parse_residual(const Body& body) {
  const size_t plus = body.text.find('+');
  const std::optional<int> first = parse_rate(body.text.substr(0, plus));
  const std::optional<int> second = parse_rate(body.text.substr(plus + 1));
  if (!first || !second || find_residual_codebook(*first, *second) == nullptr) {
    fail_part(body, body.text, allowed_residuals());
  }
  return {*first, *second};
}

constexpr std::string_view kTree = "Tree";
constexpr std::string_view kPair = "Pair";
constexpr std::string_view kScalar = "Scalar";
constexpr std::string_view kGroup = "g128";
constexpr std::string_view kBytes = "B";

std::string print_tree(const std::vector<int>& bits) {
  std::string text(kTree);
  for (size_t level = 0; level < bits.size(); ++level) {
    text += format_text("{}{}", level == 0 ? "" : ".", bits[level]);
  }
  return text;
}

std::vector<int> parse_tree(const Body& body) {
  std::vector<int> bits;
  std::string_view level_texts = body.text.substr(kTree.size());
  for (;;) {
    const size_t dot = level_texts.find('.');
    bits.push_back(parse_bits(body, level_texts.substr(0, dot), 1, 8));
    if (dot == std::string_view::npos) return bits;
    level_texts.remove_prefix(dot + 1);
  }
}

std::vector<int> parse_pair_bits(const Body& body, std::string_view text) {
  const size_t cross = text.find('x');
  if (cross == std::string_view::npos) {
    fail_part(body, text, "angle bits x radius bits, as in 4x4");
  }
  return {parse_bits(body, text.substr(0, cross), 1, 8),
          parse_bits(body, text.substr(cross + 1), 1, 8)};
}

std::vector<int> parse_pair(const Body& body) {
  return parse_pair_bits(body, body.text.substr(kPair.size()));
}

std::vector<int> parse_pair_group(const Body& body) {
  std::string_view text = body.text.substr(kPair.size());
  text.remove_suffix(kGroup.size());
  return parse_pair_bits(body, text);
}

std::vector<int> parse_scalar(const Body& body) {
  return {parse_bits(body, body.text.substr(kScalar.size()), 2, 8)};
}

/// Up to here factors are short, above they are float32 (docs/codec.md, "Factors").
constexpr int kShortFactorTwiceBits = 8;
/// The least bytes: both factors and one byte of a code, which is 8 pairs.
constexpr int kLeastBytes = 3;
/// With more bytes a dimension the short factors would be what is lost (docs/codec.md, "Factors").
constexpr int kDimsPerByte = 4;
/// In a spec for any dimension.
constexpr int kMostBytes = kMaxPlannedDim / kDimsPerByte;

std::vector<int> parse_bytes(const Body& body) {
  const std::string_view text = body.text.substr(kBytes.size());
  const std::optional<int> bytes = parse_integer(text);
  if (!bytes || *bytes < kLeastBytes || *bytes > kMostBytes)
    fail_part(body, text, format_text("bytes of a code: {} to {}", kLeastBytes, kMostBytes));
  return {*bytes};
}

int most_bytes(const Spec& spec, int dim) {
  // A name that exact factors have room for is one whatever the factors.
  Spec exact = spec;
  exact.centroid_factors = CentroidFactors::exact;
  return std::max(dim / kDimsPerByte, kLeastBytes + 1) + static_cast<int>(factor_bytes_of(exact));
}

std::unique_ptr<Quantizer> make_bytes(const Spec& spec, int dim) {
  const int bytes = spec.numbers[0];
  const auto factors = static_cast<int>(factor_bytes_of(spec));
  const int most = most_bytes(spec, dim);
  require(fits_bytes(spec, dim), StatusCode::bad_argument,
          "spec: {}: at dim {} codes have {} to {} bytes, of which {} are for factors{}; for more "
          "there are Polar2-pca and its kin",
          print_spec(spec), dim, factors + 1, most, factors,
          spec.centroids > 0 ? " and the centroid" : "");
  return std::make_unique<PlannedQuantizer>(dim, static_cast<size_t>(bytes - factors),
                                            SizeIn::bytes);
}

std::unique_ptr<Quantizer> make_planned(const Spec& spec, int dim) {
  return std::make_unique<PlannedQuantizer>(
      dim, make_quantizer(untrained_counterpart(spec), dim)->code_bytes());
}

const std::vector<Row>& rows() {
  // The first row that owns a body parses it; the last one owns all, and its error lists what there
  // is.
  static const std::vector<Row> table = {
      {CodecFamily::tree,
       RotationKind::hadamard,
       kOnline,
       [](std::string_view body) { return body.starts_with(kTree); },
       parse_tree,
       [](const Spec& spec) { return print_tree(spec.numbers); },
       [](const Spec& spec, int dim) -> std::unique_ptr<Quantizer> {
         return std::make_unique<TreeQuantizer>(dim, spec.numbers, spec.online);
       },
       {"PolarTree<b1>.<b2>…",
        "recursive polar angles: bits (1 to 8) per angle of each level, float16 radii per block",
        "PolarTree4.2.2.2"}},
      {CodecFamily::pair_group,
       RotationKind::none,
       "",
       [](std::string_view body) { return body.starts_with(kPair) && body.ends_with(kGroup); },
       parse_pair_group,
       [](const Spec& spec) {
         return format_text("Pair{}x{}{}", spec.numbers[0], spec.numbers[1], kGroup);
       },
       [](const Spec& spec, int dim) -> std::unique_ptr<Quantizer> {
         return std::make_unique<PairGroupQuantizer>(dim, spec.numbers[0], spec.numbers[1]);
       },
       {"PolarPair<m>x<n>g128",
        "pairs as angle (m bits) and radius (n bits), 1 to 8 each, with ranges per 128 rows",
        "PolarPair4x4g128"}},
      {CodecFamily::pair,
       RotationKind::none,
       "",
       [](std::string_view body) { return body.starts_with(kPair); },
       parse_pair,
       [](const Spec& spec) { return format_text("Pair{}x{}", spec.numbers[0], spec.numbers[1]); },
       [](const Spec& spec, int dim) -> std::unique_ptr<Quantizer> {
         return std::make_unique<PairQuantizer>(dim, spec.numbers[0], spec.numbers[1]);
       },
       {"PolarPair<m>x<n>",
        "pairs as angle (m bits) and radius (n bits), 1 to 8 each; needs training",
        "PolarPair4x4"}},
      {CodecFamily::scalar,
       RotationKind::none,
       "",
       [](std::string_view body) { return body.starts_with(kScalar); },
       parse_scalar,
       [](const Spec& spec) { return format_text("Scalar{}", spec.numbers[0]); },
       [](const Spec& spec, int dim) -> std::unique_ptr<Quantizer> {
         return std::make_unique<ScalarQuantizer>(dim, spec.numbers[0]);
       },
       {"PolarScalar<bits>", "blocks of 128: norm, Walsh-Hadamard, Lloyd-Max of 2 to 8 bits",
        "PolarScalar4"}},
      {CodecFamily::bytes,
       RotationKind::pca,
       kCentroids,
       [](std::string_view body) { return body.starts_with(kBytes); },
       parse_bytes,
       [](const Spec& spec) { return format_text("{}{}", kBytes, spec.numbers[0]); },
       make_bytes,
       {"PolarB<bytes>",
        "trained, in so many bytes a vector whatever its dimension, rates by energy from 0 on, "
        "factors of 8 bits; -km<n>: about the nearest of n (2 to 65536) centroids",
        "PolarB16-km4096"}},
      {CodecFamily::residual,
       RotationKind::hadamard,
       kPca,
       [](std::string_view body) { return body.find('+') != std::string_view::npos; },
       parse_residual,
       [](const Spec& spec) {
         return format_text("{}+{}", print_rate(spec.numbers[0]), print_rate(spec.numbers[1]));
       },
       [](const Spec& spec, int dim) -> std::unique_ptr<Quantizer> {
         if (spec.rotation == RotationKind::pca) return make_planned(spec, dim);
         return std::make_unique<ResidualQuantizer>(dim, spec.numbers[0], spec.numbers[1]);
       },
       {"Polar<a>+<b>",
        "two stages of the trellis code, 1 to 4 bits a dimension each; -pca: trained, one stage in "
        "these bytes, rates by energy",
        "Polar4+2"}},
      {CodecFamily::byte,
       RotationKind::hadamard,
       "",
       [](std::string_view body) { return body == print_rate(kByteTwiceBits); },
       [](const Body&) { return std::vector<int>{kByteTwiceBits}; },
       [](const Spec&) { return print_rate(kByteTwiceBits); },
       [](const Spec&, int dim) -> std::unique_ptr<Quantizer> {
         return std::make_unique<ByteQuantizer>(dim);
       },
       {"Polar8", "one byte a dimension, 256 levels", "Polar8"}},
      {CodecFamily::trellis,
       RotationKind::hadamard,
       kPca,
       [](std::string_view) { return true; },
       parse_trellis,
       [](const Spec& spec) { return print_rate(spec.numbers[0]); },
       [](const Spec& spec, int dim) -> std::unique_ptr<Quantizer> {
         if (spec.rotation == RotationKind::pca) return make_planned(spec, dim);
         return std::make_unique<TrellisQuantizer>(dim, spec.numbers[0]);
       },
       {"Polar<bits>",
        "the trellis code at 0.5 to 5 bits a dimension, in half bits; -pca: trained, rates by "
        "energy",
        "Polar2"}},
  };
  return table;
}

const Row& row_of(CodecFamily family) {
  for (const Row& row : rows()) {
    if (row.family == family) return row;
  }
  fail(StatusCode::internal, "spec: family {} has no row", static_cast<int>(family));
}

struct RotationName {
  RotationKind kind;
  std::string_view name;
};

constexpr RotationName kRotationNames[] = {{RotationKind::hadamard, "hadamard"},
                                           {RotationKind::dense, "dense"},
                                           {RotationKind::none, "norot"},
                                           {RotationKind::pca, kPca}};

/// "km4096"; false where it is another option.
bool parse_centroids(const Body& body, std::string_view option, Spec* spec) {
  if (!option.starts_with(kCentroids)) return false;
  const std::optional<int> count = parse_integer(option.substr(kCentroids.size()));
  if (!count || *count < 2 || *count > kMostCentroids)
    fail_part(body, option, format_text("centroids: -km2 to -km{}", kMostCentroids));
  spec->centroids = *count;
  return true;
}

void parse_option(const Body& body, const Row& row, std::string_view option, Spec* spec) {
  if (spec->family == CodecFamily::bytes) {
    if (option == kPca || parse_centroids(body, option, spec)) return;
    fail_part(body, option, format_text("options: -{}<n>", kCentroids));
  }
  for (const RotationName& rotation : kRotationNames) {
    if (option == rotation.name && (option != kPca || row.own_option == kPca)) {
      if (option == kPca && twice_bits_of(*spec) > kMaxPlannedTwiceBits)
        fail_part(body, option,
                  format_text("-pca is for up to {} bits a dimension, since no segment has more "
                              "than 8",
                              print_rate(kMaxPlannedTwiceBits)));
      spec->rotation = rotation.kind;
      return;
    }
  }
  if (option == kOnline && row.own_option == kOnline) {
    spec->online = true;
    return;
  }
  fail_part(body, option,
            format_text("options: -hadamard -dense -norot{}{}", row.own_option.empty() ? "" : " -",
                        row.own_option));
}

}  // namespace

int twice_bits_of(const Spec& spec) {
  return std::accumulate(spec.numbers.begin(), spec.numbers.end(), 0);
}

size_t factor_bytes_of(const Spec& spec) {
  FactorFormat format;
  format.form = factor_form_of(spec);
  format.has_centroid = spec.centroids > 0;
  return format.bytes();
}

FactorForm factor_form_of(const Spec& spec) {
  if (spec.family == CodecFamily::bytes) {
    if (spec.centroids == 0 || spec.centroid_factors == CentroidFactors::exact)
      return FactorForm::float8;
    return spec.centroids <= 1 << kCentroid24.number ? FactorForm::centroid24
                                                     : FactorForm::centroid32;
  }
  return twice_bits_of(spec) > kShortFactorTwiceBits ? FactorForm::float32 : FactorForm::wide16;
}

Spec untrained_counterpart(const Spec& spec) {
  Spec untrained = spec;
  if (spec.rotation == RotationKind::pca) untrained.rotation = row_of(spec.family).default_rotation;
  return untrained;
}

Spec without_centroids(const Spec& spec) {
  Spec one_centre = spec;
  one_centre.centroids = 0;
  return one_centre;
}

bool fits_bytes(const Spec& spec, int dim) {
  const int bytes = spec.numbers[0];
  return bytes > static_cast<int>(factor_bytes_of(spec)) && bytes <= most_bytes(spec, dim);
}

bool looks_like_spec(std::string_view text) { return text.starts_with(kPrefix); }

Spec parse_spec(std::string_view text) {
  if (!looks_like_spec(text)) {
    fail(StatusCode::bad_argument, "spec: \"{}\" is not allowed; names begin with {}, as in Polar2",
         text, kPrefix);
  }
  const size_t dash = text.find('-');
  const Body body{
      text, text.substr(kPrefix.size(), dash == std::string_view::npos ? std::string_view::npos
                                                                       : dash - kPrefix.size())};
  for (const Row& row : rows()) {
    if (!row.owns(body.text)) continue;
    Spec spec{row.family, row.parse(body), row.default_rotation};
    std::string_view options = dash == std::string_view::npos ? "" : text.substr(dash);
    while (!options.empty()) {
      options.remove_prefix(1);
      const size_t next = options.find('-');
      parse_option(body, row, options.substr(0, next), &spec);
      options = next == std::string_view::npos ? "" : options.substr(next);
    }
    return spec;
  }
  fail(StatusCode::internal, "spec: no row owns \"{}\"", text);
}

std::string print_spec(const Spec& spec) {
  const Row& row = row_of(spec.family);
  std::string text = format_text("{}{}", kPrefix, row.print(spec));
  if (spec.online) text += format_text("-{}", kOnline);
  if (spec.centroids > 0) text += format_text("-{}{}", kCentroids, spec.centroids);
  if (spec.rotation != row.default_rotation) {
    for (const RotationName& rotation : kRotationNames) {
      if (rotation.kind == spec.rotation) text += format_text("-{}", rotation.name);
    }
  }
  return text;
}

std::unique_ptr<Quantizer> make_quantizer(const Spec& spec, int dim) {
  return row_of(spec.family).make(spec, dim);
}

std::vector<SpecHelp> spec_help() {
  std::vector<SpecHelp> help;
  for (const Row& row : rows()) help.push_back(row.help);
  return help;
}

}  // namespace polarquant
