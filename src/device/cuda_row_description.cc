// SPDX-License-Identifier: MIT
#include "src/device/cuda_row_description.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "src/codec/planned_quantizer.h"
#include "src/codec/published/pair_group_quantizer.h"
#include "src/codec/published/pair_quantizer.h"
#include "src/codec/published/scalar_quantizer.h"
#include "src/codec/published/tree_quantizer.h"
#include "src/codec/walsh_hadamard.h"

namespace polarquant::device {
namespace {

using cuda::kUnitPairs;
using cuda::kUnitValues;

constexpr int kUnitsOfSegment = kSegmentDims / kUnitValues;

int units_of(int values) { return (values + kUnitValues - 1) / kUnitValues; }

/// A unit without cells of its own.
cuda::CellUnit no_cells() {
  cuda::CellUnit unit = {};
  for (cuda::UnitPart& part : unit.part) {
    part.signs_offset = -1;
    part.norm_offset = -1;
  }
  return unit;
}

}  // namespace

/// Fields of coordinates first … first+count−1, from bit `first_bit` of codes_offset on.
struct CudaRowDescription::Fields {
  int first = 0;
  int count;
  int bits;
  int64_t signs_offset = -1;  // −1: without signs
  size_t codes_offset = 0;
  size_t first_bit = 0;
  int norm_offset = -1;  // −1: without norms
  float scale = 1;
  uint32_t table;
};

cuda::FactorForm cuda_factor_form(FactorForm form) {
  static_assert(static_cast<int>(cuda::FactorForm::float16) ==
                static_cast<int>(FactorForm::float16));
  static_assert(static_cast<int>(cuda::FactorForm::wide16) == static_cast<int>(FactorForm::wide16));
  static_assert(static_cast<int>(cuda::FactorForm::float32) ==
                static_cast<int>(FactorForm::float32));
  return static_cast<cuda::FactorForm>(form);
}

CudaRowDescription::CudaRowDescription(const Codec& codec) {
  require(codec.spec().family != CodecFamily::bytes, StatusCode::unsupported,
          "codec: {} is not decoded on CUDA devices, nor is any other PolarB…; all others are",
          print_spec(codec.spec()));
  const Quantizer& quantizer = codec.quantizer();
  rows_.dim = codec.dim();
  rows_.is_l2 = codec.metric() == Metric::l2 ? 1 : 0;
  rows_.group_rows = codec.layout().group_rows;
  rows_.group_bytes = codec.layout().group_bytes;
  if (rows_.group_rows == 1) rows_.row_bytes = static_cast<uint32_t>(rows_.group_bytes);
  rows_.tail_row_bytes = static_cast<uint32_t>(codec.layout().tail_row_bytes);
  rows_.norm_unit = static_cast<float>(codec.norm_unit());
  if (codec.has_factors()) {
    const FactorFormat& format = codec.factor_format();
    rows_.factors_offset = static_cast<uint32_t>(quantizer.code_bytes());
    rows_.factor_bytes = static_cast<int32_t>(format.bytes());
    rows_.factor_form = cuda_factor_form(format.form);
    rows_.scale_unit = format.scale_unit;
    rows_.bias_unit = format.bias_unit;
  }
  rows_.wide_floats = codec.short_float() == ShortFloat::wide16 ? 1 : 0;
  const CodeDescription code = quantizer.describe();
  require(!std::holds_alternative<const ScalarQuantizer*>(code.published) || rows_.is_l2 == 0 ||
              rows_.dim % ScalarQuantizer::kBlock == 0,
          StatusCode::unsupported,
          "codec: {} by L2 of {} dimensions is not decoded on CUDA devices; multiples of {} are",
          print_spec(codec.spec()), rows_.dim, ScalarQuantizer::kBlock);
  std::visit(
      [&](const auto& published) {
        if constexpr (std::is_pointer_v<std::decay_t<decltype(published)>>) {
          describe(*published);
        } else {
          describe_stages(code, codec.planned());
        }
      },
      code.published);
}

cuda::RowDescription CudaRowDescription::view() const {
  cuda::RowDescription rows = rows_;
  rows.entries = static_cast<int32_t>(table_.size());
  rows.table = table_.data();
  rows.cells = cells_.empty() ? nullptr : cells_.data();
  rows.steps = steps_.empty() ? nullptr : steps_.data();
  return rows;
}

void CudaRowDescription::spread(const float* q, float* spread) const {
  if (transformed_block_ == 0) {
    for (size_t i = 0; i < width(); ++i)
      spread[i] = coordinates_[i] >= 0 ? q[coordinates_[i]] : 0.0F;
    return;
  }
  // ⟨q, Hz⟩ = ⟨Hq, z⟩.
  std::fill_n(spread, width(), 0.0F);
  std::copy_n(q, rows_.dim, spread);
  for (size_t first = 0; first < width(); first += static_cast<size_t>(transformed_block_))
    walsh_hadamard(spread + first, transformed_block_);
}

void CudaRowDescription::gather(const double* sum, double* coordinates) const {
  if (transformed_block_ == 0) {
    for (size_t i = 0; i < width(); ++i) {
      if (coordinates_[i] >= 0) coordinates[coordinates_[i]] = sum[i];
    }
    return;
  }
  std::vector<float> transformed(width());
  std::copy_n(sum, width(), transformed.begin());
  for (size_t first = 0; first < width(); first += static_cast<size_t>(transformed_block_))
    walsh_hadamard(transformed.data() + first, transformed_block_);
  std::copy_n(transformed.begin(), rows_.dim, coordinates);
}

uint32_t CudaRowDescription::add_points(std::span<const float> x, std::span<const float> y) {
  const size_t first = table_.size();
  for (size_t i = 0; i < x.size(); ++i) table_.push_back({x[i], y.empty() ? 0.0F : y[i]});
  return static_cast<uint32_t>(first);
}

/// The numbers are coordinates in order.
void CudaRowDescription::count_units(int units) {
  rows_.units = units;
  coordinates_.resize(static_cast<size_t>(units) * kUnitValues);
  for (size_t i = 0; i < coordinates_.size(); ++i)
    coordinates_[i] = i < static_cast<size_t>(rows_.dim) ? static_cast<int32_t>(i) : -1;
}

/// Makes units without cells.
void CudaRowDescription::begin_cells(int units) {
  rows_.kind = cuda::RowKind::cells;
  rows_.units = units;
  cells_.assign(static_cast<size_t>(units), no_cells());
  coordinates_.assign(static_cast<size_t>(units) * kUnitValues, -1);
}

void CudaRowDescription::describe(const ScalarQuantizer& scalar) {
  constexpr int kBlock = ScalarQuantizer::kBlock;
  const int blocks = (rows_.dim + kBlock - 1) / kBlock;
  begin_cells(blocks * kBlock / kUnitValues);
  transformed_block_ = kBlock;
  const uint32_t table = add_points(scalar.table().levels(), {});
  const int bits = static_cast<int>(std::lround(std::log2(scalar.table().levels().size())));
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(kBlock)));
  for (int block = 0; block < blocks; ++block)
    describe_fields({.first = block * kBlock,
                     .count = kBlock,
                     .bits = bits,
                     .codes_offset = static_cast<size_t>(blocks) * 2,
                     .first_bit = static_cast<size_t>(block) * kBlock * static_cast<size_t>(bits),
                     .norm_offset = 2 * block,
                     .scale = scale,
                     .table = table});
}

