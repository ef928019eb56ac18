// SPDX-License-Identifier: MIT
#include "src/codec/segment_plan.h"

#include <algorithm>
#include <cmath>

#include "src/codec/magnitude_planes.h"
#include "src/codec/trellis_codebooks.h"

namespace polarquant {
namespace {

constexpr int kMaxTrellisTwiceBits = 10;
/// Float32 resolves no smaller variance beside the others; scales would leave their range.
constexpr double kLeastVariance = 0x1p-38;

std::vector<Rate> make_rates() {
  std::vector<Rate> rates;
  for (const TrellisCodebook& book : trellis_codebooks())
    rates.push_back({book.twice_bits, book.mse, book.quadrant, book.step});
  for (int bits = kMinMagnitudeBits; bits <= kMaxMagnitudeBits; ++bits)
    rates.push_back({2 * bits, MagnitudePlanes::mse(bits), true, 2 * (bits - 1)});
  return rates;
}

/// Error per dimension that a rate leaves of variance 1.
double mse_of(int twice_bits) { return twice_bits == 0 ? 1.0 : find_plan_rate(twice_bits)->mse; }

}  // namespace

const std::vector<Rate>& plan_rates() {
  static const std::vector<Rate> rates = make_rates();
  return rates;
}

const Rate* find_plan_rate(int twice_bits) {
  for (const Rate& rate : plan_rates())
    if (rate.twice_bits == twice_bits) return &rate;
  return nullptr;
}

int segment_dims(int dim, int segment) {
  return std::min(kSegmentDims, dim - segment * kSegmentDims);
}

bool can_have_rate(int dims, int twice_bits) {
  return twice_bits <= kMaxTrellisTwiceBits || dims == kSegmentDims;
}

size_t segment_bytes(int dims, int twice_bits) {
  if (twice_bits == 0) return 0;
  const Rate& rate = *find_plan_rate(twice_bits);
  const int bits = (dims + 1) / 2 * rate.pair_bits;
  return static_cast<size_t>((rate.signs ? (dims + 7) / 8 : 0) + (bits + 7) / 8);
}

size_t plan_bytes(int dim, const SegmentPlan& plan) {
  size_t bytes = 0;
  for (int segment = 0; segment < segments_of(dim); ++segment)
    bytes +=
        segment_bytes(segment_dims(dim, segment), plan[static_cast<size_t>(segment)].twice_bits);
  return bytes;
}

int coded_dims(int dim, const SegmentPlan& plan, size_t bytes) {
  size_t used = 0;
  int coded = 0;
  for (int segment = 0; segment < std::ssize(plan); ++segment) {
    const int rate = plan[static_cast<size_t>(segment)].twice_bits;
    const int dims = segment_dims(dim, segment);
    if (rate == 0) break;
    used += segment_bytes(dims, rate);
    if (used > bytes && rate == kPartRate) {
      const size_t left = bytes - (used - segment_bytes(dims, rate));
      return coded + kPartDimsPerByte * static_cast<int>(left);
    }
    coded += dims;
  }
  return coded;
}

size_t least_plan_bytes(int dim, const SegmentPlan& plan) {
  const size_t bytes = plan_bytes(dim, plan);
  for (int segment = segments_of(dim) - 1; segment >= 0; --segment) {
    const int rate = plan[static_cast<size_t>(segment)].twice_bits;
    if (rate == 0) continue;
    return rate == kPartRate ? bytes - segment_bytes(segment_dims(dim, segment), rate) : bytes;
  }
  return bytes;
}

void code_part(int dim, size_t bytes, SegmentPlan* plan) {
  if (plan_bytes(dim, *plan) >= bytes) return;
  for (SegmentRate& segment : *plan) {
    if (segment.twice_bits > 0) continue;
    segment.twice_bits = kPartRate;
    return;
  }
}

SegmentPlan uniform_plan(int dim, int twice_bits) {
  return SegmentPlan(static_cast<size_t>(segments_of(dim)), SegmentRate{twice_bits, 1});
}

SegmentPlan even_plan(int dim, int twice_bits, size_t bytes) {
  const int segments = segments_of(dim);
  if (can_have_rate(segment_dims(dim, segments - 1), twice_bits))
    return uniform_plan(dim, twice_bits);
  return allocate_rates(dim, std::vector<double>(static_cast<size_t>(segments), 1.0), bytes);
}

double plan_mse(int dim, const SegmentPlan& plan) {
  if (plan.front().twice_bits == plan.back().twice_bits) return mse_of(plan.front().twice_bits);
  double sum = 0;
  for (int segment = 0; segment < segments_of(dim); ++segment)
    sum += segment_dims(dim, segment) * mse_of(plan[static_cast<size_t>(segment)].twice_bits);
  return sum / dim;
}

float scale_of_variance(double variance) {
  return variance >= kLeastVariance ? static_cast<float>(std::sqrt(variance)) : 1;
}

SegmentPlan allocate_rates(int dim, std::span<const double> variances, size_t bytes) {
  SegmentPlan plan(variances.size());
  for (size_t i = 0; i < plan.size(); ++i) plan[i].scale = scale_of_variance(variances[i]);
  size_t used = 0;
  for (;;) {
    struct {
      double gain_per_byte = 0;
      size_t segment = 0;
      int twice_bits = 0;
      size_t bytes = 0;
    } best;
    for (size_t i = 0; i < plan.size(); ++i) {
      if (variances[i] < kLeastVariance) continue;
      const int dims = segment_dims(dim, static_cast<int>(i));
      const int now = plan[i].twice_bits;
      for (const Rate& rate : plan_rates()) {
        if (rate.twice_bits <= now) continue;
        if (i > 0 && rate.twice_bits > plan[i - 1].twice_bits) continue;
        if (!can_have_rate(dims, rate.twice_bits)) continue;
        const size_t more = segment_bytes(dims, rate.twice_bits) - segment_bytes(dims, now);
        if (used + more > bytes) continue;
        const double gain = variances[i] * dims * (mse_of(now) - rate.mse);
        const double per_byte = gain / static_cast<double>(std::max<size_t>(more, 1));
        if (per_byte > best.gain_per_byte) best = {per_byte, i, rate.twice_bits, more};
      }
    }
    if (best.gain_per_byte == 0) return plan;
    plan[best.segment].twice_bits = best.twice_bits;
    used += best.bytes;
  }
}

}  // namespace polarquant
