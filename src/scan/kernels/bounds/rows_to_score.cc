// SPDX-License-Identifier: MIT
#include "src/scan/kernels/bounds/rows_to_score.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "src/scan/kernels/bounds/load_terms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/bounds/rows_to_score.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/bounds/window_sums-inl.h"
#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// 16-bit products of all windows with one pair of the query's values: none is above 2·127².
class WindowProducts {
 public:
  explicit HWY_ATTR WindowProducts(const Int8Part& part) {
    for (size_t window = 0; window < WindowTables::kEntries; ++window) {
      x_[window] = part.x[window];
      y_[window] = part.y[window];
    }
  }

  /// The least and the largest product.
  HWY_ATTR void range(QueryPair query, int32_t* least, int32_t* most) const {
    auto low = hn::Set(d_, std::numeric_limits<int16_t>::max());
    auto high = hn::Set(d_, std::numeric_limits<int16_t>::min());
    for (size_t window = 0; window < WindowTables::kEntries; window += hn::Lanes(d_)) {
      const auto product = products(window, query);
      low = hn::Min(low, product);
      high = hn::Max(high, product);
    }
    alignas(64) int16_t lows[32];
    alignas(64) int16_t highs[32];
    hn::Store(low, d_, lows);
    hn::Store(high, d_, highs);
    *least = *std::min_element(lows, lows + hn::Lanes(d_));
    *most = *std::max_element(highs, highs + hn::Lanes(d_));
  }
  HWY_ATTR void put_entries(QueryPair query, int32_t least, uint32_t reciprocal,
                            uint8_t* entries) const {
    const hn::RebindToUnsigned<decltype(d_)> du;
    const hn::Rebind<uint8_t, decltype(d_)> d8;
    const auto lowest = hn::Set(d_, static_cast<int16_t>(least));
    const auto divisor = hn::Set(du, static_cast<uint16_t>(reciprocal));
    const auto one = hn::Set(d_, int16_t{1});
    for (size_t window = 0; window < WindowTables::kEntries; window += hn::Lanes(d_)) {
      const auto above = hn::BitCast(du, hn::Sub(products(window, query), lowest));
      const auto quotient = hn::BitCast(d_, hn::MulHigh(above, divisor));
      hn::StoreU(hn::DemoteTo(d8, hn::Add(quotient, one)), d8, entries + window);
    }
  }

 private:
  HWY_ATTR HWY_INLINE hn::Vec<hn::CappedTag<int16_t, 32>> products(size_t window,
                                                                   QueryPair query) const {
    return hn::Add(hn::Mul(hn::Load(d_, x_ + window), hn::Set(d_, int16_t{query.x})),
                   hn::Mul(hn::Load(d_, y_ + window), hn::Set(d_, int16_t{query.y})));
  }

  static constexpr hn::CappedTag<int16_t, 32> d_{};
  alignas(64) int16_t x_[WindowTables::kEntries];
  alignas(64) int16_t y_[WindowTables::kEntries];
};

HWY_ATTR void make_tables(const ScanCodec& codec, const ScanQuery& query, WindowTables* tables) {
  const std::vector<Int8Part>& parts = codec.stages()[0].parts;
  const auto windows = static_cast<size_t>(count_windows(codec));
  std::vector<int32_t> least_of_windows(windows);
  int32_t* least = least_of_windows.data();
  int32_t most_range = 0;
  tables->least = 0;
  for (const Int8Part& part : parts) {
    const WindowProducts products(part);
    for (int pair = 0; pair < pairs_of(part.dim); ++pair, ++least) {
      int32_t most;
      products.range(query_pair(part, query, pair), least, &most);
      most_range = std::max(most_range, most - *least);
      tables->least += *least;
    }
  }
  tables->unit = window_unit(most_range);
  const uint32_t reciprocal = window_reciprocal(tables->unit);
  tables->entries.resize(windows * WindowTables::kEntries);
  uint8_t* entries = tables->entries.data();
  least = least_of_windows.data();
  for (const Int8Part& part : parts) {
    const WindowProducts products(part);
    for (int pair = 0; pair < pairs_of(part.dim); ++pair, entries += WindowTables::kEntries)
      products.put_entries(query_pair(part, query, pair), *least++, reciprocal, entries);
  }
}

/// The parts of the scores of a block's rows.
struct BlockScores {
  alignas(64) float scale[kBlockRows];
  alignas(64) float constant[kBlockRows];
  alignas(64) float bias[kBlockRows];
  alignas(64) int32_t centroid[kBlockRows];
  alignas(64) float offset[kBlockRows];
  alignas(64) float error[kBlockRows];
};

using FloatTag = hn::CappedTag<float, 16>;

