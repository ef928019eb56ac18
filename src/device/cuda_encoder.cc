// SPDX-License-Identifier: MIT
#include "src/device/cuda_encoder.h"

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "src/codec/lloyd_max.h"
#include "src/codec/magnitude_planes.h"
#include "src/codec/planned_quantizer.h"
#include "src/codec/trellis_quantizer.h"
#include "src/device/cuda_query_description.h"
#include "src/device/cuda_row_description.h"

namespace polarquant::device {
namespace {

static_assert(kWindowBits == 8 && kCells == 256 && TrellisEncoder::kWarmupPairs == 32 &&
              TrellisEncoder::kExactPairs == 32);

void require_encodable(const Codec& codec) {
  const CodeDescription code = codec.quantizer().describe();
  // Bytes a vector scale a row by the coordinates that have bits alone.
  const bool is_trained_bits = codec.planned() != nullptr && codec.spec().centroids == 0 &&
                               codec.spec().family != CodecFamily::bytes;
  const bool is_trellis = codec.planned() == nullptr && code.lone_trellis() != nullptr;
  require((is_trellis || (is_trained_bits && code.stages.size() == 1)) &&
              codec.rotation().kind() != RotationKind::dense,
          StatusCode::unsupported,
          "codec: {} is not encoded on CUDA devices; Polar0.5 to Polar5, rotated as they are by "
          "default, or with -norot or -pca, are",
          print_spec(codec.spec()));
  constexpr int kLeastDim = 64;
  require(codec.dim() > kLeastDim, StatusCode::unsupported,
          "codec: {} dimensions are not encoded on CUDA devices; more than {} are", codec.dim(),
          kLeastDim);
  require(codec.is_trained(), StatusCode::not_trained, "{} must be trained before it can encode",
          print_spec(codec.spec()));
}

void put_numbers(const TrellisPlanes& planes, cuda::EncoderPart* part) {
  part->kind = cuda::CodeKind::windows;
  part->step_bits = planes.codebook().step;
  part->has_signs = planes.codebook().quadrant ? 1 : 0;
  std::copy_n(planes.codebook().cells.x, kCells, part->cell_x);
  std::copy_n(planes.codebook().cells.y, kCells, part->cell_y);
}
void put_numbers(const MagnitudePlanes& planes, cuda::EncoderPart* part) {
  part->kind = cuda::CodeKind::magnitudes;
  part->step_bits = planes.magnitude_bits();
  part->has_signs = 1;
  std::ranges::copy(planes.levels(), part->cell_x);
  std::ranges::copy(planes.boundaries(), part->cell_y);
}
void put_numbers(const LevelTable& /*levels*/, cuda::EncoderPart* /*part*/) {
  fail(StatusCode::internal, "codec: levels are not encoded on CUDA devices");
}

std::vector<cuda::EncoderPart> describe_parts(const Codec& codec) {
  const CodeDescription code = codec.quantizer().describe();
  std::vector<cuda::EncoderPart> parts;
  for (const CodePart& from : code.stages.front().parts) {
    cuda::EncoderPart& part = parts.emplace_back();
    std::visit([&](const auto* numbers) { put_numbers(*numbers, &part); }, from.numbers);
    part.first = from.first;
    part.dim = from.dim;
    part.signs_offset = static_cast<uint32_t>(from.signs_offset);
    part.codes_offset = static_cast<uint32_t>(from.codes_offset);
  }
  return parts;
}

std::vector<float> segment_scales(const Codec& codec) {
  std::vector<float> scales;
  if (codec.planned() == nullptr) return scales;
  for (const SegmentRate& segment : codec.planned()->plan()) scales.push_back(segment.scale);
  return scales;
}

}  // namespace

CudaEncoder::CudaEncoder(const Codec& codec, int32_t device)
    : dim_(codec.dim()),
      row_bytes_(codec.layout().group_bytes),
      longest_(codec.most_norm()),
      norm_unit_(codec.norm_unit()) {
  require_encodable(codec);
  require_cuda_device("options.device", device);
  const FactorFormat& format = codec.factor_format();
  const std::vector<cuda::EncoderPart> parts = describe_parts(codec);
  const std::vector<float> scales = segment_scales(codec);
  cuda::EncoderDescription description = {};
  description.dim = dim_;
  description.code_bytes = static_cast<uint32_t>(codec.quantizer().code_bytes());
  description.parts = static_cast<int32_t>(parts.size());
  description.part = parts.data();
  description.scales = scales.empty() ? nullptr : scales.data();
  description.rotation = describe_rotation(codec.rotation(), dim_);
  description.is_l2 = codec.metric() == Metric::l2 ? 1 : 0;
  description.is_cosine = codec.metric() == Metric::cosine ? 1 : 0;
  description.factor_form = cuda_factor_form(format.form);
  description.scale_unit = format.scale_unit;
  description.bias_unit = format.bias_unit;
  description.min_scale = format.min_scale();
  description.max_scale = format.max_scale();
  description.root_dim = std::sqrt(static_cast<double>(dim_));
  description.shortest = codec.least_norm();
  description.longest = longest_;
  description.nearly_centre2 = codec.least_norm2();
  description.least_alignment = codec.least_alignment();
  description.centre = codec.centre().data();
  device_encoder_.reset(call_cuda(cuda_functions().create_encoder, device, &description));
}

void CudaEncoder::encode(int64_t n, const float* x, uint8_t* codes, void* stream) const {
  cuda::EncodeRequest request = {};
  request.n = n;
  request.x = x;
  request.codes = codes;
  request.stream = stream;
  call_cuda(cuda_functions().encode, device_encoder_.get(), &request);
  if (request.refused_row < 0) return;
  require(request.refusal != cuda::Refusal::not_finite, StatusCode::bad_argument,
          "x: row {} is not finite; finite numbers are allowed", request.refused_row);
  require(
      request.refusal != cuda::Refusal::length, StatusCode::bad_argument,
      "x: row {}: its distance to the centre is above {:.3g}; up to this is allowed, by the unit "
      "{:.3g} and what scores in floats can hold",
      request.refused_row, longest_, norm_unit_);
  fail(StatusCode::internal, "x: row {}: its factors cannot be stored", request.refused_row);
}

}  // namespace polarquant::device
