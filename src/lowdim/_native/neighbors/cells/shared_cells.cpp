// What rows share, exactly: bits that both have, products of cells, the lesser of two cells; and distances from that.
//
// A block of sparse rows goes through the other table column by column, so that only shared cells are touched. Terms
// are added up in the order of the columns, in blocks as in lists: a pair has the same bits everywhere.
#include <algorithm>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "neighbors/cells/shared_formulas.hpp"
#include "neighbors/cells/shared_terms.hpp"

namespace lowdim {

namespace {

constexpr std::int64_t tile = 512;  // rows of bits that stay in the cache while several queries use them

// out[i, j]: how many bits the rows i of x and j of y share.
void shared_bit_block(In2<std::uint64_t> x, In2<std::uint64_t> y, Out2<double> out) {
  const std::int64_t b = n_rows(x), n = n_rows(y), words = n_columns(x);
  require(n_columns(y) == words && has_shape(out, b, n));
  parallel_for((n + tile - 1) / tile, 1, 1, [&](std::int64_t first, std::int64_t last, auto) {
    dispatch([&]() LOWDIM_INLINE {
      for (std::int64_t i = 0; i < b; ++i)
        for (std::int64_t j = first * tile; j < std::min(n, last * tile); ++j)
          out.data()[i * n + j] = static_cast<double>(shared_bits(x.data() + i * words, y.data() + j * words, words));
    });
  });
}

// out[i, c]: the same for row i of x and row indices[i, c] of y.
void shared_bit_lists(In2<std::uint64_t> x, In2<std::uint64_t> y, In2<std::int32_t> indices, Out2<double> out) {
  const std::int64_t k = n_columns(indices), words = n_columns(x);
  require(n_columns(y) == words && n_rows(indices) == n_rows(x) && same_shape(out, indices));
  require(all_below(indices, n_rows(y)));
  dispatch([&]() LOWDIM_INLINE {
    for (std::int64_t i = 0; i < n_rows(x); ++i)
      for (std::int64_t c = 0; c < k; ++c)
        out.data()[i * k + c] =
            static_cast<double>(shared_bits(x.data() + i * words, y.data() + indices.data()[i * k + c] * words, words));
  });
}

// Compressed sparse rows.
struct Sparse {
  In1<double> cells;
  In1<std::int32_t> columns;
  In1<std::int64_t> starts;

