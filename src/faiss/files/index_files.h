// SPDX-License-Identifier: MIT
// Files of sections (src/io) as indexes use them: by path or by calls.
#pragma once

#include <functional>
#include <string>

#include "polarquant/faiss.h"
#include "src/io/section_reader.h"
#include "src/io/section_writer.h"

namespace polarquant {

/// Reads the whole file before it takes its name, and throws unless it is what should be there.
using CheckFile = std::function<void(SectionReader file)>;

/// Replaces the file as write_index does. What `check` throws is told as what is wrong with the
/// file that was written, and leaves the old one.
void write_file(const SectionWriter& sections, const std::string& path,
                const CheckFile& check = {});
void write_file(const SectionWriter& sections, const WriteBytes& write);

SectionReader open_file(const std::string& path, bool memory_map);

/// Throws corrupt_data unless `read`, of a file that was written of `index`, is as large.
void require_same_rows(const ::faiss::Index& index, const ::faiss::Index& read);

/// What the C library keeps about an index, in front of it: a small section, and the rows' ids as
/// its callers know them, rising, as a data section of their own when the small one is not enough.
inline constexpr SectionKind kCallerHead = section_kind("CAPI");
inline constexpr SectionKind kCallerIds = section_kind("KEYS");

}  // namespace polarquant
