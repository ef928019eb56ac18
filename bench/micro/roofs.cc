// SPDX-License-Identifier: MIT
#include "bench/micro/roofs.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/dense/amx_dots.h"
#include "src/scan/kernels/dense/query_tile_dots.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/micro/roofs.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant::micro {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kChains = 12;

#if POLAR_SIMD_VNNI

/// Products of `rounds` rounds; `sink` keeps them from being left out.
HWY_ATTR int64_t dot_rounds(int64_t rounds, int32_t* sink) {
  const __m512i bytes = _mm512_set1_epi8(3);
  __m512i sums[kChains];
  for (auto& sum : sums) sum = _mm512_setzero_si512();
  for (int64_t round = 0; round < rounds; ++round) {
    for (auto& sum : sums) sum = polarquant::HWY_NAMESPACE::dot_bytes(sum, bytes, bytes);
  }
  for (const auto& sum : sums) *sink += _mm512_reduce_add_epi32(sum);
  return rounds * kChains * 64;
}

#else

HWY_ATTR int64_t dot_rounds(int64_t rounds, int32_t* sink) {
  const hn::ScalableTag<int16_t> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const auto words = hn::Set(d16, static_cast<int16_t>(*sink + 3));
  auto s0 = hn::Zero(d32), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0;
  for (int64_t round = 0; round < rounds; ++round) {
    s0 = hn::ReorderWidenMulAccumulate(d32, words, words, s0, s6);
    s1 = hn::ReorderWidenMulAccumulate(d32, words, words, s1, s6);
    s2 = hn::ReorderWidenMulAccumulate(d32, words, words, s2, s6);
    s3 = hn::ReorderWidenMulAccumulate(d32, words, words, s3, s6);
    s4 = hn::ReorderWidenMulAccumulate(d32, words, words, s4, s6);
    s5 = hn::ReorderWidenMulAccumulate(d32, words, words, s5, s6);
  }
  s0 = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), s6));
  *sink += hn::GetLane(s0);
  return rounds * 6 * static_cast<int64_t>(hn::Lanes(d16));
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant::micro
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant::micro {

HWY_EXPORT(dot_rounds);

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

/// The best rate of five runs of `work`, which returns how much it did.
template <typename Work>
double best_rate(const Work& work) {
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    const double start = seconds();
    const auto done = static_cast<double>(work());
    best = std::max(best, done / (seconds() - start));
  }
  return best;
}

}  // namespace

double dot_products_per_second() {
  int32_t sink = 0;
  const double rate = best_rate([&] { return HWY_DYNAMIC_DISPATCH(dot_rounds)(2000000, &sink); });
  benchmark::DoNotOptimize(sink);
  return rate;
}

double amx_products_per_second() {
  if (!amx_is_usable()) return 0;
  // The smallest case, all in the first-level cache: 64 rows × 32 queries.
  constexpr int kLanes = 128;
  const AlignedVector<int8_t> values(kChunkRows * kLanes, 1);
  const AlignedVector<int8_t> query_tiles(2 * kTileQueries * kLanes, 1);
  AlignedVector<int32_t> dots(kChunkRows * 2 * kTileQueries);
  amx_begin();
  const double rate = best_rate([&] {
    constexpr int64_t kRounds = 20000;
    for (int64_t round = 0; round < kRounds; ++round) {
      amx_query_tile_dots(values.data(), kLanes, query_tiles.data(), 2, dots.data());
    }
    return kRounds * kChunkRows * 2 * kTileQueries * kLanes;
  });
  amx_end();
  return rate;
}

double MemoryReads::seconds_per_byte() const {
  const double start = seconds();
  uint64_t sum = 0;
  for (const uint64_t word : words_) sum ^= word;
  benchmark::DoNotOptimize(sum);
  return (seconds() - start) / static_cast<double>(kBytes);
}

}  // namespace polarquant::micro
#endif
