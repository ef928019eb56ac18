// SPDX-License-Identifier: MIT
// "Polar2-pca" and its kin: the trellis code with rates and scales by a plan (segment_plan.h), in
// exactly the bytes of the untrained code of that name. Segments of one rate that lie side by side
// make one run, coded as one vector; with one rate of the trellis code everywhere the code is the
// untrained one.
//
// Code: the sign planes of the runs that have one, side by side: bit j is the sign of coordinate j;
// then the cell planes, run after run; then zeros.
#pragma once

#include <variant>
#include <vector>

#include "src/codec/magnitude_planes.h"
#include "src/codec/segment_plan.h"
#include "src/codec/trellis_quantizer.h"

namespace polarquant {

/// From here on the eigenproblem of training takes minutes: its time grows with dim³.
inline constexpr int kMaxPlannedDim = 8192;

/// What training measured on rows that it held out.
struct PlanErrors {
  double mse = 0;              // 1 − mean ⟨u,û⟩/dim
  double error = 0;            // mean of ‖û·‖u‖²/⟨u,û⟩ − u‖²/‖u‖²
  double untrained_error = 0;  // the same of the untrained code

  bool operator==(const PlanErrors&) const = default;
};

/// What the size of a code is said in. In bits a dimension: a row's scale is for all coordinates;
/// those without bits are taken to be as well coded as the others. In bytes, where few coordinates
/// have bits: the scale is for these alone (with .5 bits of a sixth of them, about centroids,
/// recall@10 is .32 instead of .04), and short rings are coded as long ones are, since most runs
/// are short.
enum class SizeIn : uint8_t { bits, bytes };

class PlannedQuantizer final : public Quantizer {
 public:
  /// Without a plan yet. Throws bad_argument for more than kMaxPlannedDim dimensions.
  PlannedQuantizer(int dim, size_t code_bytes, SizeIn size_in = SizeIn::bits);

  /// Throws bad_argument for a plan that does not fit.
  void set_plan(SegmentPlan plan, const PlanErrors& errors);

  /// Segments with one rate, above 0.
  struct Run {
    int first = 0;            // coordinate
    size_t cells_offset = 0;  // in the code
    std::variant<TrellisPlanes, MagnitudePlanes> planes;
  };
  const std::vector<Run>& runs() const { return runs_; }
  /// Coordinates before those without bits, which are 0 in every decoded vector.
  int coded_dims() const { return coded_dims_; }
  /// (dim), of the coordinates.
  const std::vector<float>& scales() const { return scales_; }
  const SegmentPlan& plan() const { return plan_; }
  const PlanErrors& errors() const { return errors_; }

  Input input() const override { return Input::direction; }
  bool needs_training() const override { return true; }
  bool is_trained() const override { return !plan_.empty(); }
  size_t code_bytes() const override { return code_bytes_; }
  CodeDescription describe() const override;
  double mse() const override { return errors_.mse; }
  int scaled_dims(int dim) const override { return size_in_ == SizeIn::bytes ? coded_dims_ : dim; }
  void encode(const float* v, uint8_t* code) const override { encode_and_decode(v, code, nullptr); }
  void encode_and_decode(const float* v, uint8_t* code, float* y) const override;
  void decode(const uint8_t* code, int row, float* y) const override;
  void save_tables(ByteWriter& out) const override;
  void load_tables(ByteReader& in) override;
  void use_kernels(const CodecKernels& kernels) override;
  size_t memory_bytes() const override;

 private:
  int dim_;
  size_t code_bytes_;
  SizeIn size_in_;
  size_t sign_bytes_ = 0;
  int coded_dims_ = 0;
  SegmentPlan plan_;
  PlanErrors errors_;
  std::vector<Run> runs_;      // of rates above 0
  std::vector<float> scales_;  // (dim)
};

}  // namespace polarquant
