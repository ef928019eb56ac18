// SPDX-License-Identifier: MIT
// The plan of a search in words, one line for each thing: scan, rows, stages, bytes.
#pragma once

#include <cstdint>
#include <string>

#include "src/codec/codec.h"
#include "src/scan/search/plan.h"

namespace polarquant {

/// For a search of the k ≥ 1 best; `scan`: null for codes without int8 values. The expected reads
/// are about those of real embeddings.
std::string explain_scan(const Codec& codec, const ScanCodec* scan, const ScanMachine& machine,
                         const ScanRequest& request);

/// For a search of inverted lists with `rows` rows together. request.nq: the whole search's.
std::string explain_lists(const Codec& codec, const ScanCodec* scan, const ScanMachine& machine,
                          const ListRequest& request, int64_t k, int64_t rows);

}  // namespace polarquant
