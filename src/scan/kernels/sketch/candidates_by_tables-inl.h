// SPDX-License-Identifier: MIT
// The first stage for several queries, without population counts of words.
#if defined(POLARQUANT_CANDIDATES_BY_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_CANDIDATES_BY_TABLES_INL_H_
#undef POLARQUANT_CANDIDATES_BY_TABLES_INL_H_
#else
#define POLARQUANT_CANDIDATES_BY_TABLES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "src/scan/kernels/sketch/linear_bound-inl.h"
#include "src/scan/kernels/sketch/sign_tables-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_AVX3_DL
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Of one query, over blocks whose factors are widened and whose signs are laid out.
HWY_ATTR void survivors_by_tables(const SignBlocks& blocks, const BlockFactors* factors,
                                  const SignNibbles* nibbles, const SignTables& tables,
                                  SurvivorSearch* search) {
  using D32 = hn::Repartition<uint32_t, RowBytes>;
  LineOfBlock<D32> line(search->line);
  RowsOfBlocks found(&search->found);
  for (int i = blocks.first; i < blocks.end; ++i, ++factors, ++nibbles) {
    const SignBlock block = blocks.block(i);
    HeldRows* held = found.held();
    look_up_distances(tables, *nibbles, blocks.layout.front_words(), held->distances);
    uint64_t reached = 0;
    for (int row = 0; row < block.room; row += LineOfBlock<D32>::kRows)
      reached |= line.reached(row, *factors, held);
    found.add(block.first, reached & block.allowed);
  }
  found.finish();
}

/// Queries from which on a block's signs are laid out for tables: that takes about as long as
/// tables then save for one query.
constexpr int kMinTableQueries = 2;
/// Blocks that lie so in a first-level cache.
constexpr int kNibbleBlocks = 4;

HWY_ATTR void find_by_tables(const ScanCodec& codec, const ScanTile& tile, int first_block,
                             int end_block, SurvivorSearch* searches, int count) {
  constexpr int kMostTables = 8;
  if (count > kMostTables) {
    find_by_tables(codec, tile, first_block, end_block, searches + kMostTables,
                   count - kMostTables);
    count = kMostTables;
  }
  const BlockLayout& layout = codec.layout();
  const FactorForm form = codec.factor_format().form;
  const bool l2 = codec.metric() == Metric::l2;
  SignTables tables[kMostTables];
  for (int i = 0; i < count; ++i) tables[i].make(*searches[i].query);
  BlockFactors factors[kNibbleBlocks];
  SignNibbles nibbles[kNibbleBlocks];
  for (int first = first_block; first < end_block; first += kNibbleBlocks) {
    const SignBlocks blocks = {layout, tile, first, std::min(end_block, first + kNibbleBlocks),
                               false};
    for (int i = first; i < blocks.end; ++i) {
      const SignBlock block = blocks.block(i);
      factors[i - first].load(block, form, l2);
      nibbles[i - first].load(block.words, layout.front_words(), block.room);
    }
    // Near when the queries are done with these.
    for (int i = blocks.end; i < std::min(end_block, blocks.end + kNibbleBlocks); ++i)
      fetch(tile.front[i], layout.front_bytes(tile.room[i]));
    for (int search = 0; search < count; ++search)
      survivors_by_tables(blocks, factors, nibbles, tables[search], searches + search);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
