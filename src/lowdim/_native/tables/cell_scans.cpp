// One look at every cell of a table.
#include <cstring>
#include <type_traits>

#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {

namespace {

// Without its sign bit a float orders like the unsigned integer of its bits, and NaN lies above infinity: the largest
// integer is the largest magnitude, or tells of a cell that is none.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
LOWDIM_INLINE inline Bits<T> largest_bits(const T* x, std::int64_t n) {
  constexpr int lanes = 64;
  constexpr Bits<T> magnitude = static_cast<Bits<T>>(~Bits<T>{0}) >> 1;
  Bits<T> most[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) {
      Bits<T> b;
      std::memcpy(&b, x + i + l, sizeof(T));
      b &= magnitude;
      most[l] = most[l] > b ? most[l] : b;
    }
  for (; i < n; ++i) {
    Bits<T> b;
    std::memcpy(&b, x + i, sizeof(T));
    most[0] = std::max(most[0], static_cast<Bits<T>>(b & magnitude));
  }
  for (int l = 1; l < lanes; ++l) most[0] = std::max(most[0], most[l]);
  return most[0];
}

template <class T>
double largest(In1<T> x, int n_threads) {
  const std::int64_t n = static_cast<std::int64_t>(x.shape(0)), chunk = std::int64_t{1} << 18;
  std::atomic<Bits<T>> most{0};
  {
    nb::gil_scoped_release release;
    parallel_for(n, chunk, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      Bits<T> here = 0;
      dispatch([&]() LOWDIM_INLINE { here = largest_bits(x.data() + begin, end - begin); });
      Bits<T> seen = most.load();
      while (seen < here && !most.compare_exchange_weak(seen, here)) {
      }
    });
  }
  const Bits<T> bits = most.load();
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return static_cast<double>(value);
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
  const std::int64_t n = X.shape(0), d = X.shape(1);
  if (static_cast<std::int64_t>(center.shape(0)) != d || out.shape(0) != 3 ||
      static_cast<std::int64_t>(out.shape(1)) != d ||
      (weights.shape(0) && static_cast<std::int64_t>(weights.shape(0)) != n))
    throw std::invalid_argument("column_sums: the arrays must agree in their shapes");
  const std::int64_t lanes = std::clamp<std::int64_t>(n / 256, 1, 16), span = (n + lanes - 1) / lanes;
  std::vector<double> parts(static_cast<std::size_t>(lanes * 3 * d), 0.0);
  {
    nb::gil_scoped_release release;
    parallel_for(n, span, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t lane) {
      double* part = parts.data() + lane * 3 * d;
      dispatch([&]() LOWDIM_INLINE {
        for (std::int64_t i = begin; i < end; ++i)
          add_row(X.data() + i * d, center.data(), weights.shape(0) ? weights(i) : 1.0, d, part);
      });
    });
  }
  for (std::int64_t m = 0; m < 3 * d; ++m) {
    double total = 0.0;
    for (std::int64_t lane = 0; lane < lanes; ++lane) total += parts[static_cast<std::size_t>(lane * 3 * d + m)];
    out.data()[m] = total;
  }
}

}  // namespace

void bind_cell_scans(nb::module_& m) {
  using namespace nb::literals;
  const char* about = "The largest magnitude; NaN where there is any.";
  m.def("largest", &largest<float>, "x"_a.noconvert(), "n_threads"_a, about);
  m.def("largest", &largest<double>, "x"_a.noconvert(), "n_threads"_a, about);
  about = "Weight, sum and sum of squares of the observed cells of each column about a centre.";
  m.def("column_sums", &column_sums<float>, "rows"_a.noconvert(), "center"_a.noconvert(), "weights"_a.noconvert(),
        "out"_a.noconvert(), "n_threads"_a, about);
  m.def("column_sums", &column_sums<double>, "rows"_a.noconvert(), "center"_a.noconvert(), "weights"_a.noconvert(),
        "out"_a.noconvert(), "n_threads"_a, about);
}

}  // namespace lowdim
