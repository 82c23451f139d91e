// New rows on a fitted t-SNE map, each on its own.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "maps/repulsion_field.hpp"

namespace lowdim {
namespace {

// The fitted points, and the tree over them where there is one.
template <int D>
struct Fitted {
  const Tree<double, D>* tree;
  const std::vector<Point<double, D>>& points;
  const Student<double>& kernel;
  double theta;
};

// What pushes a point that moves little: nodes as a whole, and single points.
struct Pushers {
  std::vector<std::int32_t> open, whole, single;

  template <int D>
  void list(const Fitted<D>& fitted, const double* y) {
    whole.clear(), single.clear();
    fitted.tree->list(y, y, fitted.theta, open, whole, single);
  }
};

// force = the push of all fitted points on a point at y; the sum of their kernel values.
template <int D>
double push_at(const Fitted<D>& fitted, const Pushers& pushers, const double* y, double* force) {
  double total = 0;
  dispatch([&]() LOWDIM_INLINE {
    Pack<double> x[D];
    Pushed<double, D> pushed;
    for (int c = 0; c < D; ++c) x[c] = Pack<double>{} + y[c];
    if (fitted.tree == nullptr) {
      push_all<double, D>(x, fitted.points.data(), nullptr, static_cast<std::int64_t>(fitted.points.size()),
                          fitted.kernel, pushed);
    } else {
      push_all<double, D>(x, fitted.tree->nodes(), pushers.whole.data(),
                          static_cast<std::int64_t>(pushers.whole.size()), fitted.kernel, pushed);
      push_all<double, D>(x, fitted.tree->points(), pushers.single.data(),
                          static_cast<std::int64_t>(pushers.single.size()), fitted.kernel, pushed);
    }
    for (int c = 0; c < D; ++c) force[c] = pushed.force[c][0];
    total = pushed.total[0];
  });
  return total;
}

// The least of sum_j p_j log(p_j / q_j) for one new point, the fitted points fixed. The attractive part is majorised by
// a paraboloid whose minimum is the mean of the neighbours weighted by p q; the repulsion shifts it.
template <int D>
void place(const Fitted<D>& fitted, const std::int32_t* near, const double* p, std::int64_t k, double exaggeration,
           int n_iter, double* y) {
  constexpr int listed_for = 10;
  Pushers pushers;
  for (int step = 0; step < n_iter; ++step) {
    if (fitted.tree != nullptr && step % listed_for == 0) pushers.list(fitted, y);
    double force[D] = {}, weight = 0, move[D] = {}, length = 0;
    const double total = push_at<D>(fitted, pushers, y, force);
    for (std::int64_t j = 0; j < k; ++j) {
      const double* other = fitted.points[near[j]].at;
      double s = 0;
      for (int c = 0; c < D; ++c) s += (y[c] - other[c]) * (y[c] - other[c]);
      const double pull = exaggeration * p[j] / (1 + s * fitted.kernel.over_dof);
      weight += pull;
      for (int c = 0; c < D; ++c) move[c] += pull * (other[c] - y[c]);
    }
    for (int c = 0; c < D; ++c) {
      move[c] = (move[c] + force[c] / total) / std::max(weight, 1e-300);
      length += move[c] * move[c];
    }
    const double shrink = length > 1 ? 1 / std::sqrt(length) : 1.0;
    for (int c = 0; c < D; ++c) y[c] += shrink * move[c];
    if (length < 1e-10) break;
  }
}

template <int D>
void place_all(const In2<double>& fitted, const In2<std::int32_t>& near, const In2<double>& p, double theta, double dof,
               double exaggeration, int n_iter, int n_threads, const Out2<double>& y) {
  const std::int64_t n = n_rows(fitted), m = n_rows(y), k = n_columns(near);
  std::vector<Point<double, D>> points(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) std::copy(fitted.data() + i * D, fitted.data() + (i + 1) * D, points[i].at);
  std::unique_ptr<Tree<double, D>> tree;
  if (theta > 0 && n > 4) {
    tree = std::make_unique<Tree<double, D>>(n, dof);
    tree->build(fitted.data(), n_threads);
  }
  const Student<double> kernel(dof);
  const Fitted<D> known{tree.get(), points, kernel, theta};
  parallel_for(m, 8, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (std::int64_t i = first; i < last; ++i)
      place<D>(known, near.data() + i * k, p.data() + i * k, k, exaggeration, n_iter, y.data() + i * D);
  });
}

// Moves new points y from where they are to where their neighbours among the fitted ones want them, each on its own.
void place_rows(In2<double> fitted, In2<std::int32_t> near, In2<double> p, double theta, double dof,
                double exaggeration, int n_iter, int n_threads, Out2<double> y) {
  const std::int64_t dims = n_columns(y);
  require(n_rows(near) == n_rows(y) && same_shape(p, near) && n_columns(fitted) == dims && n_rows(fitted) > 0);
  require(all_below(near, n_rows(fitted)) && dims >= 1 && dims <= most_dims);
  if (dims == 1)
    place_all<1>(fitted, near, p, theta, dof, exaggeration, n_iter, n_threads, y);
  else if (dims == 2)
    place_all<2>(fitted, near, p, theta, dof, exaggeration, n_iter, n_threads, y);
  else
    place_all<3>(fitted, near, p, theta, dof, exaggeration, n_iter, n_threads, y);
}

}  // namespace

void bind_tsne_placing(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("place_rows", &place_rows, "fitted"_a.noconvert(), "near"_a.noconvert(), "p"_a.noconvert(), "theta"_a, "dof"_a,
        "exaggeration"_a, "n_iter"_a, "n_threads"_a, "y"_a.noconvert(), release(),
        "Move new points y to where their fitted neighbours, of weights p, want them.");
}

}  // namespace lowdim
