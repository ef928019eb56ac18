// SPDX-License-Identifier: MIT
// FAISS's containers in files, where an index of ours is inside: a head section, what the container
// itself has, then the indexes inside. Read back they are our subclasses (containers.h).
#pragma once

#include "src/faiss/files/stored_kinds.h"

namespace polarquant {

extern const StoredKind kStoredPreTransform;
extern const StoredKind kStoredIDMap;
/// Its base class is IDMap, so that it comes before it.
extern const StoredKind kStoredIDMap2;
extern const StoredKind kStoredRefine;

}  // namespace polarquant
