// SPDX-License-Identifier: MIT
// Parameters as callers write them, and which of them an index takes.
#pragma once

#include <faiss/Index.h>

#include <string>
#include <string_view>
#include <vector>

namespace polarquant {

struct NamedValue {
  std::string name;
  double value = 0;
};

/// "nprobe=16,exactness=inf"; empty text gives none. Throws bad_argument naming the part that is no
/// name and number from 0 on.
std::vector<NamedValue> parse_parameters(std::string_view text);

/// Whether set_index_parameter knows the name for this index.
bool takes_parameter(const ::faiss::Index& index, std::string_view name);

}  // namespace polarquant
