// SPDX-License-Identifier: MIT
// Codes of FAISS's scalar and product quantizers, to the same bytes. FAISS's loops take memory for
// each row, and end the process where there is none.
#pragma once

#include <faiss/IndexIVF.h>
#include <faiss/IndexPQ.h>

#include <cstdint>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

/// index.encode_vectors: codes (n, code_size) of rows x, (n, d), of the lists (n).
void encode_for_lists(const ::faiss::IndexIVF& index, idx_t n, const float* x, const idx_t* lists,
                      uint8_t* codes);

/// index.sa_encode.
void encode_flat(const ::faiss::IndexPQ& index, idx_t n, const float* x, uint8_t* codes);

}  // namespace polarquant
