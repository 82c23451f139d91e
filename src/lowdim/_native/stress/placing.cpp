// A point placed among fixed ones: the nearest minimum of sum_j w_j (delta_j - |z - z_j|)^2, row by row.
//
// Newton's method where it lowers the stress, else one step of majorisation, which always does. Everything in double:
// the sums are short, and near the minimum their differences are small.
#include <cmath>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/cholesky.hpp"
#include "common/lane_sums.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

constexpr int kLanes = 16;
constexpr std::int64_t kRows = 8;  // of a chunk

// Value, half gradient and half Hessian (packed lower triangle) of one row's stress, and the sum of its weights.
struct Local {
  double stress = 0, weight = 0;
  std::vector<double> gradient, hessian;
  explicit Local(int r) : gradient(r), hessian(r * (r + 1) / 2) {}
};

struct Fixed {
  std::vector<double> x;  // coordinate after coordinate
  std::int64_t n;
  int r;
};

template <class T>
LOWDIM_INLINE inline void add_lanes(const Fixed& fixed, const double* z, const T* delta, const T* w, std::int64_t at,
                                    int count, double* unit, double* lanes) {
  const int r = fixed.r;
  double s[kLanes], y[kLanes], push[kLanes], bend[kLanes];
  double *stress = lanes, *weight = lanes + kLanes, *sums = lanes + 2 * kLanes;
  for (int l = 0; l < count; ++l) s[l] = 0;
  for (int k = 0; k < r; ++k)
    for (int l = 0; l < count; ++l) {
      const double gap = z[k] - fixed.x[k * fixed.n + at + l];
      unit[k * kLanes + l] = gap;
      s[l] += gap * gap;
    }
  for (int l = 0; l < count; ++l) {
    const double d = std::sqrt(s[l]), goal = static_cast<double>(delta[at + l]);
    const double one = w ? static_cast<double>(w[at + l]) : 1.0;
    y[l] = s[l] > 0 ? 1.0 / d : 0.0;
    stress[l] += one * (goal - d) * (goal - d);
    weight[l] += one;
    push[l] = one * (d - goal);
    bend[l] = one * goal * y[l];
    sums[l] += one - bend[l];  // added to the diagonal of the Hessian
  }
  double* gradient = sums + kLanes;
  double* hessian = gradient + r * kLanes;
  for (int k = 0; k < r; ++k)
    for (int l = 0; l < count; ++l) {
      unit[k * kLanes + l] *= y[l];
      gradient[k * kLanes + l] += push[l] * unit[k * kLanes + l];
    }
  for (int k = 0; k < r; ++k)
    for (int q = 0; q <= k; ++q, hessian += kLanes)
      for (int l = 0; l < count; ++l) hessian[l] += bend[l] * unit[k * kLanes + l] * unit[q * kLanes + l];
}

template <class T>
void evaluate(const Fixed& fixed, const double* z, const T* delta, const T* w, std::vector<double>& scratch,
              Local& out) {
  const int r = fixed.r, triangle = r * (r + 1) / 2;
  scratch.assign(static_cast<std::size_t>((3 + 2 * r + triangle) * kLanes), 0.0);
  double *unit = scratch.data(), *lanes = unit + r * kLanes;
  const std::int64_t whole = fixed.n / kLanes * kLanes;
  dispatch([&]() LOWDIM_INLINE {
    for (std::int64_t j = 0; j < whole; j += kLanes) add_lanes(fixed, z, delta, w, j, kLanes, unit, lanes);
    add_lanes(fixed, z, delta, w, whole, static_cast<int>(fixed.n - whole), unit, lanes);
  });
  out.stress = sum_in_order<kLanes>(lanes);
  out.weight = sum_in_order<kLanes>(lanes + kLanes);
  const double diagonal = sum_in_order<kLanes>(lanes + 2 * kLanes);
  for (int k = 0; k < r; ++k) out.gradient[k] = sum_in_order<kLanes>(lanes + (3 + k) * kLanes);
  for (int t = 0; t < triangle; ++t) out.hessian[t] = sum_in_order<kLanes>(lanes + (3 + r + t) * kLanes);
  for (int k = 0; k < r; ++k) out.hessian[in_triangle(k, k)] += diagonal;
}

