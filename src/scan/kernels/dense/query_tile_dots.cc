// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/query_tile_dots.h"

#include <cstring>

#include "src/scan/kernels/dense/amx_dots.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/dense/query_tile_dots.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lanes 4·step … 4·step+3 of a row.
HWY_ATTR inline int32_t lanes_of_row(const int8_t* row, int step) {
  int32_t bits;
  std::memcpy(&bits, row + static_cast<size_t>(step) * kLanesPerStep, sizeof bits);
  return bits;
}

#if HWY_TARGET == HWY_AVX3_DL

constexpr int kRowsTogether = 8;

/// What a row's sums start from: VNNI takes the queries' bytes as level + 128, so −128·Σ row
/// levels.
HWY_ATTR inline int32_t first_sum(const int8_t* row, int lanes) {
  __m512i sums = _mm512_setzero_si512();
  const __m512i ones = _mm512_set1_epi8(1);
  for (int lane = 0; lane < lanes; lane += 64)
    sums = dot_bytes(sums, ones, _mm512_load_si512(row + lane));
  return -128 * _mm512_reduce_add_epi32(sums);
}

// 8 rows × kPanels panels in registers: each step loads the panels' vectors and broadcasts 8 rows'
// bytes for 8·kPanels dot products. With three panels that is 24 accumulators, 11 loads for 12
// cycles of VNNI.
template <int kPanels>
HWY_ATTR void dots_of_panels(const int8_t* levels, int lanes, const int8_t* panels,
                             const int32_t* firsts, int32_t* dots) {
  const int steps = lanes / kLanesPerStep;
  const auto panel_levels = static_cast<size_t>(lanes) * kPanelQueries;
  const __m512i bias = _mm512_set1_epi8(-128);
  for (int row = 0; row < kChunkRows; row += kRowsTogether) {
    __m512i sums[kRowsTogether][kPanels];
    for (int r = 0; r < kRowsTogether; ++r) {
      for (int p = 0; p < kPanels; ++p) sums[r][p] = _mm512_set1_epi32(firsts[row + r]);
    }
    const int8_t* rows = levels + static_cast<size_t>(row) * lanes;
    for (int step = 0; step < steps; ++step) {
      __m512i queries[kPanels];
      for (int p = 0; p < kPanels; ++p) {
        const int8_t* at =
            panels + p * panel_levels + static_cast<size_t>(step) * kLanesPerStep * kPanelQueries;
        queries[p] = _mm512_xor_si512(_mm512_load_si512(at), bias);
      }
      for (int r = 0; r < kRowsTogether; ++r) {
        const __m512i row_lanes =
            _mm512_set1_epi32(lanes_of_row(rows + static_cast<size_t>(r) * lanes, step));
        for (int p = 0; p < kPanels; ++p) sums[r][p] = dot_bytes(sums[r][p], queries[p], row_lanes);
      }
    }
    for (int r = 0; r < kRowsTogether; ++r) {
      for (int p = 0; p < kPanels; ++p)
        _mm512_store_si512(dots + (p * kChunkRows + row + r) * kPanelQueries, sums[r][p]);
    }
  }
}

HWY_ATTR void all_dots(const int8_t* levels, int lanes, const int8_t* panels, int count,
                       int32_t* dots) {
  alignas(64) int32_t firsts[kChunkRows];
  for (int row = 0; row < kChunkRows; ++row)
    firsts[row] = first_sum(levels + static_cast<size_t>(row) * lanes, lanes);
  const auto panel_levels = static_cast<size_t>(lanes) * kPanelQueries;
  int panel = 0;
  for (; panel + 3 <= count; panel += 3) {
    dots_of_panels<3>(levels, lanes, panels + panel * panel_levels, firsts,
                      dots + panel * kChunkRows * kPanelQueries);
  }
  for (; panel < count; ++panel) {
    dots_of_panels<1>(levels, lanes, panels + panel * panel_levels, firsts,
                      dots + panel * kChunkRows * kPanelQueries);
  }
}

