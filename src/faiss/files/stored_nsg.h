// SPDX-License-Identifier: MIT
// NSG graphs over an IndexPolar, in files: a head, the rows' links, then the storage. FAISS writes
// no graph whose storage it does not know, so this is made of its public fields.
#pragma once

#include "src/faiss/files/stored_kinds.h"

namespace polarquant {

extern const StoredKind kStoredNsg;

}  // namespace polarquant
