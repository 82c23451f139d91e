// Distances of sparse rows under metrics that what two rows share does not give: blocks, lists, and rows of a search.
#include <string>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "neighbors/candidate_search.hpp"
#include "neighbors/cells/merged_metrics.hpp"

namespace lowdim {

namespace {

// Compressed sparse rows as arrays.
template <class T>
struct Arrays {
  In1<T> cells;
  In1<std::int32_t> columns;
  In1<std::int64_t> starts;
  In1<T> origins;

  std::int64_t rows() const { return n_rows(origins); }
  bool fits(std::int64_t d) const {
    return n_rows(starts) == rows() + 1 && n_rows(columns) == n_rows(cells) && are_borders(starts, n_rows(cells)) &&
           all_below(columns, d);
  }
  OriginRows<T> view() const { return {cells.data(), columns.data(), starts.data(), origins.data()}; }
};

// out[i, j]: the distance of row i of x to row j of y, in d columns.
void merged_cell_block(In1<double> cells, In1<std::int32_t> columns, In1<std::int64_t> starts, In1<double> origins,
                       In1<double> other_cells, In1<std::int32_t> other_columns, In1<std::int64_t> other_starts,
                       In1<double> other_origins, std::int64_t d, const char* name, double p, Out2<double> out) {
  const Arrays<double> x{cells, columns, starts, origins};
  const Arrays<double> y{other_cells, other_columns, other_starts, other_origins};
  require(d > 0 && x.fits(d) && y.fits(d) && has_shape(out, x.rows(), y.rows()));
  const OriginRows<double> left = x.view(), right = y.view();
  with_merged_metric(name, p, [&](const auto& metric) {
    parallel_for(x.rows(), 1, 1, [&](std::int64_t i, std::int64_t, auto) {
      double* row = out.data() + i * y.rows();
      for (std::int64_t j = 0; j < y.rows(); ++j) row[j] = merged_pair(metric, left, i, right, j, d);
    });
  });
}

// out[i, c]: the same for row i of x and row indices[i, c] of y.
void merged_cell_lists(In1<double> cells, In1<std::int32_t> columns, In1<std::int64_t> starts, In1<double> origins,
                       In1<double> other_cells, In1<std::int32_t> other_columns, In1<std::int64_t> other_starts,
                       In1<double> other_origins, std::int64_t d, const char* name, double p, In2<std::int32_t> indices,
                       Out2<double> out) {
  const Arrays<double> x{cells, columns, starts, origins};
  const Arrays<double> y{other_cells, other_columns, other_starts, other_origins};
  require(d > 0 && x.fits(d) && y.fits(d) && n_rows(indices) == x.rows() && same_shape(out, indices));
  require(all_below(indices, y.rows()));
  const OriginRows<double> left = x.view(), right = y.view();
  const std::int64_t k = n_columns(indices);
  with_merged_metric(name, p, [&](const auto& metric) {
    parallel_for(x.rows(), 16, 1, [&](std::int64_t first, std::int64_t last, auto) {
      for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t e = i * k; e < (i + 1) * k; ++e)
          out.data()[e] = merged_pair(metric, left, i, right, indices.data()[e], d);
    });
  });
}

// The rows of a nearest-neighbour descent.
class MergedSpace : public Space {
 public:
  MergedSpace(In1<float> cells, In1<std::int32_t> columns, In1<std::int64_t> starts, In1<float> origins, std::int64_t d,
              const char* name, double p)
      : rows_{cells, columns, starts, origins}, d_(d), name_(name), p_(p) {
    require(rows_.rows() <= most_numbered && d > 0 && rows_.fits(d));
    with_merged_metric(name_, p_, [](const auto&) {});
  }

  std::int64_t rows() const override { return rows_.rows(); }
  std::int64_t pair_cost() const override {
    return 1 + 4 * n_rows(rows_.cells) / std::max<std::int64_t>(1, rows_.rows());
  }

  void measure(std::int32_t row, const std::int32_t* ids, std::int64_t first, std::int64_t last, float* values,
               std::vector<float>&) const override {
    const OriginRows<float> table = rows_.view();
    with_merged_metric(name_, p_, [&](const auto& metric) {
      for (std::int64_t c = first; c < last; ++c) values[c] = merged_pair(metric, table, row, table, ids[c], d_);
    });
  }

 private:
  Arrays<float> rows_;
  std::int64_t d_;
  std::string name_;
  double p_;
};

}  // namespace

void bind_merged_cells(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("merged_cell_block", &merged_cell_block, "cells"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(),
        "origins"_a.noconvert(), "other_cells"_a.noconvert(), "other_columns"_a.noconvert(),
        "other_starts"_a.noconvert(), "other_origins"_a.noconvert(), "d"_a, "metric"_a, "p"_a, "out"_a.noconvert(),
        release(), "Distances of sparse rows to others, from all columns in which either has a cell.");
  m.def("merged_cell_lists", &merged_cell_lists, "cells"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(),
        "origins"_a.noconvert(), "other_cells"_a.noconvert(), "other_columns"_a.noconvert(),
        "other_starts"_a.noconvert(), "other_origins"_a.noconvert(), "d"_a, "metric"_a, "p"_a, "indices"_a.noconvert(),
        "out"_a.noconvert(), release(), "The same for the listed rows of the other table.");
  nb::class_<MergedSpace, Space>(m, "MergedDescent", "Compressed sparse rows under a metric of that name.")
      .def(nb::init<In1<float>, In1<std::int32_t>, In1<std::int64_t>, In1<float>, std::int64_t, const char*, double>(),
           "cells"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(), "origins"_a.noconvert(), "d"_a,
           "metric"_a, "p"_a);
}

}  // namespace lowdim
