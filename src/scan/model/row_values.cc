// SPDX-License-Identifier: MIT
#include "src/scan/model/row_values.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "src/codec/bit_packing.h"
#include "src/codec/trellis.h"

namespace polarquant {
namespace {

constexpr int kPairsPerSegment = kSegmentDims / 2;

void apply_signs(uint64_t signs, int8_t* values) {
  for (int position = 0; position < kSegmentDims; ++position) {
    if ((signs >> position & 1) != 0) values[position] = static_cast<int8_t>(-values[position]);
  }
}

void decode_part(const ScanCodec& codec, const Int8Part& part, const RowPlace& at, int8_t* values) {
  const uint8_t* payload = codec.layout().row_payload(at);
  const uint8_t* codes = payload + part.codes_offset;
  switch (part.kind) {
    case Int8Part::Kind::magnitudes:
      for (int j = 0; j < part.dim; ++j) {
        const auto first_bit = static_cast<size_t>(j * part.step_bits);
        values[position_of(j, part.dim)] = part.x[read_bits(codes, first_bit, part.step_bits)];
      }
      break;
    case Int8Part::Kind::windows: {
      const int pairs = pairs_of(part.dim);
      for (int pair = 0; pair < pairs; ++pair) {
        const int window = read_window(codes, pairs, part.step_bits, pair);
        int8_t* segment = values + pair / kPairsPerSegment * kSegmentDims;
        segment[pair % kPairsPerSegment] = part.x[window];
        segment[kPairsPerSegment + pair % kPairsPerSegment] = part.y[window];
      }
      break;
    }
  }
  if (part.signs == Int8Part::Signs::none) return;
  for (int start = 0; start < part.dim; start += kSegmentDims) {
    uint64_t signs = 0;
    if (part.signs == Int8Part::Signs::words) {
      signs = codec.layout().sign_word(at, part.first_segment + start / kSegmentDims);
    } else {
      const int count = std::min(kSegmentDims, part.dim - start);
      std::copy_n(payload + part.signs_offset + start / 8, (count + 7) / 8,
                  reinterpret_cast<uint8_t*>(&signs));
      signs = to_pair_order(signs, count);
    }
    apply_signs(signs, values + start);
  }
}

/// The distance by words first … end−1 of the sketch.
int words_distance(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at, int first,
                   int end) {
  int distance = 0;
  for (int word = first; word < end; ++word) {
    const auto i = static_cast<size_t>(word);
    distance += word_distance(query, i, query.sign_words[i] ^ codec.layout().sign_word(at, word));
  }
  return distance;
}

}  // namespace

ScanTerms load_terms(const ScanCodec& codec, const RowPlace& at) {
  const Factors factors = load_factors(codec.factor_format(), codec.layout().row_factors(at));
  if (codec.has_centroids()) {
    const int centroid = std::min(factors.centroid, codec.centroid_count() - 1);
    const float bias = codec.metric() == Metric::l2 ? -factors.bias : factors.bias;
    return {factors.scale, bias, factors.scale, static_cast<float>(centroid)};
  }
  if (codec.metric() == Metric::l2)
    return {factors.scale, -(factors.bias * factors.bias), factors.bias};
  return {factors.scale, factors.bias, factors.scale};
}

int sketch_distance(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at) {
  return words_distance(codec, query, at, 0, codec.layout().sketch_words());
}

int32_t other_sum(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at) {
  const int sketch_words = codec.layout().sketch_words();
  if (codec.has_split_stages())
    return sum_after_first_stage(
        query.later_weight,
        words_distance(codec, query, at, codec.first_stage_words(), sketch_words));
  int32_t dot = 0;
  for (int position = sketch_words * kSegmentDims;
       position < (sketch_words + codec.int8_words()) * kSegmentDims; ++position) {
    const uint64_t word = codec.layout().sign_word(at, position / kSegmentDims);
    const int32_t value = query.values[static_cast<size_t>(position)];
    dot += (word >> (position % kSegmentDims) & 1) != 0 ? -value : value;
  }
  return dot;
}

void decode_int8(const ScanCodec& codec, const Int8Stage& stage, const RowPlace& at,
                 int8_t* values) {
  std::fill_n(values, stage.padded_dim(), int8_t{0});
  for (const Int8Part& part : stage.parts)
    decode_part(codec, part, at,
                values + (part.first_segment - stage.first_segment) * kSegmentDims);
}

void clear_padding(int8_t* values, int dim) {
  const int left = dim % kSegmentDims;
  if (left == 0) return;
  // The last segment's second half begins at half a register.
  constexpr int kHalf = kSegmentDims / 2;
  const int half = (left + 1) / 2;
  int8_t* last = values + dim - left;
  std::fill(last + half, last + kHalf, int8_t{0});
  std::fill(last + kHalf + left - half, last + kSegmentDims, int8_t{0});
}

int32_t int8_dot(const Int8Stage& stage, const ScanQuery& query, const int8_t* values) {
  int32_t dot = 0;
  for (int i = 0; i < stage.padded_dim(); ++i) {
    const auto position = static_cast<size_t>(stage.first_position() + i);
    dot += values[i] * query.values[position];
  }
  return dot;
}

float first_stage_squared_norm(const ScanCodec& codec, const RowPlace& at) {
  if (!codec.has_split_stages()) return 0;
  const Int8Stage& stage = codec.stages()[0];
  std::vector<int8_t> values(static_cast<size_t>(stage.padded_dim()));
  decode_int8(codec, stage, at, values.data());
  const int32_t squared_norm = std::inner_product(values.begin(), values.end(), values.begin(), 0);
  return static_cast<float>(squared_norm);
}

RowScore score_row(const ScanCodec& codec, const ScanQuery& query, bool bounded,
                   const RowPlace& at) {
  ScanTerms terms = load_terms(codec, at);
  if (codec.has_split_stages()) terms.squared_norm = first_stage_squared_norm(codec, at);
  std::vector<int8_t> values(static_cast<size_t>(codec.padded_dim()));
  int32_t dots[2] = {0, 0};
  for (size_t stage = 0; stage < codec.stages().size(); ++stage) {
    decode_int8(codec, codec.stages()[stage], at, values.data());
    dots[stage] = int8_dot(codec.stages()[stage], query, values.data());
  }
  RowScore row;
  const bool two_stages = codec.stages().size() == 2;
  const ScoreConstants score = query.score_of(terms);
  row.score =
      two_stages ? similarity(score, terms, dots[0], dots[1]) : similarity(score, terms, dots[0]);
  row.key = row.score;
  row.bound = std::numeric_limits<float>::infinity();
  if (!bounded) return row;
  if (codec.has_centroids()) {
    row.bound = centroid_bound(query, terms);
    row.key = std::min(row.score, row.bound);
    return row;
  }
  const SignSums signs = {sketch_distance(codec, query, at), other_sum(codec, query, at)};
  row.bound = bounded_score(query, terms, row.bound, signs, two_stages, dots[0]);
  row.key = std::min(row.score, row.bound);
  return row;
}

}  // namespace polarquant
