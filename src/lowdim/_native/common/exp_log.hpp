// exp, log and powers by plain arithmetic, one number or a whole vector: the same bits at every width.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/exp_reduction.hpp"
#include "common/vector_pack.hpp"

namespace lowdim {

// Real: double, with Whole = std::int64_t; or Pack<double>, with Whole = Pack<std::int64_t>.
template <class Real, class Whole>
struct Elementary {
  using Reduction = ExpReduction<double>;
  static constexpr double shift = Reduction::shift;

  // w 2^52, the bits beyond the last dropped: for signed integers by way of unsigned ones, where that is defined.
  LOWDIM_INLINE static void lift(Whole& w) {
    if constexpr (std::is_same_v<Whole, std::int64_t>)
      w = static_cast<std::int64_t>(static_cast<std::uint64_t>(w) << 52);
    else
      w = w << 52;
  }

  // exp(x) for -700 <= x <= 0, to two units in the last place.
  LOWDIM_INLINE static void exp(const Real& x, Real& out) {
    // clang-format off
    constexpr double taylor[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                                 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0,
                                 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0};
    // clang-format on
    const Real shifted = x * Reduction::per_log2 + shift;
    const Real k = shifted - shift;
    const Real r = (x - k * Reduction::log2_high) - k * Reduction::log2_low;
    Real p = r * taylor[0] + taylor[1];
    for (int c = 2; c < 14; ++c) p = p * r + taylor[c];
    Whole bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    lift(bits);  // the low bits of `shifted` are k
    bits = bits + (std::int64_t{1023} << 52);
    Real scale;
    std::memcpy(&scale, &bits, sizeof scale);
    out = p * scale;
  }

  // log(x) for normal x > 0: x = m 2^k with m between sqrt(1/2) and sqrt(2).
  LOWDIM_INLINE static void log(const Real& x, Real& out) {
    Whole bits, rest;
    std::memcpy(&bits, &x, sizeof bits);
    const Whole k = (bits - std::int64_t{0x3fe6a09e667f3bcd}) >> 52;
    Whole whole = k;
    lift(whole);
    rest = bits - whole;
    Real m, exponent;
    std::memcpy(&m, &rest, sizeof m);
    const Whole lifted = k + std::int64_t{0x4338000000000000};  // the bits of `shift` + k
    std::memcpy(&exponent, &lifted, sizeof exponent);
    exponent = exponent - shift;
    const Real s = (m - 1.0) / (m + 1.0), t = s * s;
    Real p = t * (1.0 / 21.0) + 1.0 / 19.0;
    for (int c = 17; c > 0; c -= 2) p = p * t + 1.0 / c;
    out = exponent * 0.6931471805599453 + 2.0 * s * p;
  }
};

LOWDIM_INLINE inline double exp_negative(double x) {
  double out;
  Elementary<double, std::int64_t>::exp(x < -700.0 ? -700.0 : x, out);
  return x < -700.0 ? 0.0 : out;
}

LOWDIM_INLINE inline double log_positive(double x) {
  double out;
  Elementary<double, std::int64_t>::log(x, out);
  return out;
}

// out = q^power for eight numbers 1e-300 <= q <= 1 at `from`.
LOWDIM_INLINE inline void power_eight(const double* from, double power, double* out) {
#ifdef LOWDIM_VECTORS
  using Vector = Elementary<Pack<double>, Pack<std::int64_t>>;
  Pack<double> x, y;
  load_pack<double>(x, from);
  Vector::log(x, y);
  y = y * power;
  y = y < -700.0 ? Pack<double>{} - 700.0 : y;
  Vector::exp(y, x);
  store_pack<double>(out, x);
#else
  for (int l = 0; l < 8; ++l) out[l] = exp_negative(power * log_positive(from[l]));
#endif
}

template <class T>
LOWDIM_INLINE inline void power_pack(Pack<T>& out, const Pack<T>& q, T power) {
  T lane[lanes_of<T>];
  double wide[lanes_of<T>];
  store_pack<T>(lane, q);
  for (std::int64_t l = 0; l < lanes_of<T>; ++l) wide[l] = lane[l] < T(1e-30) ? 1e-30 : static_cast<double>(lane[l]);
  for (std::int64_t l = 0; l < lanes_of<T>; l += 8) power_eight(wide + l, static_cast<double>(power), wide + l);
  for (std::int64_t l = 0; l < lanes_of<T>; ++l) lane[l] = static_cast<T>(wide[l]);
  load_pack<T>(out, lane);
}

}  // namespace lowdim
