// SPDX-License-Identifier: MIT
// Rows that stay in a mapped file: searched where they lie, and never changed. What a call reads is
// verified before it is read for the first time; a search may read any row, so that the first one
// verifies all.
#pragma once

#include <memory>

#include "src/io/mapped_section.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {

/// As many rows of a span as CodeBlocks has side by side: searches count them in 32 bits.
inline constexpr int64_t kMappedSpanRows = 1024 * kBlockRows;

/// Throws unsupported.
[[noreturn]] void refuse_change_of_mapped();

/// sketches: layout.sketches_bytes(rows) bytes, then kReadAhead; payloads: kReadAhead, then
/// layout.payloads_bytes(rows), then kReadAhead (row_sections.h).
std::unique_ptr<RowStore> map_blocks(const Codec& codec, int64_t rows,
                                     std::shared_ptr<const MappedSection> sketches,
                                     std::shared_ptr<const MappedSection> payloads);
/// codes: layout().bytes(rows) bytes.
std::unique_ptr<RowStore> map_row_codes(int64_t rows, std::shared_ptr<const MappedSection> codes);

}  // namespace polarquant
