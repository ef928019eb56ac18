// SPDX-License-Identifier: MIT
// How many rows FAISS's parts need to be trained: its k-means would say so in words of its own, or
// after the first parts were trained.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <string>

namespace polarquant::capi {

/// Throws bad_argument when n rows are too few to train an index that has not been trained.
void require_training_rows(const ::faiss::Index& index, const std::string& description, int64_t n);

}  // namespace polarquant::capi
