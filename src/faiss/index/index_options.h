// SPDX-License-Identifier: MIT
// An IndexPolar's options for the layers below.
#pragma once

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/scan/layout/block_layout.h"

namespace polarquant {

inline RowOrder row_order(const IndexPolar::Options& options) {
  return options.single_rows ? RowOrder::single : RowOrder::blocks;
}

/// Points into `options`.
inline CodecOptions codec_options(const IndexPolar::Options& options) {
  CodecOptions made;
  made.seed = options.seed;
  made.centre = options.centre;
  made.learn_centre = options.learn_centre;
  made.norm_unit = options.norm_unit;
  return made;
}

}  // namespace polarquant
