// SPDX-License-Identifier: MIT
// Both densities are even about their centre, so only the right half is solved and mirrored. The
// start is the Panter-Dite spacing, level density ∝ f^⅓ (Proc. IRE 39, 1951); then Newton's method
// on ∂MSE/∂c = 0, whose Jacobian is tridiagonal. Lloyd's own iteration, used where a Newton step
// would disorder the levels, alone needs tens of thousands of steps at 256 levels.
#include "src/codec/lloyd_max.h"

#include <array>
#include <cmath>
#include <functional>
#include <mutex>

#include "src/core/portable_math.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

/// An even density, not normalized, for |x| ≤ end. Nine standard deviations cut off less than 1e-17
/// of it.
struct EvenDensity {
  std::function<double(double)> log_value;
  double spread;  // about its standard deviation
  double end;
};

EvenDensity normal_density() {
  return {[](double x) { return -0.5 * x * x; }, 1.0, 9.0};
}

/// sin^p(2θ) about π/4 is cos^p(2δ) ≤ exp(−2pδ²).
EvenDensity angle_density(int level) {
  const double power = std::ldexp(1.0, level - 1) - 1;
  const double spread = 1 / (2 * std::sqrt(power));
  const auto log_value = [power](double delta) {
    const double cosine = portable_sincos(2 * delta).cosine;
    // portable_exp takes no less than −700, where the density is practically 0.
    return cosine < 1e-300 ? -700.0 : std::max(-700.0, power * portable_log(cosine));
  };
  return {log_value, spread, std::min(9 * spread, kPi / 4)};
}

struct CellIntegrals {
  double mass = 0;   // ∫ f
  double pull = 0;   // ∫ (c−x) f
  double error = 0;  // ∫ (c−x)² f
};

/// Gauss-Legendre quadrature of five nodes on intervals of at most a quarter of the spread.
CellIntegrals integrate_cell(const EvenDensity& density, double from, double to, double level) {
  const double near = std::sqrt(5 - 2 * std::sqrt(10.0 / 7)) / 3;
  const double far = std::sqrt(5 + 2 * std::sqrt(10.0 / 7)) / 3;
  const double near_weight = (322 + 13 * std::sqrt(70.0)) / 900;
  const double far_weight = (322 - 13 * std::sqrt(70.0)) / 900;
  const double nodes[] = {-far, -near, 0, near, far};
  const double weights[] = {far_weight, near_weight, 128.0 / 225, near_weight, far_weight};

  const int intervals = 1 + static_cast<int>(4 * (to - from) / density.spread);
  const double half_width = (to - from) / intervals / 2;
  CellIntegrals sums;
  for (int interval = 0; interval < intervals; ++interval) {
    const double middle = from + (2 * interval + 1) * half_width;
    for (int node = 0; node < 5; ++node) {
      const double x = middle + half_width * nodes[node];
      const double mass = weights[node] * half_width * portable_exp(density.log_value(x));
      const double distance = level - x;
      sums.mass += mass;
      sums.pull += distance * mass;
      sums.error += distance * distance * mass;
    }
  }
  return sums;
}

/// The cells of the right half's levels: boundary i is the left end of level i's cell.
std::vector<double> cell_boundaries(const EvenDensity& density, const std::vector<double>& levels) {
  std::vector<double> boundaries = {0};
  for (size_t i = 1; i < levels.size(); ++i) boundaries.push_back((levels[i - 1] + levels[i]) / 2);
  boundaries.push_back(density.end);
  return boundaries;
}

std::vector<double> panter_dite_levels(const EvenDensity& density, int count) {
  constexpr int kSteps = 4096;
  std::vector<double> cumulative = {0};
  const double step = density.end / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const double value = portable_exp(density.log_value((i + 0.5) * step) / 3);
    cumulative.push_back(cumulative.back() + value);
  }
  std::vector<double> levels;
  size_t cell = 0;
  for (int i = 0; i < count; ++i) {
    const double target = (i + 0.5) / count * cumulative.back();
    while (cumulative[cell + 1] < target) ++cell;
    const double inside = (target - cumulative[cell]) / (cumulative[cell + 1] - cumulative[cell]);
    levels.push_back((static_cast<double>(cell) + inside) * step);
  }
  return levels;
}

bool is_ascending_inside(const std::vector<double>& levels, double end) {
  double previous = 0;
  for (const double level : levels) {
    if (!(level > previous)) return false;
    previous = level;
  }
  return previous < end;
}

