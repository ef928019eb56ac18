// SPDX-License-Identifier: MIT
#include "src/scan/kernels/decode/decode_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/codec/bit_packing.h"
#include "src/scan/model/row_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/decode/decode_rows.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/dot_row-inl.h"
#include "src/simd/window_decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The signs of a part's segment, in padded order.
HWY_ATTR inline uint64_t segment_signs(const ScanCodec& codec, const Int8Part& part,
                                       const RowPlace& at, int segment) {
  if (part.signs == Int8Part::Signs::none) return 0;
  if (part.signs == Int8Part::Signs::words)
    return codec.layout().sign_word(at, part.first_segment + segment);
  const int start = segment * kSegmentDims;
  const int count = part.dim - start < kSegmentDims ? part.dim - start : kSegmentDims;
  uint64_t signs = 0;
  const uint8_t* plane = codec.layout().row_payload(at) + part.signs_offset + start / 8;
  std::memcpy(&signs, plane, static_cast<size_t>(count + 7) / 8);
  return count == kSegmentDims ? signs : to_pair_order(signs, count);
}

#if POLAR_SIMD_VBMI

/// segment_signs of some rows.
HWY_ATTR void signs_of_rows(const ScanCodec& codec, const Int8Part& part, int segment,
                            const RowPlace* rows, int count, uint64_t* signs) {
  const BlockLayout& layout = codec.layout();
  const int word = part.first_segment + segment;
  if (part.signs != Int8Part::Signs::words) {
    for (int i = 0; i < count; ++i) signs[i] = segment_signs(codec, part, rows[i], segment);
  } else if (word < layout.sketch_words()) {
    for (int i = 0; i < count; ++i) signs[i] = *layout.sketch_word(rows[i], word);
  } else {
    for (int i = 0; i < count; ++i)
      signs[i] = layout.payload_word(rows[i], word - layout.sketch_words());
  }
}

HWY_ATTR HWY_INLINE void store_segment(__m512i values, uint64_t signs, int8_t* to) {
  values = _mm512_mask_sub_epi8(values, signs, _mm512_setzero_si512(), values);
  _mm512_store_si512(to, values);
}

/// Two segments of a part, or its last one, of all rows: tables stay in registers.
template <bool kFirst, bool kBoth>
HWY_ATTR void decode_windows(const ScanCodec& codec, const Int8Part& part, int segment,
                             const RowPlace* rows, int count, int stride, int8_t* values) {
  uint64_t sketch_signs[kBlockRows];
  uint64_t back_signs[kBlockRows];
  signs_of_rows(codec, part, segment, rows, count, sketch_signs);
  if (kBoth) signs_of_rows(codec, part, segment + 1, rows, count, back_signs);
  const ByteTable x_table(part.x);
  const ByteTable y_table(part.y);
  const WindowReader reader(part.step_bits, part.fields);
  const int bits = pairs_of(part.dim) * part.step_bits;
  const bool half = part.reads_half(segment / 2);
  for (int i = 0; i < count; ++i, values += stride) {
    const uint8_t* ring = codec.layout().row_payload(rows[i]) + part.codes_offset;
    const uint8_t before = kFirst ? bits_before_ring(ring, bits) : uint8_t{0};
    const __m512i windows = reader.read(ring, kFirst ? 0 : segment / 2, half, before);
    const __m512i x = x_table.look_up(windows);
    const __m512i y = y_table.look_up(windows);
    // [first coordinates | second coordinates] of the low and the high half of 64 pairs.
    store_segment(_mm512_inserti64x4(x, _mm512_castsi512_si256(y), 1), sketch_signs[i], values);
    if constexpr (kBoth)
      store_segment(_mm512_shuffle_i64x2(x, y, 0xEE), back_signs[i], values + kSegmentDims);
  }
}

HWY_ATTR void decode_windows(const ScanCodec& codec, const Int8Part& part, const RowPlace* rows,
                             int count, int stride, int8_t* values) {
  const int segments = part.segments();
  for (int segment = 0; segment < segments; segment += 2, values += 2 * kSegmentDims) {
    const bool both = segment + 1 < segments;
    const auto& decode = segment == 0
                             ? (both ? decode_windows<true, true> : decode_windows<true, false>)
                             : (both ? decode_windows<false, true> : decode_windows<false, false>);
    decode(codec, part, segment, rows, count, stride, values);
  }
}

/// The positions of a segment's coordinates, which come one after the other in a code.
HWY_ATTR HWY_INLINE uint64_t segment_positions(int count) {
  const auto first = [](int n) { return (uint64_t{1} << n) - 1; };
  return count == kSegmentDims ? ~uint64_t{0}
                               : first((count + 1) / 2) | first(count / 2) << (kSegmentDims / 2);
}

