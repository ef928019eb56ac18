// SPDX-License-Identifier: MIT
#include "src/device/cuda_description.h"

#include <algorithm>
#include <iterator>

#include "src/codec/lloyd_max.h"
#include "src/codec/magnitude_planes.h"
#include "src/codec/planned_quantizer.h"
#include "src/codec/trellis_quantizer.h"
#include "src/device/cuda_row_description.h"
#include "src/scan/layout/level_planes.h"

namespace polarquant::device {
namespace {

static_assert(cuda::kBlockRows == kBlockRows && cuda::kMaxSketchWords == kMaxSketchWords);

void put_cells(const TrellisPlanes& planes, cuda::StageDescription* stage) {
  const Cells& cells = planes.codebook().cells;
  std::copy(std::begin(cells.x), std::end(cells.x), stage->cell_x);
  std::copy(std::begin(cells.y), std::end(cells.y), stage->cell_y);
}
// Blocks split levels: the positive ones are the magnitudes.
void put_cells(const LevelTable& table, cuda::StageDescription* stage) {
  const auto positive = table.levels().last(size_t{1} << kLevelMagnitudeBits);
  std::copy(positive.begin(), positive.end(), stage->cell_x);
}
void put_cells(const MagnitudePlanes& planes, cuda::StageDescription* stage) {
  std::copy(planes.levels().begin(), planes.levels().end(), stage->cell_x);
}

cuda::SignPlace sign_place(Int8Part::Signs signs) {
  switch (signs) {
    case Int8Part::Signs::words:
      return cuda::SignPlace::words;
    case Int8Part::Signs::plane:
      return cuda::SignPlace::plane;
    case Int8Part::Signs::none:
      break;
  }
  return cuda::SignPlace::none;
}

cuda::StageDescription describe_stage(const Int8Part& part) {
  cuda::StageDescription stage = {};
  stage.kind = part.kind == Int8Part::Kind::magnitudes ? cuda::CodeKind::magnitudes
                                                       : cuda::CodeKind::windows;
  stage.signs = sign_place(part.signs);
  stage.step_bits = part.step_bits;
  stage.signs_offset = static_cast<uint32_t>(part.signs_offset);
  stage.codes_offset = static_cast<uint32_t>(part.codes_offset);
  std::copy(std::begin(part.x), std::end(part.x), stage.value_x);
  std::copy(std::begin(part.y), std::end(part.y), stage.value_y);
  return stage;
}

}  // namespace

DeviceCode::DeviceCode(const Codec& codec, const ScanCodec& scan_codec) {
  require(!scan_codec.has_centroids(), StatusCode::unsupported,
          "codec: {} has centroids and is not searched on CUDA devices; codes without are",
          print_spec(codec.spec()));
  const BlockLayout& layout = scan_codec.layout();
  code_.dim = codec.dim();
  code_.sign_words = layout.sign_words();
  code_.sketch_words = layout.sketch_words();
  code_.payload_bytes = static_cast<uint32_t>(layout.payload_bytes());
  code_.factor_form = cuda_factor_form(scan_codec.factor_format().form);
  code_.scale_unit = scan_codec.factor_format().scale_unit;
  code_.bias_unit = scan_codec.factor_format().bias_unit;
  code_.is_l2 = codec.metric() == Metric::l2 ? 1 : 0;
  code_.stages = static_cast<int32_t>(scan_codec.stages().size());
  const CodeDescription code = codec.quantizer().describe();
  if (const PlannedQuantizer* planned = codec.planned()) {
    for (const SegmentRate& segment : planned->plan()) scales_.push_back(segment.scale);
    describe_plan(code, scan_codec);
  } else {
    describe_stages(code, scan_codec);
  }
}

void DeviceCode::describe_stages(const CodeDescription& code, const ScanCodec& scan_codec) {
  for (size_t s = 0; s < code.stages.size(); ++s) {
    code_.stage[s] = describe_stage(scan_codec.stages()[s].parts.front());
    std::visit([&](const auto* numbers) { put_cells(*numbers, &code_.stage[s]); },
               code.stages[s].parts.front().numbers);
    if (s == 1) code_.residual_gain = code.stages[s].gain;
  }
}

// Parts of the code are those of all stages, in order.
void DeviceCode::describe_plan(const CodeDescription& code, const ScanCodec& scan_codec) {
  for (const Int8Stage& stage : scan_codec.stages()) {
    for (const Int8Part& from : stage.parts) {
      const CodePart& numbers = code.stages[0].parts[parts_.size()];
      cuda::PartDescription& part = parts_.emplace_back();
      part.codes = describe_stage(from);
      part.first_segment = from.first_segment;
      part.dim = from.dim;
      std::visit([&](const auto* cells) { put_cells(*cells, &part.codes); }, numbers.numbers);
    }
  }
  require(std::ssize(parts_) <= cuda::kMaxParts, StatusCode::internal, "codec: {} rates",
          parts_.size());
  code_.plan.parts = static_cast<int32_t>(parts_.size());
  code_.plan.part = parts_.data();
  code_.plan.scales = scales_.data();
  code_.plan.has_third_bit = scan_codec.has_third_bit() ? 1 : 0;
  if (!scan_codec.has_split_stages()) return;
  code_.plan.second_stage = scan_codec.stages()[1].first_segment;
  code_.plan.first_stage_words = scan_codec.first_stage_words();
}

cuda::Int8Description describe_values(const ScanCodec& scan_codec) {
  const BoundConstants& bounds = scan_codec.bounds();
  cuda::Int8Description values = {};
  for (size_t s = 0; s < scan_codec.stages().size(); ++s)
    values.stage_step[s] = scan_codec.stages()[s].step;
  values.length_of_norm = bounds.length_of_norm;
  values.first_stage_scale = bounds.first_stage_scale;
  values.first_stage_error = bounds.first_stage_error;
  values.scale_of_norm = bounds.scale_of_norm;
  values.margin = bounds.margin;
  values.sketch_margin = bounds.sketch_margin;
  values.slope_of_sign = bounds.slope_of_sign;
  values.mean_squared_norm = bounds.mean_squared_norm;
  values.loss_of_squared_norm = bounds.loss_of_squared_norm;
  return values;
}

DeviceQueries::DeviceQueries(const ScanCodec& scan_codec, int64_t nq)
    : DeviceQueries(scan_codec, nq, nullptr) {
  constants.resize(static_cast<size_t>(nq));
  values.resize(static_cast<size_t>(nq) * padded_dim);
}

DeviceQueries::DeviceQueries(const ScanCodec& scan_codec, int64_t nq, const float* queries)
    : padded_dim(static_cast<size_t>(scan_codec.padded_dim())),
      dim(static_cast<size_t>(scan_codec.dim())),
      given(queries),
      rotated(static_cast<size_t>(nq) * dim),
      terms(static_cast<size_t>(nq)) {}

DeviceQueries::DeviceQueries(const ScanCodec& scan_codec, const cuda::ResidentQueries& queries)
    : DeviceQueries(scan_codec, 0, nullptr) {
  resident = queries;
}

void DeviceQueries::put(int64_t at, const PreparedQuery& prepared) {
  const auto query = static_cast<size_t>(at);
  terms[query] = {prepared.offset, prepared.bias_weight};
  std::copy(prepared.rotated.begin(), prepared.rotated.end(), rotated.data() + query * dim);
}

void DeviceQueries::put_values(int64_t at, const ScanQuery& scan) {
  const auto query = static_cast<size_t>(at);
  cuda::QueryConstants& to = constants[query];
  to = {};
  to.base = scan.score.base;
  to.weight = scan.score.weight;
  to.dot_scale[0] = scan.score.dot_scale[0];
  to.dot_scale[1] = scan.score.dot_scale[1];
  to.sketch_slope = scan.sketch.slope;
  to.sketch_margin = scan.sketch.margin;
  to.signs_sketch_slope = scan.signs.slope;
  to.signs_payload_slope = scan.signs.other_slope;
  to.signs_margin = scan.signs.margin;
  to.first_slope = scan.first_stage.slope;
  to.first_margin = scan.first_stage.margin;
  to.first_other_slope = scan.first_stage.other_slope;
  to.first_squared_norm_slope = scan.first_stage.squared_norm_slope;
  to.later_weight = scan.later_weight;
  to.fours_word = scan.fours_word;
  to.sketch_weight = scan.sketch_weight;
  to.offset = terms[query].offset;
  to.bias_weight = terms[query].bias_weight;
  std::copy(scan.sign_words.begin(), scan.sign_words.end(), to.sign_words);
  std::copy(scan.ones_words.begin(), scan.ones_words.end(), to.ones_words);
  std::copy(scan.twos_words.begin(), scan.twos_words.end(), to.twos_words);
  std::copy(scan.values.begin(), scan.values.end(), values.data() + query * padded_dim);
}

cuda::SearchRequest DeviceQueries::request(int64_t first, int64_t count) const {
  const auto from = static_cast<size_t>(first);
  cuda::SearchRequest request = {};
  request.nq = count;
  if (resident.queries != nullptr) {
    request.resident = resident;
    request.resident.queries += from * dim;
    return request;
  }
  request.rotated = rotated.data() + from * dim;
  if (given != nullptr) {
    request.queries = given + from * dim;
    request.terms = terms.data() + from;
  } else {
    request.constants = constants.data() + from;
    request.values = values.data() + from * padded_dim;
  }
  return request;
}

}  // namespace polarquant::device