// Four chains of sums a panel: each is a load of 64 bytes, as they come from memory.
HWY_ATTR void one_row_dots(const int8_t* levels, int lanes, const int8_t* panels, int count,
                           int32_t* dots) {
  constexpr int kChains = 4;
  const int steps = lanes / kLanesPerStep;  // a multiple of 16
  const __m512i bias = _mm512_set1_epi8(-128);
  const int32_t first = first_sum(levels, lanes);
  for (int panel = 0; panel < count; ++panel, dots += kPanelQueries) {
    __m512i sums[kChains] = {_mm512_set1_epi32(first), _mm512_setzero_si512(),
                             _mm512_setzero_si512(), _mm512_setzero_si512()};
    for (int step = 0; step < steps; step += kChains) {
      for (int i = 0; i < kChains; ++i, panels += kLanesPerStep * kPanelQueries) {
        const __m512i queries = _mm512_xor_si512(_mm512_load_si512(panels), bias);
        sums[i] = dot_bytes(sums[i], queries, _mm512_set1_epi32(lanes_of_row(levels, step + i)));
      }
    }
    _mm512_storeu_si512(dots, _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]),
                                               _mm512_add_epi32(sums[2], sums[3])));
  }
}

bool uses_amx() { return amx_is_usable(); }

HWY_ATTR void best_dots(const int8_t* levels, int lanes, const int8_t* panels, int count,
                        int32_t* dots) {
  if (amx_is_usable()) return amx_panel_dots(levels, lanes, panels, count, dots);
  all_dots(levels, lanes, panels, count, dots);
}

#else

#if HWY_TARGET == HWY_SCALAR

/// Of a row with a panel's 16 queries.
void row_dots(const int8_t* row, int lanes, const int8_t* panel, int32_t* dots) {
  for (int query = 0; query < kPanelQueries; ++query) {
    int32_t sum = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      const size_t at =
          (static_cast<size_t>(lane / kLanesPerStep) * kPanelQueries + query) * kLanesPerStep;
      sum += row[lane] * panel[at + lane % kLanesPerStep];
    }
    dots[query] = sum;
  }
}

void all_dots(const int8_t* levels, int lanes, const int8_t* panels, int count, int32_t* dots) {
  for (int panel = 0; panel < count; ++panel, panels += lanes * kPanelQueries) {
    for (int row = 0; row < kChunkRows; ++row, dots += kPanelQueries)
      row_dots(levels + static_cast<size_t>(row) * lanes, lanes, panels, dots);
  }
}

void one_row_dots(const int8_t* levels, int lanes, const int8_t* panels, int count, int32_t* dots) {
  for (int panel = 0; panel < count; ++panel, panels += lanes * kPanelQueries)
    row_dots(levels, lanes, panels, dots + panel * kPanelQueries);
}

#else

constexpr int kRowsTogether = 4;

/// sums + the two products of 16-bit numbers in each 32-bit lane.
template <class V32, class V16>
HWY_ATTR V32 add_pairs(V32 sums, V16 a, V16 b) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || \
    HWY_TARGET == HWY_SSSE3
  const hn::DFromV<V32> d32;
  V32 unused = hn::Zero(d32);
  return hn::ReorderWidenMulAccumulate(d32, a, b, sums, unused);  // pmaddwd
#else
  // Elsewhere that operation pairs other lanes: the halves are multiplied as 32-bit numbers.
  const auto low = [](V16 v) HWY_ATTR {
    return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(hn::DFromV<V32>(), v)));
  };
  const auto high = [](V16 v)
                        HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(hn::DFromV<V32>(), v)); };
  return hn::Add(hn::Add(sums, hn::Mul(low(a), low(b))), hn::Mul(high(a), high(b)));
#endif
}

/// Bytes 0 and 2, or 1 and 3, of each 32-bit lane as 16-bit numbers.
template <class V16>
HWY_ATTR V16 even_bytes(V16 v) {
  return hn::ShiftRight<8>(hn::ShiftLeft<8>(v));
}
template <class V16>
HWY_ATTR V16 odd_bytes(V16 v) {
  return hn::ShiftRight<8>(v);
}

