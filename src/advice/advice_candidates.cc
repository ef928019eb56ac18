// SPDX-License-Identifier: MIT
#include "src/advice/advice_candidates.h"

#include <algorithm>

namespace polarquant {
namespace {

// The one list: a line adds a candidate.
constexpr const char* kCandidates[] = {
    "Polar0.5", "Polar0.5-pca",  //
    "Polar1",   "Polar1-pca",    //
    "Polar1.5", "Polar1.5-pca",  //
    "Polar2",   "Polar2-pca",    //
    "Polar2.5", "Polar2.5-pca",  //
    "Polar3",   "Polar3-pca",    //
    "Polar3.5", "Polar3.5-pca",  //
    "Polar2+2",                  //
    "Polar4",   "Polar4-pca",    //
    "Polar4.5", "Polar4.5-pca",  //
    "Polar5",   "Polar5-pca",    //
    "Polar4+2", "Polar4+2-pca",  //
    "Polar4+3", "Polar4+3-pca",  //
    "Polar8",
};

}  // namespace

std::span<const char* const> advice_candidates() { return kCandidates; }

std::vector<Spec> candidate_specs(const std::vector<std::string>& names) {
  std::vector<Spec> specs;
  const auto add = [&](const Spec& spec) {
    if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(spec);
  };
  for (const std::string& name : names) {
    const Spec spec = parse_spec(name);
    add(untrained_counterpart(spec));
    add(spec);
  }
  return specs;
}

}  // namespace polarquant
