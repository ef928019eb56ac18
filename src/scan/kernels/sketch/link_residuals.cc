// SPDX-License-Identifier: MIT
#include "src/scan/kernels/sketch/link_residuals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/sketch/link_residuals.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if POLAR_SIMD_SCALAR

ResidualSums sums(const int8_t* node, const int8_t* neighbour, int padded_dim, int signs,
                  ResidualScales scales, uint8_t* sign_bytes) {
  return sum_residual(node, neighbour, padded_dim, signs, scales, sign_bytes);
}

#else

HWY_ATTR ResidualSums sums(const int8_t* node, const int8_t* neighbour, int padded_dim, int signs,
                           ResidualScales scales, uint8_t* sign_bytes) {
  // 8 lanes at least: a byte of signs.
  const hn::CappedTag<int16_t, 32> d;
  const hn::Rebind<int8_t, decltype(d)> d8;
  const hn::RepartitionToWide<decltype(d)> dw;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const auto node_scale = hn::Set(d, scales.node);
  const auto neighbour_scale = hn::Set(d, scales.neighbour);
  auto node_squares = hn::Zero(dw);
  auto products = hn::Zero(dw);
  auto neighbour_squares = hn::Zero(dw);
  // Sums have two parts each.
  auto more_node = hn::Zero(dw);
  auto more_products = hn::Zero(dw);
  auto more_neighbour = hn::Zero(dw);
  // 127 · kMostLinkSigns / 8 fits 16 bits.
  auto signed_node = hn::Zero(d);
  auto signed_neighbour = hn::Zero(d);
  for (int j = 0; j < padded_dim; j += lanes) {
    const auto c = hn::PromoteTo(d, hn::Load(d8, node + j));
    const auto x = hn::PromoteTo(d, hn::Load(d8, neighbour + j));
    node_squares = hn::ReorderWidenMulAccumulate(dw, c, c, node_squares, more_node);
    products = hn::ReorderWidenMulAccumulate(dw, c, x, products, more_products);
    neighbour_squares = hn::ReorderWidenMulAccumulate(dw, x, x, neighbour_squares, more_neighbour);
    if (j >= signs) continue;
    const auto negative = hn::Lt(hn::Mul(neighbour_scale, x), hn::Mul(node_scale, c));
    hn::StoreMaskBits(d, negative, sign_bytes + j / 8);
    signed_node = hn::Add(signed_node, hn::IfThenElse(negative, hn::Neg(c), c));
    signed_neighbour = hn::Add(signed_neighbour, hn::IfThenElse(negative, hn::Neg(x), x));
  }
  const auto one = hn::Set(d, int16_t{1});
  const auto sum = [&](hn::Vec<decltype(dw)> a, hn::Vec<decltype(dw)> b)
                       HWY_ATTR { return hn::GetLane(hn::SumOfLanes(dw, hn::Add(a, b))); };
  const auto sum_narrow = [&](hn::Vec<decltype(d)> a) HWY_ATTR {
    auto upper = hn::Zero(dw);
    const auto lower = hn::ReorderWidenMulAccumulate(dw, a, one, hn::Zero(dw), upper);
    return sum(lower, upper);
  };
  return {sum(node_squares, more_node), sum(products, more_products),
          sum(neighbour_squares, more_neighbour), sum_narrow(signed_node),
          sum_narrow(signed_neighbour)};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(sums);

ResidualSums residual_sums(const int8_t* node, const int8_t* neighbour, int padded_dim, int signs,
                           ResidualScales scales, uint8_t* sign_bytes) {
  return HWY_DYNAMIC_DISPATCH(sums)(node, neighbour, padded_dim, signs, scales, sign_bytes);
}

}  // namespace polarquant
#endif
