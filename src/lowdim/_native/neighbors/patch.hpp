// One neighbourhood: its coordinates, their directions, and the weights that rebuild its centre.
//
// A patch is a list of row numbers. Its coordinates are taken about a centre and divided by the largest of them, so
// that nothing over- or underflows: every result here is the same for rows of any unit. Everything in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/cholesky.hpp"
#include "common/small_eigen.hpp"

namespace lowdim {

constexpr double kRank = 1e-13;        // a variance below this part of the largest is rounding
constexpr double kLeastRidge = 1e-10;  // of the trace, where nothing is left to set the ridge by

// How weights are regularised: a fixed part of the trace (given >= 0), or the mean variance off the leading `rank`
// directions (de Ridder and Duin 2002).
struct Ridge {
  double given;
  std::int64_t rank;
};

class Patch {
 public:
  // Y = rows - centre; a missing centre is the mean.
  template <class T>
  void read(const T* X, std::int64_t d, const std::int32_t* members, std::int64_t p, const T* centre) {
    p_ = p;
    d_ = d;
    Y_.resize(p * d);
    middle_.assign(d, 0.0);
    for (std::int64_t a = 0; a < p; ++a)
      for (std::int64_t c = 0; c < d; ++c) {
        Y_[a * d + c] = static_cast<double>(X[members[a] * d + c]);
        if (!centre) middle_[c] += Y_[a * d + c] / static_cast<double>(p);
      }
    double largest = 0;
    for (std::int64_t a = 0; a < p; ++a)
      for (std::int64_t c = 0; c < d; ++c) {
        Y_[a * d + c] -= centre ? static_cast<double>(centre[c]) : middle_[c];
        largest = std::max(largest, std::abs(Y_[a * d + c]));
      }
    if (largest > 0)
      for (double& y : Y_) y /= largest;
  }

  // C = Y Y'.
  void gram() {
    C_.resize(p_ * p_);
    for (std::int64_t a = 0; a < p_; ++a)
      for (std::int64_t b = 0; b <= a; ++b)
        C_[a * p_ + b] = C_[b * p_ + a] = dot(Y_.data() + a * d_, Y_.data() + b * d_, d_);
  }

  double trace() const {
    double sum = 0;
    for (std::int64_t a = 0; a < p_; ++a) sum += C_[a * p_ + a];
    return sum;
  }

  // Eigenvalues of C, and its vectors on demand, through the smaller of Y Y' and Y'Y.
  void decompose() {
    thin_ = d_ < p_;
    const std::int64_t q = sides();
    if (thin_) {
      A_.assign(q * q, 0.0);
      for (std::int64_t a = 0; a < p_; ++a)
        for (std::int64_t c = 0; c < d_; ++c)
          for (std::int64_t e = 0; e < d_; ++e) A_[c * d_ + e] += Y_[a * d_ + c] * Y_[a * d_ + e];
    } else {
      A_ = C_;
    }
    eigen_.solve(A_.data(), q);
  }

  std::int64_t sides() const { return std::min(p_, d_); }
  double value(std::int64_t j) const { return j < sides() ? std::max(eigen_.value(j), 0.0) : 0.0; }
  bool has(std::int64_t j) const { return j < sides() && value(j) > kRank * value(0); }

  // The j-th eigenvector of C (j-th left singular vector of Y); only where it `has` one.
  void vector(std::int64_t j, double* out) const {
    const double* v = eigen_.vector(j);
    if (!thin_) {
      std::copy(v, v + p_, out);
      return;
    }
    double square = 0;
    for (std::int64_t a = 0; a < p_; ++a) {
      out[a] = dot(Y_.data() + a * d_, v, d_);
      square += out[a] * out[a];
    }
    const double scale = 1.0 / std::sqrt(square);
    for (std::int64_t a = 0; a < p_; ++a) out[a] *= scale;
  }

  // What the leading r directions leave of the trace.
  double rest(std::int64_t r) const {
    double sum = 0;
    for (std::int64_t j = r; j < sides(); ++j) sum += value(j);
    return sum;
  }

  // w with sum 1 that rebuilds the centre; C must be there. Evenly spread ridge, or one in proportion to the squared
  // distances and of the same trace: a neighbour at the centre itself then takes all of the weight.
  void weights(Ridge ridge, bool by_distance, double* w) {
    const std::int64_t k = p_;
    const double sum = trace();
    if (!(sum > 0) || (by_distance && shared_by_equals(w))) {
      if (!(sum > 0)) std::fill(w, w + k, 1.0 / static_cast<double>(k));
      return;
    }
    double part = ridge.given;  // of the trace, on each diagonal entry
    if (part < 0) {
      decompose();
      part = k > ridge.rank ? rest(ridge.rank) / (sum * static_cast<double>(k - ridge.rank)) : 0.0;
    }
    part = std::max(part, kLeastRidge);
    unit_.resize(k);
    for (std::int64_t a = 0; a < k; ++a) unit_[a] = by_distance ? 1.0 / std::sqrt(C_[a * k + a]) : 1.0 / std::sqrt(sum);
    const double added = by_distance ? part * static_cast<double>(k) : part;
    L_.resize(k * (k + 1) / 2);
    for (std::int64_t a = 0; a < k; ++a)
      for (std::int64_t b = 0; b <= a; ++b)
        L_[in_triangle(a, b)] = C_[a * k + b] * unit_[a] * unit_[b] + (a == b ? added : 0.0);
    const double top = by_distance ? *std::max_element(unit_.begin(), unit_.end()) : unit_[0];
    for (std::int64_t a = 0; a < k; ++a) w[a] = unit_[a] / top;
    factor(L_.data(), k, 0.0);
    forward(L_.data(), k, w);
    backward(L_.data(), k, w);
    double total = 0;
    for (std::int64_t a = 0; a < k; ++a) total += (w[a] *= unit_[a] / top);
    for (std::int64_t a = 0; a < k; ++a) w[a] /= total;
  }

 private:
  std::int64_t p_ = 0, d_ = 0;
  bool thin_ = false;
  std::vector<double> Y_, middle_, C_, A_, L_, unit_;
  SmallEigen eigen_;

  // Neighbours at the centre share the weight. (The square of a very small distance counts as none.)
  bool shared_by_equals(double* w) const {
    std::int64_t equal = 0;
    for (std::int64_t a = 0; a < p_; ++a) equal += C_[a * p_ + a] < 1e-300;
    if (!equal) return false;
    for (std::int64_t a = 0; a < p_; ++a) w[a] = C_[a * p_ + a] < 1e-300 ? 1.0 / static_cast<double>(equal) : 0.0;
    return true;
  }
};

}  // namespace lowdim
