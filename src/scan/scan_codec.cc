// SPDX-License-Identifier: MIT
#include "src/scan/scan_codec.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "src/codec/byte_quantizer.h"
#include "src/codec/residual_quantizer.h"
#include "src/codec/trellis_quantizer.h"

namespace polarquant {
namespace {

// 12 bits are .003 of a standard deviation: below what 8-bit codes resolve. Long vectors get fewer,
// so that no sum of lanes · max_level² passes an int32, whatever bytes a code has.
constexpr int kWideLevel = 2047;

int wide_level(int lanes) {
  return std::min(kWideLevel, static_cast<int>(std::sqrt(2147483647.0 / lanes)));
}

/// Rounds 256 values to levels; returns the step.
float round_to_levels(std::span<const float> x, std::span<const float> y, int max_level,
                      LevelStage* stage) {
  float largest = 0;
  for (const float value : x) largest = std::max(largest, std::fabs(value));
  for (const float value : y) largest = std::max(largest, std::fabs(value));
  const float step = largest / static_cast<float>(max_level);
  const auto round = [&](float value) { return static_cast<int16_t>(std::lrint(value / step)); };
  std::transform(x.begin(), x.end(), stage->x, round);
  std::transform(y.begin(), y.end(), stage->y, round);
  stage->make_tables();
  return step;
}

LevelStage window_stage(const TrellisPlanes& planes, LevelStage::Signs signs, size_t offset,
                        int max_level) {
  LevelStage stage;
  stage.kind = LevelStage::Kind::windows;
  stage.signs = planes.codebook().quadrant ? signs : LevelStage::Signs::none;
  stage.window_step = planes.codebook().step;
  stage.signs_offset = offset;
  const bool plane_in_rest = stage.signs == LevelStage::Signs::plane;
  stage.codes_offset = offset + (plane_in_rest ? planes.quadrant_bytes() : 0);
  // Cells of codes with signs are magnitudes: not negative.
  stage.step =
      round_to_levels(planes.codebook().cells.x, planes.codebook().cells.y, max_level, &stage);
  return stage;
}

}  // namespace

void LevelStage::make_tables() {
  for (int i = 0; i < 256; ++i) {
    for (int byte = 0; byte < 2; ++byte) {
      x_bytes[byte][i] = static_cast<uint8_t>(x[i] >> (8 * byte));
      y_bytes[byte][i] = static_cast<uint8_t>(y[i] >> (8 * byte));
    }
    narrow_pairs[i] = static_cast<uint16_t>(x_bytes[0][i] | y_bytes[0][i] << 8);
    wide_pairs[i] = static_cast<uint16_t>(x[i]) | static_cast<uint32_t>(y[i]) << 16;
  }
}

bool ScanCodec::supports(const Codec& codec) {
  const Quantizer* quantizer = &codec.quantizer();
  return dynamic_cast<const TrellisQuantizer*>(quantizer) != nullptr ||
         dynamic_cast<const ResidualQuantizer*>(quantizer) != nullptr ||
         dynamic_cast<const ByteQuantizer*>(quantizer) != nullptr;
}

ScanCodec::ScanCodec(const Codec& codec)
    : layout_(codec),
      metric_(codec.metric()),
      factor_format_(codec.factor_format()),
      lanes_((codec.dim() + kSegmentDims - 1) / kSegmentDims * kSegmentLanes) {
  max_level_ = factor_format_.half ? kNarrowLevel : wide_level(lanes_);
  const double root_dim = std::sqrt(static_cast<double>(codec.dim()));
  bounds_.length_of_norm =
      metric_ == Metric::l2 ? 1.0F : static_cast<float>(root_dim * (1 - codec.mse()));

  const Quantizer* quantizer = &codec.quantizer();
  if (const auto* trellis = dynamic_cast<const TrellisQuantizer*>(quantizer)) {
    stages_.push_back(window_stage(trellis->planes(), LevelStage::Signs::words,
                                   layout_.rest_sign_bytes(), max_level_));
  } else if (const auto* residual = dynamic_cast<const ResidualQuantizer*>(quantizer)) {
    const TrellisPlanes& first = residual->first();
    const double first_mse = first.codebook().mse;
    stages_.push_back(
        window_stage(first, LevelStage::Signs::words, layout_.rest_sign_bytes(), max_level_));
    stages_.push_back(window_stage(residual->second(), LevelStage::Signs::plane,
                                   layout_.rest_sign_bytes() + first.cell_bytes(), max_level_));
    stages_.back().step /= residual->gain();
    bounds_.first_stage_scale = static_cast<float>(1 / (root_dim * (1 - first_mse)));
    bounds_.first_stage_error =
        static_cast<float>(kBoundMargin * std::sqrt(first_mse / (1 - first_mse)) / root_dim);
  } else if (const auto* bytes = dynamic_cast<const ByteQuantizer*>(quantizer)) {
    LevelStage stage;
    stage.kind = LevelStage::Kind::bytes;
    stage.step = round_to_levels(bytes->table().levels(), {}, max_level_, &stage);
    stages_.push_back(stage);
  } else {
    fail(StatusCode::unsupported, "{}: its codes have no integer levels", print_spec(codec.spec()));
  }
}

}  // namespace polarquant
