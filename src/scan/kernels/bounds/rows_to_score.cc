// SPDX-License-Identifier: MIT
#include "src/scan/kernels/bounds/rows_to_score.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "src/scan/kernels/bounds/load_terms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/bounds/rows_to_score.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/bounds/block_factors-inl.h"
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
    for (size_t window = 0; window < WindowTables::kWindows; ++window) {
      x_[window] = part.x[window];
      y_[window] = part.y[window];
    }
  }

  /// The least and the largest product.
  HWY_ATTR void range(QueryPair query, int32_t* least, int32_t* most) const {
    auto low = hn::Set(d_, std::numeric_limits<int16_t>::max());
    auto high = hn::Set(d_, std::numeric_limits<int16_t>::min());
    for (size_t window = 0; window < WindowTables::kWindows; window += hn::Lanes(d_)) {
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
  /// All windows; `steps` on a 64-byte boundary.
  HWY_ATTR void put_steps(QueryPair query, int32_t least, const WindowUnit& unit,
                          uint16_t* steps) const {
    const hn::RebindToUnsigned<decltype(d_)> du;
    const auto lowest = hn::Set(d_, static_cast<int16_t>(least));
    const auto reciprocal = hn::Set(du, unit.reciprocal);
    const auto one = hn::Set(du, uint16_t{1});
    for (size_t window = 0; window < WindowTables::kWindows; window += hn::Lanes(d_)) {
      const auto above = hn::BitCast(du, hn::Sub(products(window, query), lowest));
      hn::Store(hn::Add(hn::MulHigh(above, reciprocal), one), du, steps + window);
    }
  }

 private:
  HWY_ATTR HWY_INLINE hn::Vec<hn::CappedTag<int16_t, 32>> products(size_t window,
                                                                   QueryPair query) const {
    return hn::Add(hn::Mul(hn::Load(d_, x_ + window), hn::Set(d_, int16_t{query.x})),
                   hn::Mul(hn::Load(d_, y_ + window), hn::Set(d_, int16_t{query.y})));
  }

  static constexpr hn::CappedTag<int16_t, 32> d_{};
  alignas(64) int16_t x_[WindowTables::kWindows];
  alignas(64) int16_t y_[WindowTables::kWindows];
};

/// The steps of a table's entries, its windows one after the other.
class EntrySteps {
 public:
  /// The table is `size` entries.
  HWY_ATTR EntrySteps(const uint16_t* steps, size_t size) : size_(size) {
    std::copy_n(steps, WindowTables::kWindows, sums_);
  }
  /// A window that begins `shift` bits after the first, and ends after all so far.
  HWY_ATTR void add(const uint16_t* steps, int shift) {
    switch (shift) {
      case 1:
        return add_runs<2>(steps);
      case 2:
        return add_runs<4>(steps);
      case 3:
        return add_runs<8>(steps);
      case 4:
        return add_runs<16>(steps);
      default:
        return add_runs<32>(steps);
    }
  }
  HWY_ATTR void put_entries(uint8_t* entries) {
    const hn::CappedTag<uint16_t, 32> d;
    const hn::Rebind<uint8_t, decltype(d)> d8;
    const hn::RebindToSigned<decltype(d)> di;
    // The last group of a part has fewer windows: bits after these do not count.
    for (; known_ < size_; known_ *= 2) std::copy_n(sums_, known_, sums_ + known_);
    const auto most = hn::Set(d, uint16_t{255});
    for (size_t i = 0; i < size_; i += hn::Lanes(d)) {
      const auto rounded = hn::ShiftRight<8>(hn::Add(hn::Load(d, sums_ + i), most));
      hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di, rounded)), d8, entries + i);
    }
  }

 private:
  static constexpr size_t kMostEntries = size_t{256} << (WindowTables::kMostGroup - 1);

  /// So many entries after one another have one window. From the last on, in place: an entry that
  /// is read is this one, or one before it.
  template <size_t kRun>
  HWY_ATTR void add_runs(const uint16_t* steps) {
    const hn::CappedTag<uint16_t, kRun> d;
    for (size_t window = WindowTables::kWindows; window-- > 0;) {
      const auto step = hn::Set(d, steps[window]);
      for (size_t i = 0; i < kRun; i += hn::Lanes(d)) {
        const size_t entry = window * kRun + i;
        const auto so_far = hn::Load(d, sums_ + (entry & (known_ - 1)));
        hn::Store(hn::Add(so_far, step), d, sums_ + entry);
      }
    }
    known_ = WindowTables::kWindows * kRun;
  }

  size_t size_;
  size_t known_ = WindowTables::kWindows;
  alignas(64) uint16_t sums_[kMostEntries];
};