HWY_ATTR void decode_magnitudes(const ScanCodec& codec, const Int8Part& part, const RowPlace* rows,
                                int count, int stride, int8_t* values) {
  const WindowReader reader(part.step_bits, part.fields);
  const MagnitudeTable table(part.x);
  for (int segment = 0; segment < part.segments(); ++segment, values += kSegmentDims) {
    uint64_t signs[kBlockRows];
    signs_of_rows(codec, part, segment, rows, count, signs);
    const uint64_t positions = segment_positions(segment_dims(part.dim, segment));
    for (int i = 0; i < count; ++i) {
      const uint8_t* fields = codec.layout().row_payload(rows[i]) + part.codes_offset;
      const __m512i magnitudes = table.look_up(reader.read_fields(fields, segment));
      store_segment(_mm512_maskz_expand_epi8(positions, magnitudes), signs[i],
                    values + static_cast<ptrdiff_t>(i) * stride);
    }
  }
}

#else

/// Pairs of a segment.
constexpr int kSegmentPairs = kSegmentDims / 2;

/// Turns pairs that lie side by side into a segment's values, signs applied.
#if POLAR_SIMD_SCALAR
void store_segment(const uint16_t* pairs, uint64_t signs, int8_t* values) {
  for (int i = 0; i < kSegmentPairs; ++i) {
    values[i] = static_cast<int8_t>(pairs[i]);
    values[kSegmentPairs + i] = static_cast<int8_t>(pairs[i] >> 8);
  }
  for (int position = 0; position < kSegmentDims; ++position)
    if ((signs >> position & 1) != 0) values[position] = static_cast<int8_t>(-values[position]);
}
#else
using HalfSegment = hn::CappedTag<int8_t, kSegmentPairs>;

/// Values, negative where the lowest bits of `signs` are 1.
HWY_ATTR HWY_INLINE void store_signed(hn::Vec<HalfSegment> values, uint64_t signs, int8_t* to) {
  const HalfSegment d;
  alignas(8) uint8_t mask_bits[16] = {};
  std::memcpy(mask_bits, &signs, sizeof signs);
  const auto negative = hn::LoadMaskBits(d, mask_bits);
  hn::Store(hn::IfThenElse(negative, hn::Neg(values), values), d, to);
}

HWY_ATTR void store_segment(const uint16_t* pairs, uint64_t signs, int8_t* values) {
  const HalfSegment d;
  const size_t lanes = hn::Lanes(d);
  const auto* both = reinterpret_cast<const int8_t*>(pairs);
  for (size_t position = 0; position < kSegmentPairs; position += lanes) {
    const auto low = hn::Load(d, both + 2 * position);
    const auto high = hn::Load(d, both + 2 * position + lanes);
    store_signed(hn::ConcatEven(d, high, low), signs >> position, values + position);
    store_signed(hn::ConcatOdd(d, high, low), signs >> (kSegmentPairs + position),
                 values + kSegmentPairs + position);
  }
}
#endif

#if POLAR_SIMD_AVX2

HWY_ATTR void decode_windows(const ScanCodec& codec, const Int8Part& part, const RowPlace* rows,
                             int count, int stride, int8_t* values) {
  const int bits = pairs_of(part.dim) * part.step_bits;
  const SegmentWindows windows(part.step_bits);
  for (int i = 0; i < count; ++i) {
    const uint8_t* ring = codec.layout().row_payload(rows[i]) + part.codes_offset;
    const uint8_t before = bits_before_ring(ring, bits);
    int8_t* out = values + static_cast<ptrdiff_t>(i) * stride;
    // Of a last segment that is not full, values after its own are anything.
    for (int segment = 0; segment < part.segments(); ++segment, out += kSegmentDims) {
      const uint64_t signs = segment_signs(codec, part, rows[i], segment);
      const TwoBytes found = look_up(part.x, part.y, windows.read(ring, segment, before));
      store_signed({found.x}, signs, out);
      store_signed({found.y}, signs >> kSegmentPairs, out + kSegmentPairs);
    }
  }
}

#else

/// Looks up pairs first … end−1 one by one; `end` is rounded up to a multiple of 8.
template <int kStep>
HWY_ATTR void find_pairs(const uint8_t* ring, uint8_t before, const uint16_t* table, int first,
                         int end, uint16_t* found) {
  constexpr int kShift = kStep == 8 ? 0 : kStep;
  for (int pair = first; pair < end; pair += 8) {
    uint64_t windows = 0;
    if (kStep == 8) {
      std::memcpy(&windows, ring + pair, sizeof windows);
    } else if (pair == 0) {
      std::memcpy(&windows, ring, sizeof windows);
      windows = windows << 8 | before;
    } else {
      std::memcpy(&windows, ring + pair / 8 * kStep - 1, sizeof windows);
    }
    for (int i = 0; i < 8; ++i)
      found[i] = table[static_cast<uint8_t>(windows >> (kShift + i * kStep))];
    found += 8;
  }
}

