// SPDX-License-Identifier: MIT
// Which codes the advisor tries.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/codec/spec.h"

namespace polarquant {

/// The codes a user would choose among, by rising bytes: every half bit to 5, and what lies between
/// that and one byte a dimension.
std::span<const char* const> advice_candidates();

/// Codes of few bytes, by rising bytes, for a user who allows so many bytes of a vector and has so
/// many rows to train on: PolarB… of usual sizes and of what is allowed, each without centroids and
/// about as many as the rows are enough for. None where any number of bytes is allowed (0), or more
/// than 64: then other codes do as well.
std::vector<std::string> few_bytes_candidates(int dim, double allowed_bytes, int64_t train_rows);

/// Names in canonical form, each once, the counterpart of each trained one before it. Throws
/// bad_argument for a wrong name.
std::vector<Spec> candidate_specs(const std::vector<std::string>& names);

}  // namespace polarquant
