// SPDX-License-Identifier: MIT
// FAISS's inverted files whose coarse quantizer is an index of ours, in files: a head, the coarse
// quantizer, then FAISS's bytes of the inverted file with an empty stand-in in the quantizer's
// place.
#pragma once

#include <cstdint>

#include "src/faiss/files/stored_kinds.h"

namespace polarquant {

extern const StoredKind kStoredIVFOverPolar;

/// The coarse quantizer of an inverted file with this head, read from its sections. Throws
/// corrupt_data unless its rows are the lists (fewer, where the file is not trained).
StoredIndex read_coarse_quantizer(IndexReading& reading, const StoredHead& head, uint64_t nlist);

}  // namespace polarquant
