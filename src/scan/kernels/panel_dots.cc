// SPDX-License-Identifier: MIT
#include "src/scan/kernels/panel_dots.h"

#include <cstring>

#include "src/scan/kernels/amx_dots.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/panel_dots.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The 32 bits that stand for lanes 4i … (narrow) or 2i … (wide) of a row.
template <typename Level>
HWY_ATTR inline int32_t lanes_of_row(const Level* row, int step) {
  int32_t bits;
  std::memcpy(&bits, row + static_cast<size_t>(step) * (4 / sizeof(Level)), sizeof bits);
  return bits;
}

#if HWY_TARGET == HWY_AVX3_DL

constexpr int kRowsTogether = 8;

HWY_ATTR inline __m512i add_products(__m512i sums, __m512i queries, __m512i row, int8_t /*narrow*/) {
  return dot_bytes(sums, queries, row);
}
HWY_ATTR inline __m512i add_products(__m512i sums, __m512i queries, __m512i row, int16_t /*wide*/) {
  return dot_words(sums, queries, row);
}

/// What a row's sums start from: VNNI takes the queries' bytes as level + 128, so −128·Σ row levels.
HWY_ATTR inline int32_t first_sum(const int8_t* row, int lanes) {
  __m512i sums = _mm512_setzero_si512();
  const __m512i ones = _mm512_set1_epi8(1);
  for (int lane = 0; lane < lanes; lane += 64) sums = dot_bytes(sums, ones, _mm512_load_si512(row + lane));
  return -128 * _mm512_reduce_add_epi32(sums);
}
HWY_ATTR inline int32_t first_sum(const int16_t* /*row*/, int /*lanes*/) { return 0; }

// 8 rows × kPanels panels in registers: each step loads the panels' vectors and broadcasts 8 rows' bytes
// for 8·kPanels dot products. With three panels that is 24 accumulators, 11 loads for 12 cycles of VNNI.
template <int kPanels, typename Level>
HWY_ATTR void dots_of_panels(const Level* levels, int lanes, const Level* panels, int row_panels, const int32_t* firsts,
                    int32_t* dots) {
  constexpr int kLanesPerStep = 4 / sizeof(Level);
  const int steps = lanes / kLanesPerStep;
  const auto panel_levels = static_cast<size_t>(lanes) * kPanelQueries;
  const __m512i bias = _mm512_set1_epi8(sizeof(Level) == 1 ? -128 : 0);
  for (int row = 0; row < kChunkRows; row += kRowsTogether) {
    __m512i sums[kRowsTogether][kPanels];
    for (int r = 0; r < kRowsTogether; ++r) {
      for (int p = 0; p < kPanels; ++p) sums[r][p] = _mm512_set1_epi32(firsts[row + r]);
    }
    const Level* rows = levels + static_cast<size_t>(row) * lanes;
    for (int step = 0; step < steps; ++step) {
      __m512i queries[kPanels];
      for (int p = 0; p < kPanels; ++p) {
        const Level* at = panels + p * panel_levels + static_cast<size_t>(step) * kLanesPerStep * kPanelQueries;
        queries[p] = _mm512_xor_si512(_mm512_load_si512(at), bias);
      }
      for (int r = 0; r < kRowsTogether; ++r) {
        const __m512i row_lanes = _mm512_set1_epi32(lanes_of_row(rows + static_cast<size_t>(r) * lanes, step));
        for (int p = 0; p < kPanels; ++p) sums[r][p] = add_products(sums[r][p], queries[p], row_lanes, Level{});
      }
    }
    for (int r = 0; r < kRowsTogether; ++r) {
      for (int p = 0; p < kPanels; ++p) {
        _mm512_store_si512(dots + (static_cast<size_t>(row + r) * row_panels + p) * kPanelQueries, sums[r][p]);
      }
    }
  }
}

template <typename Level>
HWY_ATTR void all_dots(const Level* levels, int lanes, const Level* panels, int count, int32_t* dots) {
  alignas(64) int32_t firsts[kChunkRows];
  for (int row = 0; row < kChunkRows; ++row) firsts[row] = first_sum(levels + static_cast<size_t>(row) * lanes, lanes);
  const auto panel_levels = static_cast<size_t>(lanes) * kPanelQueries;
  int panel = 0;
  for (; panel + 3 <= count; panel += 3) {
    dots_of_panels<3>(levels, lanes, panels + panel * panel_levels, count, firsts, dots + panel * kPanelQueries);
  }
  for (; panel < count; ++panel) {
    dots_of_panels<1>(levels, lanes, panels + panel * panel_levels, count, firsts, dots + panel * kPanelQueries);
  }
}

bool uses_amx() { return amx_is_usable(); }

HWY_ATTR void narrow_dots(const int8_t* levels, int lanes, const int8_t* panels, int count, int32_t* dots) {
  if (amx_is_usable()) return amx_panel_dots(levels, lanes, panels, count, dots);
  all_dots(levels, lanes, panels, count, dots);
}
HWY_ATTR void wide_dots(const int16_t* levels, int lanes, const int16_t* panels, int count, int32_t* dots) {
  all_dots(levels, lanes, panels, count, dots);
}

