// SPDX-License-Identifier: MIT
// Indexes with the indexes inside them, and what holds for all parts together.
#pragma once

#include <faiss/Index.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace faiss {
struct IndexRefine;
}  // namespace faiss

namespace polarquant {

/// The part that an index plays inside another one.
enum class PartKind {
  inner,      // after transforms or in an id map
  base,       // of a refinement: finds candidates
  refining,   // of a refinement: scores them again
  quantizer,  // of an inverted file: finds lists
  storage,    // of a graph: its rows
  shard,      // one of several that FAISS searches together
};
template <typename Index>
struct IndexPart {
  PartKind kind;
  Index* index;
};

/// The indexes directly inside FAISS's containers; none of them is null.
std::vector<IndexPart<const ::faiss::Index>> parts_of(const ::faiss::Index& index);
std::vector<IndexPart<::faiss::Index>> parts_of(::faiss::Index& index);

/// Whether a search of the whole is one of this part.
inline bool is_searched(PartKind kind) {
  return kind == PartKind::inner || kind == PartKind::base || kind == PartKind::shard;
}

/// The index that finds rows: inside transforms, id maps and refinements.
const ::faiss::Index& finding_index(const ::faiss::Index& index) noexcept;
/// The outermost refinement on the way there, or null.
const ::faiss::IndexRefine* refinement_of(const ::faiss::Index& index);

/// Calls visit for the index and every index inside FAISS's containers.
void for_each_part(const ::faiss::Index& index,
                   const std::function<void(const ::faiss::Index&)>& visit);

/// Bytes of memory. Ours are counted by what they allocate, FAISS's by their written form.
size_t index_memory_bytes(const ::faiss::Index& index);

}  // namespace polarquant
