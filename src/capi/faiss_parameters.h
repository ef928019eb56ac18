// SPDX-License-Identifier: MIT
// A search's options as the parameters that the index's FAISS classes take.
#pragma once

#include <faiss/Index.h>

#include <memory>

#include "polarquant/polarquant.h"
#include "src/faiss/faiss_compat.h"

namespace polarquant::capi {

/// Null where the index is searched without any: FAISS's own classes refuse what they do not know.
/// `selector` may be null, and is borrowed. Throws unsupported for options that the index has no
/// use for (nprobe, ef_search, k_factor).
std::unique_ptr<::faiss::SearchParameters> make_search_parameters(
    const ::faiss::Index& index, const polar_search_options& options,
    ::faiss::IDSelector* selector);

}  // namespace polarquant::capi