#else

// Sums of a 32-bit lane's products, in plain multiplications of 32-bit lanes: for bytes the lanes are
// taken apart by shifts.
template <int kBits, int kPlace, class D32, class V32>
HWY_ATTR V32 signed_part(D32 d32, V32 lanes) {
  constexpr int kAbove = 32 - kBits * (kPlace + 1);
  const auto raised = hn::ShiftLeft<kAbove>(lanes);
  (void)d32;
  return hn::ShiftRight<32 - kBits>(raised);
}

template <typename Level>
HWY_ATTR void all_dots(const Level* levels, int lanes, const Level* panels, int count, int32_t* dots) {
  const hn::CappedTag<int32_t, kPanelQueries> d32;
  const int vector = static_cast<int>(hn::Lanes(d32));
  constexpr int kLanesPerStep = 4 / sizeof(Level);
  const int steps = lanes / kLanesPerStep;
  for (int panel = 0; panel < count; ++panel) {
    const Level* queries = panels + static_cast<size_t>(panel) * lanes * kPanelQueries;
    for (int row = 0; row < kChunkRows; ++row) {
      const Level* row_levels = levels + static_cast<size_t>(row) * lanes;
      int32_t* out = dots + (static_cast<size_t>(row) * count + panel) * kPanelQueries;
      for (int slot = 0; slot < kPanelQueries; slot += vector) {
        auto sums = hn::Zero(d32);
        for (int step = 0; step < steps; ++step) {
          const auto* at = reinterpret_cast<const int32_t*>(queries) + static_cast<size_t>(step) * kPanelQueries + slot;
          const auto q = hn::Load(d32, at);
          const Level* r = row_levels + static_cast<size_t>(step) * kLanesPerStep;
          if constexpr (sizeof(Level) == 1) {
            sums = hn::Add(sums, hn::Mul(signed_part<8, 0>(d32, q), hn::Set(d32, r[0])));
            sums = hn::Add(sums, hn::Mul(signed_part<8, 1>(d32, q), hn::Set(d32, r[1])));
            sums = hn::Add(sums, hn::Mul(signed_part<8, 2>(d32, q), hn::Set(d32, r[2])));
            sums = hn::Add(sums, hn::Mul(signed_part<8, 3>(d32, q), hn::Set(d32, r[3])));
          } else {
            sums = hn::Add(sums, hn::Mul(signed_part<16, 0>(d32, q), hn::Set(d32, r[0])));
            sums = hn::Add(sums, hn::Mul(signed_part<16, 1>(d32, q), hn::Set(d32, r[1])));
          }
        }
        hn::Store(sums, d32, out + slot);
      }
    }
  }
}

bool uses_amx() { return false; }

HWY_ATTR void narrow_dots(const int8_t* levels, int lanes, const int8_t* panels, int count, int32_t* dots) {
  all_dots(levels, lanes, panels, count, dots);
}
HWY_ATTR void wide_dots(const int16_t* levels, int lanes, const int16_t* panels, int count, int32_t* dots) {
  all_dots(levels, lanes, panels, count, dots);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

namespace {

template <typename Level>
void put(const Level* levels, int lanes, int slot, Level* panel) {
  constexpr int kLanesPerStep = 4 / sizeof(Level);
  for (int step = 0; step < lanes / kLanesPerStep; ++step) {
    std::memcpy(panel + (static_cast<size_t>(step) * kPanelQueries + slot) * kLanesPerStep,
                levels + static_cast<size_t>(step) * kLanesPerStep, 4);
  }
}

}  // namespace

void put_in_panel(const ScanCodec& codec, const ScanQuery& query, int slot, int8_t* panel) {
  put(query.levels.data(), codec.lanes(), slot, panel);
}
void put_in_panel(const ScanCodec& codec, const ScanQuery& query, int slot, int16_t* panel) {
  put(query.wide_levels.data(), codec.lanes(), slot, panel);
}

HWY_EXPORT(uses_amx);
HWY_EXPORT(narrow_dots);
HWY_EXPORT(wide_dots);

PanelSession::PanelSession() : tiles_(HWY_DYNAMIC_DISPATCH(uses_amx)()) {
  if (tiles_) amx_begin();
}

PanelSession::~PanelSession() {
  if (tiles_) amx_end();
}

bool panel_dots_use_amx() { return HWY_DYNAMIC_DISPATCH(uses_amx)(); }

void panel_dots(const int8_t* levels, int lanes, const int8_t* panels, int count, int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(narrow_dots)(levels, lanes, panels, count, dots);
}
void panel_dots(const int16_t* levels, int lanes, const int16_t* panels, int count, int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(wide_dots)(levels, lanes, panels, count, dots);
}

}  // namespace polarquant
#endif
