// SPDX-License-Identifier: MIT
// The index handle in files: what the C ABI keeps about an index, in front of the index's own
// sections (src/faiss/files/index_files.h).
#pragma once

#include <memory>

#include "src/capi/index_handle.h"
#include "src/io/section_reader.h"
#include "src/io/section_writer.h"

namespace polarquant::capi {

/// The handle must stay as it is until the sections are written.
SectionWriter sections_of(const polar_index& index);

/// All of a file. Throws corrupt_data, unsupported.
std::unique_ptr<polar_index> read_handle(SectionReader sections, bool trust_faiss);

}  // namespace polarquant::capi
