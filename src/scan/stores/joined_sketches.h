// SPDX-License-Identifier: MIT
// Writes the sketches of rows that lie in several runs of blocks as those of one run: every block
// but the last one full. Rows after a block that was not full are put into its free places, which
// puts their words and factors elsewhere; the others are written as they lie.
#pragma once

#include "src/core/aligned_buffer.h"
#include "src/io/byte_sink.h"
#include "src/scan/layout/block_layout.h"

namespace polarquant {

class JoinedSketches {
 public:
  /// Both must live until finish().
  JoinedSketches(ByteSink& sink, const BlockLayout& layout);

  /// The rows after those added; their payloads lie apart from their sketches (BlockRows).
  void add(const BlockRows& rows);
  /// Writes the last block.
  void finish();

 private:
  void add_row(const RowPlace& from);
  void write_block();

  ByteSink& sink_;
  const BlockLayout& layout_;
  AlignedVector<uint8_t> block_;  // the one that is not full yet, of the capacity of full ones
  int rows_ = 0;                  // in it
};

}  // namespace polarquant
