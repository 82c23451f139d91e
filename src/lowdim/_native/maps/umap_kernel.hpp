// The curve q = 1 / (1 + a s^b) of UMAP's maps, s being squared distances, and the forces that follow from it.
//
// The difference of two points is multiplied by 2ab s^(b-1) / (1 + a s^b) where they pull each other, and by
// 2b / ((0.001 + s) (1 + a s^b)) where they push.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/exp_reduction.hpp"
#include "common/vector_pack.hpp"

namespace lowdim {

constexpr double longest_force = 4;    // no pull or push is longer, as in the original code
constexpr double push_offset = 0.001;  // added to squared distances where a push would be infinite

struct UmapKernel {
  float a, b, pull, push;
  UmapKernel(double a_, double b_, double strength)
      : a(static_cast<float>(a_)),
        b(static_cast<float>(b_)),
        pull(static_cast<float>(2 * a_ * b_)),
        push(static_cast<float>(2 * strength * b_)) {}
};

// The factors for a float, with Whole = std::int32_t; or for Pack<float>, with Whole = Pack<std::int32_t>.
template <class Real, class Whole>
struct Factors {
  static constexpr float shift = ExpReduction<float>::shift;

  LOWDIM_INLINE static void hold(Real& x, float low, float high) {
    x = x < low ? Real{} + low : x;
    x = x > high ? Real{} + high : x;
  }

  // s^b to 1e-5 of its value, for 1e-12 <= s <= 1e12.
  LOWDIM_INLINE static void power(const Real& s, float b, Real& out) {
    constexpr float logarithm[] = {-0.206858124f, 0.318407118f, -0.366413259f, 0.479793884f, -0.721208468f, 1.4427018f};
    constexpr float exponential[] = {0.0096760371f, 0.0559220356f, 0.240221074f, 0.693121034f, 1.0f};
    Whole bits;
    std::memcpy(&bits, &s, sizeof bits);
    const Whole exponent = (bits - 0x3f3504f3) >> 23;  // of s = m 2^exponent, m between sqrt(1/2) and sqrt(2)
    bits = bits - exponent * (1 << 23);
    Real m, whole;
    std::memcpy(&m, &bits, sizeof m);
    bits = exponent + 0x4b400000;  // the bits of `shift` + exponent
    std::memcpy(&whole, &bits, sizeof whole);
    m = m - 1.0f;
    Real p = m * logarithm[0] + logarithm[1];
    for (int c = 2; c < 6; ++c) p = p * m + logarithm[c];
    Real x = ((whole - shift) + m * p) * b;
    hold(x, -120.0f, 120.0f);
    const Real shifted = x + shift;
    x = x - (shifted - shift);
    p = x * exponential[0] + exponential[1];
    for (int c = 2; c < 5; ++c) p = p * x + exponential[c];
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits - 0x4b400000 + 127) * (1 << 23);
    std::memcpy(&whole, &bits, sizeof whole);
    out = p * whole;
  }

  LOWDIM_INLINE static void pull(const UmapKernel& kernel, const Real& squares, Real& out) {
    Real s = squares, p;
    hold(s, 1e-12f, 1e12f);
    power(s, kernel.b, p);
    out = p * kernel.pull / (s * (p * kernel.a + 1.0f));
  }

  LOWDIM_INLINE static void push(const UmapKernel& kernel, const Real& squares, Real& out) {
    Real s = squares, p;
    hold(s, 1e-12f, 1e12f);
    power(s, kernel.b, p);
    out = (Real{} + kernel.push) / ((s + static_cast<float>(push_offset)) * (p * kernel.a + 1.0f));
  }
};

using OneFactor = Factors<float, std::int32_t>;
#ifdef LOWDIM_VECTORS
using SixteenFactors = Factors<Pack<float>, Pack<std::int32_t>>;
#else
struct SixteenFactors {  // lane by lane
  static void hold(Pack<float>& x, float low, float high) {
    for (std::int64_t l = 0; l < lanes_of<float>; ++l) OneFactor::hold(x[l], low, high);
  }
  static void pull(const UmapKernel& kernel, const Pack<float>& s, Pack<float>& out) {
    for (std::int64_t l = 0; l < lanes_of<float>; ++l) OneFactor::pull(kernel, s[l], out[l]);
  }
  static void push(const UmapKernel& kernel, const Pack<float>& s, Pack<float>& out) {
    for (std::int64_t l = 0; l < lanes_of<float>; ++l) OneFactor::push(kernel, s[l], out[l]);
  }
};
#endif

}  // namespace lowdim