// Solves H p = -g by Cholesky in place; false where H is not safely positive definite.
bool newton(std::vector<double> H, const std::vector<double>& g, double weight, std::vector<double>& p) {
  const int r = static_cast<int>(g.size());
  for (int i = 0; i < r; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = H[in_triangle(i, j)];
      for (int k = 0; k < j; ++k) sum -= H[in_triangle(i, k)] * H[in_triangle(j, k)];
      if (i == j && !(sum > 1e-9 * weight)) return false;
      H[in_triangle(i, j)] = i == j ? std::sqrt(sum) : sum / H[in_triangle(j, j)];
    }
  for (int i = 0; i < r; ++i) {
    double sum = -g[i];
    for (int k = 0; k < i; ++k) sum -= H[in_triangle(i, k)] * p[k];
    p[i] = sum / H[in_triangle(i, i)];
  }
  for (int i = r - 1; i >= 0; --i) {
    double sum = p[i];
    for (int k = i + 1; k < r; ++k) sum -= H[in_triangle(k, i)] * p[k];
    p[i] = sum / H[in_triangle(i, i)];
  }
  return true;
}

double length_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

// Near the minimum the stress changes by less than its rounding; there the gradient says whether a step was good.
template <class T>
void place(const Fixed& fixed, const T* delta, const T* w, int max_iter, double scale, double* z) {
  const int r = fixed.r;
  std::vector<double> scratch, p(r), next(r);
  Local now(r), found(r);
  evaluate(fixed, z, delta, w, scratch, now);
  for (int step = 0; step < max_iter && now.weight > 0; ++step) {
    bool curved = newton(now.hessian, now.gradient, now.weight, p);
    for (bool lower = false; !lower;) {
      if (!curved)
        for (int k = 0; k < r; ++k) p[k] = -now.gradient[k] / now.weight;
      for (int k = 0; k < r; ++k) next[k] = z[k] + p[k];
      if (!(length_of(p) > 1e-15 * scale)) return;
      evaluate(fixed, next.data(), delta, w, scratch, found);
      lower = found.stress < now.stress ||
              (found.stress <= now.stress * (1 + 1e-12) && length_of(found.gradient) < 0.5 * length_of(now.gradient));
      if (!lower && !curved) return;  // majorisation cannot fail but by rounding
      if (!lower) curved = false;
    }
    std::copy(next.begin(), next.end(), z);
    std::swap(now, found);
  }
}

// Z holds starts and becomes the places.
template <class T>
void place_rows(In2<T> delta, In2<T> w, In2<double> fixed, Out2<double> Z, int max_iter, double scale, int n_threads) {
  const std::int64_t n = n_rows(fixed), q = n_rows(Z);
  const int r = static_cast<int>(n_columns(fixed));
  const bool weighted = n_rows(w) > 0;
  if (!has_shape(delta, q, n) || n_columns(Z) != r || (weighted && !has_shape(w, q, n)))
    throw std::invalid_argument(
        "place_rows: delta and w must have one row for each of Z and one column for each of fixed");
  WithoutGil free;
  Fixed points{std::vector<double>(static_cast<std::size_t>(n * r)), n, r};
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = 0; k < r; ++k) points.x[k * n + i] = fixed(i, k);
  parallel_for(q, kRows, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (std::int64_t i = begin; i < end; ++i)
      place(points, delta.data() + i * n, weighted ? w.data() + i * n : nullptr, max_iter, scale, Z.data() + i * r);
  });
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("place_rows", &place_rows<T>, "delta"_a.noconvert(), "w"_a.noconvert(), "fixed"_a.noconvert(),
        "Z"_a.noconvert(), "max_iter"_a, "scale"_a, "n_threads"_a,
        "Place rows among fixed points by their dissimilarities, each at the minimum nearest its start.");
}

}  // namespace

void bind_placing(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
