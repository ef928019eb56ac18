// SPDX-License-Identifier: MIT
#include "src/device/cuda_description.h"

#include <algorithm>
#include <iterator>

#include "src/codec/lloyd_max.h"
#include "src/codec/magnitude_planes.h"
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
// Only trained codes have cells.
void put_cells(const MagnitudePlanes& /*planes*/, cuda::StageDescription* /*stage*/) {}

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

cuda::CodeDescription describe_code(const Codec& codec, const ScanCodec& scan_codec) {
  require(codec.planned() == nullptr, StatusCode::unsupported,
          "codec: {} is not searched on CUDA devices yet; codes that are not trained are",
          print_spec(codec.spec()));
  const BlockLayout& layout = scan_codec.layout();
  cuda::CodeDescription code = {};
  code.dim = codec.dim();
  code.sign_words = layout.sign_words();
  code.sketch_words = layout.sketch_words();
  code.payload_bytes = static_cast<uint32_t>(layout.payload_bytes());
  code.factor_form = cuda_factor_form(scan_codec.factor_format().form);
  code.scale_unit = scan_codec.factor_format().scale_unit;
  code.bias_unit = scan_codec.factor_format().bias_unit;
  code.is_l2 = codec.metric() == Metric::l2 ? 1 : 0;
  code.stages = static_cast<int32_t>(scan_codec.stages().size());
  const std::vector<CodeStage> stages = codec.quantizer().describe().stages;
  for (size_t s = 0; s < stages.size(); ++s) {
    code.stage[s] = describe_stage(scan_codec.stages()[s].parts.front());
    std::visit([&](const auto* numbers) { put_cells(*numbers, &code.stage[s]); },
               stages[s].parts.front().numbers);
    if (s == 1) code.residual_gain = stages[s].gain;
  }
  return code;
}

cuda::Int8Description describe_values(const ScanCodec& scan_codec) {
  const BoundConstants& bounds = scan_codec.bounds();
  cuda::Int8Description values = {};
  for (size_t s = 0; s < scan_codec.stages().size(); ++s)
    values.stage_step[s] = scan_codec.stages()[s].step;
  values.length_of_norm = bounds.length_of_norm;
  values.first_stage_scale = bounds.first_stage_scale;
  values.first_stage_error = bounds.first_stage_error;
  values.margin = bounds.margin;
  values.slope_of_sign = bounds.slope_of_sign;
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