HWY_ATTR void make_tables(const ScanCodec& codec, const ScanQuery& query, WindowTables* tables) {
  tables->grouped = !POLAR_SIMD_VBMI;
  const std::vector<Int8Part>& parts = codec.stages()[0].parts;
  std::vector<int32_t> least_of_windows;
  int32_t most_range = 0;
  for (const Int8Part& part : parts) {
    const WindowProducts products(part);
    const int windows = tables->windows_of_table(part.step_bits);
    int32_t range = 0;
    for (int pair = 0; pair < pairs_of(part.dim); ++pair) {
      int32_t least;
      int32_t most;
      products.range(query_pair(part, query, pair), &least, &most);
      range = (pair % windows == 0 ? 0 : range) + most - least;
      most_range = std::max(most_range, range);
      least_of_windows.push_back(least);
    }
  }
  tables->least = std::accumulate(least_of_windows.begin(), least_of_windows.end(), 0);
  const WindowUnit unit = WindowUnit::for_range(most_range, tables->most_entry());
  tables->unit = unit.unit;
  tables->entries.resize(count_entries(*tables, codec));
  uint8_t* entries = tables->entries.data();
  const int32_t* least = least_of_windows.data();
  for (const Int8Part& part : parts) {
    const WindowProducts products(part);
    const int pairs = pairs_of(part.dim);
    const int windows = tables->windows_of_table(part.step_bits);
    const size_t size = tables->table_size(part.step_bits);
    for (int pair = 0; pair < pairs; pair += windows, entries += size) {
      alignas(64) uint16_t steps[WindowTables::kWindows];
      products.put_steps(query_pair(part, query, pair), *least++, unit, steps);
      EntrySteps sums(steps, size);
      for (int i = 1; i < windows && pair + i < pairs; ++i) {
        products.put_steps(query_pair(part, query, pair + i), *least++, unit, steps);
        sums.add(steps, i * part.step_bits);
      }
      sums.put_entries(entries);
    }
  }
}

using FloatTag = hn::CappedTag<float, 16>;
using FloatVector = hn::Vec<FloatTag>;
using FloatMask = hn::Mask<FloatTag>;

/// Which values are not less than `least`: sums that are no numbers leave no row out, and nothing
/// is less than −infinity.
HWY_ATTR HWY_INLINE FloatMask reached_mask(FloatVector values, FloatVector least) {
  return hn::Not(hn::Lt(values, least));
}
/// Bits row … of a word, as many as a register has rows.
HWY_ATTR HWY_INLINE FloatMask mask_of_bits(uint64_t bits, size_t row) {
  bits >>= row;
  alignas(8) uint8_t mask_bits[8];
  std::memcpy(mask_bits, &bits, sizeof bits);
  return hn::LoadMaskBits(FloatTag(), mask_bits);
}
/// The mask's bits at the places of rows row … in a word.
HWY_ATTR HWY_INLINE uint64_t bits_of_mask(FloatMask mask, size_t row) {
  alignas(8) uint8_t mask_bits[8] = {};
  hn::StoreMaskBits(FloatTag(), mask, mask_bits);
  uint64_t bits;
  std::memcpy(&bits, mask_bits, sizeof bits);
  return bits << row;
}

