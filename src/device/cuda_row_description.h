// SPDX-License-Identifier: MIT
// Describes a codec's rows by cuda/row_format.h: units of 16 numbers, where their bits lie, and
// which coordinate each number is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/interface.h"
#include "src/codec/codec.h"

namespace polarquant::device {

cuda::FactorForm cuda_factor_form(FactorForm form);

class CudaRowDescription {
 public:
  /// Throws unsupported for rows that devices do not decode.
  explicit CudaRowDescription(const Codec& codec);

  /// Points into this object.
  cuda::RowDescription view() const;
  int units() const { return rows_.units; }
  /// The floats of a query or of a sum: 16·units.
  size_t width() const { return coordinates_.size(); }
  /// Orders query q, (dim), as rows are decoded: (width), 0 where a row has no coordinate.
  void spread(const float* q, float* spread) const;
  /// Orders a sum of decoded rows, (width), by coordinates: (dim).
  void gather(const double* sum, double* coordinates) const;

 private:
  void begin_cells(int units);
  void describe_stages(const CodeDescription& code, const PlannedQuantizer* planned);
  void describe_trellis(const CodeDescription& code);
  void describe_part(const TrellisPlanes& planes, const CodePart& from, int stage, float scale);
  void describe_part(const MagnitudePlanes& planes, const CodePart& from, int stage, float scale);
  void describe_part(const LevelTable& table, const CodePart& from, int stage, float scale);
  struct Fields;
  void describe_fields(const Fields& fields);
  void describe(const ScalarQuantizer& scalar);
  void describe(const TreeQuantizer& tree);
  void describe(const PairQuantizer& pairs);
  void describe(const PairGroupQuantizer& groups);
  uint32_t add_points(std::span<const float> x, std::span<const float> y);
  void count_units(int units);

  cuda::RowDescription rows_ = {};
  std::vector<cuda::TablePoint> table_;
  std::vector<cuda::CellUnit> cells_;
  std::vector<float> steps_;
  /// The coordinate of each number of each unit; −1: none.
  std::vector<int32_t> coordinates_;
  /// Numbers are coordinates of Walsh-Hadamard transformed blocks of this size; 0: of none.
  int transformed_block_ = 0;
};

}  // namespace polarquant::device
