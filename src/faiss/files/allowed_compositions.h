// SPDX-License-Identifier: MIT
// Which indexes files may have inside which: one table. An index that was read is checked against
// it as a whole, once, whoever read its parts.
#pragma once

#include <faiss/Index.h>

namespace polarquant {

/// Throws unsupported, naming the kind and trust_faiss, for a kind or a place that the table does
/// not have; with trusts_faiss they pass. Throws corrupt_data, for every part that the table knows,
/// unless dimensions, metrics, rows and training fit what they stand in.
void require_allowed_composition(const ::faiss::Index& index, bool trusts_faiss);
/// The same for the coarse quantizer of an inverted file of ours, which asks it for its rows before
/// the whole is there.
void require_allowed_quantizer(const ::faiss::Index& index, bool trusts_faiss);

}  // namespace polarquant
