// Squared distances of rows to rows by differences.
//
// A matrix product is faster in high dimension, but it rounds differently for every pair: copies of a row would not be
// at distance 0, and equal distances would be ordered by noise instead of by index.
#include <algorithm>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

constexpr std::int64_t kTileRows = 4, kTileColumns = 32;

// Features by points, kTileColumns points side by side; points that do not exist are zeros.
template <class T>
void pack_panel(const T* y, std::int64_t d, std::int64_t points, T* panel) {
  for (std::int64_t k = 0; k < d * kTileColumns; ++k) panel[k] = 0;
  for (std::int64_t c = 0; c < points; ++c)
    for (std::int64_t k = 0; k < d; ++k) panel[k * kTileColumns + c] = y[c * d + k];
}

template <class T, std::int64_t rows>
LOWDIM_INLINE inline void square_tile(const T* LOWDIM_RESTRICT x, std::int64_t d, const T* LOWDIM_RESTRICT panel,
                                      T* LOWDIM_RESTRICT out, std::int64_t n, std::int64_t points) {
  T sum[rows][kTileColumns] = {};
  for (std::int64_t k = 0; k < d; ++k)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < kTileColumns; ++c) {
        const T gap = x[r * d + k] - panel[k * kTileColumns + c];
        sum[r][c] += gap * gap;
      }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < points; ++c) out[r * n + c] = sum[r][c];
}

template <class T>
void square_rows(In2<T> x, In2<T> y, Out2<T> out, int n_threads) {
  const std::int64_t b = n_rows(x), d = n_columns(x), n = n_rows(y);
  if (n_columns(y) != d || !has_shape(out, b, n))
    throw std::invalid_argument("square_rows: the arrays must agree in their shapes");
  WithoutGil free;
  parallel_for((n + kTileColumns - 1) / kTileColumns, 16, n_threads,
               [&](std::int64_t first, std::int64_t last, std::int64_t) {
                 std::vector<T> panel(static_cast<std::size_t>(d * kTileColumns));
                 for (std::int64_t c = first * kTileColumns; c < std::min(n, last * kTileColumns); c += kTileColumns) {
                   const std::int64_t points = std::min(kTileColumns, n - c);
                   pack_panel(y.data() + c * d, d, points, panel.data());
                   dispatch([&]() LOWDIM_INLINE {
                     std::int64_t i = 0;
                     for (; i + kTileRows <= b; i += kTileRows)
                       square_tile<T, kTileRows>(x.data() + i * d, d, panel.data(), out.data() + i * n + c, n, points);
                     for (; i < b; ++i)
                       square_tile<T, 1>(x.data() + i * d, d, panel.data(), out.data() + i * n + c, n, points);
                   });
                 }
               });
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("square_rows", &square_rows<T>, "x"_a.noconvert(), "y"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        "Squared distances of the rows x to the rows y, by differences.");
}

}  // namespace

void bind_squared_distances(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
