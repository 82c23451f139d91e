// Absolute values, maxima, quotients, logarithms and powers of sixteen floats: the same bits at every vector width.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "common/exp_reduction.hpp"
#include "common/vector_pack.hpp"

namespace lowdim {

using FloatPack = Pack<float>;
constexpr std::int64_t float_lanes = lanes_of<float>;

#ifdef LOWDIM_VECTORS

using WholePack = Pack<std::int32_t>;

LOWDIM_INLINE inline void abs_pack(FloatPack& x) {
  WholePack bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = bits & 0x7fffffff;
  std::memcpy(&x, &bits, sizeof x);
}

LOWDIM_INLINE inline void larger_pack(FloatPack& x, const FloatPack& y) { x = x > y ? x : y; }

// 1 in the lanes where they differ.
LOWDIM_INLINE inline void differ_pack(FloatPack& x, const FloatPack& y) {
  x = x != y ? FloatPack{} + 1.0f : FloatPack{};
}

// log(x) for normal x > 0, to a few units in the last place: x = m 2^k with m between sqrt(1/2) and sqrt(2).
LOWDIM_INLINE inline void log_pack(FloatPack& x) {
  WholePack bits;
  std::memcpy(&bits, &x, sizeof bits);
  const WholePack k = (bits - 0x3f3504f3) >> 23;
  bits = bits - k * (1 << 23);
  FloatPack m;
  std::memcpy(&m, &bits, sizeof m);
  const FloatPack s = (m - 1.0f) / (m + 1.0f), t = s * s;
  FloatPack p = t * (1.0f / 9.0f) + 1.0f / 7.0f;
  p = p * t + 1.0f / 5.0f;
  p = p * t + 1.0f / 3.0f;
  x = __builtin_convertvector(k, FloatPack) * 0.69314718f + s * (p * t + 1.0f) * 2.0f;
}

// exp(x), with x cut off where the result would not be a normal number.
LOWDIM_INLINE inline void exp_pack(FloatPack& x) {
  using R = ExpReduction<float>;
  x = x > -87.0f ? x : FloatPack{} - 87.0f;
  x = x < 88.0f ? x : FloatPack{} + 88.0f;
  const FloatPack shifted = x * R::per_log2 + R::shift, n = shifted - R::shift;
  const FloatPack r = (x - n * R::log2_high) - n * R::log2_low;
  WholePack bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits - 0x4b400000 + 127) * (1 << 23);  // the bits of `shift` are 0x4b400000
  FloatPack scale;
  std::memcpy(&scale, &bits, sizeof scale);
  FloatPack p = r * (1.0f / 720.0f) + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  x = (p * r + 1.0f) * scale;
}

#else

LOWDIM_INLINE inline void abs_pack(FloatPack& x) {
  for (std::int64_t l = 0; l < float_lanes; ++l) x[l] = std::fabs(x[l]);
}
LOWDIM_INLINE inline void larger_pack(FloatPack& x, const FloatPack& y) {
  for (std::int64_t l = 0; l < float_lanes; ++l) x[l] = x[l] > y[l] ? x[l] : y[l];
}
LOWDIM_INLINE inline void differ_pack(FloatPack& x, const FloatPack& y) {
  for (std::int64_t l = 0; l < float_lanes; ++l) x[l] = x[l] != y[l] ? 1.0f : 0.0f;
}
LOWDIM_INLINE inline void log_pack(FloatPack& x) {
  for (std::int64_t l = 0; l < float_lanes; ++l) x[l] = std::log(x[l]);
}
LOWDIM_INLINE inline void exp_pack(FloatPack& x) {
  for (std::int64_t l = 0; l < float_lanes; ++l) x[l] = std::exp(std::fmin(std::fmax(x[l], -87.0f), 88.0f));
}

#endif

}  // namespace lowdim
