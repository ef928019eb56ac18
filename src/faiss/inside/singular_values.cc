// SPDX-License-Identifier: MIT
// The eigenvectors of aᵀa nearly make the columns of a orthogonal; plane rotations do the little
// that is left (Hestenes, 1958; Golub and Van Loan, Matrix Computations, section 8.6.3), so that
// small singular values are as exact as with rotations alone.
#include "src/faiss/inside/singular_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/codec/symmetric_eigen.h"
#include "src/core/status.h"
#include "src/faiss/inside/factorizations.h"
#include "src/simd/matrix_product.h"

namespace polarquant {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// Squares of less have lost digits.
constexpr double kLeastNorm = 1e-140;
/// Two or three do; more are for matrices of very different columns.
constexpr int kMostSweeps = 40;
/// Rows that become double at a time.
constexpr int64_t kRowsAtOnce = 2048;

double dot(const double* a, const double* b, int64_t n) {
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t lane = 0; lane < 8; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (int64_t lane = 0; i < n; ++i, ++lane) sums[lane] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// x and y become c·x − s·y and s·x + c·y.
void rotate(double c, double s, int64_t n, double* x, double* y) {
  for (int64_t i = 0; i < n; ++i) {
    const double xi = x[i], yi = y[i];
    x[i] = c * xi - s * yi;
    y[i] = s * xi + c * yi;
  }
}

/// Eigenvalues of aᵀa, rising, and its eigenvectors, one a column; `gram` as symmetric_eigen.h has
/// it.
struct Eigen {
  std::vector<double> values, vectors;
};
Eigen find_eigen(int64_t n, std::vector<double> gram) {
  std::vector<double> values = solve_symmetric_eigen(static_cast<int>(n), &gram);
  return {std::move(values), std::move(gram)};
}

/// w (rows, n) with columns that are orthogonal, = a·v.
class OrthogonalColumns {
 public:
  OrthogonalColumns(int64_t rows, int64_t n, const double* a)
      : rows_(rows), n_(n), w_(static_cast<size_t>(rows * n)), squares_(static_cast<size_t>(n)) {
    std::vector<double> gram(static_cast<size_t>(n * n));
    multiply_matrices<double>(
        {n, n, rows, 1, {a, rows, true}, {a, rows, false}, 0, gram.data(), n});
    v_ = find_eigen(n, std::move(gram)).vectors;
    multiply_matrices<double>(
        {rows, n, n, 1, {a, rows, false}, {v_.data(), n, false}, 0, w_.data(), rows});
    for (int64_t j = 0; j < n; ++j) measure(j);
    int sweeps = 0;
    while (sweep()) {
      require(++sweeps < kMostSweeps, StatusCode::internal,
              "singular values of {} columns are not found in {} sweeps", n, kMostSweeps);
    }
  }

  double norm(int64_t j) const { return std::sqrt(squares_[static_cast<size_t>(j)]); }
  const double* w(int64_t j) const { return &w_[static_cast<size_t>(j * rows_)]; }
  const double* v(int64_t j) const { return &v_[static_cast<size_t>(j * n_)]; }

 private:
  double* changed_w(int64_t j) { return &w_[static_cast<size_t>(j * rows_)]; }
  void measure(int64_t j) { squares_[static_cast<size_t>(j)] = dot(w(j), w(j), rows_); }

  /// Whether columns p and q had to be turned.
  bool turn(int64_t p, int64_t q) {
    const double product = dot(w(p), w(q), rows_);
    const double longest = norm(p), other = norm(q);
    const double tolerance = kEpsilon * std::sqrt(static_cast<double>(rows_));
    if (longest < kLeastNorm || other < kLeastNorm ||
        !(std::fabs(product) > tolerance * longest * other))
      return false;
    const double half =
        (squares_[static_cast<size_t>(q)] - squares_[static_cast<size_t>(p)]) / (2 * product);
    const double root = std::sqrt(half * half + 1);
    const double tangent = 1 / (half + (half < 0 ? -root : root));
    const double cosine = 1 / std::sqrt(tangent * tangent + 1);
    rotate(cosine, cosine * tangent, rows_, changed_w(p), changed_w(q));
    rotate(cosine, cosine * tangent, n_, &v_[static_cast<size_t>(p * n_)],
           &v_[static_cast<size_t>(q * n_)]);
    measure(p);
    measure(q);
    return true;
  }
  bool sweep() {
    bool turned = false;
    for (int64_t p = 0; p < n_; ++p)
      for (int64_t q = p + 1; q < n_; ++q) turned = turn(p, q) || turned;
    return turned;
  }

  int64_t rows_, n_;
  std::vector<double> w_, v_, squares_;
};

/// The columns from `filled` on become orthogonal to all before them, of length 1.
void complete_orthogonal(int64_t rows, int64_t filled, std::vector<double>* u) {
  std::vector<double> copy = *u;
  std::vector<double> factors(static_cast<size_t>(filled));
  factor_qr<double>({rows, filled, copy.data(), rows}, factors.data());
  form_orthogonal<double>({rows, rows, copy.data(), rows}, filled, factors.data());
  const auto at = static_cast<std::ptrdiff_t>(rows * filled);
  std::copy(copy.begin() + at, copy.end(), u->begin() + at);
}

/// For rows ≥ columns.
SingularValues find_of_tall(int64_t rows, int64_t n, const double* a) {
  const OrthogonalColumns columns(rows, n, a);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return columns.norm(i) > columns.norm(j); });
  SingularValues found{std::vector<double>(static_cast<size_t>(rows * rows)), {}, {}};
  found.v.reserve(static_cast<size_t>(n * n));
  int64_t filled = 0;
  for (const int64_t j : order) {
    const double norm = columns.norm(j);
    found.values.push_back(norm);
    found.v.insert(found.v.end(), columns.v(j), columns.v(j) + n);
    if (norm < kLeastNorm) continue;
    double* u = &found.u[static_cast<size_t>(filled++ * rows)];
    for (int64_t i = 0; i < rows; ++i) u[i] = columns.w(j)[i] / norm;
  }
  complete_orthogonal(rows, filled, &found.u);
  return found;
}

}  // namespace

