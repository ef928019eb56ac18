// SPDX-License-Identifier: MIT
// Files of sections (src/io) as indexes use them: by path or by calls.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "polarquant/faiss.h"
#include "src/io/section_reader.h"
#include "src/io/section_writer.h"

namespace polarquant {

/// Reads the whole file before it takes its name, and throws unless it is right.
using CheckFile = std::function<void(SectionReader file)>;

/// Replaces the file as write_index does. An error of `check` is told as a fault of the written
/// file, and leaves the old one.
void write_file(const SectionWriter& sections, const std::string& path, const CheckFile& check = {},
                const SectionWriter::Watch& watch = {});
void write_file(const SectionWriter& sections, const WriteBytes& write);

SectionReader open_file(const std::string& path, bool memory_map);

/// Throws corrupt_data unless `read`, of a file that was written of `index`, is as large.
void require_same_rows(const ::faiss::Index& index, const ::faiss::Index& read);

/// polarquant::clone_index; of the C library's, whose inverted files of ours keep ids
/// (IndexReading).
enum class IdsOfClone { as_index, kept };
std::unique_ptr<::faiss::Index> clone_index(const ::faiss::Index& index, IdsOfClone ids);

/// What the C library keeps about an index, before it in the file: a small section, and, when that
/// is not enough, the rows' ids as its callers know them, rising, as a data section of their own.
inline constexpr SectionKind kCallerHead = section_kind("CAPI");
inline constexpr SectionKind kCallerIds = section_kind("KEYS");

}  // namespace polarquant
