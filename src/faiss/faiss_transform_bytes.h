// SPDX-License-Identifier: MIT
// Checks of FAISS's vector transforms inside other bytes (faiss_bytes.h).
#pragma once

#include "src/faiss/faiss_byte_reader.h"

namespace polarquant {

struct TransformFacts {
  int d_in = 0;
  int d_out = 0;
  bool is_trained = false;
};

TransformFacts check_transform(FaissByteReader& in);

}  // namespace polarquant
