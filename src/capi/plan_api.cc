// SPDX-License-Identifier: MIT
// The C ABI's calls about trained plans: what they are, and whether they still fit.
#include <algorithm>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/handles.h"
#include "src/capi/options.h"
#include "src/capi/work_call.h"
#include "src/codec/planned_quantizer.h"

namespace polarquant::capi {
namespace {

const PlannedQuantizer& require_planned(const Codec& codec) {
  const PlannedQuantizer* planned = codec.planned();
  require(planned != nullptr, StatusCode::unsupported,
          "codec: {} has no plan; only …-pca and PolarB… have", print_spec(codec.spec()));
  require_trained(codec);
  return *planned;
}

polar_segment describe(const Codec& codec, const SegmentPlan& plan, int segment) {
  const SegmentRate& rate = plan[static_cast<size_t>(segment)];
  return {segment * kSegmentDims, segment_dims(codec.dim(), segment), rate.twice_bits / 2.0,
          rate.scale};
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_codec_get_plan(const polar_codec* codec, polar_codec_plan* plan,
                                             polar_segment* segments, int64_t cap) {
  return run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_object("plan", plan);
    require_count("cap", cap, 0);
    if (cap > 0) require_object("segments", segments);
    const PlannedQuantizer& planned = require_planned(checked);
    polar_codec_plan full = {};
    full.has_basis = checked.has_basis() ? 1 : 0;
    full.segments = segments_of(checked.dim());
    full.error = planned.errors().error;
    full.untrained_error = planned.errors().untrained_error;
    write_over("plan", full, plan);
    for (int i = 0; i < std::min(cap, full.segments); ++i)
      segments[i] = describe(checked, planned.plan(), i);
  });
}

extern "C" polar_status polar_codec_drift(const polar_codec* codec, int64_t n, const float* x,
                                          const polar_work_options* options, double* drift) {
  return run_work("drift", options, [&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_object("drift", drift);
    require_count("n", n, 1);
    require_planned(checked);
    require_array("x", x, n, checked.dim(), sizeof(float));
    *drift = checked.drift(n, x);
  });
}
