// SPDX-License-Identifier: MIT
#include "src/scan/kernels/sketch/link_estimates.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/sketch/link_estimates.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if POLAR_SIMD_SCALAR

void make_tables(const int8_t* values, int signs, LinkTables* tables) {
  for (int first = 0; first < signs; first += 4) {
    uint8_t* entries = (first % 8 == 0 ? tables->low : tables->high) +
                       static_cast<size_t>(first / 8 * LinkTables::kEntries);
    for (int p = 0; p < LinkTables::kEntries; ++p) {
      int sum = LinkTables::kOffset;
      for (int i = 0; i < 4; ++i) sum += (p >> i & 1) != 0 ? -values[first + i] : values[first + i];
      entries[p] = static_cast<uint8_t>(sum);
    }
  }
}

void sum_group(const LinkTables& tables, const uint8_t* group, size_t bytes, uint16_t* sums) {
  for (int i = 0; i < kLinkGroup; ++i) {
    int sum = 0;
    for (size_t t = 0; t < bytes; ++t) {
      const uint8_t signs = group[t * kLinkGroup + static_cast<size_t>(i)];
      sum += tables.low[t * LinkTables::kEntries + (signs & 15)] +
             tables.high[t * LinkTables::kEntries + (signs >> 4)];
    }
    sums[i] = static_cast<uint16_t>(sum);
  }
}

#else

HWY_ATTR void make_tables(const int8_t* values, int signs, LinkTables* tables) {
  const hn::FixedTag<int8_t, LinkTables::kEntries> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  // −1 where the pattern has the bit: xor and subtraction then change a value's sign.
  alignas(16) static constexpr int8_t kBits[4][LinkTables::kEntries] = {
      {0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1},
      {0, 0, -1, -1, 0, 0, -1, -1, 0, 0, -1, -1, 0, 0, -1, -1},
      {0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0, -1, -1, -1, -1},
      {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1}};
  const auto offset = hn::Set(d, static_cast<int8_t>(LinkTables::kOffset));
  for (int first = 0; first < signs; first += 4) {
    uint8_t* entries = (first % 8 == 0 ? tables->low : tables->high) +
                       static_cast<size_t>(first / 8 * LinkTables::kEntries);
    auto sum = offset;
    for (int i = 0; i < 4; ++i) {
      const auto negative = hn::Load(d, kBits[i]);
      sum = hn::Add(sum, hn::Sub(hn::Xor(hn::Set(d, values[first + i]), negative), negative));
    }
    hn::Store(hn::BitCast(du, sum), du, entries);
  }
}

/// Stores what 8 even and 8 odd neighbours add up to, over all blocks of 8, in the neighbours'
/// order.
template <class D, class V>
HWY_ATTR HWY_INLINE void store_sums(D d, V even, V odd, uint16_t* sums) {
  if constexpr (hn::MaxLanes(d) > kLinkGroup / 2) {
    const hn::Half<D> half;
    store_sums(half, hn::Add(hn::LowerHalf(half, even), hn::UpperHalf(half, even)),
               hn::Add(hn::LowerHalf(half, odd), hn::UpperHalf(half, odd)), sums);
  } else {
    const auto low = hn::InterleaveLower(d, even, odd);
    const auto high = hn::InterleaveUpper(d, even, odd);
#if HWY_MAX_BYTES >= 32
    // One store: two would be waited for by the load of all.
    const hn::Twice<D> all;
    hn::Store(hn::Combine(all, high, low), all, sums);
#else
    hn::Store(low, d, sums);
    hn::Store(high, d, sums + kLinkGroup / 2);
#endif
  }
}

/// Sums of a group's entries: 2·kOffset for each byte more than those of the values.
HWY_ATTR HWY_INLINE void sum_group(const LinkTables& tables, const uint8_t* group, size_t bytes,
                                   uint16_t* sums) {
  const hn::CappedTag<uint8_t, 16 * kLinkSignBytes> d;
  const hn::Repartition<uint16_t, decltype(d)> dw;
  const size_t lanes = hn::Lanes(d);
  const auto pattern = hn::Set(d, 15);
  const auto low_half = hn::Set(dw, 255);
  auto even = hn::Zero(dw);  // of neighbours 0, 2, …
  auto odd = hn::Zero(dw);
  for (size_t at = 0; at < bytes * kLinkGroup; at += lanes) {
    const auto signs = hn::Load(d, group + at);
    const auto low = hn::TableLookupBytes(hn::Load(d, tables.low + at), hn::And(signs, pattern));
    const auto high = hn::TableLookupBytes(
        hn::Load(d, tables.high + at),
        hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(dw, signs))), pattern));
    const auto both = hn::BitCast(dw, hn::Add(low, high));
    even = hn::Add(even, hn::And(both, low_half));
    odd = hn::Add(odd, hn::ShiftRight<8>(both));
  }
  store_sums(dw, even, odd, sums);
}

#endif

HWY_ATTR void estimate(const LinkTables& tables, const LinkRecordLayout& layout,
                       const uint8_t* record, const LinkScale& scale, float* similarities) {
  const hn::CappedTag<float, kLinkGroup> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint16_t, decltype(df)> du16;
  const hn::Rebind<uint8_t, decltype(df)> du8;
  const hn::Rebind<int8_t, decltype(df)> di8;
  const auto node = hn::Set(df, scale.node);
  const auto slope = hn::Set(df, scale.slope);
  const auto constant = hn::Set(df, scale.constant);
  const auto bias = hn::Set(df, scale.bias);
  const auto offset = hn::Set(di, 2 * LinkTables::kOffset * static_cast<int>(layout.sign_bytes()));
  const uint8_t* slopes = record + layout.slopes_offset();
  const auto* constants = reinterpret_cast<const int8_t*>(record + layout.constants_offset());
  const auto* biases = reinterpret_cast<const int8_t*>(record + layout.biases_offset());
  const auto slots = static_cast<size_t>(layout.slots());
  for (size_t first = 0; first < slots; first += kLinkGroup) {
    alignas(64) uint16_t sums[kLinkGroup];
    sum_group(tables, record + first / kLinkGroup * layout.group_bytes(), layout.sign_bytes(),
              sums);
    for (size_t i = 0; i < kLinkGroup; i += hn::Lanes(df)) {
      const size_t slot = first + i;
      const auto promoted = [&](const int8_t* bytes) HWY_ATTR {
        return hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(di8, bytes + slot)));
      };
      const auto factors = hn::PromoteTo(di, hn::LoadU(du8, slopes + slot));
      const auto values = hn::Sub(hn::PromoteTo(di, hn::Load(du16, sums + i)), offset);
      const auto sum = hn::ConvertTo(df, hn::Mul(factors, values));
      // Not by MulAdd, which rounds once where a machine can.
      auto estimate = hn::Add(node, hn::Mul(slope, sum));
      estimate = hn::Add(estimate, hn::Mul(constant, promoted(constants)));
      estimate = hn::Add(estimate, hn::Mul(bias, promoted(biases)));
      hn::Store(estimate, df, similarities + slot);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(make_tables);
HWY_EXPORT(estimate);

void LinkTables::make(const ScanQuery& query, int signs) {
  int8_t values[kMostLinkSigns];
  round_link_values(query, signs, values);
  HWY_DYNAMIC_DISPATCH(make_tables)(values, signs, this);
}

void estimate_links(const LinkTables& tables, const LinkRecordLayout& layout, const uint8_t* record,
                    const LinkScale& scale, float* similarities) {
  HWY_DYNAMIC_DISPATCH(estimate)(tables, layout, record, scale, similarities);
}

}  // namespace polarquant
#endif
