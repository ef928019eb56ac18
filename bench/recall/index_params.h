// SPDX-License-Identifier: MIT
// Search parameters written as "name=value,…", of several indexes that do not all take the same.
#pragma once

#include <faiss/Index.h>

#include <string>
#include <vector>

#include "src/faiss/index/index_parameters.h"

namespace polarquant::bench {

/// One --param: the settings of one row, by the names of polarquant::set_index_parameters. Empty
/// text gives none. Throws bad_argument naming the part that is no "name=number".
std::vector<NamedValue> parse_params(const std::string& text);
/// "nprobe=8,k_factor_rf=4"; "-" for none.
std::string print_params(const std::vector<NamedValue>& params);

/// Sets the parameter on the index or the part of it that knows it. False when no part does; throws
/// FaissException for values that it does not take.
bool apply_param(::faiss::Index& index, const NamedValue& param);

}  // namespace polarquant::bench