/// Moves every level once; returns the largest move. The Jacobian follows from t_i =
/// (c_{i−1}+c_i)/2 and ∂pull/∂t = ∓f(t)·(c_i−c_{i−1})/2; the first cell's left end is 0 by symmetry
/// and stays there.
double improve_levels(const EvenDensity& density, std::vector<double>& levels) {
  const size_t count = levels.size();
  const std::vector<double> boundaries = cell_boundaries(density, levels);
  std::vector<CellIntegrals> cells;
  std::vector<double> coupling(count + 1, 0.0);  // f(t_i)·(c_i−c_{i−1})/4
  for (size_t i = 0; i < count; ++i) {
    cells.push_back(integrate_cell(density, boundaries[i], boundaries[i + 1], levels[i]));
    if (i == 0) continue;
    coupling[i] = portable_exp(density.log_value(boundaries[i])) * (levels[i] - levels[i - 1]) / 4;
  }

  // Gaussian elimination of the tridiagonal system Jacobian · move = −pull.
  std::vector<double> pivots(count);
  std::vector<double> moves(count);
  bool solvable = true;
  for (size_t i = 0; i < count; ++i) {
    pivots[i] = cells[i].mass - coupling[i] - coupling[i + 1];
    moves[i] = -cells[i].pull;
    if (i > 0) {
      const double factor = coupling[i] / pivots[i - 1];
      pivots[i] -= factor * coupling[i];
      moves[i] += factor * moves[i - 1];
    }
    solvable = solvable && pivots[i] > 0;
  }
  std::vector<double> improved = levels;
  if (solvable) {
    for (size_t i = count; i-- > 0;) {
      if (i + 1 < count) moves[i] += coupling[i + 1] * moves[i + 1];
      moves[i] /= pivots[i];
      improved[i] += moves[i];
    }
  }
  if (!solvable || !is_ascending_inside(improved, density.end)) {
    for (size_t i = 0; i < count; ++i) improved[i] = levels[i] - cells[i].pull / cells[i].mass;
  }

  double largest = 0;
  for (size_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(improved[i] - levels[i]));
  levels = std::move(improved);
  return largest;
}

/// The codebook of 2^bits levels, mirrored about `centre`.
ScalarCodebook solve(const EvenDensity& density, int bits, double centre) {
  std::vector<double> right = panter_dite_levels(density, 1 << (bits - 1));
  constexpr int kMaxSteps = 10000;
  const double tolerance = 1e-12 * density.spread;
  int steps = 0;
  while (improve_levels(density, right) > tolerance) {
    require(++steps < kMaxSteps, StatusCode::internal,
            "Lloyd-Max levels of {} bits did not settle in {} steps", bits, kMaxSteps);
  }

  ScalarCodebook codebook;
  for (size_t i = right.size(); i-- > 0;) codebook.levels.push_back(centre - right[i]);
  for (const double level : right) codebook.levels.push_back(centre + level);
  const std::vector<double> boundaries = cell_boundaries(density, right);
  double mass = 0;
  double error = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    const CellIntegrals cell = integrate_cell(density, boundaries[i], boundaries[i + 1], right[i]);
    mass += cell.mass;
    error += cell.error;
  }
  codebook.mse = error / mass;
  return codebook;
}

ScalarCodebook uniform_circle(int bits) {
  const int count = 1 << bits;
  const double width = 2 * kPi / count;
  ScalarCodebook codebook;
  for (int i = 0; i < count; ++i) codebook.levels.push_back((i + 0.5) * width);
  codebook.mse = width * width / 12;
  return codebook;
}

struct KeptCodebook {
  std::once_flag made;
  ScalarCodebook codebook;
};

void require_bits(int bits) {
  require(bits >= 1 && bits <= kMaxCodebookBits, StatusCode::bad_argument,
          "codebook bits: {}; 1 to {} are allowed", bits, kMaxCodebookBits);
}

}  // namespace

const ScalarCodebook& normal_codebook(int bits) {
  require_bits(bits);
  static std::array<KeptCodebook, kMaxCodebookBits> kept;
  KeptCodebook& entry = kept[static_cast<size_t>(bits - 1)];
  std::call_once(entry.made, [&] { entry.codebook = solve(normal_density(), bits, 0); });
  return entry.codebook;
}

const ScalarCodebook& angle_codebook(int level, int bits) {
  require_bits(bits);
  require(level >= 1 && level <= kMaxAngleLevel, StatusCode::bad_argument,
          "angle level: {}; 1 to {} are allowed", level, kMaxAngleLevel);
  static std::array<std::array<KeptCodebook, kMaxCodebookBits>, kMaxAngleLevel> kept;
  KeptCodebook& entry = kept[static_cast<size_t>(level - 1)][static_cast<size_t>(bits - 1)];
  std::call_once(entry.made, [&] {
    entry.codebook = level == 1 ? uniform_circle(bits) : solve(angle_density(level), bits, kPi / 4);
  });
  return entry.codebook;
}

LevelTable::LevelTable(const ScalarCodebook& codebook) {
  const std::vector<double>& levels = codebook.levels;
  for (size_t i = 0; i < levels.size(); ++i) {
    levels_.push_back(static_cast<float>(levels[i]));
    if (i == 0) continue;
    boundaries_.push_back(static_cast<float>((levels[i - 1] + levels[i]) / 2));
  }
}

}  // namespace polarquant