template <int... kLess>
auto find_pairs_of_step(int step, std::integer_sequence<int, kLess...> /*less*/) {
  using FindPairs = void (*)(const uint8_t*, uint8_t, const uint16_t*, int, int, uint16_t*);
  static constexpr FindPairs kOfStep[] = {&find_pairs<kLess + 1>...};
  return kOfStep[step - 1];
}

// Some segments at a time: small stores have reached the cache when large loads read them.
HWY_ATTR void decode_windows(const ScanCodec& codec, const Int8Part& part, const RowPlace* rows,
                             int count, int stride, int8_t* values) {
  constexpr int kSegmentsTogether = 8;
  alignas(64) uint16_t found[kSegmentsTogether * kSegmentPairs] = {};
  const auto find = find_pairs_of_step(part.step_bits, std::make_integer_sequence<int, 8>());
  const int pairs = pairs_of(part.dim);
  const int segments = part.segments();
  for (int i = 0; i < count; ++i, values += stride) {
    const uint8_t* ring = codec.layout().row_payload(rows[i]) + part.codes_offset;
    const uint8_t before = bits_before_ring(ring, pairs * part.step_bits);
    for (int first = 0; first < segments; first += kSegmentsTogether) {
      const int end = std::min(segments, first + kSegmentsTogether);
      find(ring, before, part.pairs, first * kSegmentPairs, std::min(pairs, end * kSegmentPairs),
           found);
      for (int segment = first; segment < end; ++segment) {
        store_segment(found + static_cast<ptrdiff_t>(segment - first) * kSegmentPairs,
                      segment_signs(codec, part, rows[i], segment),
                      values + static_cast<ptrdiff_t>(segment) * kSegmentDims);
      }
    }
  }
}

#endif

/// A last segment that is not full: its second coordinates begin at half a segment.
HWY_ATTR void decode_last_magnitudes(const ScanCodec& codec, const Int8Part& part,
                                     const RowPlace& row, int8_t* values) {
  const int segment = part.dim / kSegmentDims;
  const uint64_t signs = segment_signs(codec, part, row, segment);
  const uint8_t* fields = codec.layout().row_payload(row) + part.codes_offset;
  for (int j = segment * kSegmentDims; j < part.dim; ++j) {
    const int position = position_of(j, part.dim);
    const auto first_bit = static_cast<size_t>(j) * static_cast<size_t>(part.step_bits);
    const int negative = -static_cast<int>(signs >> (position % kSegmentDims) & 1);
    const int8_t magnitude = part.x[read_bits(fields, first_bit, part.step_bits)];
    values[position] = static_cast<int8_t>((magnitude ^ negative) - negative);
  }
}

#if POLAR_SIMD_AVX2 && !POLAR_SIMD_VBMI

HWY_ATTR void decode_magnitudes(const ScanCodec& codec, const Int8Part& part, const RowPlace* rows,
                                int count, int stride, int8_t* values) {
  const HalfSegmentFields fields(part.step_bits);
  const int half_bytes = kSegmentDims / 2 * part.step_bits / 8;
  const int full_segments = part.dim / kSegmentDims;
  for (int i = 0; i < count; ++i, values += stride) {
    const uint8_t* codes = codec.layout().row_payload(rows[i]) + part.codes_offset;
    int8_t* out = values;
    for (int segment = 0; segment < full_segments; ++segment, out += kSegmentDims) {
      const uint64_t signs = segment_signs(codec, part, rows[i], segment);
      __m256i halves[2] = {fields.read(codes), fields.read(codes + half_bytes)};
      codes += static_cast<ptrdiff_t>(2) * half_bytes;
      look_up_both(part.x, 1 << part.step_bits, halves);
      store_signed({halves[0]}, signs, out);
      store_signed({halves[1]}, signs >> kSegmentPairs, out + kSegmentPairs);
    }
    if (full_segments < part.segments()) decode_last_magnitudes(codec, part, rows[i], values);
  }
}

#else

