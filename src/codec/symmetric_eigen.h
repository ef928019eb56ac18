// SPDX-License-Identifier: MIT
// Second moments and the eigenvectors of a symmetric matrix, in double. Two builds of one
// interface: BLAS and LAPACK (symmetric_eigen_lapack.cc), or plain sums in stated orders
// (symmetric_eigen_own.cc), which take longer, need no library, and give the same bytes on every
// machine and any number of threads.
#pragma once

#include <vector>

namespace polarquant {

/// matrix[i·dim + j] += Σ_r rows[r·dim + i]·rows[r·dim + j] for j ≥ i; what stands below is left
/// alone. `rows` (n, dim), `matrix` (dim, dim).
void add_second_moments(int dim, int n, const double* rows, double* matrix);

/// Eigenvalues, rising; `matrix` (dim, dim), of which the elements j ≥ i of each row i are read,
/// then holds the eigenvectors, one a row, of length 1 and either sign. Throws internal if they are
/// not found, as for NaN.
std::vector<double> solve_symmetric_eigen(int dim, std::vector<double>* matrix);

}  // namespace polarquant
