// SPDX-License-Identifier: MIT
#include "bench/recall/index_params.h"

#include <faiss/AutoTune.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/impl/FaissException.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "polarquant/faiss.h"
#include "src/core/status.h"

namespace polarquant::bench {
namespace {

IndexParam parse_one(std::string_view part) {
  const size_t equals = part.find('=');
  const bool has_both = equals != std::string_view::npos && equals > 0 && equals + 1 < part.size();
  require(has_both, StatusCode::bad_argument, "--param part '{}' (allowed: name=number)", part);
  const std::string text(part.substr(equals + 1));
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  require(*end == '\0' && value >= 0 && (std::isfinite(value) || text == "inf"),
          StatusCode::bad_argument, "--param {}: value '{}' (allowed: a number from 0 on, or inf)",
          part.substr(0, equals), text);
  return {std::string(part.substr(0, equals)), value};
}

}  // namespace

std::vector<IndexParam> parse_params(const std::string& text) {
  std::vector<IndexParam> out;
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    out.push_back(parse_one(std::string_view(text).substr(at, comma - at)));
    at = comma + 1;
  }
  return out;
}

std::string print_params(const std::vector<IndexParam>& params) {
  std::string out;
  for (const IndexParam& param : params) {
    if (!out.empty()) out += ',';
    out += fmt::format("{}={}", param.name, param.value);
  }
  return out.empty() ? "-" : out;
}

namespace {

/// That of our index in this one, or nullptr.
float* find_exactness(::faiss::Index* index) {
  if (auto* outer = dynamic_cast<::faiss::IndexPreTransform*>(index))
    return find_exactness(outer->index);
  if (auto* outer = dynamic_cast<::faiss::IndexIDMap*>(index)) return find_exactness(outer->index);
  if (auto* outer = dynamic_cast<::faiss::IndexRefine*>(index))
    return find_exactness(outer->base_index);
  if (auto* ivf = dynamic_cast<IndexIVFPolar*>(index)) return &ivf->exactness;
  auto* flat = dynamic_cast<IndexPolar*>(index);
  return flat != nullptr ? &flat->exactness : nullptr;
}

}  // namespace

bool apply_param(::faiss::Index& index, const IndexParam& param) {
  if (param.name == "exactness") {
    float* exactness = find_exactness(&index);
    if (exactness != nullptr) *exactness = static_cast<float>(param.value);
    return exactness != nullptr;
  }
  try {
    ::faiss::ParameterSpace().set_index_parameter(&index, param.name, param.value);
    return true;
  } catch (const ::faiss::FaissException&) {
    // The only way FAISS tells that nothing in the index has such a parameter.
    return false;
  }
}

}  // namespace polarquant::bench
