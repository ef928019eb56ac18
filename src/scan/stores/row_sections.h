// SPDX-License-Identifier: MIT
// The rows of a store as sections of a file (docs/format.md, "Index files"): for rows in blocks
// FRNT, their sketches, and REST, their payloads, with the bytes around them that kernels may read;
// for rows in the row format, and single rows, ROWS.
#pragma once

#include <memory>

#include "src/io/section_reader.h"
#include "src/io/section_writer.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {

/// How blocks in a reader's file hold codes of a byte a coordinate.
inline LevelForm stored_levels(const SectionReader& reader) {
  return reader.version() < kFileVersionOfSplitLevels ? LevelForm::bytes : LevelForm::split;
}
/// So that a file with these blocks is read as it is written.
inline void need_version_of(const BlockLayout& layout, SectionWriter* writer) {
  if (layout.splits_levels()) writer->need_version(kFileVersionOfSplitLevels);
}

/// `codes` must live, and stay as it is, until the writer has written.
void add_row_sections(SectionWriter& writer, const Codec& codec, RowOrder order,
                      const RowStore& codes);

/// The store of `rows` rows coded by `codec`. From a reader of a mapped file it stays there, but
/// for single rows; rows that are not coded yet, and blocks that files hold otherwise now, are
/// copied. Throws corrupt_data when the sections
/// have other sizes.
std::unique_ptr<RowStore> read_row_sections(SectionReader& reader, const Codec& codec,
                                            RowOrder order, int64_t rows);

}  // namespace polarquant
