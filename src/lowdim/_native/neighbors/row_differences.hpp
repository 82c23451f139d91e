// Distances between rows by their differences, dense or sparse.
//
// Differences are summed in float64 over fixed lanes, so that two equal rows are at exactly 0 and every vector width
// gives the same bits; a matrix product would lose digits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "common/vector_pack.hpp"

namespace lowdim {

constexpr std::int64_t double_lanes = lanes_of<double>;
constexpr std::int64_t limit_every = 128;  // coordinates between two looks at the limit

template <int P>
LOWDIM_INLINE inline double power(double difference) {
  return P == 1 ? std::fabs(difference) : difference * difference;
}

// sums[l] += |u[l] a - v[l] b|^P over eight coordinates. Compilers do not reliably keep an array of sums in
// registers; a vector type says it, and is lowered to what the machine has: lane by lane the same operations.
#ifdef LOWDIM_VECTORS
template <int P, class T>
LOWDIM_INLINE inline void add_powers(Pack<double>& sums, const T* u, double a, const T* v, double b) {
  typedef T Loaded __attribute__((vector_size(double_lanes * sizeof(T))));
  using Lanes = Pack<double>;
  Loaded left, right;
  std::memcpy(&left, u, sizeof left);
  std::memcpy(&right, v, sizeof right);
  const Lanes difference = __builtin_convertvector(left, Lanes) * a - __builtin_convertvector(right, Lanes) * b;
  if constexpr (P == 1)
    sums += difference < 0 ? -difference : difference;
  else
    sums += difference * difference;
}
#else
template <int P, class T>
inline void add_powers(Pack<double>& sums, const T* u, double a, const T* v, double b) {
  for (std::int64_t l = 0; l < double_lanes; ++l)
    sums[l] += power<P>(static_cast<double>(u[l]) * a - static_cast<double>(v[l]) * b);
}
#endif

LOWDIM_INLINE inline double sum_of_four(const Pack<double>& s0, const Pack<double>& s1, const Pack<double>& s2,
                                        const Pack<double>& s3) {
  Pack<double> s = s0;
  s += s1;
  Pack<double> t = s2;
  t += s3;
  s += t;
  return sum_pack<double>(s);
}

// Queries `q` and rows `x`, each row multiplied by its scale. A row of scale 0 has no direction (cosine): it is at
// squared distance 2 from everything, as if orthogonal.
template <class T>
struct DenseRows {
  const T* q;
  const T* x;
  std::int64_t d;
  const double* q_scale;
  const double* x_scale;
  std::int64_t n;

  // Sum of |difference|^P; anything above `limit` once that is certain.
  template <int P>
  LOWDIM_INLINE double distance(std::int64_t i, std::int64_t j, double limit) const {
    const double a = q_scale[i], b = x_scale[j];
    if (a == 0.0 || b == 0.0) return 2.0;
    const T* u = q + i * d;
    const T* v = x + j * d;
    if (d < double_lanes) return short_distance<P>(u, a, v, b, d);
    Pack<double> s0{}, s1{}, s2{}, s3{};
    std::int64_t c = 0;
    while (c + limit_every <= d) {
      for (const std::int64_t end = c + limit_every; c < end; c += 4 * double_lanes) {
        add_powers<P>(s0, u + c, a, v + c, b);
        add_powers<P>(s1, u + c + double_lanes, a, v + c + double_lanes, b);
        add_powers<P>(s2, u + c + 2 * double_lanes, a, v + c + 2 * double_lanes, b);
        add_powers<P>(s3, u + c + 3 * double_lanes, a, v + c + 3 * double_lanes, b);
      }
      const double so_far = sum_of_four(s0, s1, s2, s3);
      if (so_far > limit) return so_far;
    }
    for (; c + 2 * double_lanes <= d; c += 2 * double_lanes) {
      add_powers<P>(s0, u + c, a, v + c, b);
      add_powers<P>(s1, u + c + double_lanes, a, v + c + double_lanes, b);
    }
    for (; c + double_lanes <= d; c += double_lanes) add_powers<P>(s0, u + c, a, v + c, b);
    return sum_of_four(s0, s1, s2, s3) + short_distance<P>(u + c, a, v + c, b, d - c);
  }

  // Fewer coordinates than double_lanes, one after the other.
  template <int P>
  LOWDIM_INLINE double short_distance(const T* u, double a, const T* v, double b, std::int64_t count) const {
    double sum = 0.0;
    for (std::int64_t c = 0; c < count; ++c)
      sum += power<P>(static_cast<double>(u[c]) * a - static_cast<double>(v[c]) * b);
    return sum;
  }
};

// The same for compressed sparse rows with sorted indices: a merge of the two index lists.
template <class T>
struct SparseRows {
  const T* q;
  const std::int32_t* q_columns;
  const std::int64_t* q_starts;
  const T* x;
  const std::int32_t* x_columns;
  const std::int64_t* x_starts;
  const double* q_scale;
  const double* x_scale;
  std::int64_t n;

  template <int P>
  LOWDIM_INLINE double distance(std::int64_t i, std::int64_t j, double limit) const {
    const double a = q_scale[i], b = x_scale[j];
    if (a == 0.0 || b == 0.0) return 2.0;
    std::int64_t s = q_starts[i], t = x_starts[j];
    const std::int64_t s_end = q_starts[i + 1], t_end = x_starts[j + 1];
    double sum = 0.0;
    while (s < s_end && t < t_end && sum <= limit) {
      const std::int32_t left = q_columns[s], right = x_columns[t];
      const double u = left <= right ? static_cast<double>(q[s]) * a : 0.0;
      const double v = right <= left ? static_cast<double>(x[t]) * b : 0.0;
      sum += power<P>(u - v);
      s += left <= right;
      t += right <= left;
    }
    for (; s < s_end; ++s) sum += power<P>(static_cast<double>(q[s]) * a);
    for (; t < t_end; ++t) sum += power<P>(static_cast<double>(x[t]) * b);
    return sum;
  }
};

constexpr double everything = std::numeric_limits<double>::infinity();

}  // namespace lowdim
