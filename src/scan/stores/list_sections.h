// SPDX-License-Identifier: MIT
// The lists of an inverted file as sections of a file (docs/format.md, "Index files"): LIST, how
// many rows each has; BLKS, their blocks, or ROWS, their codes in the row format; "IDS ".
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/io/section_reader.h"
#include "src/io/section_writer.h"
#include "src/scan/layout/code_lists.h"

namespace polarquant {

/// `lists`, coded by `codec`, must live, and stay as they are, until the writer has written.
void add_list_sections(SectionWriter& writer, const Codec& codec, const CodeLists& lists);

/// The first of these sections: rows of each of `count` lists, which make `rows` together. Throws
/// corrupt_data unless there are as many.
std::vector<int64_t> read_list_sizes(SectionReader& reader, uint64_t count, int64_t rows);
/// The others: the lists, coded by `codec`. From a reader of a mapped file they stay there.
/// ids_are_rows: the result of ids_are_row_numbers for them. Throws corrupt_data for sections that
/// do not fit; mapped lists check ids when they are first used.
std::unique_ptr<CodeLists> read_list_sections(SectionReader& reader, const Codec& codec,
                                              const std::vector<int64_t>& sizes, bool ids_are_rows);

/// Whether ids are 0 to the number of rows − 1, each once.
bool ids_are_row_numbers(const CodeLists& lists);

}  // namespace polarquant
