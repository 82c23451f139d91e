// exp(-factor x) of a block of distances, written over it.
//
// exp(y) = 2^n exp(r) with |r| <= log(2) / 2, exp(r) by its Taylor series, whose first term left out is below a quarter
// of the last bit. Element by element the same operations at every vector width and in the last, shorter stretch:
// the same bits. What would be below the smallest normal number is 0.
#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/exp_reduction.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

// (exp(r) - 1 - r) / r^2, pairs first: shorter waits.
LOWDIM_INLINE inline double series(double r) {
  const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const double p0 = r * (1.0 / 6.0) + 0.5, p1 = r * (1.0 / 120.0) + 1.0 / 24.0, p2 = r * (1.0 / 5040.0) + 1.0 / 720.0,
               p3 = r * (1.0 / 362880.0) + 1.0 / 40320.0, p4 = r * (1.0 / 39916800.0) + 1.0 / 3628800.0,
               p5 = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
  return (p0 + r2 * p1) + r4 * (p2 + r2 * p3) + r8 * (p4 + r2 * p5);
}
LOWDIM_INLINE inline float series(float r) {
  const float r2 = r * r;
  const float p0 = r * (1.0f / 6.0f) + 0.5f, p1 = r * (1.0f / 120.0f) + 1.0f / 24.0f,
              p2 = r * (1.0f / 5040.0f) + 1.0f / 720.0f;
  return p0 + r2 * (p1 + r2 * p2);
}

// log of the smallest normal number.
template <class T>
constexpr T lowest = sizeof(T) == 4 ? T(-87.336544f) : T(-708.39641853226408);

template <class T>
LOWDIM_INLINE inline T exponential(T y) {
  const T x = y < lowest<T> ? lowest<T> : y;  // NaN stays
  T power;
  const T r = reduce_exponent(x, power);
  const T value = T(1) + (r + r * r * series(r));
  const T found = value * power;
  return x > y ? T(0) : found;
}

template <class T>
void decay(Out1<T> x, double factor) {
  const std::int64_t n = n_rows(x);
  const T scale = static_cast<T>(-factor);
  T* values = x.data();
  WithoutGil release;
  dispatch([&]() LOWDIM_INLINE {
    for (std::int64_t i = 0; i < n; ++i) values[i] = exponential<T>(values[i] * scale);
  });
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("decay", &decay<T>, "x"_a.noconvert(), "factor"_a,
        "Replace x by exp(-factor x), for x >= 0 and factor > 0; to 2 units in the last place.");
}

}  // namespace

void bind_exponential_decay(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
