// SPDX-License-Identifier: MIT
#include "src/core/portable_math.h"

#include <cmath>

namespace polarquant {
namespace {

constexpr double kLn2High = 0x1.62e42fefa3800p-1;  // 42 leading bits: exact times any exponent
constexpr double kLn2Low = 0x1.ef35793c76730p-45;
// π/2 in pieces of 33 bits: each times n < 2^20 is exact (Cody, Waite 1980).
constexpr double kHalfPiPieces[] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34,
                                    0x1.3198a2e000000p-69, 0x1.b839a252049c1p-104};

}  // namespace

double portable_log(double x) noexcept {
  // x = 2^e·m with m in [√½, √2); log m = 2·atanh(z), z = (m−1)/(m+1), |z| < .172.
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  const double z = (m - 1) / (m + 1);
  const double z2 = z * z;
  double series = 0;
  for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * z2;
  const double log_m = 2 * z + 2 * z * series;
  return exponent * kLn2High + (exponent * kLn2Low + log_m);
}

double portable_exp(double x) noexcept {
  // x = n·ln 2 + r, |r| ≤ .35; e^r by its Taylor series, then scaled by 2^n exactly.
  const double n = std::floor(x / (kLn2High + kLn2Low) + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double series = 1;
  for (int i = 18; i >= 1; --i) series = 1 + series * r / i;
  return std::ldexp(series, static_cast<int>(n));
}

SineCosine portable_sincos(double angle) noexcept {
  // angle = n·π/2 + r, |r| ≤ π/4; Taylor series of both, then turned by n quarter turns.
  const double n = std::floor(angle / (kPi / 2) + 0.5);
  double r = angle;
  for (const double piece : kHalfPiPieces) r -= n * piece;
  const double r2 = r * r;
  double sine = 1;
  double cosine = 1;
  for (int i = 9; i >= 1; --i) {
    sine = 1 - sine * r2 / ((2 * i) * (2 * i + 1));
    cosine = 1 - cosine * r2 / ((2 * i - 1) * (2 * i));
  }
  sine *= r;
  switch (static_cast<long long>(n) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

double portable_atan2(double y, double x) noexcept {
  const double width = std::fabs(x);
  const double height = std::fabs(y);
  const double longer = width > height ? width : height;
  if (longer == 0) return 0;
  // t = tan of the angle to the nearer axis; atan t = atan c + atan z with z = (t−c)/(1+tc), c the
  // nearest of 0, ½, 1, so that |z| ≤ ¼; atan z by its Taylor series.
  const double t = (width > height ? height : width) / longer;
  const double c = t < 0.25 ? 0 : t < 0.75 ? 0.5 : 1;
  const double angle_of_c = t < 0.25 ? 0 : t < 0.75 ? 0.46364760900080611621 : kPi / 4;
  const double z = (t - c) / (1 + t * c);
  const double z2 = z * z;
  double series = 0;
  for (int n = 27; n >= 3; n -= 2) series = (1.0 / n - series) * z2;
  double angle = angle_of_c + (z - z * series);
  if (height > width) angle = kPi / 2 - angle;
  if (x < 0) angle = kPi - angle;
  return y < 0 ? -angle : angle;
}

}  // namespace polarquant
