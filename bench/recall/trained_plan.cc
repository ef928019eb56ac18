// SPDX-License-Identifier: MIT
#include "bench/recall/trained_plan.h"

#include <faiss/IndexIDMap.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <fmt/format.h>

#include "include/polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/codec/planned_quantizer.h"

namespace polarquant::bench {

std::optional<TrainedPlanInfo> trained_plan(const ::faiss::Index& index) {
  if (const auto* outer = dynamic_cast<const ::faiss::IndexPreTransform*>(&index))
    return trained_plan(*outer->index);
  if (const auto* outer = dynamic_cast<const ::faiss::IndexIDMap*>(&index))
    return trained_plan(*outer->index);
  if (const auto* outer = dynamic_cast<const ::faiss::IndexRefine*>(&index)) {
    const std::optional<TrainedPlanInfo> first = trained_plan(*outer->base_index);
    return first ? first : trained_plan(*outer->refine_index);
  }
  const auto* polar = dynamic_cast<const IndexPolar*>(&index);
  if (polar == nullptr) return std::nullopt;
  const PlannedQuantizer* planned = polar->codec().planned();
  if (planned == nullptr || !planned->is_trained()) return std::nullopt;
  return TrainedPlanInfo{polar->codec().dim(), polar->codec().has_basis(), planned->errors().error,
                         planned->errors().untrained_error, planned->plan()};
}

std::string print_plan(const TrainedPlanInfo& info) {
  std::string text;
  for (size_t first = 0; first < info.plan.size();) {
    size_t end = first;
    while (end < info.plan.size() && info.plan[end].twice_bits == info.plan[first].twice_bits)
      ++end;
    if (!text.empty()) text += ' ';
    text += fmt::format("{}", info.plan[first].twice_bits / 2.0);
    if (end - first > 1) text += fmt::format("x{}", end - first);
    first = end;
  }
  return info.has_basis ? text : text + " (no gain: untrained)";
}

}  // namespace polarquant::bench
