// SPDX-License-Identifier: MIT
#include "cuda/rotation_tables.h"

#include <vector>

#include "cuda/basis_product.h"
#include "cuda/device_memory.h"

namespace polarquant::cuda {
namespace {

constexpr int kSignLayers = 9;

}  // namespace

RotationView view_of(const RotationDescription& given, int dim, int wanted) {
  RotationView view = {};
  view.kind = given.kind;
  view.dim = dim;
  view.wanted = wanted;
  view.transform_size = given.transform_size;
  view.transform_scale = given.transform_scale;
  if (given.kind != Rotation::basis) return view;
  view.largest_value = static_cast<float>(given.most_basis_value);
  view.basis_one = static_cast<float>(given.basis_one);
  view.value_stride = basis_stride(dim);
  return view;
}

RotationTables::RotationTables(const RotationDescription& given, int dim, int wanted)
    : view_(view_of(given, dim, wanted)) {
  const size_t masks =
      given.kind == Rotation::hadamard ? kSignLayers * static_cast<size_t>(dim) : 0;
  std::vector<int8_t> basis;
  if (given.kind == Rotation::basis) basis = basis_planes(given.basis, dim, wanted);
  const auto carve = [&](Carver carver) {
    view_.sign_masks = upload_place<uint32_t>(&carver, masks, given.sign_masks);
    view_.basis = upload_place<int8_t>(&carver, basis.size(), basis.data());
    return carver.used();
  };
  tables_.need(carve(Carver(nullptr)));
  carve(Carver(tables_.as<void>()));
}

}  // namespace polarquant::cuda