SingularValues find_singular_values(int64_t rows, int64_t columns, const double* a) {
  if (rows >= columns) return find_of_tall(rows, columns, a);
  std::vector<double> transposed(static_cast<size_t>(rows * columns));
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      transposed[static_cast<size_t>(i * columns + j)] = a[j * rows + i];
  SingularValues found = find_of_tall(columns, rows, transposed.data());
  std::swap(found.u, found.v);
  return found;
}

// aᵀa·x = aᵀb: in double it knows singular values down to 1e-8 of the largest.
std::vector<double> solve_least_squares(const LeastSquares& problem) {
  const int64_t n = problem.columns, count = problem.count;
  std::vector<double> gram(static_cast<size_t>(n * n)), targets(static_cast<size_t>(n * count));
  std::vector<double> a(static_cast<size_t>(std::min(kRowsAtOnce, problem.rows) * n));
  std::vector<double> b(static_cast<size_t>(std::min(kRowsAtOnce, problem.rows) * count));
  for (int64_t first = 0; first < problem.rows; first += kRowsAtOnce) {
    const int64_t rows = std::min(kRowsAtOnce, problem.rows - first);
    for (int64_t j = 0; j < n; ++j)
      std::copy_n(problem.a + j * problem.a_stride + first, rows,
                  &a[static_cast<size_t>(j * rows)]);
    for (int64_t j = 0; j < count; ++j)
      std::copy_n(problem.b + j * problem.b_stride + first, rows,
                  &b[static_cast<size_t>(j * rows)]);
    const MatrixView<double> left{a.data(), rows, true};
    multiply_matrices<double>({n, n, rows, 1, left, {a.data(), rows, false}, 1, gram.data(), n});
    multiply_matrices<double>(
        {n, count, rows, 1, left, {b.data(), rows, false}, 1, targets.data(), n});
  }
  const Eigen eigen = find_eigen(n, std::move(gram));
  std::vector<double> shares(static_cast<size_t>(n * count));
  const MatrixView<double> vectors{eigen.vectors.data(), n, false};
  multiply_matrices<double>({n,
                             count,
                             n,
                             1,
                             {eigen.vectors.data(), n, true},
                             {targets.data(), n, false},
                             0,
                             shares.data(),
                             n});
  const double least = std::max(problem.least_share, 1e-7);
  for (int64_t i = 0; i < n; ++i) {
    const double value = eigen.values[static_cast<size_t>(i)];
    const bool counts = value > least * least * eigen.values.back();
    for (int64_t j = 0; j < count; ++j) {
      double& share = shares[static_cast<size_t>(j * n + i)];
      share = counts ? share / value : 0;
    }
  }
  multiply_matrices<double>(
      {n, count, n, 1, vectors, {shares.data(), n, false}, 0, targets.data(), n});
  for (int64_t j = 0; j < count; ++j)
    for (int64_t i = 0; i < n; ++i)
      problem.b[j * problem.b_stride + i] =
          static_cast<float>(targets[static_cast<size_t>(j * n + i)]);
  std::vector<double> values(static_cast<size_t>(std::min(problem.rows, n)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sqrt(std::max(eigen.values[static_cast<size_t>(n) - 1 - i], 0.0));
  return values;
}

}  // namespace polarquant
