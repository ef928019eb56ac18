// SPDX-License-Identifier: MIT
// Our products and factorizations, which FAISS's sources inside the library call, against what
// defines them, with sums in double. Matrices as BLAS has them, column after column.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "src/core/random.h"
#include "src/core/threads.h"
#include "src/faiss/inside/factorizations.h"
#include "src/faiss/inside/singular_values.h"
#include "src/simd/matrix_product.h"
#include "tests/scan/every_target.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

template <class T>
struct Matrix {
  int64_t rows, columns;
  std::vector<T> numbers;
  Matrix(int64_t m, int64_t n) : rows(m), columns(n), numbers(static_cast<size_t>(m * n)) {}
  T& at(int64_t i, int64_t j) { return numbers[static_cast<size_t>(i + j * rows)]; }
  T at(int64_t i, int64_t j) const { return numbers[static_cast<size_t>(i + j * rows)]; }
  T* data() { return numbers.data(); }
  const T* data() const { return numbers.data(); }
};

template <class T>
Matrix<T> random_matrix(int64_t rows, int64_t columns, uint64_t seed) {
  Random random(seed);
  Matrix<T> matrix(rows, columns);
  for (T& number : matrix.numbers) number = static_cast<T>(random.normal());
  return matrix;
}

/// a·b, or aᵀ·b.
template <class T>
Matrix<double> multiply(const Matrix<T>& a, const Matrix<T>& b, bool transpose_a = false) {
  Matrix<double> c(transpose_a ? a.columns : a.rows, b.columns);
  const int64_t inner = transpose_a ? a.rows : a.columns;
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j)
      for (int64_t k = 0; k < inner; ++k)
        c.at(i, j) += static_cast<double>(transpose_a ? a.at(k, i) : a.at(i, k)) *
                      static_cast<double>(b.at(k, j));
  return c;
}

template <class T>
double largest_difference(const Matrix<double>& a, const Matrix<T>& b) {
  REQUIRE(a.rows == b.rows);
  REQUIRE(a.columns == b.columns);
  double largest = 0;
  for (size_t i = 0; i < a.numbers.size(); ++i) {
    const double difference = std::fabs(a.numbers[i] - static_cast<double>(b.numbers[i]));
    largest = difference <= largest ? largest : difference;  // NaN is the largest
  }
  return largest;
}

template <class T>
void check_orthogonal(const Matrix<T>& q, double bound) {
  Matrix<double> one(q.columns, q.columns);
  for (int64_t i = 0; i < q.columns; ++i) one.at(i, i) = 1;
  CHECK(largest_difference(multiply(q, q, true), one) < bound);
}

struct Shape {
  int64_t rows, columns, inner;
};
const Shape kShapes[] = {{1, 1, 1},    {3, 5, 2},     {16, 6, 1},      {33, 7, 100},
                         {64, 12, 64}, {17, 129, 31}, {130, 25, 1030}, {600, 300, 40}};

/// Calls check(product) for a product in all forms, whose result stands in `c` with a row to spare.
template <class T>
void check_product(const Shape& shape, bool a_transposed, bool b_transposed, T beta) {
  const auto [rows, columns, inner] = shape;
  CAPTURE(rows, columns, inner, a_transposed, b_transposed, beta);
  const auto a = a_transposed ? random_matrix<T>(inner, rows, 1) : random_matrix<T>(rows, inner, 1);
  const auto b =
      b_transposed ? random_matrix<T>(columns, inner, 2) : random_matrix<T>(inner, columns, 2);
  Matrix<T> c = random_matrix<T>(rows + 1, columns, 3);
  if (beta == T{0}) std::fill(c.numbers.begin(), c.numbers.end(), static_cast<T>(NAN));
  const Matrix<T> before = c;
  const T alpha = static_cast<T>(1.5);
  multiply_matrices<T>({rows,
                        columns,
                        inner,
                        alpha,
                        {a.data(), a.rows, a_transposed},
                        {b.data(), b.rows, b_transposed},
                        beta,
                        c.data(),
                        c.rows});
  double wrong = 0;
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < inner; ++k)
        sum += static_cast<double>(a_transposed ? a.at(k, i) : a.at(i, k)) *
               static_cast<double>(b_transposed ? b.at(j, k) : b.at(k, j));
      sum *= static_cast<double>(alpha);
      if (beta != T{0}) sum += static_cast<double>(beta) * static_cast<double>(before.at(i, j));
      const double difference = std::fabs(sum - static_cast<double>(c.at(i, j)));
      wrong = difference <= wrong ? wrong : difference;
    }
    // The row below is not the product's.
    const T below = before.at(rows, j);
    REQUIRE((c.at(rows, j) == below || (std::isnan(below) && std::isnan(c.at(rows, j)))));
  }
  // A sum of n numbers of about 1 is of about √n, and has rounded n times on the way there.
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  CHECK(wrong / epsilon < 8 * static_cast<double>(inner) + 16);
}