/// What makes the scores of as many rows as a register has: offset + scale·dot product.
struct ScoreParts {
  FloatVector offset;
  FloatVector scale;
};

/// Those of a block's rows, by the operations of similarity and with_error_bound in their order.
template <bool kCentroids>
class BlockScores {
 public:
  HWY_ATTR HWY_INLINE BlockScores(const RowBounds& bounds, const ScanTile& tile, int block)
      : codec_(*bounds.codec),
        query_(*bounds.query),
        stored_(tile.sketch[block] + codec_.layout().factors_offset(tile.capacity[block])) {
    if constexpr (!kCentroids)
      load_block_terms(codec_, tile.sketch[block], tile.capacity[block], scale_, constant_, bias_);
  }

  /// Of rows row …; about centroids whole registers are read, up to 64 bytes from the first on.
  HWY_ATTR HWY_INLINE ScoreParts parts(size_t row) {
    const FloatTag d;
    if constexpr (kCentroids) {
      const CentroidTerms<FloatTag> terms = load_centroid_terms(d, codec_, stored_, row);
      base_ = hn::GatherIndex(d, query_.centroid_bases.data(), terms.centroid);
      term_ = query_.weighs_by_base ? hn::Mul(base_, terms.constant) : terms.constant;
      return {hn::Add(base_, term_), terms.scale};
    } else {
      base_ = hn::Set(d, query_.score.base);
      term_ = hn::Mul(hn::Set(d, query_.score.weight), hn::Load(d, constant_ + row));
      return {hn::Add(base_, term_), hn::Load(d, scale_ + row)};
    }
  }
  /// The query's error_bound of the rows whose parts were asked for last.
  HWY_ATTR HWY_INLINE FloatVector error(const ScoreParts& parts) const {
    const FloatTag d;
    const auto per_scale = hn::Set(d, query_.error_bound.per_scale);
    const auto per_term = hn::Set(d, query_.error_bound.per_term);
    const auto terms = hn::Add(hn::Abs(base_), hn::Abs(term_));
    return hn::Add(hn::Mul(per_scale, parts.scale), hn::Mul(per_term, terms));
  }

 private:
  const ScanCodec& codec_;
  const ScanQuery& query_;
  const uint8_t* stored_;
  FloatVector base_;
  FloatVector term_;
  // Of codes without centroids.
  alignas(64) float scale_[kCentroids ? 1 : kBlockRows];
  alignas(64) float constant_[kCentroids ? 1 : kBlockRows];
  alignas(64) float bias_[kCentroids ? 1 : kBlockRows];
};

#if POLAR_SIMD_AVX512
/// 0, 1, …: Highway's Iota stores them one by one and loads them all, and a load waits for stores
/// that are parts of it.
alignas(64) constexpr uint32_t kNumbers[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};
#endif