  std::int64_t rows() const { return n_rows(starts) - 1; }
  bool fits() const { return n_rows(columns) == n_rows(cells) && are_borders(starts, n_rows(cells)); }
};

// Row i of `out` += what row i of x shares with every row of a table that is given by its columns.
template <class Term>
void share_row(const Sparse& x, std::int64_t i, const Sparse& by_column, double* out) {
  for (std::int64_t e = x.starts.data()[i]; e < x.starts.data()[i + 1]; ++e) {
    const double cell = x.cells.data()[e];
    const std::int32_t column = x.columns.data()[e];
    const std::int64_t end = by_column.starts.data()[column + 1];
    for (std::int64_t f = by_column.starts.data()[column]; f < end; ++f)
      out[by_column.columns.data()[f]] += Term::of(cell, by_column.cells.data()[f]);
  }
}

void shared_cell_block(In1<double> cells, In1<std::int32_t> columns, In1<std::int64_t> starts, In1<double> other_cells,
                       In1<std::int32_t> other_rows, In1<std::int64_t> other_starts, bool overlap, Out2<double> out) {
  const Sparse x{cells, columns, starts}, by_column{other_cells, other_rows, other_starts};
  const std::int64_t n = n_columns(out);
  require(x.fits() && by_column.fits() && n_rows(out) == x.rows() && all_below(columns, by_column.rows()));
  require(all_below(other_rows, n));
  parallel_for(x.rows(), 1, 1, [&](std::int64_t i, std::int64_t, auto) {
    double* row = out.data() + i * n;
    std::fill(row, row + n, 0.0);
    overlap ? share_row<Overlap>(x, i, by_column, row) : share_row<Product>(x, i, by_column, row);
  });
}

template <class Term>
double shared_pair(const Sparse& x, std::int64_t i, const Sparse& y, std::int64_t j) {
  std::int64_t s = x.starts.data()[i], t = y.starts.data()[j];
  const std::int64_t s_end = x.starts.data()[i + 1], t_end = y.starts.data()[j + 1];
  double sum = 0;
  while (s < s_end && t < t_end) {
    const std::int32_t left = x.columns.data()[s], right = y.columns.data()[t];
    if (left == right) sum += Term::of(x.cells.data()[s], y.cells.data()[t]);
    s += left <= right;
    t += right <= left;
  }
  return sum;
}

void shared_cell_lists(In1<double> cells, In1<std::int32_t> columns, In1<std::int64_t> starts, In1<double> other_cells,
                       In1<std::int32_t> other_columns, In1<std::int64_t> other_starts, bool overlap,
                       In2<std::int32_t> indices, Out2<double> out) {
  const Sparse x{cells, columns, starts}, y{other_cells, other_columns, other_starts};
  const std::int64_t k = n_columns(indices);
  require(x.fits() && y.fits() && n_rows(indices) == x.rows() && same_shape(out, indices));
  require(all_below(indices, y.rows()));
  parallel_for(x.rows(), 16, 1, [&](std::int64_t first, std::int64_t last, auto) {
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t e = i * k; e < (i + 1) * k; ++e) {
        const std::int64_t j = indices.data()[e];
        out.data()[e] = overlap ? shared_pair<Overlap>(x, i, y, j) : shared_pair<Product>(x, i, y, j);
      }
  });
}

// What row i shares, out[i, j], becomes a distance. `other_sums` has one row for all i, or one for each.
void distances_from_shared(Out2<double> out, In1<double> sums, In2<double> other_sums, double d, const char* formula) {
  const std::int64_t n = n_columns(out), one = n_rows(other_sums) == 1 ? 0 : n;
  require(n_rows(sums) == n_rows(out) && n_columns(other_sums) == n);
  require(n_rows(other_sums) == 1 || n_rows(other_sums) == n_rows(out));
  with_formula(formula, [&](const auto& by) {
    dispatch([&]() LOWDIM_INLINE {
      for (std::int64_t i = 0; i < n_rows(out); ++i) {
        double* LOWDIM_RESTRICT row = out.data() + i * n;
        const double* LOWDIM_RESTRICT others = other_sums.data() + i * one;
        for (std::int64_t j = 0; j < n; ++j) row[j] = by.of(row[j], sums.data()[i], others[j], d);
      }
    });
  });
}

}  // namespace

void bind_shared_cells(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("shared_bit_block", &shared_bit_block, "x"_a.noconvert(), "y"_a.noconvert(), "out"_a.noconvert(), release(),
        "How many bits the rows of x and y share.");
  m.def("shared_bit_lists", &shared_bit_lists, "x"_a.noconvert(), "y"_a.noconvert(), "indices"_a.noconvert(),
        "out"_a.noconvert(), release(), "The same for the rows of y that `indices` lists for each row of x.");
  m.def("shared_cell_block", &shared_cell_block, "cells"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(),
        "other_cells"_a.noconvert(), "other_rows"_a.noconvert(), "other_starts"_a.noconvert(), "overlap"_a,
        "out"_a.noconvert(), release(),
        "What sparse rows share with all rows of a table that is given by its columns: products, or the lesser cells.");
  m.def("shared_cell_lists", &shared_cell_lists, "cells"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(),
        "other_cells"_a.noconvert(), "other_columns"_a.noconvert(), "other_starts"_a.noconvert(), "overlap"_a,
        "indices"_a.noconvert(), "out"_a.noconvert(), release(),
        "The same for the listed rows of a table that is given by its rows.");
  m.def("distances_from_shared", &distances_from_shared, "out"_a.noconvert(), "sums"_a.noconvert(),
        "other_sums"_a.noconvert(), "d"_a, "formula"_a, release(), "Distances from what rows share, in place.");
}

}  // namespace lowdim
