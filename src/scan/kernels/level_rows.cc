// SPDX-License-Identifier: MIT
#include "src/scan/kernels/level_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/scan/row_levels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/level_rows.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/dot_bytes-inl.h"
#include "src/scan/kernels/dot_row-inl.h"
#include "src/scan/kernels/window_decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The signs of a part's segment, in lanes order.
HWY_ATTR inline uint64_t segment_signs(const ScanCodec& codec, const LevelPart& part,
                                       const RowPlace& at, int segment) {
  if (part.signs == LevelPart::Signs::none) return 0;
  if (part.signs == LevelPart::Signs::words)
    return codec.layout().sign_word(at, part.first_segment + segment);
  const int start = segment * kSegmentLanes;
  const int count = part.dim - start < kSegmentLanes ? part.dim - start : kSegmentLanes;
  uint64_t signs = 0;
  const uint8_t* plane = codec.layout().row_rest(at) + part.signs_offset + start / 8;
  std::memcpy(&signs, plane, static_cast<size_t>(count + 7) / 8);
  return count == kSegmentLanes ? signs : to_pair_order(signs, count);
}

#if HWY_TARGET == HWY_AVX3_DL

/// [first coordinates | second coordinates] of the low or high half of 64 pairs: one segment.
HWY_ATTR inline __m512i low_segment(__m512i x, __m512i y) {
  return _mm512_inserti64x4(x, _mm512_castsi512_si256(y), 1);
}
HWY_ATTR inline __m512i high_segment(__m512i x, __m512i y) {
  return _mm512_shuffle_i64x2(x, y, 0xEE);
}

HWY_ATTR inline void store_segment(__m512i values, uint64_t signs, int8_t* levels) {
  values = _mm512_mask_sub_epi8(values, signs, _mm512_setzero_si512(), values);
  _mm512_store_si512(levels, values);
}

HWY_ATTR void decode_windows(const ScanCodec& codec, const LevelPart& part, const RowPlace& at,
                             int8_t* levels) {
  const WindowReader reader(part);
  const uint8_t* ring = codec.layout().row_rest(at) + part.codes_offset;
  const uint8_t before = bits_before_ring(ring, pairs_of(part.dim) * part.step_bits);
  const int segments = part.segments();
  for (int segment = 0; segment < segments; segment += 2) {
    const __m512i windows = reader.read(ring, segment / 2, part.reads_half(segment / 2), before);
    const __m512i x = look_up(part.x, windows);
    const __m512i y = look_up(part.y, windows);
    store_segment(low_segment(x, y), segment_signs(codec, part, at, segment),
                  levels + segment * kSegmentLanes);
    if (segment + 1 == segments) break;
    store_segment(high_segment(x, y), segment_signs(codec, part, at, segment + 1),
                  levels + (segment + 1) * kSegmentLanes);
  }
}

HWY_ATTR void decode_magnitudes(const ScanCodec& codec, const LevelPart& part, const RowPlace& at,
                                int8_t* levels) {
  const WindowReader reader(part);
  const uint8_t* fields = codec.layout().row_rest(at) + part.codes_offset;
  for (int segment = 0; segment < part.segments(); ++segment) {
    const __m512i index = reader.read_fields(fields, segment);
    store_segment(look_up(part.x, index), segment_signs(codec, part, at, segment),
                  levels + segment * kSegmentLanes);
  }
}

HWY_ATTR void decode_bytes(const ScanCodec& codec, const LevelPart& part, const RowPlace& at,
                           int8_t* levels) {
  const uint8_t* codes = codec.layout().row_rest(at) + part.codes_offset;
  const int dim = part.dim;
  int j = 0;
  for (; j + kSegmentLanes <= dim; j += kSegmentLanes) {
    const __m512i index = _mm512_loadu_si512(codes + j);
    store_segment(look_up(part.x, index), 0, levels + j);
  }
  for (; j < dim; ++j) levels[lane_of(j, dim)] = part.x[codes[j]];
}

#else

/// Pairs of a segment.
constexpr int kSegmentPairs = kSegmentLanes / 2;

/// Pairs side by side to a segment's lanes, signs applied.
#if HWY_TARGET == HWY_SCALAR
void store_segment(const uint16_t* pairs, uint64_t signs, int8_t* levels) {
  for (int i = 0; i < kSegmentPairs; ++i) {
    levels[i] = static_cast<int8_t>(pairs[i]);
    levels[kSegmentPairs + i] = static_cast<int8_t>(pairs[i] >> 8);
  }
  for (int lane = 0; lane < kSegmentLanes; ++lane)
    if ((signs >> lane & 1) != 0) levels[lane] = static_cast<int8_t>(-levels[lane]);
}
#else
HWY_ATTR void store_segment(const uint16_t* pairs, uint64_t signs, int8_t* levels) {
  const hn::CappedTag<int8_t, kSegmentPairs> d;
  const size_t lanes = hn::Lanes(d);
  const auto* both = reinterpret_cast<const int8_t*>(pairs);
  const auto store = [&](hn::Vec<decltype(d)> values, size_t lane) HWY_ATTR {
    alignas(8) uint8_t mask_bits[16] = {};
    const uint64_t part = signs >> lane;
    std::memcpy(mask_bits, &part, sizeof part);
    const auto negative = hn::LoadMaskBits(d, mask_bits);
    hn::Store(hn::IfThenElse(negative, hn::Neg(values), values), d, levels + lane);
  };
  for (size_t lane = 0; lane < kSegmentPairs; lane += lanes) {
    const auto low = hn::Load(d, both + 2 * lane);
    const auto high = hn::Load(d, both + 2 * lane + lanes);
    store(hn::ConcatEven(d, high, low), lane);
    store(hn::ConcatOdd(d, high, low), kSegmentPairs + lane);
  }
}
#endif

