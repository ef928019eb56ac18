// SPDX-License-Identifier: MIT
// FAISS's own parts in files: sections of the bytes that FAISS writes, which are checked before
// FAISS's reader sees them (faiss_bytes.h) unless the caller trusts the file.
#pragma once

#include <faiss/VectorTransform.h>

#include <functional>
#include <memory>

#include "src/faiss/files/stored_kinds.h"

namespace polarquant {

/// Every index without one of ours in it.
extern const StoredKind kStoredFaiss;

void add_transform_section(const ::faiss::VectorTransform& transform, SectionWriter& sections);
std::unique_ptr<::faiss::VectorTransform> read_transform_section(IndexReading& reading);

/// A section "FAIS" of the bytes of what `index()` returns, which is asked anew for each pass over
/// them.
using ProduceIndex = std::function<std::unique_ptr<::faiss::Index>()>;
void add_faiss_section(ProduceIndex index, SectionWriter& sections);

/// The index of a section "FAIS". has_coarse: whether an inverted file's coarse quantizer is there,
/// and not a stand-in without rows, as only files that are trusted have one.
StoredIndex read_faiss_section(IndexReading& reading, bool has_coarse);

/// Bytes that FAISS would write.
size_t faiss_bytes_of(const ::faiss::Index& index);
size_t faiss_bytes_of(const ::faiss::VectorTransform& transform);

}  // namespace polarquant
