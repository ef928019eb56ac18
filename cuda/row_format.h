// SPDX-License-Identifier: MIT
// How the rows of any codec are decoded one by one, as callers hold them: in units of 16 numbers,
// each by one thread. Plain data, as in interface.h; names as in src/codec.
#pragma once

#include <cstdint>

namespace polarquant::cuda {

inline constexpr int kUnitValues = 16;
inline constexpr int kUnitPairs = kUnitValues / 2;
inline constexpr int kUnitParts = 2;
inline constexpr int kMaxTreeLevels = 16;

/// As src/codec/factors.h has them.
enum class FactorForm : int32_t { float16 = 0, wide16 = 1, float32 = 2 };

enum class RowKind : int32_t {
  cells,   // windows over rings of bits, and fields, that number a table's entries
  tree,    // PolarTree
  pairs,   // PolarPair
  groups,  // PolarPair…g128
};

enum class PartKind : int32_t {
  none,
  windows,  // eight x, then eight y
  fields,   // 16 numbers side by side, the table's x
};

/// Where a unit of `cells` is decoded from; a second stage, where there is one, is added.
struct UnitPart {
  PartKind kind;
  int32_t bits;           // of a pair of windows, or of a field
  uint32_t codes_offset;  // of the ring, or of the fields, in a code
  uint32_t first;         // windows: the group8 of pairs in the ring; fields: the first bit
  int32_t ring_bits;
  int32_t signs_offset;  // of the segment's plane of signs, or the unit's; −1: the table has them
  int32_t count;         // windows: coordinates of the segment
  int32_t group8;        // windows: of the segment
  int32_t norm_offset;   // of a 16-bit float, a factor of all; −1: none
  uint32_t table;        // its first entry
  float scale;
};
struct CellUnit {
  UnitPart part[kUnitParts];
};

struct TablePoint {
  float x;
  float y;
};

/// Cells that are windows of one trellis over all coordinates, unscaled, and nothing else.
struct LoneTrellis {
  int32_t step;  // bits of a pair; 0: the cells are something else
  int32_t has_signs;
  uint32_t codes_offset;  // of the ring, in a code
  uint32_t signs_offset;  // of the first segment's signs
};

struct RowDescription {
  RowKind kind;
  int32_t dim;
  int32_t units;
  int32_t group_rows;
  uint64_t group_bytes;
  uint32_t rows_offset;     // of a group's first row in its code
  uint32_t row_bytes;       // from row to row, in a group where there are groups
  uint32_t tail_row_bytes;  // a row of the unfinished group, which is floats
  uint32_t factors_offset;  // in a code
  int32_t factor_bytes;     // 4, 8, or 0: none
  FactorForm factor_form;
  int32_t wide_floats;  // tree, groups, and norms of fields: 16-bit floats are wide16, else float16
  float scale_unit;
  float bias_unit;
  float norm_unit;  // for codes without factors
  int32_t is_l2;
  int32_t entries;
  const TablePoint* table;  // (entries): cells, levels as x, or cosines and sines
  const CellUnit* cells;    // (units)
  LoneTrellis trellis;      // cells
  const float* steps;       // pairs: (8·units), of radii
  int32_t angle_bits;       // pairs, groups
  int32_t radius_bits;
  int32_t tree_levels;
  int32_t tree_blocks;
  int32_t level_bits[kMaxTreeLevels];     // of level 1, …
  uint32_t level_table[kMaxTreeLevels];   // first entries
  uint64_t level_offset[kMaxTreeLevels];  // first bits in a code
};

}  // namespace polarquant::cuda
