// SPDX-License-Identifier: MIT
// log, exp, sine, cosine and atan2 from additions, multiplications and divisions alone, so that
// tables and random numbers are the same to the bit everywhere (libm's results differ between
// versions). Relative error under 1e-15; slow, for tables and set-up, not for kernels.
#pragma once

namespace polarquant {

inline constexpr double kPi = 3.14159265358979323846;

/// Natural logarithm of a positive, normal x.
double portable_log(double x) noexcept;
/// e^x for |x| ≤ 700.
double portable_exp(double x) noexcept;

struct SineCosine {
  double sine;
  double cosine;
};
/// Sine and cosine of an angle in radians, |angle| ≤ 1e6.
SineCosine portable_sincos(double angle) noexcept;
/// The angle of the point (x, y), finite, in (−π, π]; 0 for (0, 0). −0 counts as 0, unlike in libm.
double portable_atan2(double y, double x) noexcept;

}  // namespace polarquant