/// Looks pairs first … end−1 up one by one; `end` is rounded up to a multiple of 8.
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

// Some segments at a time, so that what was stored in small pieces has reached the cache when it is
// loaded in large ones.
HWY_ATTR void decode_windows(const ScanCodec& codec, const LevelPart& part, const RowPlace& at,
                             int8_t* levels) {
  constexpr int kSegmentsTogether = 8;
  alignas(64) uint16_t found[kSegmentsTogether * kSegmentPairs] = {};
  const auto find = find_pairs_of_step(part.step_bits, std::make_integer_sequence<int, 8>());
  const uint8_t* ring = codec.layout().row_rest(at) + part.codes_offset;
  const int pairs = pairs_of(part.dim);
  const int segments = part.segments();
  const uint8_t before = bits_before_ring(ring, pairs * part.step_bits);
  for (int first = 0; first < segments; first += kSegmentsTogether) {
    const int end = std::min(segments, first + kSegmentsTogether);
    find(ring, before, part.pairs, first * kSegmentPairs, std::min(pairs, end * kSegmentPairs),
         found);
    for (int segment = first; segment < end; ++segment) {
      store_segment(found + static_cast<ptrdiff_t>(segment - first) * kSegmentPairs,
                    segment_signs(codec, part, at, segment),
                    levels + static_cast<ptrdiff_t>(segment) * kSegmentLanes);
    }
  }
}

// Eight fields of up to 7 bits are within 64 bits, which begin at a byte.
HWY_ATTR void decode_magnitudes(const ScanCodec& codec, const LevelPart& part, const RowPlace& at,
                                int8_t* levels) {
  const uint8_t* fields = codec.layout().row_rest(at) + part.codes_offset;
  const uint64_t mask = (uint64_t{1} << part.step_bits) - 1;
  for (int segment = 0; segment < part.segments(); ++segment, levels += kSegmentLanes) {
    const uint64_t signs = segment_signs(codec, part, at, segment);
    for (int first = 0; first < kSegmentLanes; first += 8, fields += part.step_bits) {
      uint64_t eight;
      std::memcpy(&eight, fields, sizeof eight);
      for (int i = 0; i < 8; ++i, eight >>= part.step_bits) {
        // Without a branch: signs are as random as can be.
        const int negative = -static_cast<int>(signs >> (first + i) & 1);
        levels[first + i] = static_cast<int8_t>((part.x[eight & mask] ^ negative) - negative);
      }
    }
  }
}

HWY_ATTR void decode_bytes(const ScanCodec& codec, const LevelPart& part, const RowPlace& at,
                           int8_t* levels) {
  const uint8_t* codes = codec.layout().row_rest(at) + part.codes_offset;
  for (int j = 0; j < part.dim; ++j) levels[lane_of(j, part.dim)] = part.x[codes[j]];
}

#endif

HWY_ATTR void decode_rows(const ScanCodec& codec, const LevelStage& stage, const RowPlace* rows,
                          int count, int8_t* levels) {
  for (int i = 0; i < count; ++i, levels += stage.lanes()) {
    const RowPlace& at = rows[i];
    for (const LevelPart& part : stage.parts) {
      int8_t* of_part = levels + (part.first_segment - stage.first_segment) * kSegmentLanes;
      switch (part.kind) {
        case LevelPart::Kind::windows:
          decode_windows(codec, part, at, of_part);
          break;
        case LevelPart::Kind::magnitudes:
          decode_magnitudes(codec, part, at, of_part);
          break;
        case LevelPart::Kind::bytes:
          decode_bytes(codec, part, at, of_part);
          break;
      }
    }
  }
}

HWY_ATTR void dot_rows(const int8_t* query, const int8_t* levels, int lanes, int count,
                       int32_t* dots) {
  for (int i = 0; i < count; ++i)
    dots[i] = dot_row(query, levels + static_cast<size_t>(i) * lanes, lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(decode_rows);
HWY_EXPORT(dot_rows);

void decode_level_rows(const ScanCodec& codec, const LevelStage& stage, const RowPlace* at,
                       int count, int8_t* levels) {
  HWY_DYNAMIC_DISPATCH(decode_rows)(codec, stage, at, count, levels);
}
void decode_level_rows(const ScanTile& tile, const ScanCodec& codec, const LevelStage& stage,
                       const uint32_t* rows, int count, int8_t* levels) {
  RowPlace at[kBlockRows];
  for (int first = 0; first < count; first += kBlockRows) {
    const int some = std::min(kBlockRows, count - first);
    for (int i = 0; i < some; ++i) at[i] = place_of(tile, rows[first + i]);
    decode_level_rows(codec, stage, at, some,
                      levels + static_cast<ptrdiff_t>(first) * stage.lanes());
  }
}
void dot_level_rows(const LevelStage& stage, const ScanQuery& query, const int8_t* levels,
                    int count, int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(dot_rows)
  (query.levels.data() + stage.first_lane(), levels, stage.lanes(), count, dots);
}

}  // namespace polarquant
#endif
