// SPDX-License-Identifier: MIT
#include "src/device/cuda_query_description.h"

#include <cmath>

#include "src/codec/dot.h"
#include "src/device/cuda_description.h"

namespace polarquant::device {

cuda::RotationDescription describe_rotation(const Rotation& rotation, int dim) {
  cuda::RotationDescription description = {};
  if (rotation.kind() == RotationKind::hadamard) {
    const HadamardTables tables = rotation.tables();
    description.kind = cuda::Rotation::hadamard;
    description.transform_size = tables.transform_size;
    description.transform_scale =
        static_cast<float>(1 / std::sqrt(static_cast<double>(tables.transform_size)));
    description.sign_masks = tables.sign_masks;
  } else if (rotation.kind() == RotationKind::pca) {
    description.kind = cuda::Rotation::basis;
    description.basis = rotation.basis().data();
    description.basis_one = kBasisOne;
    description.most_basis_value = most_basis_value(dim);
  }
  return description;
}

bool prepares_queries(const Codec& codec) {
  return codec.dim() <= cuda::kMostPreparedDims && codec.rotation().kind() != RotationKind::dense;
}

cuda::QueryDescription describe_queries(const Codec& codec, const ScanCodec& scan_codec) {
  cuda::QueryDescription description = {};
  description.rotation = describe_rotation(codec.rotation(), codec.dim());
  description.centre = codec.centre().data();
  description.centre_norm =
      std::sqrt(dot_exact(codec.centre().data(), codec.centre().data(), codec.dim()));
  description.is_cosine = codec.metric() == Metric::cosine ? 1 : 0;
  description.values = describe_values(scan_codec);
  return description;
}

}  // namespace polarquant::device
