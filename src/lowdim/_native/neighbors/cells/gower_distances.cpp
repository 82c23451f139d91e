// Gower's distance between rows of numbers and categories, some of whose cells may be missing.
//
// A row has q cells, then q marks, then one number: the distance to rows with which it shares no observed cell. A mark
// is 0 for a missing cell, 1 for a number (divided by its range) and -1 for the code of a category. Codes are whole
// numbers, so that min(|a - b|, 1) says whether two of them differ. The product of two marks is 1 where both cells are
// observed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"
#include "neighbors/candidate_search.hpp"

namespace lowdim {
namespace {

constexpr std::int64_t kTileRows = 2, kTileColumns = 16;

// Columns by rows, kTileColumns rows side by side; rows that do not exist are zeros. row(c): where row c begins.
template <class T, class Row>
void pack_panel(const Row& row, std::int64_t width, std::int64_t points, T* panel) {
  for (std::int64_t k = 0; k < width * kTileColumns; ++k) panel[k] = 0;
  for (std::int64_t c = 0; c < points; ++c) {
    const T* y = row(c);
    for (std::int64_t k = 0; k < width; ++k) panel[k * kTileColumns + c] = y[k];
  }
}

template <class T, std::int64_t rows>
LOWDIM_INLINE inline void gower_tile(const T* LOWDIM_RESTRICT x, std::int64_t q, const T* LOWDIM_RESTRICT panel,
                                     T* LOWDIM_RESTRICT out, std::int64_t n, std::int64_t points) {
  const std::int64_t width = 2 * q + 1;
  T sum[rows][kTileColumns] = {}, count[rows][kTileColumns] = {};
  for (std::int64_t k = 0; k < q; ++k)
    for (std::int64_t r = 0; r < rows; ++r) {
      const T cell = x[r * width + k], mark = x[r * width + q + k];
      const T most = mark < 0 ? T(1) : std::numeric_limits<T>::max();
      for (std::int64_t c = 0; c < kTileColumns; ++c) {
        const T gap = std::fabs(cell - panel[k * kTileColumns + c]);
        const T both = mark * panel[(q + k) * kTileColumns + c];
        sum[r][c] += both * (gap < most ? gap : most);
        count[r][c] += both;
      }
    }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < points; ++c)
      out[r * n + c] = count[r][c] > 0 ? sum[r][c] / count[r][c] : x[r * width + 2 * q];
}

template <class T>
void gower_rows(In2<T> x, In2<T> y, Out2<T> out, int n_threads) {
  const std::int64_t b = n_rows(x), width = n_columns(x), q = width / 2, n = n_rows(y);
  if (n_columns(y) != width || width % 2 == 0 || !has_shape(out, b, n))
    throw std::invalid_argument("gower_rows: the arrays must agree in their shapes");
  WithoutGil free;
  parallel_for(
      (n + kTileColumns - 1) / kTileColumns, 16, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        std::vector<T> panel(static_cast<std::size_t>(width * kTileColumns));
        for (std::int64_t c = first * kTileColumns; c < std::min(n, last * kTileColumns); c += kTileColumns) {
          const std::int64_t points = std::min(kTileColumns, n - c);
          pack_panel([&](std::int64_t at) { return y.data() + (c + at) * width; }, width, points, panel.data());
          dispatch([&]() LOWDIM_INLINE {
            std::int64_t i = 0;
            for (; i + kTileRows <= b; i += kTileRows)
              gower_tile<T, kTileRows>(x.data() + i * width, q, panel.data(), out.data() + i * n + c, n, points);
            for (; i < b; ++i)
              gower_tile<T, 1>(x.data() + i * width, q, panel.data(), out.data() + i * n + c, n, points);
          });
        }
      });
}

// out[i, c]: the distance of row i of x to row indices[i, c] of y, with the bits that it has in a block.
template <class T>
void gower_lists(In2<T> x, In2<T> y, In2<std::int32_t> indices, Out2<T> out) {
  const std::int64_t width = n_columns(x), q = width / 2, k = n_columns(indices);
  require(n_columns(y) == width && width % 2 == 1 && n_rows(indices) == n_rows(x) && same_shape(out, indices));
  require(all_below(indices, n_rows(y)));
  parallel_for(n_rows(x), 16, 1, [&](std::int64_t first, std::int64_t last, auto) {
    std::vector<T> panel(static_cast<std::size_t>(width * kTileColumns));
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t j = 0; j < k; j += kTileColumns) {
        const std::int64_t points = std::min(kTileColumns, k - j);
        const std::int32_t* listed = indices.data() + i * k + j;
        pack_panel([&](std::int64_t at) { return y.data() + listed[at] * width; }, width, points, panel.data());
        dispatch([&]() LOWDIM_INLINE {
          gower_tile<T, 1>(x.data() + i * width, q, panel.data(), out.data() + i * k + j, k, points);
        });
      }
  });
}

// The rows of a nearest-neighbour descent.
class GowerSpace : public Space {
 public:
  explicit GowerSpace(In2<float> table) : table_(table) {
    require(n_rows(table) <= most_numbered && n_columns(table) % 2 == 1);
  }

  std::int64_t rows() const override { return n_rows(table_); }
  std::int64_t pair_cost() const override { return 1 + n_columns(table_) / 4; }

  void measure(std::int32_t row, const std::int32_t* ids, std::int64_t first, std::int64_t last, float* values,
               std::vector<float>&) const override {
    const std::int64_t width = n_columns(table_), q = width / 2;
    std::vector<float> panel(static_cast<std::size_t>(width * kTileColumns));
    for (std::int64_t c = first; c < last; c += kTileColumns) {
      const std::int64_t points = std::min(kTileColumns, last - c);
      pack_panel([&](std::int64_t at) { return table_.data() + ids[c + at] * width; }, width, points, panel.data());
      dispatch([&]() LOWDIM_INLINE {
        gower_tile<float, 1>(table_.data() + row * width, q, panel.data(), values + c, points, points);
      });
    }
  }

 private:
  In2<float> table_;
};

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("gower_rows", &gower_rows<T>, "x"_a.noconvert(), "y"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        "Gower's distances of the rows x to the rows y: cells, marks, and the distance where nothing is shared.");
  m.def("gower_lists", &gower_lists<T>, "x"_a.noconvert(), "y"_a.noconvert(), "indices"_a.noconvert(),
        "out"_a.noconvert(), nb::call_guard<WithoutGil>(), "The same for the rows of y that are listed for each row.");
}

}  // namespace

void bind_gower_distances(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
  using namespace nb::literals;
  nb::class_<GowerSpace, Space>(m, "GowerDescent", "Rows of numbers and categories under Gower's distance.")
      .def(nb::init<In2<float>>(), "table"_a.noconvert());
}

}  // namespace lowdim
