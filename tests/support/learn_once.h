// SPDX-License-Identifier: MIT
#pragma once

#include "src/codec/codec.h"

namespace polarquant::test {

/// What an index that nobody trained does with its first rows: a trained codec stays as it is.
inline void learn_once(Codec& codec, int64_t n, const float* x) {
  if (codec.origin() == StateOrigin::initial) codec.train(n, x);
}

}  // namespace polarquant::test
