// SPDX-License-Identifier: MIT
// Checks of FAISS's vector transforms inside other bytes (faiss_bytes.h).
#pragma once

#include "src/faiss/foreign/faiss_byte_reader.h"

namespace polarquant {

void check_transform(FaissByteReader& in);

}  // namespace polarquant
