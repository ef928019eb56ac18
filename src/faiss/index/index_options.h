// SPDX-License-Identifier: MIT
// An IndexPolar's options for the layers below.
#pragma once

#include <memory>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/scan/layout/block_layout.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {

inline RowOrder row_order(const IndexPolar::Options& options) {
  return options.single_rows ? RowOrder::single : RowOrder::blocks;
}

/// An empty store for rows of the codec.
inline std::unique_ptr<RowStore> make_coded_store(const Codec& codec,
                                                  const IndexPolar::Options& options) {
  std::unique_ptr<RowStore> store = RowStore::make(codec, row_order(options));
  if (options.record_links > 0) store->lay_out_records(codec, options.record_links);
  return store;
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