// Eight fields of up to 7 bits are within 64 bits, which begin at a byte.
HWY_ATTR void decode_magnitudes(const ScanCodec& codec, const Int8Part& part, const RowPlace* rows,
                                int count, int stride, int8_t* values) {
  const uint64_t mask = (uint64_t{1} << part.step_bits) - 1;
  const int full_segments = part.dim / kSegmentDims;
  for (int row = 0; row < count; ++row, values += stride) {
    const uint8_t* fields = codec.layout().row_payload(rows[row]) + part.codes_offset;
    int8_t* out = values;
    for (int segment = 0; segment < full_segments; ++segment, out += kSegmentDims) {
      const uint64_t signs = segment_signs(codec, part, rows[row], segment);
      for (int first = 0; first < kSegmentDims; first += 8, fields += part.step_bits) {
        uint64_t eight;
        std::memcpy(&eight, fields, sizeof eight);
        for (int i = 0; i < 8; ++i, eight >>= part.step_bits) {
          // No branch: signs are random.
          const int negative = -static_cast<int>(signs >> (first + i) & 1);
          out[first + i] = static_cast<int8_t>((part.x[eight & mask] ^ negative) - negative);
        }
      }
    }
    if (full_segments < part.segments()) decode_last_magnitudes(codec, part, rows[row], values);
  }
}

#endif

#endif

// Part by part, so that tables are set up once.
HWY_ATTR void decode_rows(const ScanCodec& codec, const Int8Stage& stage, const RowPlace* rows,
                          int count, int stride, int8_t* values) {
  for (const Int8Part& part : stage.parts) {
    int8_t* part_values = values + (part.first_segment - stage.first_segment) * kSegmentDims;
    switch (part.kind) {
      case Int8Part::Kind::windows:
        decode_windows(codec, part, rows, count, stride, part_values);
        break;
      case Int8Part::Kind::magnitudes:
        decode_magnitudes(codec, part, rows, count, stride, part_values);
        break;
    }
  }
}

HWY_ATTR void sign_values(const ScanCodec& codec, int word, int8_t value, const RowPlace* at,
                          int count, size_t stride, int8_t* out) {
#if POLAR_SIMD_VBMI
  const __m512i values = _mm512_set1_epi8(value);
#else
  alignas(64) uint16_t values[kSegmentPairs];
  const auto byte = static_cast<uint8_t>(value);
  std::fill_n(values, kSegmentPairs, static_cast<uint16_t>(byte << 8 | byte));
#endif
  for (int i = 0; i < count; ++i, out += stride)
    store_segment(values, codec.layout().sign_word(at[i], word), out);
}

#if POLAR_SIMD_VBMI

HWY_ATTR void operand_rows(int8_t* values, int count, int padded_dim, size_t stride) {
  const __m512i bias = _mm512_set1_epi8(-128);
  for (int row = 0; row < count; ++row, values += stride) {
    for (int i = 0; i < padded_dim; i += kSegmentDims)
      _mm512_store_si512(values + i, _mm512_xor_si512(_mm512_load_si512(values + i), bias));
  }
}

#else

void operand_rows(int8_t*, int, int, size_t) {}

#endif

HWY_ATTR void dot_rows(const int8_t* query, const int8_t* values, int padded_dim, int count,
                       int32_t* dots) {
  for (int i = 0; i < count; ++i)
    dots[i] = dot_row(query, values + static_cast<size_t>(i) * padded_dim, padded_dim);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(decode_rows);
HWY_EXPORT(sign_values);
HWY_EXPORT(operand_rows);
HWY_EXPORT(dot_rows);

void decode_int8_rows(const ScanCodec& codec, const Int8Stage& stage, const RowPlace* at, int count,
                      size_t stride, int8_t* values) {
  HWY_DYNAMIC_DISPATCH(decode_rows)(codec, stage, at, count, static_cast<int>(stride), values);
}
void decode_int8_rows(const ScanCodec& codec, const Int8Stage& stage, const RowPlace* at, int count,
                      int8_t* values) {
  decode_int8_rows(codec, stage, at, count, static_cast<size_t>(stage.padded_dim()), values);
}
void decode_int8_rows(const ScanTile& tile, const ScanCodec& codec, const Int8Stage& stage,
                      const uint32_t* rows, int count, int8_t* values) {
  RowPlace at[kBlockRows];
  for (int first = 0; first < count; first += kBlockRows) {
    const int some = std::min(kBlockRows, count - first);
    for (int i = 0; i < some; ++i) at[i] = place_of(tile, rows[first + i]);
    decode_int8_rows(codec, stage, at, some,
                     values + static_cast<ptrdiff_t>(first) * stage.padded_dim());
  }
}
void put_sign_values(const ScanCodec& codec, int word, int8_t value, const RowPlace* at, int count,
                     size_t stride, int8_t* out) {
  HWY_DYNAMIC_DISPATCH(sign_values)(codec, word, value, at, count, stride, out);
}
void set_operand_rows(int8_t* values, int count, int padded_dim, size_t stride) {
  HWY_DYNAMIC_DISPATCH(operand_rows)(values, count, padded_dim, stride);
}
void dot_int8_rows(const Int8Stage& stage, const ScanQuery& query, const int8_t* values, int count,
                   int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(dot_rows)
  (query.values.data() + stage.first_position(), values, stage.padded_dim(), count, dots);
}

}  // namespace polarquant
#endif
