// SPDX-License-Identifier: MIT
// Householder reflections make the matrix tridiagonal (Golub and Van Loan, Matrix Computations,
// section 8.3.1); QL steps with implicit shifts find its eigenvalues (EISPACK's imtql2; Dubrulle,
// 1970). QL's plane rotations are recorded, and turn the eigenvectors later, a few columns at a
// time, which stay in the cache meanwhile.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "src/codec/symmetric_eigen.h"
#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// Squares of less have lost digits; numbers that are left are about 1.
constexpr double kLeastSquare = 1e-280;
/// QL needs two steps for most eigenvalues.
constexpr int kMostSteps = 60;
constexpr size_t kStripColumns = 32;
/// 24 MB of them.
constexpr size_t kMostRotations = size_t{1} << 20;
/// Rows that one task takes.
constexpr int64_t kRowsOfTask = 16;
/// Multiplications that pay for other threads.
constexpr int64_t kLeastWork = int64_t{1} << 17;

/// Σ a_i·b_i as in dot.h: 16 interleaved sums, then a tree.
double dot(const double* a, const double* b, size_t n) {
  double sums[16] = {};
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (size_t lane = 0; lane < 16; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += a[i] * b[i];
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}

/// Calls body(first, end) for ranges of [first, end) that hold kRowsOfTask rows or fewer.
template <class Body>
void for_rows(size_t first, size_t end, size_t row_work, const Body& body) {
  const auto rows = static_cast<int64_t>(end - first);
  const int64_t tasks = (rows + kRowsOfTask - 1) / kRowsOfTask;
  const bool small = rows * static_cast<int64_t>(row_work) < kLeastWork;
  parallel_for(tasks, thread_count(small ? 1 : 0, tasks), [&](int64_t task, int) {
    const size_t from = first + static_cast<size_t>(task * kRowsOfTask);
    body(from, std::min(end, from + static_cast<size_t>(kRowsOfTask)));
  });
}

struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  // beside[i] is element (i, i+1); the last is 0
  std::vector<double> factors;  // reflection i is 1 − factors[i]·u·uᵀ, u in row i of the matrix
};

/// Turns x (n) into u with (1 − factor·u·uᵀ)·x = (length, 0, …, 0).
struct Reflection {
  double factor;
  double length;
};
Reflection reflect(double* x, size_t n) {
  const double tail = dot(x + 1, x + 1, n - 1);
  if (tail < kLeastSquare) return {0, x[0]};
  const double norm = std::sqrt(x[0] * x[0] + tail);
  // The sign that adds: no digits are lost.
  const double length = x[0] > 0 ? -norm : norm;
  x[0] -= length;
  return {2 / (x[0] * x[0] + tail), length};
}

