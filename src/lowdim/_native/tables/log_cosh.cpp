// The nonlinearity of independent component analysis, for a block of sources by samples.
//
// With m = exp(-2|y|) - 1, tanh|y| = -m / (2 + m) and log cosh y = |y| + log(2 + m) - log 2. The factors 2 + m lie in
// (1, 2], so their product is logged once for many samples. Sums run in fixed lanes: every vector width gives the
// same bits.
#include <algorithm>
#include <cmath>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/exp_reduction.hpp"
#include "common/lane_sums.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

constexpr int kLanes = 64;  // samples of a tile
constexpr int kTiles = 64;  // tiles whose factors are multiplied before they are logged: at most 2^64

// (expm1(r) - r) / r^2 for |r| <= log(2) / 2 by the Taylor series, whose first term left out is below a quarter of the
// last bit of expm1(r).
LOWDIM_INLINE inline double tail(double r) {
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
  return p * r + 0.5;
}
LOWDIM_INLINE inline float tail(float r) {
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  return p * r + 0.5f;
}

// expm1(x) for x in [-64, 0].
template <class T>
LOWDIM_INLINE inline T expm1_negative(T x) {
  T power;
  const T r = reduce_exponent(x, power);
  const T small = r * r * tail(r) + r;
  return power * small + (power - T(1));
}

// What the lanes of one source have added up; a sample's lane is its place in the tile.
template <class T>
struct Sums {
  T slope[kLanes], size[kLanes], product[kLanes];

  Sums() {
    std::fill(slope, slope + kLanes, T(0));
    std::fill(size, size + kLanes, T(0));
    std::fill(product, product + kLanes, T(1));
  }
  double log_of_product() const {
    double logs = 0, whole = 1;
    for (const T factor : product) {
      whole *= static_cast<double>(factor);  // below 1e150 times 2^kTiles
      if (whole > 1e150) logs += std::log(whole), whole = 1;
    }
    return logs + std::log(whole);
  }
};

template <class T>
LOWDIM_INLINE inline void add_tile(T* LOWDIM_RESTRICT y, int count, Sums<T>& LOWDIM_RESTRICT sums) {
  for (int l = 0; l < count; ++l) {
    const T size = std::fabs(y[l]);
    const T m = expm1_negative(std::max(T(-2) * size, T(-64)));
    const T factor = T(2) + m;
    const T t = std::copysign(m / factor, y[l]);
    y[l] = t;
    sums.size[l] += size;
    sums.product[l] *= factor;
    sums.slope[l] += T(1) - t * t;
  }
}

// Y becomes tanh(Y); slope[i] = sum of 1 - tanh^2 and value[i] = sum of log cosh over row i.
template <class T>
void log_cosh(Out2<T> Y, Out1<double> slope, Out1<double> value) {
  const std::int64_t k = n_rows(Y), n = n_columns(Y), stretch = std::int64_t{kLanes} * kTiles;
  if (n_rows(slope) != k || n_rows(value) != k)
    throw std::invalid_argument("log_cosh: slope and value must have one entry for each row of Y");
  WithoutGil free;
  for (std::int64_t i = 0; i < k; ++i) {
    T* y = Y.data() + i * n;
    double slopes = 0, values = -static_cast<double>(n) * 0.693147180559945309417;
    for (std::int64_t begin = 0; begin < n; begin += stretch) {
      const std::int64_t end = std::min(n, begin + stretch), whole = begin + (end - begin) / kLanes * kLanes;
      Sums<T> sums;
      dispatch([&]() LOWDIM_INLINE {
        for (std::int64_t j = begin; j < whole; j += kLanes) add_tile(y + j, kLanes, sums);
        add_tile(y + whole, static_cast<int>(end - whole), sums);
      });
      slopes += sum_in_order<kLanes>(sums.slope);
      values += sum_in_order<kLanes>(sums.size) + sums.log_of_product();
    }
    slope(i) = slopes;
    value(i) = values;
  }
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("log_cosh", &log_cosh<T>, "Y"_a.noconvert(), "slope"_a.noconvert(), "value"_a.noconvert(),
        "Replace Y by tanh(Y); sums of 1 - tanh^2 and of log cosh over each row.");
}

}  // namespace

void bind_log_cosh(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
