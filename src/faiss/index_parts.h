// SPDX-License-Identifier: MIT
// Indexes with the indexes inside them: what all parts together have.
#pragma once

#include <faiss/Index.h>

#include <cstddef>
#include <functional>

namespace polarquant {

/// Calls visit for the index and every index inside FAISS's containers.
void for_each_part(const ::faiss::Index& index,
                   const std::function<void(const ::faiss::Index&)>& visit);

/// Memory held. Ours are counted by what they allocate, FAISS's by what they would be written as.
size_t index_memory_bytes(const ::faiss::Index& index);

}  // namespace polarquant
