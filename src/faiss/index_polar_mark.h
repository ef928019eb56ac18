// SPDX-License-Identifier: MIT
// The state of an IndexPolar before an add, for taking the add back.
#pragma once

#include "polarquant/faiss.h"
#include "src/scan/row_store.h"

namespace polarquant {

struct IndexPolar::Mark {
  bool initial_codec = false;  // not trained, and no rows adopted
  RowStore::Mark codes;
};

}  // namespace polarquant
