// SPDX-License-Identifier: MIT
// Files of sections (src/io) as indexes use them: by path or by calls.
#pragma once

#include <string>

#include "polarquant/faiss.h"
#include "src/io/section_reader.h"
#include "src/io/section_writer.h"

namespace polarquant {

/// Replaces the file as write_index does.
void write_file(const SectionWriter& sections, const std::string& path);
void write_file(const SectionWriter& sections, const WriteBytes& write);

SectionReader open_file(const std::string& path, bool memory_map);

/// What the C library keeps about an index, in front of it: a small section, and the rows' ids as
/// its callers know them, rising, as a data section of their own when the small one is not enough.
inline constexpr SectionKind kCallerHead = section_kind("CAPI");
inline constexpr SectionKind kCallerIds = section_kind("KEYS");

}  // namespace polarquant
