// SPDX-License-Identifier: MIT
#include "src/faiss/index_parts.h"

#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>

#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/stored_faiss.h"
#include "src/faiss/stored_kinds.h"

namespace polarquant {
namespace {

/// The indexes directly inside; null ones too.
std::vector<const ::faiss::Index*> parts_of(const ::faiss::Index& index) {
  if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index))
    return {chain->index};
  if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) return {map->index};
  if (const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index))
    return {both->base_index, both->refine_index};
  if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) return {ivf->quantizer};
  if (const auto* graph = dynamic_cast<const ::faiss::IndexHNSW*>(&index)) return {graph->storage};
  if (const auto* graph = dynamic_cast<const ::faiss::IndexNSG*>(&index)) return {graph->storage};
  return {};
}

/// What a container of ours has beside the indexes inside it.
size_t own_bytes(const ::faiss::Index& index) {
  // A node of the way back: its link, key and value, and the allocator's own word.
  constexpr size_t kNodeBytes = 2 * sizeof(void*) + 2 * sizeof(int64_t);
  size_t bytes = 0;
  if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    for (const ::faiss::VectorTransform* transform : chain->chain) {
      bytes += faiss_bytes_of(*transform);
    }
  } else if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) {
    bytes = map->id_map.capacity() * sizeof(int64_t);
    if (const auto* both_ways = dynamic_cast<const ::faiss::IndexIDMap2*>(&index))
      bytes += both_ways->rev_map.size() * kNodeBytes;
  } else if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) {
    if (const auto* polar = dynamic_cast<const IndexIVFPolar*>(ivf)) {
      bytes = polar->memory_bytes();
    } else if (ivf->invlists != nullptr) {
      bytes = ivf->invlists->compute_ntotal() * (ivf->code_size + sizeof(int64_t));
    }
    bytes += ivf->direct_map.array.size() * sizeof(int64_t) +
             ivf->direct_map.hashtable.size() * kNodeBytes;
  } else if (const auto* graph = dynamic_cast<const ::faiss::IndexHNSW*>(&index)) {
    bytes = graph->hnsw.neighbors.size() * sizeof(int32_t) +
            graph->hnsw.levels.size() * sizeof(int32_t) +
            graph->hnsw.offsets.size() * sizeof(size_t);
  }
  return bytes;
}

}  // namespace

void for_each_part(const ::faiss::Index& index,
                   const std::function<void(const ::faiss::Index&)>& visit) {
  visit(index);
  for (const ::faiss::Index* part : parts_of(index)) {
    if (part != nullptr) for_each_part(*part, visit);
  }
}

size_t index_memory_bytes(const ::faiss::Index& index) {
  if (const auto* polar = dynamic_cast<const IndexPolar*>(&index)) return polar->memory_bytes();
  if (!needs_our_sections(index)) return faiss_bytes_of(index);
  size_t bytes = own_bytes(index);
  for (const ::faiss::Index* part : parts_of(index)) {
    if (part != nullptr) bytes += index_memory_bytes(*part);
  }
  return bytes;
}

}  // namespace polarquant
