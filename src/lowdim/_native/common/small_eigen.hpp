// All eigenpairs of one small symmetric matrix: Householder tridiagonalisation, then implicit QL (Wilkinson's shifts).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/cholesky.hpp"

namespace lowdim {

class SmallEigen {
 public:
  // A: n x n, row after row, destroyed; of moderate size (no entry's square may overflow or vanish).
  // Afterwards value(j) descends and vector(j) has length one.
  void solve(double* A, std::int64_t n) {
    n_ = n;
    d_.assign(n, 0.0);
    e_.assign(n, 0.0);
    turn_.assign(n, 0.0);
    work_.resize(n);
    rows_.assign(n * n, 0.0);
    for (std::int64_t k = 0; k + 2 < n; ++k) reflect(A, k);
    for (std::int64_t k = 0; k < n; ++k) d_[k] = A[k * n + k];
    if (n > 1) e_[n - 2] = A[(n - 1) * n + n - 2];
    accumulate(A);
    iterate();
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [&](std::int64_t a, std::int64_t b) { return d_[a] > d_[b] || (d_[a] == d_[b] && a < b); });
  }
  double value(std::int64_t j) const { return d_[order_[j]]; }
  const double* vector(std::int64_t j) const { return rows_.data() + order_[j] * n_; }

 private:
  std::int64_t n_ = 0;
  std::vector<double> d_, e_, turn_, work_, rows_;  // rows_: the vectors, one a row
  std::vector<std::int64_t> order_;

  // Clears column k below the subdiagonal; the mirror I - t v v' stays in the column, t in turn_.
  void reflect(double* A, std::int64_t k) {
    const std::int64_t n = n_, m = n - k - 1;
    double square = 0;
    for (std::int64_t i = k + 1; i < n; ++i) square += A[i * n + k] * A[i * n + k];
    const double first = A[(k + 1) * n + k], tail = square - first * first;
    if (!(tail > 0) || !(square > 0)) {
      e_[k] = first;
      return;
    }
    const double target = first > 0 ? -std::sqrt(square) : std::sqrt(square);
    e_[k] = target;
    A[(k + 1) * n + k] = first - target;
    const double t = 2.0 / (square - first * first + (first - target) * (first - target));
    turn_[k] = t;
    double *v = work_.data(), inner = 0;
    for (std::int64_t i = 0; i < m; ++i) v[i] = A[(k + 1 + i) * n + k];
    std::vector<double>& p = product_;
    p.resize(n);
    for (std::int64_t i = 0; i < m; ++i) {
      p[i] = t * dot(A + (k + 1 + i) * n + k + 1, v, m);
      inner += p[i] * v[i];
    }
    for (std::int64_t i = 0; i < m; ++i) p[i] -= 0.5 * t * inner * v[i];
    for (std::int64_t i = 0; i < m; ++i) {
      double* row = A + (k + 1 + i) * n + k + 1;
      for (std::int64_t j = 0; j < m; ++j) row[j] -= v[i] * p[j] + p[i] * v[j];
    }
  }

  // rows_ = the transposed product of the mirrors.
  void accumulate(const double* A) {
    const std::int64_t n = n_;
    for (std::int64_t i = 0; i < n; ++i) rows_[i * n + i] = 1.0;
    for (std::int64_t k = n - 3; k >= 0; --k) {
      if (turn_[k] == 0) continue;
      const std::int64_t m = n - k - 1;
      for (std::int64_t i = 0; i < m; ++i) work_[i] = A[(k + 1 + i) * n + k];
      for (std::int64_t c = k + 1; c < n; ++c) {
        double* column = rows_.data() + c * n + k + 1;
        const double f = turn_[k] * dot(work_.data(), column, m);
        for (std::int64_t i = 0; i < m; ++i) column[i] -= f * work_[i];
      }
    }
  }

  void iterate() {
    double size = 0;
    for (std::int64_t i = 0; i < n_; ++i) size = std::max(size, std::abs(d_[i]) + std::abs(e_[i]));
    const double least = 1.1e-16 * size;
    for (std::int64_t l = 0; l < n_; ++l)
      for (int round = 0; round < 60; ++round) {
        std::int64_t m = l;
        while (m + 1 < n_ && std::abs(e_[m]) > least) ++m;
        if (m == l) break;
        sweep(l, m);
      }
  }

  void sweep(std::int64_t l, std::int64_t m) {
    double g = (d_[l + 1] - d_[l]) / (2.0 * e_[l]), r = std::sqrt(g * g + 1.0);
    g = d_[m] - d_[l] + e_[l] / (g + (g >= 0 ? r : -r));
    double s = 1, c = 1, p = 0;
    for (std::int64_t i = m - 1; i >= l; --i) {
      const double f = s * e_[i], b = c * e_[i];
      r = std::sqrt(f * f + g * g);
      e_[i + 1] = r;
      if (r == 0) {
        d_[i + 1] -= p;
        e_[m] = 0;
        return;
      }
      s = f / r;
      c = g / r;
      g = d_[i + 1] - p;
      const double q = (d_[i] - g) * s + 2.0 * c * b;
      p = s * q;
      d_[i + 1] = g + p;
      g = c * q - b;
      double *low = rows_.data() + i * n_, *high = low + n_;
      for (std::int64_t j = 0; j < n_; ++j) {
        const double x = low[j], y = high[j];
        high[j] = s * x + c * y;
        low[j] = c * x - s * y;
      }
    }
    d_[l] -= p;
    e_[l] = g;
    e_[m] = 0;
  }

  std::vector<double> product_;
};

}  // namespace lowdim
