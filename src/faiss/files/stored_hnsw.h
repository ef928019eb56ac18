// SPDX-License-Identifier: MIT
// HNSW graphs over an index of ours, in files: a head, the rows' levels, their links, then the
// storage. FAISS writes no graph whose storage it does not know, so this is made of the public
// fields of faiss::HNSW. Where a row's links begin follows from the levels and is not stored.
#pragma once

#include "src/faiss/files/stored_kinds.h"

namespace polarquant {

extern const StoredKind kStoredHnsw;
extern const StoredKind kStoredHnswRecords;

}  // namespace polarquant