/// `a` (n, n), both triangles, holds the reflections' vectors afterwards, row i from column i + 1.
Tridiagonal make_tridiagonal(size_t n, double* a) {
  Tridiagonal out{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  // What the last reflection takes from the rows that are left: v·wᵀ + w·vᵀ.
  std::vector<double> v(n), w(n), next(n);
  for (size_t k = 0; k < n; ++k) {
    double* row = a + k * n;
    for (size_t j = k; j < n; ++j) row[j] -= v[k] * w[j] + w[k] * v[j];
    out.diagonal[k] = row[k];
    if (k + 1 == n) break;
    double* u = row + k + 1;
    const size_t size = n - k - 1;
    const Reflection reflection = reflect(u, size);
    out.beside[k] = reflection.length;
    out.factors[k] = reflection.factor;
    // One pass over the matrix takes the last reflection off and multiplies by this one's vector.
    for_rows(k + 1, n, 3 * size, [&](size_t first, size_t end) {
      for (size_t i = first; i < end; ++i) {
        double* other = a + i * n;
        const double vi = v[i], wi = w[i];
        for (size_t j = k + 1; j < n; ++j) other[j] -= vi * w[j] + wi * v[j];
        next[i] = reflection.factor * dot(other + k + 1, u, size);
      }
    });
    const double share = reflection.factor / 2 * dot(&next[k + 1], u, size);
    for (size_t j = 0; j < size; ++j) {
      v[k + 1 + j] = u[j];
      w[k + 1 + j] = next[k + 1 + j] - share * u[j];
    }
  }
  return out;
}

/// Rows `row` and row + 1 of the eigenvectors become c·z − s·y and s·z + c·y.
struct PlaneRotation {
  double c, s;
  size_t row;
};

void turn_rows(size_t n, std::vector<PlaneRotation>* rotations, double* vectors) {
  const auto strips = static_cast<int64_t>((n + kStripColumns - 1) / kStripColumns);
  parallel_for(strips, thread_count(0, strips), [&](int64_t strip, int) {
    const size_t first = static_cast<size_t>(strip) * kStripColumns;
    const size_t columns = std::min(kStripColumns, n - first);
    for (const PlaneRotation& rotation : *rotations) {
      double* z = vectors + rotation.row * n + first;
      double* y = z + n;
      for (size_t j = 0; j < columns; ++j) {
        const double zj = z[j], yj = y[j];
        z[j] = rotation.c * zj - rotation.s * yj;
        y[j] = rotation.s * zj + rotation.c * yj;
      }
    }
  });
  rotations->clear();
}

/// One QL step on rows first … last, which nothing joins to others.
void step(size_t first, size_t last, Tridiagonal* t, std::vector<PlaneRotation>* rotations) {
  std::vector<double>& d = t->diagonal;
  std::vector<double>& e = t->beside;
  const double half = (d[first + 1] - d[first]) / (2 * e[first]);
  const double root = std::sqrt(half * half + 1);
  double g = d[last] - d[first] + e[first] / (half + (half < 0 ? -root : root));
  double s = 1, c = 1, p = 0;
  for (size_t i = last; i-- > first;) {
    const double f = s * e[i];
    const double b = c * e[i];
    const double r = std::sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r == 0) {  // the matrix falls in two here
      d[i + 1] -= p;
      e[last] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    const double q = (d[i] - g) * s + 2 * c * b;
    p = s * q;
    d[i + 1] = g + p;
    g = c * q - b;
    rotations->push_back({c, s, i});
  }
  d[first] -= p;
  e[first] = g;
  e[last] = 0;
}

/// `vectors` (n, n), the identity, becomes the eigenvectors of `t`, whose diagonal becomes its
/// eigenvalues.
void solve_tridiagonal(size_t n, Tridiagonal* t, double* vectors) {
  double norm = 0;
  for (size_t i = 0; i < n; ++i)
    norm = std::max({norm, std::fabs(t->diagonal[i]), std::fabs(t->beside[i])});
  std::vector<PlaneRotation> rotations;
  for (size_t first = 0; first < n; ++first) {
    for (int steps = 0;; ++steps) {
      size_t last = first;
      for (; last + 1 < n; ++last) {
        const double near = std::fabs(t->diagonal[last]) + std::fabs(t->diagonal[last + 1]);
        // The second term keeps squares of what is left far from the least double.
        if (std::fabs(t->beside[last]) <= kEpsilon * near + kEpsilon * kEpsilon * norm) break;
      }
      if (last == first) break;
      require(steps < kMostSteps, StatusCode::internal,
              "eigenvectors of {} dimensions are not found in {} steps", n, kMostSteps);
      step(first, last, t, &rotations);
      if (rotations.size() >= kMostRotations) turn_rows(n, &rotations, vectors);
    }
  }
  turn_rows(n, &rotations, vectors);
}

/// Eigenvectors of the tridiagonal matrix, one a row, become those of the matrix it was made from.
void undo_reflections(size_t n, const Tridiagonal& t, const double* a, double* vectors) {
  for_rows(0, n, 2 * n * n, [&](size_t first, size_t end) {
    for (size_t k = n - 1; k-- > 0;) {
      const double* u = a + k * n + k + 1;
      const size_t size = n - k - 1;
      for (size_t i = first; i < end; ++i) {
        double* x = vectors + i * n + k + 1;
        const double share = t.factors[k] * dot(u, x, size);
        for (size_t j = 0; j < size; ++j) x[j] -= share * u[j];
      }
    }
  });
}

}  // namespace

void add_second_moments(int dim, int n, const double* rows, double* matrix) {
  const auto size = static_cast<size_t>(dim);
  for_rows(0, size, static_cast<size_t>(n) * size / 2, [&](size_t first, size_t end) {
    int r = 0;
    // Four rows for each time that a sum is read and written; their order is that of one row at a
    // time.
    for (; r + 4 <= n; r += 4) {
      const double* x = rows + static_cast<size_t>(r) * size;
      const double *y = x + size, *z = y + size, *w = z + size;
      for (size_t i = first; i < end; ++i) {
        double* sums = matrix + i * size;
        for (size_t j = i; j < size; ++j)
          sums[j] = sums[j] + x[i] * x[j] + y[i] * y[j] + z[i] * z[j] + w[i] * w[j];
      }
    }
    for (; r < n; ++r) {
      const double* x = rows + static_cast<size_t>(r) * size;
      for (size_t i = first; i < end; ++i) {
        double* sums = matrix + i * size;
        for (size_t j = i; j < size; ++j) sums[j] += x[i] * x[j];
      }
    }
  });
}

std::vector<double> solve_symmetric_eigen(int dim, std::vector<double>* matrix) {
  const auto n = static_cast<size_t>(dim);
  std::vector<double>& a = *matrix;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < i; ++j) a[i * n + j] = a[j * n + i];
  // Numbers of about 1, whose squares are far from the ends of double. A power of two rounds
  // nothing.
  double largest = 0;
  for (const double number : a) largest = std::max(largest, std::fabs(number));
  int exponent = 0;
  std::frexp(largest, &exponent);
  for (double& number : a) number = std::ldexp(number, -exponent);

  Tridiagonal t = make_tridiagonal(n, a.data());
  std::vector<double> vectors(checked_mul(dim, dim, "eigenvectors"));
  for (size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  solve_tridiagonal(n, &t, vectors.data());
  undo_reflections(n, t, a.data(), vectors.data());

  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t j) { return t.diagonal[i] < t.diagonal[j]; });
  std::vector<double> values(n);
  for (size_t i = 0; i < n; ++i) {
    values[i] = std::ldexp(t.diagonal[order[i]], exponent);
    std::copy_n(&vectors[order[i] * n], n, &a[i * n]);
  }
  return values;
}

}  // namespace polarquant