// Four rows share the load of a panel's vector, and its two halves.
HWY_ATTR void all_dots(const int8_t* levels, int lanes, const int8_t* panels, int count,
                       int32_t* dots) {
  const hn::CappedTag<int32_t, kPanelQueries> d32;
  const hn::Repartition<int16_t, decltype(d32)> d16;
  const int vector = static_cast<int>(hn::Lanes(d32));
  const int steps = lanes / kLanesPerStep;
  for (int slot = 0; slot < count * kPanelQueries; slot += vector) {
    const int8_t* panel =
        panels + static_cast<size_t>(slot / kPanelQueries) * lanes * kPanelQueries;
    const int32_t* queries = reinterpret_cast<const int32_t*>(panel) + slot % kPanelQueries;
    for (int row = 0; row < kChunkRows; row += kRowsTogether) {
      const int8_t* r0 = levels + static_cast<size_t>(row) * lanes;
      const int8_t* r1 = r0 + lanes;
      const int8_t* r2 = r1 + lanes;
      const int8_t* r3 = r2 + lanes;
      auto s0 = hn::Zero(d32);
      auto s1 = s0;
      auto s2 = s0;
      auto s3 = s0;
      const auto row_lanes = [&](const int8_t* r, int step) HWY_ATTR {
        return hn::BitCast(d16, hn::Set(d32, lanes_of_row(r, step)));
      };
      for (int step = 0; step < steps; ++step) {
        const auto q =
            hn::BitCast(d16, hn::Load(d32, queries + static_cast<size_t>(step) * kPanelQueries));
        const auto x0 = row_lanes(r0, step);
        const auto x1 = row_lanes(r1, step);
        const auto x2 = row_lanes(r2, step);
        const auto x3 = row_lanes(r3, step);
        const auto even = even_bytes(q);
        const auto odd = odd_bytes(q);
        s0 = add_pairs(add_pairs(s0, even, even_bytes(x0)), odd, odd_bytes(x0));
        s1 = add_pairs(add_pairs(s1, even, even_bytes(x1)), odd, odd_bytes(x1));
        s2 = add_pairs(add_pairs(s2, even, even_bytes(x2)), odd, odd_bytes(x2));
        s3 = add_pairs(add_pairs(s3, even, even_bytes(x3)), odd, odd_bytes(x3));
      }
      int32_t* out =
          dots + (slot / kPanelQueries * kChunkRows + row) * kPanelQueries + slot % kPanelQueries;
      hn::Store(s0, d32, out);
      hn::Store(s1, d32, out + kPanelQueries);
      hn::Store(s2, d32, out + 2 * kPanelQueries);
      hn::Store(s3, d32, out + 3 * kPanelQueries);
    }
  }
}

HWY_ATTR void one_row_dots(const int8_t* levels, int lanes, const int8_t* panels, int count,
                           int32_t* dots) {
  const hn::CappedTag<int32_t, kPanelQueries> d32;
  const hn::Repartition<int16_t, decltype(d32)> d16;
  const int vector = static_cast<int>(hn::Lanes(d32));
  const int steps = lanes / kLanesPerStep;
  for (int slot = 0; slot < count * kPanelQueries; slot += vector) {
    const int8_t* panel =
        panels + static_cast<size_t>(slot / kPanelQueries) * lanes * kPanelQueries;
    const int32_t* queries = reinterpret_cast<const int32_t*>(panel) + slot % kPanelQueries;
    auto even_sums = hn::Zero(d32);
    auto odd_sums = even_sums;
    for (int step = 0; step < steps; ++step) {
      const auto q =
          hn::BitCast(d16, hn::Load(d32, queries + static_cast<size_t>(step) * kPanelQueries));
      const auto x = hn::BitCast(d16, hn::Set(d32, lanes_of_row(levels, step)));
      even_sums = add_pairs(even_sums, even_bytes(q), even_bytes(x));
      odd_sums = add_pairs(odd_sums, odd_bytes(q), odd_bytes(x));
    }
    hn::StoreU(hn::Add(even_sums, odd_sums), d32, dots + slot);
  }
}

#endif

bool uses_amx() { return false; }

HWY_ATTR void best_dots(const int8_t* levels, int lanes, const int8_t* panels, int count,
                        int32_t* dots) {
  all_dots(levels, lanes, panels, count, dots);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

void put_in_panel(const int8_t* levels, int lanes, int slot, int8_t* panel) {
  for (int step = 0; step < lanes / kLanesPerStep; ++step) {
    std::memcpy(panel + (static_cast<size_t>(step) * kPanelQueries + slot) * kLanesPerStep,
                levels + static_cast<size_t>(step) * kLanesPerStep, kLanesPerStep);
  }
}

HWY_EXPORT(uses_amx);
HWY_EXPORT(best_dots);
HWY_EXPORT(one_row_dots);

PanelSession::PanelSession() : tiles_(HWY_DYNAMIC_DISPATCH(uses_amx)()) {
  if (tiles_) amx_begin();
}

PanelSession::~PanelSession() {
  if (tiles_) amx_end();
}

bool panel_dots_use_amx() { return HWY_DYNAMIC_DISPATCH(uses_amx)(); }

void panel_dots(const int8_t* levels, int lanes, const int8_t* panels, int count, int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(best_dots)(levels, lanes, panels, count, dots);
}

void row_panel_dots(const int8_t* levels, int lanes, const int8_t* panels, int count,
                    int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(one_row_dots)(levels, lanes, panels, count, dots);
}

}  // namespace polarquant
#endif
