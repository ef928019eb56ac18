// SPDX-License-Identifier: MIT
// What a trained index of ours spends its bytes on: which dimensions have which rate.
#pragma once

#include <faiss/Index.h>

#include <optional>
#include <string>
#include <vector>

#include "src/codec/segment_plan.h"

namespace polarquant::bench {

struct TrainedPlanInfo {
  int dim = 0;
  bool has_basis = false;  ///< false: the untrained code was as good and is used
  double error = 0;        ///< of rows held out by training
  double untrained_error = 0;
  SegmentPlan plan;
};

/// The plan of the outermost "…-pca" index in `index`: itself, or inside transforms, id maps and
/// refinements. Nothing for an index without one.
std::optional<TrainedPlanInfo> trained_plan(const ::faiss::Index& index);

/// "3.5 3x2 2 0": bits a dimension of each segment of 64, repeated ones counted; with what there is
/// to say where training gained nothing.
std::string print_plan(const TrainedPlanInfo& info);

}  // namespace polarquant::bench
