// SPDX-License-Identifier: MIT
// Inverted files of polar codes in index files.
#pragma once

#include "src/faiss/files/stored_kinds.h"

namespace polarquant {

extern const StoredKind kStoredIVFPolar;

}  // namespace polarquant
