// SPDX-License-Identifier: MIT
#include "src/scan/stores/link_record_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/scan/kernels/sketch/link_residuals.h"

namespace polarquant {
namespace {

constexpr int kMostSlope = 255;
constexpr int kMostConstant = 127;

}  // namespace

void LinkRecordWriter::clear(uint8_t* record) const noexcept {
  std::memset(record, 0, layout_.row_offset());
}

LinkTerms LinkRecordWriter::put_signs(const LinkedRow& node, const LinkedRow& neighbour, int slot,
                                      uint8_t* record) const noexcept {
  uint8_t signs[kMostLinkSigns / 8];
  const ResidualSums sums =
      residual_sums(node.values, neighbour.values, codec_.padded_dim(), layout_.signs(),
                    residual_scales(node.terms, neighbour.terms), signs);
  uint8_t* at =
      record + static_cast<size_t>(slot / kLinkGroup) * layout_.group_bytes() + slot % kLinkGroup;
  for (size_t t = 0; t < layout_.sign_bytes(); ++t) at[kLinkGroup * t] = signs[t];
  return link_terms(codec_, node.terms, neighbour.terms, sums);
}

void LinkRecordWriter::put_links(std::span<const int32_t> links, uint8_t* record) const noexcept {
  auto* numbers = reinterpret_cast<int32_t*>(record + layout_.links_offset());
  std::fill_n(numbers, layout_.slots(), -1);
  std::copy(links.begin(), links.end(), numbers);
  LinkTerms largest;
  for (size_t i = 0; i < links.size(); ++i) {
    largest.slope = std::max(largest.slope, std::fabs(terms_[i].slope));
    largest.constant = std::max(largest.constant, std::fabs(terms_[i].constant));
    largest.bias = std::max(largest.bias, std::fabs(terms_[i].bias));
  }
  largest.node_norm2 = links.empty() ? 0 : terms_[0].node_norm2;
  const uint16_t units[LinkRecordLayout::kUnits] = {
      unit_for(largest.slope, kMostSlope), unit_for(largest.constant, kMostConstant),
      unit_for(largest.bias, kMostConstant), unit_for(largest.node_norm2, 1)};
  std::memcpy(record + layout_.units_offset(), units, sizeof units);
  for (size_t i = 0; i < links.size(); ++i) {
    const auto put = [&](size_t offset, float value, uint16_t unit, int most) {
      record[offset + i] = static_cast<uint8_t>(byte_of(value, float_of_unit(unit), most));
    };
    put(layout_.slopes_offset(), std::fabs(terms_[i].slope), units[0], kMostSlope);
    put(layout_.constants_offset(), terms_[i].constant, units[1], kMostConstant);
    put(layout_.biases_offset(), terms_[i].bias, units[2], kMostConstant);
  }
}

}  // namespace polarquant
