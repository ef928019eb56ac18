// SPDX-License-Identifier: MIT
// The plan of a search in words, a line for each thing: scan, rows, stages, bytes.
#pragma once

#include <cstdint>
#include <string>

#include "src/codec/codec.h"
#include "src/scan/search/plan.h"

namespace polarquant {

/// Of a search for the k ≥ 1 best; `scan`: null for codes without int8 values. What is expected to
/// be read is what real embeddings had read, about.
std::string explain_scan(const Codec& codec, const ScanCodec* scan, const ScanMachine& machine,
                         const ScanRequest& request);

/// Of a search of inverted lists of `rows` rows together. request.nq: of the whole search.
std::string explain_lists(const Codec& codec, const ScanCodec* scan, const ScanMachine& machine,
                          const ListRequest& request, int64_t k, int64_t rows);

}  // namespace polarquant
