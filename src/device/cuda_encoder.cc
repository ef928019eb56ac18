// SPDX-License-Identifier: MIT
#include "src/device/cuda_encoder.h"

#include <cmath>

#include "src/codec/trellis_quantizer.h"
#include "src/device/cuda_row_description.h"

namespace polarquant::device {
namespace {

static_assert(kWindowBits == 8 && kCells == 256 && TrellisEncoder::kWarmupPairs == 32);

const TrellisPlanes& require_encodable(const Codec& codec) {
  const TrellisPlanes* trellis =
      codec.planned() == nullptr ? codec.quantizer().describe().lone_trellis() : nullptr;
  const RotationKind rotation = codec.rotation().kind();
  require(
      trellis != nullptr && (rotation == RotationKind::hadamard || rotation == RotationKind::none),
      StatusCode::unsupported,
      "codec: {} is not encoded on CUDA devices; Polar0.5 to Polar5, rotated as they are by "
      "default or with -norot, are",
      print_spec(codec.spec()));
  require(trellis->pairs() > TrellisEncoder::kExactPairs, StatusCode::unsupported,
          "codec: {} dimensions are not encoded on CUDA devices; more than {} are", codec.dim(),
          2 * TrellisEncoder::kExactPairs);
  return *trellis;
}

}  // namespace

CudaEncoder::CudaEncoder(const Codec& codec, int32_t device)
    : dim_(codec.dim()),
      row_bytes_(codec.layout().group_bytes),
      longest_(codec.most_norm()),
      norm_unit_(codec.norm_unit()) {
  const TrellisPlanes& planes = require_encodable(codec);
  require_cuda_device("options.device", device);
  const FactorFormat& format = codec.factor_format();
  cuda::EncoderDescription description = {};
  description.dim = dim_;
  description.step_bits = planes.codebook().step;
  description.has_signs = planes.codebook().quadrant ? 1 : 0;
  if (codec.rotation().kind() == RotationKind::hadamard) {
    const HadamardTables tables = codec.rotation().tables();
    description.rotation = cuda::Rotation::hadamard;
    description.transform_size = tables.transform_size;
    description.transform_scale =
        static_cast<float>(1 / std::sqrt(static_cast<double>(tables.transform_size)));
    description.sign_masks = tables.sign_masks;
  }
  description.is_l2 = codec.metric() == Metric::l2 ? 1 : 0;
  description.is_cosine = codec.metric() == Metric::cosine ? 1 : 0;
  description.factor_form = cuda_factor_form(format.form);
  description.scale_unit = format.scale_unit;
  description.bias_unit = format.bias_unit;
  description.max_scale = format.max_scale();
  description.root_dim = std::sqrt(static_cast<double>(dim_));
  description.shortest = codec.least_norm();
  description.longest = longest_;
  description.nearly_centre2 = codec.least_norm2();
  description.least_alignment = codec.least_alignment();
  description.centre = codec.centre().data();
  description.cell_x = planes.codebook().cells.x;
  description.cell_y = planes.codebook().cells.y;
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
