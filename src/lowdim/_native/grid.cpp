// Charges on a regular grid, and what the grid says at points: cubic B-splines in one and two dimensions.
#include <algorithm>

#include "arrays.hpp"
#include "parallel.hpp"

namespace lowdim {

namespace {

void require(bool fits) {
  if (!fits) throw std::invalid_argument("the arrays do not fit together");
}

// The four splines that reach x (in units of the grid), and the first of their nodes.
struct Splines {
  std::int64_t node;
  float weight[4];

  explicit Splines(float x, std::int64_t size) {
    node = std::clamp<std::int64_t>(static_cast<std::int64_t>(x) - 1, 0, size - 4);
    const float t = x - static_cast<float>(node + 1), u = 1 - t;
    weight[0] = u * u * u / 6, weight[3] = t * t * t / 6;
    weight[1] = 2.0f / 3 - t * t * (1 - t / 2), weight[2] = 2.0f / 3 - u * u * (1 - u / 2);
  }
};

struct Box {
  std::int64_t n, dims, rows, columns;  // one dimension: a single row
  const float* y;
  const double *low, *over;  // origin and 1 / spacing

  float at(std::int64_t i, std::int64_t c) const {
    return static_cast<float>((static_cast<double>(y[i * dims + c]) - low[c]) * over[0]);
  }
};

Box open_box(const In2<float>& y, const In1<double>& low, const double& over, std::int64_t rows, std::int64_t columns) {
  const std::int64_t dims = y.shape(1);
  require((dims == 1 || dims == 2) && static_cast<std::int64_t>(low.shape(0)) == dims && columns >= 4);
  require(dims == 1 ? rows == 1 : rows >= 4);
  const Box box{static_cast<std::int64_t>(y.shape(0)), dims, rows, columns, y.data(), low.data(), &over};
  for (std::int64_t i = 0; i < box.n; ++i)
    for (std::int64_t c = 0; c < dims; ++c) {
      const float x = box.at(i, c);
      require(x >= 1 && x < static_cast<float>((c + 1 == dims ? columns : rows) - 2));
    }
  return box;
}

// grid = the sum over the points of their splines. Parts of points fill grids of their own, summed in order.
void spread_grid(In2<float> y, In1<double> low, double over, int n_threads, Out2<float> grid) {
  const std::int64_t rows = grid.shape(0), columns = grid.shape(1), size = rows * columns;
  const Box box = open_box(y, low, over, rows, columns);
  const std::int64_t parts = std::clamp<std::int64_t>(box.n / 16384, 1, 8), chunk = (box.n + parts - 1) / parts;
  std::vector<float> sums(static_cast<std::size_t>(parts * size), 0.0f);
  parallel_for(box.n, chunk, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t part) {
    float* own = sums.data() + part * size;
    for (std::int64_t i = first; i < last; ++i) {
      const Splines across(box.at(i, box.dims - 1), columns);
      if (box.dims == 1) {
        for (int b = 0; b < 4; ++b) own[across.node + b] += across.weight[b];
        continue;
      }
      const Splines down(box.at(i, 0), rows);
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
          own[(down.node + a) * columns + across.node + b] += down.weight[a] * across.weight[b];
    }
  });
  parallel_for(size, 16384, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    std::copy(sums.data() + first, sums.data() + last, grid.data() + first);
    for (std::int64_t part = 1; part < parts; ++part)
      for (std::int64_t k = first; k < last; ++k) grid.data()[k] += sums[part * size + k];
  });
}

// out[:, field] = the splines of each point times a field.
void gather_grid(In2<float> y, In1<double> low, double over, In2<float> grid, std::int64_t field, int n_threads,
                 Out2<float> out) {
  const std::int64_t rows = grid.shape(0), columns = grid.shape(1), fields = out.shape(1);
  const Box box = open_box(y, low, over, rows, columns);
  require(out.shape(0) == y.shape(0) && field >= 0 && field < fields);
  parallel_for(box.n, 4096, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (std::int64_t i = first; i < last; ++i) {
      const Splines across(box.at(i, box.dims - 1), columns);
      float sum = 0;
      if (box.dims == 1) {
        for (int b = 0; b < 4; ++b) sum += across.weight[b] * grid.data()[across.node + b];
      } else {
        const Splines down(box.at(i, 0), rows);
        for (int a = 0; a < 4; ++a) {
          const float* line = grid.data() + (down.node + a) * columns + across.node;
          float part = 0;
          for (int b = 0; b < 4; ++b) part += across.weight[b] * line[b];
          sum += down.weight[a] * part;
        }
      }
      out.data()[i * fields + field] = sum;
    }
  });
}

}  // namespace

void bind_grid(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;
  m.def("spread_grid", &spread_grid, "y"_a.noconvert(), "low"_a.noconvert(), "over"_a, "n_threads"_a,
        "grid"_a.noconvert(), release());
  m.def("gather_grid", &gather_grid, "y"_a.noconvert(), "low"_a.noconvert(), "over"_a, "grid"_a.noconvert(), "field"_a,
        "n_threads"_a, "out"_a.noconvert(), release());
}

}  // namespace lowdim
