// Charges on a regular grid, and what the grid says at points: B-splines of degree five in one and two dimensions.
#include <algorithm>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"

namespace lowdim {

namespace {

constexpr std::int64_t reach = 6;  // splines that are not zero at a point

// The six splines that reach x (in units of the grid), and the first of their nodes.
struct Splines {
  std::int64_t node;
  float weight[reach];

  explicit Splines(float x, std::int64_t size) {
    node = std::clamp<std::int64_t>(static_cast<std::int64_t>(x) - 2, 0, size - reach);
    const float t = x - static_cast<float>(node + 2), u = 1 - t;
    weight[0] = end(u), weight[1] = side(1 + t), weight[2] = middle(t);
    weight[3] = middle(u), weight[4] = side(1 + u), weight[5] = end(t);
  }

 private:
  static float middle(float d) { return 11.0f / 20 + d * d * (-0.5f + d * d * (0.25f - d / 12)); }
  static float side(float d) {
    return 17.0f / 40 + d * (5.0f / 8 + d * (-7.0f / 4 + d * (5.0f / 4 + d * (-3.0f / 8 + d / 24))));
  }
  static float end(float d) { return d * d * d * d * d / 120; }
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
  const std::int64_t dims = n_columns(y);
  require((dims == 1 || dims == 2) && n_rows(low) == dims && columns >= reach);
  require(dims == 1 ? rows == 1 : rows >= reach);
  const Box box{n_rows(y), dims, rows, columns, y.data(), low.data(), &over};
  bool inside = true;
  for (std::int64_t i = 0; i < box.n; ++i)
    for (std::int64_t c = 0; c < dims; ++c) {
      const float x = box.at(i, c);
      inside &= x >= 2 && x < static_cast<float>((c + 1 == dims ? columns : rows) - 3);
    }
  require(inside);
  return box;
}

// grid = the sum over the points of their splines. Parts of points fill grids of their own, summed in order.
void spread_grid(In2<float> y, In1<double> low, double over, int n_threads, Out2<float> grid) {
  const std::int64_t rows = n_rows(grid), columns = n_columns(grid), size = rows * columns;
  const Box box = open_box(y, low, over, rows, columns);
  const std::int64_t parts = std::clamp<std::int64_t>(box.n / 16384, 1, 8), chunk = (box.n + parts - 1) / parts;
  std::vector<float> sums(static_cast<std::size_t>(parts * size), 0.0f);
  parallel_for(box.n, chunk, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t part) {
    float* own = sums.data() + part * size;
    for (std::int64_t i = first; i < last; ++i) {
      const Splines across(box.at(i, box.dims - 1), columns);
      if (box.dims == 1) {
        for (int b = 0; b < reach; ++b) own[across.node + b] += across.weight[b];
        continue;
      }
      const Splines down(box.at(i, 0), rows);
      for (int a = 0; a < reach; ++a)
        for (int b = 0; b < reach; ++b)
          own[(down.node + a) * columns + across.node + b] += down.weight[a] * across.weight[b];
    }
  });
  parallel_for(size, 16384, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    std::copy(sums.data() + first, sums.data() + last, grid.data() + first);
    for (std::int64_t part = 1; part < parts; ++part)
      for (std::int64_t k = first; k < last; ++k) grid.data()[k] += sums[part * size + k];
  });
}

// The splines of one point times a field.
float gather(const Splines& down, const Splines& across, std::int64_t dims, std::int64_t columns, const float* field) {
  float sum = 0;
  for (int a = 0; a < (dims == 1 ? 1 : reach); ++a) {
    const float* line = field + (dims == 1 ? 0 : (down.node + a) * columns) + across.node;
    float part = 0;
    for (int b = 0; b < reach; ++b) part += across.weight[b] * line[b];
    sum += dims == 1 ? part : down.weight[a] * part;
  }
  return sum;
}

// out[:, f] = the splines of each point times field f; the fields lie one below the other.
void gather_grid(In2<float> y, In1<double> low, double over, In2<float> grids, int n_threads, Out2<float> out) {
  const std::int64_t fields = n_columns(out), columns = n_columns(grids);
  require(n_rows(out) == n_rows(y) && fields > 0 && n_rows(grids) % fields == 0);
  const std::int64_t rows = n_rows(grids) / fields;
  const Box box = open_box(y, low, over, rows, columns);
  parallel_for(box.n, 4096, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (std::int64_t i = first; i < last; ++i) {
      const Splines across(box.at(i, box.dims - 1), columns), down(box.at(i, 0), box.dims == 1 ? columns : rows);
      for (std::int64_t f = 0; f < fields; ++f)
        out.data()[i * fields + f] = gather(down, across, box.dims, columns, grids.data() + f * rows * columns);
    }
  });
}

}  // namespace

void bind_spline_grid(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("spread_grid", &spread_grid, "y"_a.noconvert(), "low"_a.noconvert(), "over"_a, "n_threads"_a,
        "grid"_a.noconvert(), release(), "The sum over the points y of their splines on a grid.");
  m.def("gather_grid", &gather_grid, "y"_a.noconvert(), "low"_a.noconvert(), "over"_a, "grids"_a.noconvert(),
        "n_threads"_a, "out"_a.noconvert(), release(),
        "The splines of each point y times every field; the grids of the fields lie one below the other.");
}

}  // namespace lowdim