/// Adds a block's rows to those that wait for the bound by windows: a register's at a time, or
/// where that takes long one by one, once the block's parts are known.
class WaitingOfBlock {
 public:
  HWY_ATTR WaitingOfBlock(int block, bool has_error, WaitingRows* waiting)
      : first_row_(static_cast<uint32_t>(block * kBlockRows)),
        has_error_(has_error),
        waiting_(waiting) {}

#if POLAR_SIMD_AVX512
  /// Those of rows row … that `here` has.
  template <class Scores>
  HWY_ATTR HWY_INLINE void add(size_t row, FloatMask here, const ScoreParts& parts,
                               const Scores& scores) {
    const FloatTag d;
    const hn::RebindToUnsigned<FloatTag> du;
    const auto to = static_cast<size_t>(waiting_->count);
    // Compressed in a register: the form that compresses into memory is slow on some machines.
    const auto add = [&](FloatVector values, float* list)
                         HWY_ATTR { hn::StoreU(hn::Compress(values, here), d, list + to); };
    const auto numbers =
        hn::Add(hn::Set(du, first_row_ + static_cast<uint32_t>(row)), hn::Load(du, kNumbers));
    hn::StoreU(hn::Compress(numbers, hn::RebindMask(du, here)), du, waiting_->rows + to);
    add(parts.offset, waiting_->offsets);
    add(parts.scale, waiting_->scales);
    if (has_error_) add(scores.error(parts), waiting_->errors);
    waiting_->count += static_cast<int>(hn::CountTrue(d, here));
  }
  HWY_ATTR HWY_INLINE void finish() {}
#else
  // Highway 1.0.3 compresses here by a table that it copies to the stack each time.
  template <class Scores>
  HWY_ATTR HWY_INLINE void add(size_t row, FloatMask here, const ScoreParts& parts,
                               const Scores& scores) {
    const FloatTag d;
    reached_ |= bits_of_mask(here, row);
    hn::Store(parts.offset, d, offsets_ + row);
    hn::Store(parts.scale, d, scales_ + row);
    if (has_error_) hn::Store(scores.error(parts), d, errors_ + row);
  }
  HWY_ATTR HWY_INLINE void finish() {
    int to = waiting_->count;
    for (uint64_t left = reached_; left != 0; left &= left - 1, ++to) {
      const int row = std::countr_zero(left);
      waiting_->rows[to] = first_row_ + static_cast<uint32_t>(row);
      waiting_->offsets[to] = offsets_[row];
      waiting_->scales[to] = scales_[row];
      if (has_error_) waiting_->errors[to] = errors_[row];
    }
    waiting_->count = to;
  }
#endif

 private:
  uint32_t first_row_;
  bool has_error_;
  WaitingRows* waiting_;
#if !POLAR_SIMD_AVX512
  uint64_t reached_ = 0;
  alignas(64) float offsets_[kBlockRows];
  alignas(64) float scales_[kBlockRows];
  alignas(64) float errors_[kBlockRows];
#endif
};

/// Adds the rows of a block that may reach the threshold by centroid_bound to those that wait for
/// the bound by windows. Where `waiting` is null they are returned instead: bit r is row r.
template <bool kCentroids>
HWY_ATTR uint64_t rows_of_block(const RowBounds& bounds, const ScanTile& tile, int block,
                                float threshold, WaitingRows* waiting) {
  const FloatTag d;
  const ScanQuery& query = *bounds.query;
  const uint64_t allowed = tile.allowed[block];
  const auto radius = hn::Set(d, query.centroid_radius);
  const auto least = hn::Set(d, threshold);
  const uint64_t lanes = (uint64_t{1} << hn::Lanes(d)) - 1;
  BlockScores<kCentroids> scores(bounds, tile, block);
  WaitingOfBlock list(block, query.error_bound.per_scale != 0, waiting);
  uint64_t reached = 0;
  for (size_t row = 0; row < kBlockRows; row += hn::Lanes(d)) {
    // Rows beyond the capacity, where no factors are, are not allowed.
    if ((allowed >> row & lanes) == 0) continue;
    const ScoreParts parts = scores.parts(row);
    FloatMask here = mask_of_bits(allowed, row);
    if (bounds.by_centroids)
      here =
          hn::And(here, reached_mask(hn::Add(parts.offset, hn::Mul(parts.scale, radius)), least));
    if (waiting == nullptr) {
      reached |= bits_of_mask(here, row);
    } else {
      list.add(row, here, parts, scores);
    }
  }
  if (waiting != nullptr) list.finish();
  return reached;
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
    reached |= bits_of_mask(reached_mask(score, least), row);
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
  most_window_dots(*bounds.codec, *bounds.tables, payloads, count, dots);
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
    if (bounds.tables == nullptr) waiting = nullptr;
    reached = bounds.codec->has_centroids()
                  ? rows_of_block<true>(bounds, tile, block, threshold, waiting)
                  : rows_of_block<false>(bounds, tile, block, threshold, waiting);
    if (waiting != nullptr)
      return waiting->count < kWindowRows ? 0
                                          : bound_waiting(bounds, tile, threshold, waiting, rows);
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
