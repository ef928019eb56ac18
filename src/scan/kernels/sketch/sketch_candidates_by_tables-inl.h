// SPDX-License-Identifier: MIT
// The first stage for several queries, without population counts of words.
#if defined(POLARQUANT_SKETCH_CANDIDATES_BY_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SKETCH_CANDIDATES_BY_TABLES_INL_H_
#undef POLARQUANT_SKETCH_CANDIDATES_BY_TABLES_INL_H_
#else
#define POLARQUANT_SKETCH_CANDIDATES_BY_TABLES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "src/scan/kernels/sketch/linear_bound-inl.h"
#include "src/scan/kernels/sketch/sign_tables-inl.h"
#include "src/simd/capabilities.h"

#if !POLAR_SIMD_SCALAR && !POLAR_SIMD_VPOPCNT
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// For one query, over blocks whose factors are widened and whose signs are laid out.
HWY_ATTR void candidates_by_tables(const SignBlocks& blocks, const BlockFactors* factors,
                                   const SignLut4Groups* lut4_groups, const SignTables& tables,
                                   CandidateSearch* search) {
  using D32 = hn::Repartition<uint32_t, RowBytes>;
  BlockLinearBound<D32> bound(search->linear_bound);
  RowsOfBlocks found(&search->found);
  for (int i = blocks.first; i < blocks.end; ++i, ++factors, ++lut4_groups) {
    const SignBlock block = blocks.block(i);
    BlockDistances* computed = found.computed();
    look_up_distances(tables, *lut4_groups, blocks.layout.sketch_words(), computed->distances);
    uint64_t reached = 0;
    for (int row = 0; row < block.capacity; row += BlockLinearBound<D32>::kRows)
      reached |= bound.reached(row, *factors, computed);
    found.add(block.first, reached & block.allowed);
  }
  found.finish();
}

/// The least number of queries for which a block's signs are laid out for tables: laying out takes
/// about as long as tables save for one query.
constexpr int kMinTableQueries = 2;
/// As many blocks, laid out, stay in a first-level cache.
constexpr int kLut4Blocks = 4;

HWY_ATTR void find_by_tables(const ScanCodec& codec, const ScanTile& tile, int first_block,
                             int end_block, CandidateSearch* searches, int count) {
  constexpr int kMostTables = 8;
  if (count > kMostTables) {
    find_by_tables(codec, tile, first_block, end_block, searches + kMostTables,
                   count - kMostTables);
    count = kMostTables;
  }
  const BlockLayout& layout = codec.layout();
  SignTables tables[kMostTables];
  for (int i = 0; i < count; ++i) tables[i].make(*searches[i].query);
  BlockFactors factors[kLut4Blocks];
  SignLut4Groups lut4_groups[kLut4Blocks];
  for (int first = first_block; first < end_block; first += kLut4Blocks) {
    const SignBlocks blocks = {layout, tile, first, std::min(end_block, first + kLut4Blocks),
                               false};
    for (int i = first; i < blocks.end; ++i) {
      const SignBlock block = blocks.block(i);
      factors[i - first].load(block, codec.factor_format());
      lut4_groups[i - first].load(block.words, layout.sketch_words(), block.capacity);
    }
    // In the cache when the queries are done with these.
    for (int i = blocks.end; i < std::min(end_block, blocks.end + kLut4Blocks); ++i)
      fetch(tile.sketch[i], layout.sketch_bytes(tile.capacity[i]));
    for (int search = 0; search < count; ++search)
      candidates_by_tables(blocks, factors, lut4_groups, tables[search], searches + search);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
