// One look at every cell of a table.
#include <algorithm>
#include <atomic>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/float_bits.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {

namespace {

// The bits of the largest magnitude, or of a cell that is no number.
template <class T>
LOWDIM_INLINE inline Bits<T> largest_bits(const T* x, std::int64_t n) {
  constexpr int lanes = 64;
  constexpr Bits<T> magnitude = static_cast<Bits<T>>(~Bits<T>{0}) >> 1;
  Bits<T> most[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) {
      const Bits<T> b = bits_of(x[i + l]) & magnitude;
      most[l] = most[l] > b ? most[l] : b;
    }
  for (; i < n; ++i) most[0] = std::max(most[0], bits_of(x[i]) & magnitude);
  for (int l = 1; l < lanes; ++l) most[0] = std::max(most[0], most[l]);
  return most[0];
}

template <class T>
double largest(In1<T> x, int n_threads) {
  const std::int64_t n = n_rows(x), chunk = std::int64_t{1} << 18;
  std::atomic<Bits<T>> most{0};
  {
    WithoutGil release;
    parallel_for(n, chunk, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      Bits<T> here = 0;
      dispatch([&]() LOWDIM_INLINE { here = largest_bits(x.data() + begin, end - begin); });
      Bits<T> seen = most.load();
      while (seen < here && !most.compare_exchange_weak(seen, here)) {
      }
    });
  }
  return static_cast<double>(from_bits<T>(most.load()));
}

// Weight, sum and sum of squares of the observed cells of each column about a centre; adds to `out`, three runs
// of d numbers.
template <class T>
LOWDIM_INLINE inline void add_row(const T* LOWDIM_RESTRICT x, const double* LOWDIM_RESTRICT center, double w,
                                  std::int64_t d, double* LOWDIM_RESTRICT out) {
  double* LOWDIM_RESTRICT weight = out;
  double* LOWDIM_RESTRICT sum = out + d;
  double* LOWDIM_RESTRICT square = out + 2 * d;
  for (std::int64_t j = 0; j < d; ++j) {
    const double z = static_cast<double>(x[j]) - center[j];
    const bool seen = z == z;
    weight[j] += seen ? w : 0.0;
    sum[j] += seen ? w * z : 0.0;
    square[j] += seen ? w * z * z : 0.0;
  }
}

template <class T>
void column_sums(In2<T> X, In1<double> center, In1<double> weights, Out2<double> out, int n_threads) {
  const std::int64_t n = n_rows(X), d = n_columns(X);
  if (n_rows(center) != d || !has_shape(out, 3, d) || (n_rows(weights) && n_rows(weights) != n))
    throw std::invalid_argument("column_sums: the arrays must agree in their shapes");
  const std::int64_t lanes = std::clamp<std::int64_t>(n / 256, 1, 16), span = (n + lanes - 1) / lanes;
  std::vector<double> parts(static_cast<std::size_t>(lanes * 3 * d), 0.0);
  {
    WithoutGil release;
    parallel_for(n, span, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t lane) {
      double* part = parts.data() + lane * 3 * d;
      dispatch([&]() LOWDIM_INLINE {
        for (std::int64_t i = begin; i < end; ++i)
          add_row(X.data() + i * d, center.data(), n_rows(weights) ? weights(i) : 1.0, d, part);
      });
    });
  }
  for (std::int64_t m = 0; m < 3 * d; ++m) {
    double total = 0.0;
    for (std::int64_t lane = 0; lane < lanes; ++lane) total += parts[static_cast<std::size_t>(lane * 3 * d + m)];
    out.data()[m] = total;
  }
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("largest", &largest<T>, "x"_a.noconvert(), "n_threads"_a, "The largest magnitude; NaN where there is any.");
  m.def("column_sums", &column_sums<T>, "rows"_a.noconvert(), "center"_a.noconvert(), "weights"_a.noconvert(),
        "out"_a.noconvert(), "n_threads"_a,
        "Weight, sum and sum of squares of the observed cells of each column about a centre.");
}

}  // namespace

void bind_cell_scans(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
