// SPDX-License-Identifier: MIT
// Search parameters written as "name=value,…", and their way into an index.
#pragma once

#include <faiss/Index.h>

#include <string>
#include <vector>

namespace polarquant::bench {

struct IndexParam {
  std::string name;
  double value = 0;
};

/// One --param: the settings of one row. Empty text gives none.
/// Throws bad_argument naming the part that is no "name=number".
std::vector<IndexParam> parse_params(const std::string& text);
/// "nprobe=8,k_factor_rf=4"; "-" for none.
std::string print_params(const std::vector<IndexParam>& params);

/// Sets the parameter on the index or the part of it that knows it, by the names of
/// faiss::ParameterSpace (nprobe, efSearch, k_factor_rf, quantizer_…) and exactness, which is ours.
/// False when no part does.
bool apply_param(::faiss::Index& index, const IndexParam& param);

}  // namespace polarquant::bench