void CudaRowDescription::describe_stages(const CodeDescription& code,
                                         const PlannedQuantizer* planned) {
  if (planned == nullptr && code.lone_trellis() != nullptr) describe_trellis(code);
  const bool in_order = std::holds_alternative<const LevelTable*>(code.stages[0].parts[0].numbers);
  begin_cells(in_order ? units_of(rows_.dim) : segments_of(rows_.dim) * kUnitsOfSegment);
  for (size_t stage = 0; stage < code.stages.size(); ++stage) {
    const float scale = 1 / code.stages[stage].gain;
    for (const CodePart& part : code.stages[stage].parts) {
      std::visit(
          [&](const auto* numbers) {
            describe_part(*numbers, part, static_cast<int>(stage), scale);
          },
          part.numbers);
    }
  }
  if (planned == nullptr) return;
  // Segments of one part may have scales of their own.
  for (int unit = 0; unit < rows_.units; ++unit) {
    cuda::UnitPart& part = cells_[static_cast<size_t>(unit)].part[0];
    const int first = unit / kUnitsOfSegment * kSegmentDims;
    part.scale = planned->scales()[static_cast<size_t>(first)];
  }
}

void CudaRowDescription::describe_trellis(const CodeDescription& code) {
  const TrellisCodebook& codebook = code.lone_trellis()->codebook();
  const CodePart& part = code.stages[0].parts[0];
  rows_.trellis = {.step = codebook.step,
                   .has_signs = codebook.quadrant ? 1 : 0,
                   .codes_offset = static_cast<uint32_t>(part.codes_offset),
                   .signs_offset = static_cast<uint32_t>(part.signs_offset)};
}

void CudaRowDescription::describe_part(const MagnitudePlanes& planes, const CodePart& from,
                                       int /*stage*/, float scale) {
  describe_fields({.first = from.first,
                   .count = from.dim,
                   .bits = planes.magnitude_bits(),
                   .signs_offset = static_cast<int64_t>(from.signs_offset),
                   .codes_offset = from.codes_offset,
                   .scale = scale,
                   .table = add_points(planes.levels(), {})});
}

void CudaRowDescription::describe_part(const LevelTable& table, const CodePart& from, int /*stage*/,
                                       float scale) {
  describe_fields({.count = from.dim,
                   .bits = 8,
                   .codes_offset = from.codes_offset,
                   .scale = scale,
                   .table = add_points(table.levels(), {})});
}

