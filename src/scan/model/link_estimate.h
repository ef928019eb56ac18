// SPDX-License-Identifier: MIT
// Estimates of a neighbour's score from a node's and the signs of what lies between them, in plain
// C++: the truth of the kernel (kernels/sketch/link_estimates.h).
//
// With c and x the decoded vectors of a node and of its neighbour, e = x − c, and q the query as
// scores take it (ScanQuery), ⟨q,x⟩ = ⟨q,c⟩ + a⟨c,e⟩ + ⟨q−ac,e⟩ for any a. The first term is known
// once the node has been scored, ⟨c,e⟩ when the link is made. The third is estimated by
// f·Σ ±(q−ac)_j over e's signs, with f = ‖e‖²/Σ |e_j|, which is without bias for directions that
// have nothing to do with e, as in RaBitQ (Gao and Long, arXiv 2405.12497). Its error is in
// proportion to ‖q−ac‖‖e‖, and so the least with a = ⟨q,c⟩/‖c‖²: small where it matters, for
// neighbours of nodes near the query's direction. f·Σ ±q_j + a(⟨c,e⟩ − f·Σ ±c_j) is that sum in
// parts of the query and parts of the link.
#pragma once

#include <bit>
#include <cstdint>

#include "src/scan/layout/link_record.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// Whether rows of the codec can be estimated so: one stage of values, whose coordinates are alike,
/// with factors.
bool has_link_estimates(const Codec& codec);
/// Throws unsupported unless they can be, and bad_argument unless links are 1 or more.
void require_records(const Codec& codec, int links);

/// similarity(x) ≈ similarity(c) + slope·(dot_scale·Σ ±value) + a·constant + weight·bias; dot_scale
/// and weight are those of ScanQuery::score, Σ is over the query's values.
struct LinkTerms {
  float slope = 0;
  float constant = 0;
  float bias = 0;
  float node_norm2 = 0;  // ‖c‖², twice for L2: what ⟨q,c⟩ as scores have it is divided by for a
};
/// What says on which side a neighbour's coordinate lies: scales rounded to −127 to 127, so that
/// neighbour·value − node·value fits 16 bits. Rounding turns a residual by at most .004 of the
/// node's vector, and is in no sum but by its signs.
struct ResidualScales {
  int16_t node = 0;
  int16_t neighbour = 0;
};
ResidualScales residual_scales(const ScanTerms& node, const ScanTerms& neighbour);

/// Over all coordinates, and over those with signs: Σ value there, minus where the residual is
/// negative.
struct ResidualSums {
  int32_t node_squares = 0;
  int32_t products = 0;
  int32_t neighbour_squares = 0;
  int32_t signed_node = 0;
  int32_t signed_neighbour = 0;

  bool operator==(const ResidualSums&) const = default;
};
/// Writes signs, (signs / 8) bytes: bit 1 where the residual is negative. In plain code.
ResidualSums sum_residual(const int8_t* node, const int8_t* neighbour, int padded_dim, int signs,
                          ResidualScales scales, uint8_t* sign_bytes);
/// By doubles in a stated order: the same on every machine.
LinkTerms link_terms(const ScanCodec& codec, const ScanTerms& node, const ScanTerms& neighbour,
                     const ResidualSums& sums);

/// A float's upper half, no less in magnitude than the float: the unit of some bytes.
uint16_t unit_for(float largest, int most);
inline float float_of_unit(uint16_t unit) {
  return std::bit_cast<float>(static_cast<uint32_t>(unit) << 16);
}
/// value / unit, rounded, −most to most.
int byte_of(float value, float unit, int most);

/// The most of a query's values in these sums: eight of them then fit a byte with their sign.
inline constexpr int kMostLinkValue = 15;
/// The query's first values, (signs), rounded to −15 to 15.
void round_link_values(const ScanQuery& query, int signs, int8_t* values);
/// Times dot_scale: what a sum of these values stands for.
inline constexpr float kLinkValueUnit = 127.0F / kMostLinkValue;

/// What turns a record's bytes into similarities, for one query and node.
struct LinkScale {
  float node = 0;  // its similarity
  float slope = 0;
  float constant = 0;
  float bias = 0;

  /// along: the part of the node's similarity that is made of its values.
  LinkScale(const LinkRecordLayout& layout, const uint8_t* record, const ScoreConstants& score,
            float node_similarity, float along);
  float similarity(int slope_byte, int sum, int constant_byte, int bias_byte) const {
    return node + slope * static_cast<float>(slope_byte * sum) +
           constant * static_cast<float>(constant_byte) + bias * static_cast<float>(bias_byte);
  }
};

/// Neighbour `slot`'s estimate, by the query's rounded values.
float estimate_link(const LinkRecordLayout& layout, const uint8_t* record, const LinkScale& scale,
                    const int8_t* values, int slot);

}  // namespace polarquant
