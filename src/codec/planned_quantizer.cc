// SPDX-License-Identifier: MIT
#include "src/codec/planned_quantizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/codec/codec_kernels.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

/// Scales are kept in this range, so that no float over- or underflows.
constexpr float kLargestScale = 0x1p20F;

std::variant<TrellisPlanes, MagnitudePlanes> make_planes(int dim, int twice_bits, int exact_pairs) {
  if (const TrellisCodebook* codebook = find_trellis_codebook(twice_bits))
    return TrellisPlanes(dim, *codebook, exact_pairs);
  return MagnitudePlanes(dim, twice_bits / 2);
}

void check_plan(const SegmentPlan& plan, int dim, size_t bytes) {
  const auto segments = static_cast<size_t>(segments_of(dim));
  require(plan.size() == segments, StatusCode::bad_argument, "plan: {} segments; dim {} has {}",
          plan.size(), dim, segments);
  for (size_t i = 0; i < segments; ++i) {
    const int rate = plan[i].twice_bits;
    require(rate == 0 || find_plan_rate(rate) != nullptr, StatusCode::bad_argument,
            "plan: segment {} has {} bits a dimension, which is not a rate", i, rate / 2.0);
    require(can_have_rate(segment_dims(dim, static_cast<int>(i)), rate), StatusCode::bad_argument,
            "plan: segment {} has {} bits a dimension, which only full segments have", i,
            rate / 2.0);
    require(i == 0 || rate <= plan[i - 1].twice_bits, StatusCode::bad_argument,
            "plan: segment {} has more bits than the one before it", i);
    require(plan[i].scale >= 1 / kLargestScale && plan[i].scale <= kLargestScale,
            StatusCode::bad_argument, "plan: segment {} has scale {}; 2^-20 to 2^20 are allowed", i,
            plan[i].scale);
  }
  require(least_plan_bytes(dim, plan) <= bytes && coded_dims(dim, plan, bytes) > 0,
          StatusCode::bad_argument, "plan: {} bytes a vector; there are {}", plan_bytes(dim, plan),
          bytes);
}

}  // namespace

PlannedQuantizer::PlannedQuantizer(int dim, size_t code_bytes, SizeIn size_in)
    : dim_(dim), code_bytes_(code_bytes), size_in_(size_in) {
  require(dim <= kMaxPlannedDim, StatusCode::bad_argument,
          "dim: {} is not allowed with -pca; 1 to {}", dim, kMaxPlannedDim);
}

void PlannedQuantizer::set_plan(SegmentPlan plan, const PlanErrors& errors) {
  check_plan(plan, dim_, code_bytes_);
  require(errors.mse >= 0 && errors.mse < 1 && errors.error >= 0 && std::isfinite(errors.error) &&
              errors.untrained_error >= 0 && std::isfinite(errors.untrained_error),
          StatusCode::bad_argument, "plan: errors {} {} {} are not allowed", errors.mse,
          errors.error, errors.untrained_error);
  const int exact_pairs =
      size_in_ == SizeIn::bytes ? TrellisEncoder::kFewExactPairs : TrellisEncoder::kExactPairs;
  const int coded = polarquant::coded_dims(dim_, plan, code_bytes_);
  std::vector<Run> runs;
  std::vector<float> scales(static_cast<size_t>(dim_));
  size_t sign_bytes = 0;
  size_t cell_bytes = 0;
  for (size_t begin = 0, end = 0; begin < plan.size(); begin = end) {
    while (end < plan.size() && plan[end].twice_bits == plan[begin].twice_bits) ++end;
    const int first = static_cast<int>(begin) * kSegmentDims;
    const int past = std::min(dim_, static_cast<int>(end) * kSegmentDims);
    for (int j = first; j < past; ++j)
      scales[static_cast<size_t>(j)] = plan[static_cast<size_t>(j / kSegmentDims)].scale;
    if (plan[begin].twice_bits == 0) continue;
    const int run_dims = std::min(past, coded) - first;
    runs.push_back({first, cell_bytes, make_planes(run_dims, plan[begin].twice_bits, exact_pairs)});
    if (find_plan_rate(plan[begin].twice_bits)->signs)
      sign_bytes += static_cast<size_t>(run_dims + 7) / 8;
    cell_bytes +=
        std::visit([](const auto& planes) { return planes.cell_bytes(); }, runs.back().planes);
  }
  for (Run& run : runs) run.cells_offset += sign_bytes;
  plan_ = std::move(plan);
  runs_ = std::move(runs);
  scales_ = std::move(scales);
  sign_bytes_ = sign_bytes;
  coded_dims_ = coded;
  errors_ = errors;
}