template <class T>
void check_products() {
  for (const Shape& shape : kShapes)
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true})
        for (const T beta : {T{0}, T{1}, static_cast<T>(.5)})
          check_product<T>(shape, a_transposed, b_transposed, beta);
}

template <class T>
Matrix<T> product_of(const Shape& shape) {
  const auto a = random_matrix<T>(shape.inner, shape.rows, 5);
  const auto b = random_matrix<T>(shape.inner, shape.columns, 6);
  Matrix<T> c(shape.rows, shape.columns);
  multiply_matrices<T>({shape.rows,
                        shape.columns,
                        shape.inner,
                        1,
                        {a.data(), a.rows, true},
                        {b.data(), b.rows, false},
                        0,
                        c.data(),
                        c.rows});
  return c;
}

/// Singular values that the matrix is made with; its columns are far from equal.
Matrix<double> matrix_with(const std::vector<double>& values, int64_t rows, int64_t columns) {
  const auto orthogonal = [](int64_t n, uint64_t seed) {
    Matrix<double> q = random_matrix<double>(n, n, seed);
    std::vector<double> factors(static_cast<size_t>(n));
    factor_qr<double>({n, n, q.data(), n}, factors.data());
    form_orthogonal<double>({n, n, q.data(), n}, n, factors.data());
    return q;
  };
  const Matrix<double> u = orthogonal(rows, 1), v = orthogonal(columns, 2);
  Matrix<double> a(rows, columns);
  for (size_t k = 0; k < values.size(); ++k)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i)
        a.at(i, j) +=
            u.at(i, static_cast<int64_t>(k)) * values[k] * v.at(j, static_cast<int64_t>(k));
  return a;
}

void check_singular_values(const Matrix<double>& a, const std::vector<double>& expected) {
  CAPTURE(a.rows, a.columns);
  const SingularValues found = find_singular_values(a.rows, a.columns, a.data());
  REQUIRE(found.values.size() == static_cast<size_t>(std::min(a.rows, a.columns)));
  const double largest = std::max(found.values[0], 1e-300);
  for (size_t i = 0; i < found.values.size(); ++i) {
    if (i > 0) CHECK(found.values[i] <= found.values[i - 1]);
    const double wanted = i < expected.size() ? expected[i] : 0;
    CHECK(std::fabs(found.values[i] - wanted) < 1e-13 * largest);
  }
  Matrix<double> u(a.rows, a.rows), v(a.columns, a.columns), scaled(a.rows, a.columns);
  u.numbers = found.u;
  v.numbers = found.v;
  check_orthogonal(u, 1e-12);
  check_orthogonal(v, 1e-12);
  for (size_t k = 0; k < found.values.size(); ++k)
    for (int64_t j = 0; j < a.columns; ++j)
      for (int64_t i = 0; i < a.rows; ++i)
        scaled.at(i, j) +=
            u.at(i, static_cast<int64_t>(k)) * found.values[k] * v.at(j, static_cast<int64_t>(k));
  CHECK(largest_difference(a, scaled) < 1e-13 * largest);
}

}  // namespace

TEST_CASE("Products are those of their definition, on every target", "[faiss]") {
  test::on_every_target([] {
    check_products<float>();
    check_products<double>();
  });
}

