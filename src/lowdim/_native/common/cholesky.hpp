// Small symmetric systems, one per row of a table: packed lower triangles, row after row without gaps.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/simd.hpp"

namespace lowdim {

LOWDIM_INLINE inline double sum_of_eight(const double* lane) {
  return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

LOWDIM_INLINE inline double dot(const double* a, const double* b, std::int64_t n) {
  constexpr int lanes = 8;
  double lane[lanes] = {0};
  std::int64_t j = 0;
  for (; j + lanes <= n; j += lanes)
    for (int l = 0; l < lanes; ++l) lane[l] += a[j + l] * b[j + l];
  double sum = sum_of_eight(lane);
  for (; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

// Where row i, column k <= i is; (r, 0) is the size of a triangle of r rows.
inline std::int64_t in_triangle(std::int64_t i, std::int64_t k) { return i * (i + 1) / 2 + k; }

// Cholesky in place, with 1 / pivot on the diagonal. A pivot that rounding ate stands for a direction the row says
// nothing about; its coefficient becomes 0.
inline void factor(double* A, std::int64_t r, double least) {
  for (std::int64_t k = 0; k < r; ++k) {
    const double* row = A + in_triangle(k, 0);
    double pivot = row[k];
    for (std::int64_t m = 0; m < k; ++m) pivot -= row[m] * row[m];
    A[in_triangle(k, k)] = pivot > least ? 1.0 / std::sqrt(pivot) : 0.0;
    for (std::int64_t i = k + 1; i < r; ++i) {
      double* other = A + in_triangle(i, 0);
      double sum = other[k];
      for (std::int64_t m = 0; m < k; ++m) sum -= other[m] * row[m];
      other[k] = sum * row[k];
    }
  }
}

inline void forward(const double* L, std::int64_t r, double* b) {
  for (std::int64_t k = 0; k < r; ++k) {
    const double* row = L + in_triangle(k, 0);
    for (std::int64_t m = 0; m < k; ++m) b[k] -= row[m] * b[m];
    b[k] *= row[k];
  }
}

inline void backward(const double* L, std::int64_t r, double* b) {
  for (std::int64_t k = r - 1; k >= 0; --k) {
    for (std::int64_t m = k + 1; m < r; ++m) b[k] -= L[in_triangle(m, k)] * b[m];
    b[k] *= L[in_triangle(k, k)];
  }
}

// A += sign * w w'.
LOWDIM_INLINE inline void add_outer(double* A, const double* w, std::int64_t r, double sign) {
  for (std::int64_t a = 0; a < r; ++a) {
    const double f = sign * w[a];
    for (std::int64_t b = 0; b <= a; ++b) A[b] += f * w[b];
    A += a + 1;
  }
}

}  // namespace lowdim
