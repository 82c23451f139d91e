// The first half of every exponential here: x = n log 2 + r with |r| <= log(2) / 2, so that exp(x) = 2^n exp(r).
#pragma once

#include "common/float_bits.hpp"

namespace lowdim {

// Adding `shift` (1.5 times the first number whose successor is 1 away) rounds to a whole number, which then stands in
// the low bits of the significand. log2_high has so few digits that its product with n is exact.
template <class T>
struct ExpReduction;
template <>
struct ExpReduction<double> {
  static constexpr double shift = 6755399441055744.0, per_log2 = 1.44269504088896338700,
                          log2_high = 6.93147180369123816490e-01, log2_low = 1.90821492927058770002e-10;
  static constexpr unsigned mantissa = 52, bias = 1023;
};
template <>
struct ExpReduction<float> {
  static constexpr float shift = 12582912.0f, per_log2 = 1.44269504f, log2_high = 0.693359375f,
                         log2_low = -2.12194440e-4f;
  static constexpr unsigned mantissa = 23, bias = 127;
};

// Returns r; `power` becomes 2^n. For x whose n is the exponent of a normal number.
template <class T>
LOWDIM_INLINE inline T reduce_exponent(T x, T& power) {
  using R = ExpReduction<T>;
  const T shifted = x * R::per_log2 + R::shift;
  const T n = shifted - R::shift;
  power = from_bits<T>((bits_of(shifted) + R::bias) << R::mantissa);
  return (x - n * R::log2_high) - n * R::log2_low;
}

}  // namespace lowdim