TEST_CASE("Products have the same bits on every target and with any threads", "[faiss]") {
  const Shape shape{200, 330, 700};
  const int before = default_threads();
  std::vector<float> first;
  test::on_every_target([&] {
    for (const int threads : {1, 3}) {
      set_default_threads(threads);
      const Matrix<float> c = product_of<float>(shape);
      if (first.empty()) first = c.numbers;
      CHECK(c.numbers == first);
    }
  });
  set_default_threads(before);
}

TEST_CASE("QR gives the matrix again, and orthogonal columns", "[faiss]") {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 5}, {40, 17}, {200, 200}}) {
    CAPTURE(rows, columns);
    const Matrix<float> a = random_matrix<float>(rows, columns, 3);
    Matrix<float> q = a;
    std::vector<float> factors(static_cast<size_t>(columns));
    factor_qr<float>({rows, columns, q.data(), rows}, factors.data());
    Matrix<float> r(columns, columns);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i <= j; ++i) r.at(i, j) = q.at(i, j);
    form_orthogonal<float>({rows, columns, q.data(), rows}, columns, factors.data());
    check_orthogonal(q, 1e-5);
    CHECK(largest_difference(multiply(q, r), a) < 2e-5);
  }
}

TEST_CASE("LU inverts, and refuses what has no inverse", "[faiss]") {
  for (const int64_t n : {1, 2, 31, 100}) {
    const Matrix<double> a = random_matrix<double>(n, n, 4);
    Matrix<double> inverse = a;
    std::vector<int64_t> pivots(static_cast<size_t>(n));
    REQUIRE(factor_lu<double>({n, n, inverse.data(), n}, pivots.data()));
    invert_lu<double>({n, n, inverse.data(), n}, pivots.data());
    Matrix<double> one(n, n);
    for (int64_t i = 0; i < n; ++i) one.at(i, i) = 1;
    CHECK(largest_difference(multiply(a, inverse), one) < 1e-10);
  }
  Matrix<double> zero(3, 3);
  std::vector<int64_t> pivots(3);
  CHECK(!factor_lu<double>({3, 3, zero.data(), 3}, pivots.data()));
}

TEST_CASE("Singular values and vectors are those that a matrix is made with", "[faiss]") {
  const std::vector<double> falling = {9, 7, 3, 3, 3, 1, 1e-3, 1e-9, 1e-12};
  for (const auto& [rows, columns] : {std::pair{9, 9}, {30, 9}, {9, 30}, {12, 10}})
    check_singular_values(matrix_with(falling, rows, columns), falling);
  check_singular_values(matrix_with({2, 1}, 20, 15), {2, 1});
  check_singular_values(Matrix<double>(4, 3), {});
  check_singular_values(matrix_with({5}, 1, 1), {5});
}

TEST_CASE("Least squares have residuals orthogonal to the columns, and are short", "[faiss]") {
  const int64_t rows = 300, columns = 20, count = 3;
  Matrix<float> a = random_matrix<float>(rows, columns, 7);
  // The last column is the first: the shortest solution shares its weight.
  std::copy_n(a.data(), rows, &a.at(0, columns - 1));
  const Matrix<float> b = random_matrix<float>(rows, count, 8);
  Matrix<float> solved = b;
  const std::vector<double> values =
      solve_least_squares({rows, columns, count, a.data(), rows, solved.data(), rows, 1e-4});
  REQUIRE(values.size() == static_cast<size_t>(columns));
  CHECK(values[static_cast<size_t>(columns) - 1] < 1e-4 * values[0]);
  Matrix<float> x(columns, count);
  for (int64_t j = 0; j < count; ++j)
    for (int64_t i = 0; i < columns; ++i) x.at(i, j) = solved.at(i, j);
  Matrix<double> residual = multiply(a, x);
  for (size_t i = 0; i < residual.numbers.size(); ++i)
    residual.numbers[i] -= static_cast<double>(b.numbers[i]);
  Matrix<double> exact(rows, columns);
  std::copy(a.numbers.begin(), a.numbers.end(), exact.numbers.begin());
  CHECK(largest_difference(multiply(exact, residual, true), Matrix<float>(columns, count)) < 1e-3);
  for (int64_t j = 0; j < count; ++j) CHECK(std::fabs(x.at(0, j) - x.at(columns - 1, j)) < 1e-5F);
}
