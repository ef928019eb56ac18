// SPDX-License-Identifier: MIT
// Checks of the bytes that FAISS writes, before FAISS's reader sees them: it takes memory for any
// size it reads. The index that it makes of them is then checked as a whole
// (allowed_compositions.h).
//
// The layouts are those of FAISS's index_write.cpp, which keeps a layout for ever and gives a
// changed one another four-character name. It knows the kinds that may contain our codes; others
// are refused, or trusted where the caller says so. Everything throws corrupt_data, for unknown
// kinds unsupported.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polarquant {

void check_faiss_index(const uint8_t* data, size_t bytes);
void check_faiss_transform(const uint8_t* data, size_t bytes);

}  // namespace polarquant
