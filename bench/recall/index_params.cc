// SPDX-License-Identifier: MIT
#include "bench/recall/index_params.h"

#include <fmt/format.h>

#include "polarquant/faiss.h"
#include "src/core/status.h"

namespace polarquant::bench {

std::vector<NamedValue> parse_params(const std::string& text) {
  try {
    return parse_parameters(text);
  } catch (const Error& error) {
    fail(error.code(), "--param: {}", error.what());
  }
}

std::string print_params(const std::vector<NamedValue>& params) {
  std::string out;
  for (const NamedValue& param : params) {
    if (!out.empty()) out += ',';
    out += fmt::format("{}={}", param.name, param.value);
  }
  return out.empty() ? "-" : out;
}

bool apply_param(::faiss::Index& index, const NamedValue& param) {
  if (!takes_parameter(index, param.name)) return false;
  set_index_parameter(index, param.name, param.value);
  return true;
}

}  // namespace polarquant::bench
