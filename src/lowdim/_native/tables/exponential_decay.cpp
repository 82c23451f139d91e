// exp(-factor x) of a block of distances, written over it.
//
// exp(y) = 2^n exp(r) with |r| <= log(2) / 2, exp(r) by its Taylor series, whose first term left out is below a quarter
// of the last bit. Element by element the same operations at every vector width and in the last, shorter stretch:
// the same bits. What would be below the smallest normal number is 0.
#include <cmath>
#include <cstring>

#include "common/arrays.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

// `shift` moves n to the low bits of the significand; `lowest` is the exponent of the smallest normal number.
template <class T>
struct Exponential;
template <>
struct Exponential<double> {
  using Bits = std::uint64_t;
  static constexpr double shift = 6755399441055744.0, log2_high = 6.93147180369123816490e-01,
                          log2_low = 1.90821492927058770002e-10, per_log2 = 1.44269504088896338700,
                          lowest = -708.39641853226408;
  static constexpr unsigned mantissa = 52, bias = 1023;
  static LOWDIM_INLINE inline double series(double r) {  // (exp(r) - 1 - r) / r^2, pairs first: shorter waits
    const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const double p0 = r * (1.0 / 6.0) + 0.5, p1 = r * (1.0 / 120.0) + 1.0 / 24.0, p2 = r * (1.0 / 5040.0) + 1.0 / 720.0,
                 p3 = r * (1.0 / 362880.0) + 1.0 / 40320.0, p4 = r * (1.0 / 39916800.0) + 1.0 / 3628800.0,
                 p5 = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    return (p0 + r2 * p1) + r4 * (p2 + r2 * p3) + r8 * (p4 + r2 * p5);
  }
};
template <>
struct Exponential<float> {
  using Bits = std::uint32_t;
  static constexpr float shift = 12582912.0f, log2_high = 0.693359375f, log2_low = -2.12194440e-4f,
                         per_log2 = 1.44269504f, lowest = -87.336544f;
  static constexpr unsigned mantissa = 23, bias = 127;
  static LOWDIM_INLINE inline float series(float r) {
    const float r2 = r * r;
    const float p0 = r * (1.0f / 6.0f) + 0.5f, p1 = r * (1.0f / 120.0f) + 1.0f / 24.0f,
                p2 = r * (1.0f / 5040.0f) + 1.0f / 720.0f;
    return p0 + r2 * (p1 + r2 * p2);
  }
};

template <class T>
LOWDIM_INLINE inline T exponential(T y) {
  using S = Exponential<T>;
  const T x = y < S::lowest ? S::lowest : y;  // NaN stays
  const T shifted = x * S::per_log2 + S::shift;
  const T n = shifted - S::shift;
  const T r = (x - n * S::log2_high) - n * S::log2_low;
  const T value = T(1) + (r + r * r * S::series(r));
  typename S::Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + S::bias) << S::mantissa;  // the low bits of `bits` are n
  T power;
  std::memcpy(&power, &bits, sizeof power);
  const T found = value * power;
  return x > y ? T(0) : found;
}

template <class T>
void decay(Out1<T> x, double factor) {
  const std::int64_t n = static_cast<std::int64_t>(x.shape(0));
  const T scale = static_cast<T>(-factor);
  T* values = x.data();
  nb::gil_scoped_release release;
  dispatch([&]() LOWDIM_INLINE {
    for (std::int64_t i = 0; i < n; ++i) values[i] = exponential<T>(values[i] * scale);
  });
}

}  // namespace

void bind_exponential_decay(nb::module_& m) {
  using namespace nb::literals;
  const char* about = "Replace x by exp(-factor x), for x >= 0 and factor > 0; to 2 units in the last place.";
  m.def("decay", &decay<float>, "x"_a.noconvert(), "factor"_a, about);
  m.def("decay", &decay<double>, "x"_a.noconvert(), "factor"_a, about);
}

}  // namespace lowdim
