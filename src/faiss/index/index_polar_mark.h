// SPDX-License-Identifier: MIT
// The contents of an IndexPolar, made aside or kept, so that a change is whole or none.
#pragma once

#include <memory>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {

/// A codec in the same state, as fixed by what was encoded.
std::unique_ptr<Codec> copy_codec(const Codec& codec);

/// A codec and rows that belong to it.
struct IndexPolar::Contents {
  std::unique_ptr<Codec> codec;
  std::unique_ptr<RowStore> rows;
};

/// The state of an IndexPolar before an add, for taking the add back.
struct IndexPolar::Mark {
  RowStore::Mark codes;
  Contents uncoded;  // a copy, where the add codes rows that are kept as floats; else null
};

}  // namespace polarquant
