// SPDX-License-Identifier: MIT
// Which codes the advisor tries.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/codec/spec.h"

namespace polarquant {

/// The codes a user would choose among, by rising bytes: every half bit to 5, and what lies between
/// that and one byte a dimension.
std::span<const char* const> advice_candidates();

/// Names in canonical form, each once, the counterpart of each trained one before it. Throws
/// bad_argument for a wrong name.
std::vector<Spec> candidate_specs(const std::vector<std::string>& names);

}  // namespace polarquant
