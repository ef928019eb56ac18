// SPDX-License-Identifier: MIT
#include "src/scan/model/link_estimate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "src/codec/spec.h"
#include "src/core/status.h"
#include "src/simd/int8_values.h"

namespace polarquant {
namespace {

float finite_or_0(float value) { return std::isfinite(value) ? value : 0; }

/// round_link_values of each byte: a division and an unpredictable sign for each coordinate took a
/// twelfth of a search of few nodes.
constexpr auto kLinkValues = [] {
  std::array<int8_t, 256> rounded{};
  for (size_t byte = 0; byte < rounded.size(); ++byte) {
    const int scaled = 2 * kMostLinkValue * static_cast<int8_t>(byte);
    rounded[byte] =
        static_cast<int8_t>((scaled + (scaled < 0 ? -kMaxInt8 : kMaxInt8)) / (2 * kMaxInt8));
  }
  return rounded;
}();

}  // namespace

bool has_link_estimates(const Codec& codec) {
  if (!BlockLayout::supports(codec) || !codec.has_factors() || codec.planned() != nullptr ||
      codec.spec().centroids > 0)
    return false;
  return codec.quantizer().describe().stages.size() == 1;
}

void require_records(const Codec& codec, int links) {
  require(
      has_link_estimates(codec), StatusCode::unsupported,
      "records: {} is not supported in the records of a graph; Polar0.5 to Polar8, without -pca, "
      "a second stage or centroids of rows, are",
      print_spec(codec.spec()));
  require(links >= 1, StatusCode::bad_argument, "records: {} links; 1 or more are allowed", links);
}

ResidualScales residual_scales(const ScanTerms& node, const ScanTerms& neighbour) {
  const float scales[2] = {finite_or_0(node.scale), finite_or_0(neighbour.scale)};
  const float largest = std::max(std::fabs(scales[0]), std::fabs(scales[1]));
  if (!(largest > 0)) return {};
  const auto rounded = [&](float scale) {
    return static_cast<int16_t>(std::lround(scale / largest * kMaxInt8));
  };
  return {rounded(scales[0]), rounded(scales[1])};
}

ResidualSums sum_residual(const int8_t* node, const int8_t* neighbour, int padded_dim, int signs,
                          ResidualScales scales, uint8_t* sign_bytes) {
  ResidualSums sums;
  std::fill_n(sign_bytes, signs / 8, uint8_t{0});
  for (int j = 0; j < padded_dim; ++j) {
    sums.node_squares += node[j] * node[j];
    sums.products += node[j] * neighbour[j];
    sums.neighbour_squares += neighbour[j] * neighbour[j];
    if (j >= signs) continue;
    const bool is_negative = scales.neighbour * neighbour[j] < scales.node * node[j];
    sign_bytes[j / 8] = static_cast<uint8_t>(sign_bytes[j / 8] | int{is_negative} << j % 8);
    sums.signed_node += is_negative ? -node[j] : node[j];
    sums.signed_neighbour += is_negative ? -neighbour[j] : neighbour[j];
  }
  return sums;
}

LinkTerms link_terms(const ScanCodec& codec, const ScanTerms& node, const ScanTerms& neighbour,
                     const ResidualSums& sums) {
  const double factor = codec.metric() == Metric::l2 ? 2 : 1;
  const double step = codec.stages()[0].step;
  const double c = finite_or_0(node.scale);
  const double x = finite_or_0(neighbour.scale);
  LinkTerms terms;
  terms.bias = finite_or_0(neighbour.constant - node.constant);
  terms.node_norm2 =
      finite_or_0(static_cast<float>(factor * step * step * c * c * sums.node_squares));
  const double squares =
      x * x * sums.neighbour_squares - 2 * (x * c) * sums.products + c * c * sums.node_squares;
  const double magnitudes = x * sums.signed_neighbour - c * sums.signed_node;
  if (squares > 0 && magnitudes > 0) {
    const double slope = squares / magnitudes;
    const double along = x * sums.products - c * sums.node_squares;
    terms.slope = finite_or_0(static_cast<float>(slope));
    terms.constant = finite_or_0(
        static_cast<float>(factor * step * step * c * (along - slope * sums.signed_node)));
  }
  return terms;
}

uint16_t unit_for(float largest, int most) {
  const auto bits = std::bit_cast<uint32_t>(largest / static_cast<float>(most));
  // Of finite numbers up to the largest with such an upper half.
  return static_cast<uint16_t>(std::min<uint32_t>(bits + 0xFFFF, 0x7F7F0000U) >> 16);
}

int byte_of(float value, float unit, int most) {
  if (!(unit > 0)) return 0;
  const auto limit = static_cast<float>(most);
  return static_cast<int>(std::lround(std::clamp(value / unit, -limit, limit)));
}

void round_link_values(const ScanQuery& query, int signs, int8_t* values) {
  for (int j = 0; j < signs; ++j) {
    const int8_t value = query.values[static_cast<size_t>(j)];
    values[j] = kLinkValues[static_cast<uint8_t>(value)];
  }
}

LinkScale::LinkScale(const LinkRecordLayout& layout, const uint8_t* record,
                     const ScoreConstants& score, float node_similarity, float along)
    : node(node_similarity) {
  uint16_t units[LinkRecordLayout::kUnits];
  std::memcpy(units, record + layout.units_offset(), sizeof units);
  slope = float_of_unit(units[0]) * (score.dot_scale[0] * kLinkValueUnit);
  constant = finite_or_0(float_of_unit(units[1]) * (along / float_of_unit(units[3])));
  bias = float_of_unit(units[2]) * score.weight;
}

float estimate_link(const LinkRecordLayout& layout, const uint8_t* record, const LinkScale& scale,
                    const int8_t* values, int slot) {
  const uint8_t* signs =
      record + static_cast<size_t>(slot / kLinkGroup) * layout.group_bytes() + slot % kLinkGroup;
  int sum = 0;
  for (int j = 0; j < layout.signs(); ++j) {
    const bool is_negative = (signs[kLinkGroup * (j / 8)] >> j % 8 & 1) != 0;
    sum += is_negative ? -values[j] : values[j];
  }
  const auto at = static_cast<size_t>(slot);
  return scale.similarity(record[layout.slopes_offset() + at], sum,
                          static_cast<int8_t>(record[layout.constants_offset() + at]),
                          static_cast<int8_t>(record[layout.biases_offset() + at]));
}

}  // namespace polarquant