/// Which of the values of rows row … are not less than `least`, at their places in 64 bits: sums
/// that are no numbers leave no row out, and nothing is less than −infinity.
HWY_ATTR HWY_INLINE uint64_t reached_bits(hn::Vec<FloatTag> values, hn::Vec<FloatTag> least,
                                          size_t row) {
  alignas(8) uint8_t mask_bits[8] = {};
  hn::StoreMaskBits(FloatTag(), hn::Not(hn::Lt(values, least)), mask_bits);
  uint64_t bits;
  std::memcpy(&bits, mask_bits, sizeof bits);
  return bits << row;
}

/// Sets the parts of the scores of a block's rows, by the operations of similarity and
/// with_error_bound in their order. Bit r of what is returned: row r may reach the threshold by
/// centroid_bound.
HWY_ATTR uint64_t load_scores(const RowBounds& bounds, const ScanTile& tile, int block,
                              float threshold, BlockScores* out) {
  const ScanQuery& query = *bounds.query;
  const int capacity = tile.capacity[block];
  load_block_terms(*bounds.codec, tile.sketch[block], capacity, out->scale, out->constant,
                   out->bias);
  const bool has_centroids = bounds.codec->has_centroids();
  if (has_centroids) load_centroids(*bounds.codec, tile.sketch[block], capacity, out->centroid);
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto least = hn::Set(d, threshold);
  const auto radius = hn::Set(d, query.centroid_radius);
  const bool has_error = query.error_bound.per_scale != 0;
  const auto per_scale = hn::Set(d, query.error_bound.per_scale);
  const auto per_term = hn::Set(d, query.error_bound.per_term);
  auto base = hn::Set(d, query.score.base);
  auto weight = hn::Set(d, query.score.weight);
  uint64_t reached = bounds.by_centroids ? 0 : ~uint64_t{0};
  for (size_t row = 0; row < kBlockRows; row += hn::Lanes(d)) {
    if (has_centroids) {
      base = hn::GatherIndex(d, query.centroid_bases.data(), hn::Load(di, out->centroid + row));
      weight = query.weighs_by_base ? base : hn::Set(d, 1.0F);
    }
    const auto term = hn::Mul(weight, hn::Load(d, out->constant + row));
    const auto offset = hn::Add(base, term);
    const auto scale = hn::Load(d, out->scale + row);
    hn::Store(offset, d, out->offset + row);
    if (has_error) {
      const auto terms = hn::Add(hn::Abs(base), hn::Abs(term));
      const auto error = hn::Add(hn::Mul(per_scale, scale), hn::Mul(per_term, terms));
      hn::Store(error, d, out->error + row);
    }
    if (bounds.by_centroids)
      reached |= reached_bits(hn::Add(offset, hn::Mul(scale, radius)), least, row);
  }
  return reached & tile.allowed[block];
}

HWY_ATTR void add_waiting(const BlockScores& scores, uint64_t rows, uint32_t first_row,
                          bool has_error, WaitingRows* waiting) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> du;
  for (size_t row = 0; row < kBlockRows; row += hn::Lanes(d)) {
    const uint64_t bits = rows >> row;
    alignas(8) uint8_t mask_bits[8];
    std::memcpy(mask_bits, &bits, sizeof bits);
    const auto here = hn::LoadMaskBits(d, mask_bits);
    const auto numbers = hn::Iota(du, static_cast<uint32_t>(first_row + row));
    const auto to = static_cast<size_t>(waiting->count);
    // Compressed in a register: the form that compresses into memory is slow on some machines.
    const auto add = [&](const float* from, float* list) HWY_ATTR {
      hn::StoreU(hn::Compress(hn::Load(d, from + row), here), d, list + to);
    };
    hn::StoreU(hn::Compress(numbers, hn::RebindMask(du, here)), du, waiting->rows + to);
    add(scores.offset, waiting->offsets);
    add(scores.scale, waiting->scales);
    if (has_error) add(scores.error, waiting->errors);
    waiting->count += static_cast<int>(hn::CountTrue(d, here));
  }
}

/// Bit i: row i of the first kBlockRows from `first` on may reach the threshold. No rounding makes
/// less of a larger dot product.
HWY_ATTR uint64_t waiting_that_reach(const ScanQuery& query, const WaitingRows& waiting,
                                     const int32_t* dots, size_t first, float threshold) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto least = hn::Set(d, threshold);
  const auto dot_scale = hn::Set(d, query.score.dot_scale[0]);
  const bool has_error = query.error_bound.per_scale != 0;
  uint64_t reached = 0;
  for (size_t row = 0; row < kBlockRows; row += hn::Lanes(d)) {
    const size_t at = first + row;
    const auto dot = hn::ConvertTo(d, hn::Load(di, dots + at));
    const auto scaled = hn::Mul(hn::Load(d, waiting.scales + at), hn::Mul(dot_scale, dot));
    auto score = hn::Add(hn::Load(d, waiting.offsets + at), scaled);
    if (has_error) score = hn::Add(score, hn::Load(d, waiting.errors + at));
    reached |= reached_bits(score, least, row);
  }
  return reached;
}

