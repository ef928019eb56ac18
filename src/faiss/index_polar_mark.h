// SPDX-License-Identifier: MIT
// The state of an IndexPolar before an add, for taking the add back.
#pragma once

#include "polarquant/faiss.h"
#include "src/codec/code_buffer.h"

namespace polarquant {

struct IndexPolar::Mark {
  bool initial_codec = false;  // not trained, and no rows adopted
  CodeBuffer::Mark codes;
};

}  // namespace polarquant
