// SPDX-License-Identifier: MIT
#include "src/faiss/index/index_parts.h"

#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexShards.h>

#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/files/stored_kinds.h"
#include "src/faiss/foreign/stored_faiss.h"
#include "src/faiss/graphs/graph_over_polar.h"

namespace polarquant {
namespace {

/// The bytes of a container of ours beside the indexes inside it.
size_t own_bytes(const ::faiss::Index& index) {
  // A node of the map from ids: its link, key and value, and the allocator's own word.
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
    if (const auto* ours = dynamic_cast<const HNSWOverPolar*>(graph))
      bytes += ours->incoming_links.memory_bytes();
  } else if (const auto* nsg = dynamic_cast<const ::faiss::IndexNSG*>(&index)) {
    if (const auto* links = nsg->nsg.final_graph.get()) {
      bytes = static_cast<size_t>(links->N) * static_cast<size_t>(links->K) * sizeof(int32_t);
    }
  }
  return bytes;
}

}  // namespace

std::vector<IndexPart<const ::faiss::Index>> parts_of(const ::faiss::Index& index) {
  std::vector<IndexPart<const ::faiss::Index>> parts;
  const auto add = [&parts](PartKind kind, const ::faiss::Index* part) {
    if (part != nullptr) parts.push_back({kind, part});
  };
  if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    add(PartKind::inner, chain->index);
  } else if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) {
    add(PartKind::inner, map->index);
  } else if (const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index)) {
    add(PartKind::base, both->base_index);
    add(PartKind::refining, both->refine_index);
  } else if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) {
    add(PartKind::quantizer, ivf->quantizer);
  } else if (const auto* hnsw = dynamic_cast<const ::faiss::IndexHNSW*>(&index)) {
    add(PartKind::storage, hnsw->storage);
  } else if (const auto* nsg = dynamic_cast<const ::faiss::IndexNSG*>(&index)) {
    add(PartKind::storage, nsg->storage);
  } else if (const auto* shards =
                 dynamic_cast<const ::faiss::ThreadedIndex<::faiss::Index>*>(&index)) {
    for (int i = 0; i < shards->count(); ++i) add(PartKind::shard, shards->at(i));
  }
  return parts;
}

std::vector<IndexPart<::faiss::Index>> parts_of(::faiss::Index& index) {
  std::vector<IndexPart<::faiss::Index>> parts;
  for (const auto& part : parts_of(std::as_const(index))) {
    // Inside an index that may be changed.
    parts.push_back({part.kind, const_cast<::faiss::Index*>(part.index)});
  }
  return parts;
}

const ::faiss::Index& finding_index(const ::faiss::Index& index) noexcept {
  const ::faiss::Index* inner = nullptr;
  if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    inner = chain->index;
  } else if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) {
    inner = map->index;
  } else if (const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index)) {
    inner = both->base_index;
  }
  return inner != nullptr ? finding_index(*inner) : index;
}

const ::faiss::IndexRefine* refinement_of(const ::faiss::Index& index) {
  if (const auto* refinement = dynamic_cast<const ::faiss::IndexRefine*>(&index)) return refinement;
  for (const auto& part : parts_of(index)) {
    if (part.kind == PartKind::inner) return refinement_of(*part.index);
  }
  return nullptr;
}

void for_each_part(const ::faiss::Index& index,
                   const std::function<void(const ::faiss::Index&)>& visit) {
  visit(index);
  for (const auto& part : parts_of(index)) for_each_part(*part.index, visit);
}

size_t index_memory_bytes(const ::faiss::Index& index) {
  if (const auto* polar = dynamic_cast<const IndexPolar*>(&index)) return polar->memory_bytes();
  if (!needs_our_sections(index)) return faiss_bytes_of(index);
  size_t bytes = own_bytes(index);
  for (const auto& part : parts_of(index)) bytes += index_memory_bytes(*part.index);
  return bytes;
}

}  // namespace polarquant