/// Takes the first kWindowRows that wait, or all.
HWY_ATTR int bound_waiting(const RowBounds& bounds, const ScanTile& tile, float threshold,
                           WaitingRows* waiting, uint32_t* rows) {
  const int count = std::min(waiting->count, kWindowRows);
  const size_t payload_bytes = bounds.codec->layout().payload_bytes();
  alignas(64) const uint8_t* payloads[kWindowRows];
  const auto payload_of = [&](uint32_t row) {
    return tile.payload[row / kBlockRows] + row % kBlockRows * payload_bytes;
  };
  std::fill_n(payloads, kWindowRows, payload_of(waiting->rows[0]));
  for (int i = 0; i < count; ++i) payloads[i] = payload_of(waiting->rows[i]);
  alignas(64) int32_t dots[kWindowRows];
  most_window_dots(*bounds.codec, *bounds.tables, payloads, dots);
  int kept = 0;
  for (int first = 0; first < count; first += kBlockRows) {
    uint64_t reached =
        waiting_that_reach(*bounds.query, *waiting, dots, static_cast<size_t>(first), threshold);
    if (count - first < kBlockRows) reached &= ~uint64_t{0} >> (kBlockRows - (count - first));
    for (; reached != 0; reached &= reached - 1)
      rows[kept++] = waiting->rows[first + std::countr_zero(reached)];
  }
  waiting->count -= count;
  std::copy_n(waiting->rows + count, waiting->count, waiting->rows);
  std::copy_n(waiting->offsets + count, waiting->count, waiting->offsets);
  std::copy_n(waiting->scales + count, waiting->count, waiting->scales);
  if (bounds.query->error_bound.per_scale != 0)
    std::copy_n(waiting->errors + count, waiting->count, waiting->errors);
  return kept;
}

/// Fetched so far ahead, blocks have come when they are read: 6 to 8 % of a search.
constexpr int kBlocksAhead = 4;

HWY_INLINE void fetch_block(const BlockLayout& layout, const ScanTile& tile, int block) {
  if (block >= tile.blocks) return;
  fetch(tile.sketch[block], layout.sketch_bytes(tile.capacity[block]));
  fetch_payloads(layout, tile, block);
}

HWY_ATTR int find_rows(const RowBounds& bounds, const ScanTile& tile, int block, float threshold,
                       WaitingRows* waiting, uint32_t* rows) {
  const auto first_row = static_cast<uint32_t>(block * kBlockRows);
  uint64_t reached = tile.allowed[block];
  int kept = 0;
  if (bounds.by_centroids || bounds.tables != nullptr) {
    fetch_block(bounds.codec->layout(), tile, block + kBlocksAhead);
    BlockScores scores;
    reached = load_scores(bounds, tile, block, threshold, &scores);
    if (bounds.tables != nullptr) {
      add_waiting(scores, reached, first_row, bounds.query->error_bound.per_scale != 0, waiting);
      if (waiting->count >= kWindowRows)
        kept = bound_waiting(bounds, tile, threshold, waiting, rows);
      return kept;
    }
  }
  for (; reached != 0; reached &= reached - 1)
    rows[kept++] = first_row + static_cast<uint32_t>(std::countr_zero(reached));
  return kept;
}

HWY_ATTR int find_waiting_rows(const RowBounds& bounds, const ScanTile& tile, float threshold,
                               WaitingRows* waiting, uint32_t* rows) {
  int kept = 0;
  while (waiting->count > 0) kept += bound_waiting(bounds, tile, threshold, waiting, rows + kept);
  return kept;
}

bool looks_up_bytes() { return POLAR_SIMD_VBMI; }

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(make_tables);
HWY_EXPORT(find_rows);
HWY_EXPORT(find_waiting_rows);
HWY_EXPORT(looks_up_bytes);

bool machine_looks_up_bytes() { return HWY_DYNAMIC_DISPATCH(looks_up_bytes)(); }

bool fits_window_tables(const ScanCodec& codec) {
  return has_windows_only(codec) && codec.layout().payload_bytes() <= kMostWindowBytes;
}

void make_window_tables(const ScanCodec& codec, const ScanQuery& query, WindowTables* tables) {
  HWY_DYNAMIC_DISPATCH(make_tables)(codec, query, tables);
}

int find_rows_to_score(const RowBounds& bounds, const ScanTile& tile, int block, float threshold,
                       WaitingRows* waiting, uint32_t* rows) {
  return HWY_DYNAMIC_DISPATCH(find_rows)(bounds, tile, block, threshold, waiting, rows);
}

int find_waiting_rows_to_score(const RowBounds& bounds, const ScanTile& tile, float threshold,
                               WaitingRows* waiting, uint32_t* rows) {
  return HWY_DYNAMIC_DISPATCH(find_waiting_rows)(bounds, tile, threshold, waiting, rows);
}

}  // namespace polarquant
#endif
