// SPDX-License-Identifier: MIT
// IndexPolar in files: a head, the codec's state, its rows, and their ids where they have ids of
// their own.
#pragma once

#include "src/faiss/files/stored_kinds.h"

namespace polarquant {

extern const StoredKind kStoredPolar;

/// int64 ids, (n), as a data section: "IDS ".
void add_ids_section(const std::vector<int64_t>& ids, SectionWriter& sections);
std::vector<int64_t> read_ids_section(SectionReader& sections, int64_t n);

}  // namespace polarquant