void PlannedQuantizer::encode_and_decode(const float* v, uint8_t* code, float* y) const {
  thread_local std::vector<float> scratch;
  scratch.resize(static_cast<size_t>(dim_));
  std::fill_n(code, code_bytes_, uint8_t{0});
  for (int j = 0; j < dim_; ++j) {
    const auto at = static_cast<size_t>(j);
    scratch[at] = v[j] / scales_[at];
  }
  for (const Run& run : runs_) {
    std::visit(
        [&](const auto& planes) {
          planes.encode(scratch.data() + run.first, code + run.first / 8, code + run.cells_offset);
        },
        run.planes);
  }
  if (y != nullptr) decode(code, 0, y);
}

void PlannedQuantizer::decode(const uint8_t* code, int row, float* y) const {
  (void)row;
  const int coded = coded_dims();
  std::fill(y + coded, y + dim_, 0.0F);
  for (const Run& run : runs_) {
    std::visit(
        [&](const auto& planes) {
          planes.decode(code + run.first / 8, code + run.cells_offset, y + run.first);
        },
        run.planes);
  }
  for (int first = 0; first < coded; first += kSegmentDims) {
    const float scale = plan_[static_cast<size_t>(first / kSegmentDims)].scale;
    if (coded - first >= kSegmentDims) {
      // Compilers unroll a constant count.
      for (int j = first; j < first + kSegmentDims; ++j) y[j] *= scale;
    } else {
      for (int j = first; j < coded; ++j) y[j] *= scale;
    }
  }
}

void PlannedQuantizer::save_tables(ByteWriter& out) const {
  std::vector<uint8_t> rates;
  std::vector<float> scales;
  for (const SegmentRate& segment : plan_) {
    rates.push_back(static_cast<uint8_t>(segment.twice_bits));
    scales.push_back(segment.scale);
  }
  out.put_array(rates);
  out.put_array(scales);
  for (const double error : {errors_.mse, errors_.error, errors_.untrained_error})
    out.put<double>(error);
}

void PlannedQuantizer::load_tables(ByteReader& in) {
  const auto most = static_cast<uint64_t>(segments_of(dim_));
  const auto rates = in.get_array<uint8_t>("plan's rates", most);
  const auto scales = in.get_array<float>("plan's scales", most);
  PlanErrors errors;
  for (double* error : {&errors.mse, &errors.error, &errors.untrained_error})
    *error = in.get<double>("plan's errors");
  require(rates.size() == scales.size(), StatusCode::corrupt_data, "plan: {} rates and {} scales",
          rates.size(), scales.size());
  if (rates.empty()) return;
  SegmentPlan plan(rates.size());
  for (size_t i = 0; i < plan.size(); ++i) plan[i] = {rates[i], scales[i]};
  // Training never leaves such a plan, which would read the same for every row.
  require(plan.front().twice_bits > 0, StatusCode::corrupt_data, "plan: no segment has bits");
  set_plan(std::move(plan), errors);
}

void PlannedQuantizer::use_kernels(const CodecKernels& kernels) {
  for (Run& run : runs_) {
    if (auto* planes = std::get_if<TrellisPlanes>(&run.planes))
      planes->use_kernels(kernels.trellis);
  }
}

size_t PlannedQuantizer::memory_bytes() const {
  return sizeof *this + plan_.size() * sizeof(SegmentRate) + runs_.size() * sizeof(Run) +
         scales_.size() * sizeof(float);
}

CodeDescription PlannedQuantizer::describe() const {
  CodeStage stage;
  for (const Run& run : runs_) {
    std::visit(
        [&](const auto& planes) {
          stage.parts.push_back({&planes, run.first, planes.dim(), run.cells_offset,
                                 static_cast<size_t>(run.first) / 8});
        },
        run.planes);
  }
  return {.stages = {std::move(stage)}, .sign_plane_bytes = sign_bytes_};
}

}  // namespace polarquant
