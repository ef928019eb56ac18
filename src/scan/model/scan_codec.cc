// SPDX-License-Identifier: MIT
#include "src/scan/model/scan_codec.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <variant>

#include "src/codec/lloyd_max.h"
#include "src/codec/planned_quantizer.h"
#include "src/scan/layout/level_planes.h"

namespace polarquant {
namespace {

float largest_of(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

/// The step for which `largest` is the largest int8 value.
float step_of(float largest) { return largest / kMaxInt8; }

/// Rounds up to 256 numbers to int8 values.
void round_to_int8(std::span<const float> values, float step, int8_t* out) {
  std::transform(values.begin(), values.end(), out,
                 [&](float value) { return static_cast<int8_t>(std::lrint(value / step)); });
}

/// The largest value of a part.
float largest_of(const TrellisPlanes& planes) {
  const Cells& cells = planes.codebook().cells;
  return std::max(largest_of(cells.x), largest_of(cells.y));
}
float largest_of(const MagnitudePlanes& planes) { return planes.levels().back(); }
float largest_of(const LevelTable& table) { return largest_of(table.levels()); }

// Cells of codes with signs are magnitudes: not negative.
void set_values(const TrellisPlanes& planes, float step, Int8Part* part) {
  part->kind = Int8Part::Kind::windows;
  if (!planes.codebook().quadrant) part->signs = Int8Part::Signs::none;
  part->step_bits = planes.codebook().step;
  round_to_int8(planes.codebook().cells.x, step, part->x);
  round_to_int8(planes.codebook().cells.y, step, part->y);
}
void set_values(const MagnitudePlanes& planes, float step, Int8Part* part) {
  part->kind = Int8Part::Kind::magnitudes;
  part->step_bits = planes.magnitude_bits();
  round_to_int8(planes.levels(), step, part->x);
}
// Blocks split levels. These are symmetric about 0.
void set_values(const LevelTable& table, float step, Int8Part* part) {
  part->kind = Int8Part::Kind::magnitudes;
  part->signs = Int8Part::Signs::words;
  part->step_bits = kLevelMagnitudeBits;
  round_to_int8(table.levels().last(size_t{1} << kLevelMagnitudeBits), step, part->x);
}

/// The stage of segments first … end−1 of a code's. All its parts have one step, so that a query's
/// values mean the same everywhere. A row's payload begins with `payload_sign_bytes` of its sign
/// plane; what the code has after that plane follows.
Int8Stage make_stage(const CodeStage& code, size_t sign_plane_bytes, size_t payload_sign_bytes,
                     int first, int end) {
  Int8Stage stage;
  stage.first_segment = first;
  stage.segments = end - first;
  const auto for_each_part = [&](const auto& body) {
    for (const CodePart& part : code.parts) {
      const int segment = part.first / kSegmentDims;
      if (segment >= first && segment < end)
        std::visit([&](const auto* numbers) { body(part, *numbers); }, part.numbers);
    }
  };
  float largest = 0;
  for_each_part(
      [&](const auto&, const auto& numbers) { largest = std::max(largest, largest_of(numbers)); });
  stage.step = step_of(largest);
  for_each_part([&](const CodePart& from, const auto& numbers) {
    Int8Part& part = stage.parts.emplace_back();
    const auto in_payload = [&](size_t offset) {
      return payload_sign_bytes + offset - sign_plane_bytes;
    };
    part.first_segment = from.first / kSegmentDims;
    part.dim = from.dim;
    part.codes_offset = in_payload(from.codes_offset);
    part.signs =
        from.signs_offset < sign_plane_bytes ? Int8Part::Signs::words : Int8Part::Signs::plane;
    if (part.signs == Int8Part::Signs::plane) part.signs_offset = in_payload(from.signs_offset);
    set_values(numbers, stage.step, &part);
    part.make_tables();
  });
  stage.step /= code.gain;
  return stage;
}

/// The share of Σ scale⁴, by which scores spread, that a trained code's first stage should have.
/// Bytes hold the values of a query better in two stages: a single step would have to suit the few
/// large ones.
constexpr double kFirstStageShare = .75;

/// Segments of a trained code's first stage; 0: there is one stage.
int first_stage_segments(const PlannedQuantizer& planned) {
  const SegmentPlan& plan = planned.plan();
  std::vector<double> shares;
  double total = 0;
  for (const SegmentRate& segment : plan) {
    shares.push_back(segment.twice_bits > 0 ? std::pow(segment.scale, 4) : 0);
    total += shares.back();
  }
  // With one rate everywhere it is the untrained code.
  if (plan.empty() || plan.front().twice_bits == plan.back().twice_bits) return 0;
  double share = 0;
  for (int segments = 1; segments < std::ssize(plan); ++segments) {
    share += shares[static_cast<size_t>(segments - 1)] / total;
    const auto at = static_cast<size_t>(segments);
    const bool ends_run = plan[at].twice_bits != plan[at - 1].twice_bits;
    // Decided by bits: a sum of all shares may round to less than 1.
    if (share >= kFirstStageShare && ends_run) return plan[at].twice_bits > 0 ? segments : 0;
  }
  return 0;
}

/// The cosine between a query and rows near it, in the second of split stages. The ten nearest of
/// real embeddings have .47, those of clustered Gaussians .6; any value from .4 to .6 does as well.
constexpr double kNearCosine = .5;

}  // namespace

void Int8Part::make_tables() {
  // So that bits above a field's own do not count.
  if (kind == Kind::magnitudes)
    for (int i = 1 << step_bits; i < 256; ++i) x[i] = x[i - (1 << step_bits)];
  for (int i = 0; i < 256; ++i)
    pairs[i] = static_cast<uint16_t>(static_cast<uint8_t>(x[i]) | static_cast<uint8_t>(y[i]) << 8);
  // Windows end where their pair's own bits do, and are read from one byte before the ring on.
  if (kind == Kind::windows) fields.set(step_bits, step_bits);
  if (kind == Kind::magnitudes) fields.set_by_halves(step_bits);
}

size_t Int8Part::bytes_read() const {
  if (kind == Kind::magnitudes) return static_cast<size_t>(8 * step_bits * segments());
  const int registers = (segments() + 1) / 2;
  const bool half = reads_half(registers - 1);
  return static_cast<size_t>(8 * step_bits * (registers - 1) + (half ? 32 : 64));
}

ScanCodec::ScanCodec(const Codec& codec, RowOrder order)
    : layout_(codec, order),
      metric_(codec.metric()),
      factor_format_(codec.factor_format()),
      padded_dim_(segments_of(codec.dim()) * kSegmentDims),
      coded_dims_(codec.planned() != nullptr ? codec.planned()->coded_dims() : codec.dim()),
      centroids_(codec.centroids()) {
  const double root_dim = std::sqrt(static_cast<double>(codec.dim()));
  const double length_of_scale = root_dim * (1 - codec.mse());
  bounds_.slope_of_sign = std::sqrt(std::numbers::pi / 2 / codec.dim());
  const bool norm_is_length = metric_ == Metric::l2;
  bounds_.length_of_norm = static_cast<float>(norm_is_length ? 1 : length_of_scale);
  bounds_.scale_of_norm = static_cast<float>(norm_is_length ? 1 / length_of_scale : 1);

  const CodeDescription code = codec.quantizer().describe();
  require(!code.stages.empty(), StatusCode::unsupported, "{}: its codes have no int8 values",
          print_spec(codec.spec()));
  if (layout_.splits_levels()) {
    const std::span<const float> levels = code.lone_levels()->levels();
    split_levels_.assign(levels.begin(), levels.end());
  }
  const PlannedQuantizer* planned = codec.planned();
  // The first of two stages is a bound beside that of signs: without these all rows are scored.
  const int first = planned != nullptr && has_signs() ? first_stage_segments(*planned) : 0;
  const auto add_stage = [&](const CodeStage& stage, int begin, int end) {
    stages_.push_back(
        make_stage(stage, code.sign_plane_bytes, layout_.payload_sign_bytes(), begin, end));
  };
  if (first > 0) add_stage(code.stages[0], 0, first);
  for (const CodeStage& stage : code.stages) add_stage(stage, first, segments_of(coded_dims_));
  if (code.stages.size() == 2) {
    const double first_mse =
        std::get<const TrellisPlanes*>(code.stages[0].parts[0].numbers)->codebook().mse;
    bounds_.first_stage_scale = static_cast<float>(1 / (root_dim * (1 - first_mse)));
    bounds_.first_stage_error =
        static_cast<float>(kBoundMargin * std::sqrt(first_mse / (1 - first_mse)) / root_dim);
  } else if (planned != nullptr) {
    if (codec.has_basis()) scales_ = planned->scales();
    // Takes all scales: coordinates without bits have their share of a row's length.
    if (first > 0) set_squared_norm_bounds();
    double coded = 0;
    double covered = 0;
    double total = 0;
    for (size_t j = 0; j < scales_.size(); ++j) {
      const double fourth = std::pow(scales_[j], 4);
      total += fourth;
      if (static_cast<int>(j) < sign_dims()) covered += fourth;
      if (static_cast<int>(j) >= coded_dims_) scales_[j] = 0;
      coded += scales_[j] * scales_[j];
    }
    double decoded = 0;
    int left = coded_dims_;  // of a last segment with bits only some coordinates may have them
    for (const SegmentRate& segment : planned->plan()) {
      if (left <= 0) break;
      // The mean square of what is decoded of variance 1 is 1 − its error.
      decoded += segment.scale * segment.scale * (1 - find_plan_rate(segment.twice_bits)->mse) *
                 std::min(left, kSegmentDims);
      left -= kSegmentDims;
    }
    bounds_.decoded_length = static_cast<float>(std::sqrt(decoded));
    // s is larger by what is not coded.
    if (coded > 0) bounds_.length_of_norm *= static_cast<float>(codec.dim() / coded);
    if (total > 0) {
      const double uncovered = 1 - covered / total;
      const SearchMargins& measured = codec.search_margins();
      bounds_.margin = measured.next * (first > 0 ? kTrainedBoundMargin : kTrainedSignsMargin);
      bounds_.sketch_margin =
          measured.sketch * (kTrainedSketchMargin + kUncoveredSketchMargin * uncovered);
    }
  }
  for (Int8Stage& stage : stages_) {
    stage.codes_begin = stage.parts.front().codes_offset;
    for (const Int8Part& part : stage.parts) {
      stage.codes_begin = std::min(stage.codes_begin, part.codes_offset);
      stage.payload_bytes = std::max(stage.payload_bytes, part.codes_offset + part.bytes_read());
    }
  }
}

// A row's û is about √dim long. The more of it lies in the first stage, e = Σ (step·value)² above
// the number n of its coordinates, the less is left for the second: √(1 − e/t) of what other rows
// have there, with t the Σ scale² there in terms of the mean scale² here. The line 1 − e/2t is
// never below it. e has an error of about √n, the code's own, and says little where t is not larger
// than that.
void ScanCodec::set_squared_norm_bounds() {
  const Int8Stage& stage = stages_[0];
  const double stage_dims = stage.padded_dim();
  const double step2 = double{stage.step} * stage.step;
  double first = 0;
  double others = 0;
  for (size_t j = 0; j < scales_.size(); ++j)
    (static_cast<double>(j) < stage_dims ? first : others) += double{scales_[j]} * scales_[j];
  bounds_.mean_squared_norm = stage_dims / step2;
  if (!(first > 0)) return;
  const double t = others / (first / stage_dims);
  bounds_.loss_of_squared_norm =
      kNearCosine * std::sqrt(others) * t / (2 * (t * t + stage_dims)) * step2;
}

}  // namespace polarquant
