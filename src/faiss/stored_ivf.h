// SPDX-License-Identifier: MIT
// FAISS's inverted files whose coarse quantizer is an index of ours, in files: a head, the coarse
// quantizer, then FAISS's bytes of the inverted file with an empty stand-in in the quantizer's
// place.
#pragma once

#include "src/faiss/stored_kinds.h"

namespace polarquant {

extern const StoredKind kStoredIVFOverPolar;

}  // namespace polarquant