/// Planes begin with a segment. Signs are used where the codebook has none.
void CudaRowDescription::describe_part(const TrellisPlanes& planes, const CodePart& from, int stage,
                                       float scale) {
  const TrellisCodebook& codebook = planes.codebook();
  const uint32_t table = add_points(codebook.cells.x, codebook.cells.y);
  for (int start = 0; start < planes.dim(); start += kSegmentDims) {
    const int count = std::min(kSegmentDims, planes.dim() - start);
    const int half = (count + 1) / 2;
    for (int group8 = 0; group8 < kUnitsOfSegment; ++group8) {
      if (group8 * kUnitPairs >= half) continue;
      const int unit = (from.first + start) / kUnitValues + group8;
      cuda::UnitPart& to = cells_[static_cast<size_t>(unit)].part[stage];
      to.kind = cuda::PartKind::windows;
      to.bits = codebook.step;
      to.codes_offset = static_cast<uint32_t>(from.codes_offset);
      to.first = static_cast<uint32_t>(start / kUnitValues + group8);
      to.ring_bits = planes.pairs() * codebook.step;
      if (codebook.quadrant) to.signs_offset = static_cast<int32_t>(from.signs_offset) + start / 8;
      to.count = count;
      to.group8 = group8;
      to.table = table;
      to.scale = scale;
      for (int i = 0; i < kUnitPairs; ++i) {
        const int pair = group8 * kUnitPairs + i;
        const auto at = static_cast<size_t>(unit) * kUnitValues + static_cast<size_t>(i);
        if (pair < half) coordinates_[at] = from.first + start + pair;
        if (pair < count - half) coordinates_[at + kUnitPairs] = from.first + start + half + pair;
      }
    }
  }
}

void CudaRowDescription::describe_fields(const Fields& fields) {
  for (int start = 0; start < fields.count; start += kUnitValues) {
    const int unit = (fields.first + start) / kUnitValues;
    cuda::UnitPart& to = cells_[static_cast<size_t>(unit)].part[0];
    to.kind = cuda::PartKind::fields;
    to.bits = fields.bits;
    to.codes_offset = static_cast<uint32_t>(fields.codes_offset);
    to.first = static_cast<uint32_t>(fields.first_bit +
                                     static_cast<size_t>(start) * static_cast<size_t>(fields.bits));
    if (fields.signs_offset >= 0)
      to.signs_offset = static_cast<int32_t>(fields.signs_offset + start / 8);
    to.norm_offset = fields.norm_offset;
    to.table = fields.table;
    to.scale = fields.scale;
    for (int i = 0; i < std::min(kUnitValues, fields.count - start); ++i)
      coordinates_[static_cast<size_t>(unit) * kUnitValues + static_cast<size_t>(i)] =
          fields.first + start + i;
  }
}

void CudaRowDescription::describe(const TreeQuantizer& tree) {
  rows_.kind = cuda::RowKind::tree;
  rows_.tree_levels = tree.levels();
  rows_.tree_blocks = tree.blocks();
  static_assert(cuda::kMaxTreeLevels >= 16, "as many as 65,535 dimensions have");
  uint64_t bit = static_cast<uint64_t>(tree.blocks()) * 16;
  for (int level = 1; level <= tree.levels(); ++level) {
    const auto at = static_cast<size_t>(level - 1);
    const AngleCodebook& book = tree.codebooks()[at];
    const auto bits = static_cast<int>(std::lround(std::log2(book.cosines().size())));
    rows_.level_bits[at] = bits;
    rows_.level_table[at] = add_points(book.cosines(), book.sines());
    rows_.level_offset[at] = bit;
    bit += (static_cast<uint64_t>(tree.blocks()) << (tree.levels() - level)) *
           static_cast<uint64_t>(bits);
  }
  count_units(units_of(rows_.dim));
}

void CudaRowDescription::describe(const PairQuantizer& pairs) {
  rows_.kind = cuda::RowKind::pairs;
  rows_.angle_bits = pairs.angle_bits();
  rows_.radius_bits = pairs.radius_bits();
  add_points(pairs.angle_cosines(), pairs.angle_sines());
  count_units(units_of(rows_.dim));
  steps_.assign(static_cast<size_t>(rows_.units) * kUnitPairs, 0.0F);
  std::copy(pairs.radius_steps().begin(), pairs.radius_steps().end(), steps_.begin());
}

void CudaRowDescription::describe(const PairGroupQuantizer& groups) {
  rows_.kind = cuda::RowKind::groups;
  rows_.angle_bits = groups.angle_bits();
  rows_.radius_bits = groups.radius_bits();
  rows_.rows_offset = static_cast<uint32_t>(groups.row_offset(0));
  rows_.row_bytes = static_cast<uint32_t>(groups.row_bytes());
  count_units(units_of(rows_.dim));
}

}  // namespace polarquant::device
