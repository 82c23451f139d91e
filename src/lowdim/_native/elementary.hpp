// exp, log and powers of whole vectors, by plain arithmetic: the same bits at every width.
#pragma once

#include <cstdint>
#include <cstring>

#include "pack.hpp"

namespace lowdim {

// exp(x) for x <= 0, to two units in the last place; what is below -700 gives 0.
LOWDIM_INLINE inline double exp_negative(double x) {
  const double bounded = x < -700.0 ? -700.0 : x;
  const double shifter = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number
  const double shifted = bounded * 1.4426950408889634 + shifter;
  const double k = shifted - shifter;
  const double r = (bounded - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  std::int64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 52) + (std::int64_t{1023} << 52);  // the low bits of `shifted` are k
  double scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return x < -700.0 ? 0.0 : p * scale;
}

// log(x) for normal x > 0.
LOWDIM_INLINE inline double log_positive(double x) {
  std::int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::int64_t offset = bits - 0x3fe6a09e667f3bcdLL;  // the bits of sqrt(1/2)
  const std::int64_t k = offset >> 52;
  const std::int64_t rest = bits - (k << 52);
  double m;
  std::memcpy(&m, &rest, sizeof m);
  const double s = (m - 1.0) / (m + 1.0), t = s * s;
  double p = 1.0 / 21.0;
  p = p * t + 1.0 / 19.0;
  p = p * t + 1.0 / 17.0;
  p = p * t + 1.0 / 15.0;
  p = p * t + 1.0 / 13.0;
  p = p * t + 1.0 / 11.0;
  p = p * t + 1.0 / 9.0;
  p = p * t + 1.0 / 7.0;
  p = p * t + 1.0 / 5.0;
  p = p * t + 1.0 / 3.0;
  p = p * t + 1.0;
  return static_cast<double>(k) * 0.6931471805599453 + 2.0 * s * p;
}

// out = q^power for 0 < q <= 1.
template <class T>
LOWDIM_INLINE inline void power_pack(Pack<T>& out, const Pack<T>& q, T power) {
  T lane[lanes_of<T>];
  store_pack<T>(lane, q);
  for (std::int64_t l = 0; l < lanes_of<T>; ++l) {
    const double x = static_cast<double>(lane[l]) < 1e-300 ? 1e-300 : static_cast<double>(lane[l]);
    lane[l] = static_cast<T>(exp_negative(static_cast<double>(power) * log_positive(x)));
  }
  load_pack<T>(out, lane);
}

}  // namespace lowdim
