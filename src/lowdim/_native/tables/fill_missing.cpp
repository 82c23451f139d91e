// The missing cells of rows under a low-rank model x = mean + scale (W t + noise), row by row.
//
// For a row with observed cells O, t solves (W_O' W_O + ridge I) t = W_O' x_O, and a missing cell gets
// mean + scale w' t. Only missing cells of `completed` are written. Each row is its own: the same bits for any number
// of threads.
#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/cholesky.hpp"
#include "common/lane_sums.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

constexpr std::int64_t kRows = 64;
constexpr std::int64_t kKnown = 2048;  // numbers w w' takes per column, up to which all of them are kept
constexpr int kLanes = 8;

// out[a] = sum of A[a d + j] b[j] for K rows of A together: one row alone would wait for its own last addition.
template <int K>
LOWDIM_INLINE inline void dots(const double* LOWDIM_RESTRICT A, const double* LOWDIM_RESTRICT b, std::int64_t d,
                               double* LOWDIM_RESTRICT out) {
  double lane[K][kLanes] = {};
  std::int64_t j = 0;
  for (; j + kLanes <= d; j += kLanes)
    for (int a = 0; a < K; ++a)
      for (int l = 0; l < kLanes; ++l) lane[a][l] += A[a * d + j + l] * b[j + l];
  for (int a = 0; a < K; ++a) {
    out[a] = sum_of_eight(lane[a]);
    for (std::int64_t m = j; m < d; ++m) out[a] += A[a * d + m] * b[m];
  }
}

struct Model {
  const double *mean, *scale, *unit, *W, *Wt;  // unit = 1 / scale
  std::int64_t d, r, packed, stride;           // packed = r (r + 1) / 2, stride = the next multiple of kLanes
  double ridge, least;
  std::vector<double> outer;   // w w' of every column, while r is small, `stride` apart
  std::vector<double> all;     // W'W + ridge I
  std::vector<double> factor;  // its Cholesky factor, for rows without holes
};

struct Scratch {
  std::vector<double> x, fit, A, t, y;
  std::vector<std::int64_t> room, holes, seen;
};

// The sum over some columns j of w w', K blocks of it at a time in registers.
template <int K>
LOWDIM_INLINE inline void sum_outer(const Model& model, const std::vector<std::int64_t>& columns, std::int64_t begin,
                                    double* LOWDIM_RESTRICT sum) {
  double lane[K][kLanes] = {};
  for (const std::int64_t j : columns) {
    const double* LOWDIM_RESTRICT P = model.outer.data() + j * model.stride + begin;
    for (int b = 0; b < K; ++b)
      for (int l = 0; l < kLanes; ++l) lane[b][l] += P[b * kLanes + l];
  }
  for (int b = 0; b < K; ++b)
    for (int l = 0; l < kLanes; ++l) sum[begin + b * kLanes + l] = lane[b][l];
}

// The normal matrix of a row, from whichever of its observed and missing cells are fewer.
LOWDIM_INLINE inline void normal_matrix(const Model& model, Scratch& s) {
  const std::int64_t r = model.r, d = model.d, holes = static_cast<std::int64_t>(s.holes.size());
  const bool less = 2 * holes <= d;
  const std::vector<std::int64_t>& columns = less ? s.holes : s.seen;
  double* A = s.A.data();
  if (model.outer.empty()) {
    std::fill(s.A.begin(), s.A.end(), 0.0);
    for (const std::int64_t j : columns) add_outer(A, model.W + j * r, r, 1.0);
  } else {
    std::int64_t begin = 0;
    for (; begin + 4 * kLanes <= model.stride; begin += 4 * kLanes) sum_outer<4>(model, columns, begin, A);
    if (begin + 2 * kLanes <= model.stride) {
      sum_outer<2>(model, columns, begin, A);
      begin += 2 * kLanes;
    }
    if (begin < model.stride) sum_outer<1>(model, columns, begin, A);
  }
  if (less) {
    const double* all = model.all.data();
    for (std::int64_t m = 0; m < model.packed; ++m) A[m] = all[m] - A[m];
  } else {
    for (std::int64_t a = 0; a < r; ++a) A[in_triangle(a, a)] += model.ridge;
  }
}

// Standardised cells, 0 where missing.
template <class T>
LOWDIM_INLINE inline void standardise(const T* LOWDIM_RESTRICT x, const double* LOWDIM_RESTRICT mean,
                                      const double* LOWDIM_RESTRICT unit, std::int64_t d, double* LOWDIM_RESTRICT out) {
  for (std::int64_t j = 0; j < d; ++j) {
    const double z = (static_cast<double>(x[j]) - mean[j]) * unit[j];
    out[j] = z == z ? z : 0.0;
  }
}

// t = W'x, four components at a time.
LOWDIM_INLINE inline void project(const double* Wt, const double* x, std::int64_t d, std::int64_t r, double* t) {
  std::int64_t a = 0;
  for (; a + 4 <= r; a += 4) dots<4>(Wt + a * d, x, d, t + a);
  for (; a < r; ++a) dots<1>(Wt + a * d, x, d, t + a);
}

// W t for all cells at once, four components at a time.
LOWDIM_INLINE inline void expand(const double* LOWDIM_RESTRICT Wt, const double* LOWDIM_RESTRICT t, std::int64_t d,
                                 std::int64_t r, double* LOWDIM_RESTRICT fit) {
  for (std::int64_t j = 0; j < d; ++j) fit[j] = 0.0;
  std::int64_t a = 0;
  for (; a + 4 <= r; a += 4) {
    const double* LOWDIM_RESTRICT w = Wt + a * d;
    const double t0 = t[a], t1 = t[a + 1], t2 = t[a + 2], t3 = t[a + 3];
    for (std::int64_t j = 0; j < d; ++j)
      fit[j] += (t0 * w[j] + t1 * w[j + d]) + (t2 * w[j + 2 * d] + t3 * w[j + 3 * d]);
  }
  for (; a < r; ++a)
    for (std::int64_t j = 0; j < d; ++j) fit[j] += t[a] * Wt[a * d + j];
}

// Squared error of the observed cells. They are standardised again: reading what was just written cell by cell stalls.
template <class T>
LOWDIM_INLINE inline double misfit(const T* LOWDIM_RESTRICT x, const double* LOWDIM_RESTRICT mean,
                                   const double* LOWDIM_RESTRICT unit, const double* LOWDIM_RESTRICT fit,
                                   std::int64_t d) {
  double lane[2 * kLanes] = {0};
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= d; j += 2 * kLanes)
    for (int l = 0; l < 2 * kLanes; ++l) {
      const double e = (static_cast<double>(x[j + l]) - mean[j + l]) * unit[j + l] - fit[j + l];
      lane[l] += e == e ? e * e : 0.0;
    }
  double sum = sum_in_order<2 * kLanes>(lane);
  for (; j < d; ++j) {
    const double e = (static_cast<double>(x[j]) - mean[j]) * unit[j] - fit[j];
    sum += e == e ? e * e : 0.0;
  }
  return sum;
}

template <class T>
void find_holes(const T* x, std::int64_t d, Scratch& s) {
  std::size_t count = 0;
  for (std::int64_t j = 0; j < d; ++j) {  // no branch: holes come at random
    s.room[count] = j;
    count += x[j] != x[j];
  }
  s.holes.assign(s.room.begin(), s.room.begin() + static_cast<std::ptrdiff_t>(count));
}

// The other cells, wanted only where they are fewer.
void find_seen(std::int64_t d, Scratch& s) {
  s.seen.clear();
  std::size_t next = 0;
  for (std::int64_t j = 0; j < d; ++j)
    if (next < s.holes.size() && s.holes[next] == j)
      ++next;
    else
      s.seen.push_back(j);
}

// Rows with fewer cells than components: t = W_O' u with (W_O W_O' + ridge I) u = x_O, which needs no ridge to be
// solved well. s.t becomes t; the factor stays in s.A.
void solve_short(const Model& model, Scratch& s) {
  const std::vector<std::int64_t>& seen = s.seen;
  const std::int64_t r = model.r, m = static_cast<std::int64_t>(seen.size());
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t k = 0; k <= i; ++k) s.A[in_triangle(i, k)] = dot(model.W + seen[i] * r, model.W + seen[k] * r, r);
    s.A[in_triangle(i, i)] += model.ridge;
    s.y[i] = s.x[seen[i]];
  }
  factor(s.A.data(), m, model.least);
  forward(s.A.data(), m, s.y.data());
  backward(s.A.data(), m, s.y.data());
  std::fill(s.t.begin(), s.t.end(), 0.0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t a = 0; a < r; ++a) s.t[a] += s.y[i] * model.W[seen[i] * r + a];
}

// w' (W_O'W_O + ridge I)^-1 w of a column, from either factor.
double leverage_of(const Model& model, const double* L, bool few, std::int64_t j, Scratch& s) {
  const std::int64_t r = model.r, m = static_cast<std::int64_t>(s.seen.size());
  const double* w = model.W + j * r;
  if (!few) {
    std::copy(w, w + r, s.y.begin());
    forward(L, r, s.y.data());
    return dot(s.y.data(), s.y.data(), r);
  }
  for (std::int64_t i = 0; i < m; ++i) s.y[i] = dot(model.W + s.seen[i] * r, w, r);
  forward(L, m, s.y.data());
  return std::max(0.0, dot(w, w, r) - dot(s.y.data(), s.y.data(), m)) / model.ridge;
}

template <class T>
double fill_row(const Model& model, const T* x, T* completed, T* leverage, bool whole, Scratch& s) {
  const std::int64_t d = model.d, r = model.r;
  find_holes(x, d, s);
  dispatch([&]() LOWDIM_INLINE { standardise(x, model.mean, model.unit, d, s.x.data()); });
  if (whole)
    for (const std::int64_t j : s.holes) s.x[j] = (static_cast<double>(completed[j]) - model.mean[j]) * model.unit[j];
  const double* L = model.factor.data();
  const std::int64_t holes = static_cast<std::int64_t>(s.holes.size());
  const bool few = !whole && d - holes < r;
  if (!whole && (few || 2 * holes > d)) find_seen(d, s);
  if (few) {
    solve_short(model, s);
    L = s.A.data();
  } else {
    dispatch([&]() LOWDIM_INLINE { project(model.Wt, s.x.data(), d, r, s.t.data()); });
    if (!whole && !s.holes.empty()) {
      dispatch([&]() LOWDIM_INLINE { normal_matrix(model, s); });
      factor(s.A.data(), r, model.least);
      L = s.A.data();
    }
    forward(L, r, s.t.data());
    backward(L, r, s.t.data());
  }

  dispatch([&]() LOWDIM_INLINE { expand(model.Wt, s.t.data(), d, r, s.fit.data()); });
  for (const std::int64_t j : s.holes) {
    completed[j] = static_cast<T>(model.mean[j] + model.scale[j] * s.fit[j]);
    if (leverage != nullptr) leverage[j] = static_cast<T>(leverage_of(model, L, few, j, s));
  }
  double loss = 0.0;
  dispatch([&]() LOWDIM_INLINE { loss = misfit(x, model.mean, model.unit, s.fit.data(), d); });
  return loss;
}

template <class T>
void fill_missing(In2<T> X, In1<double> mean, In1<double> scale, In2<double> W, double ridge, bool whole,
                  Out2<T> completed, Out2<T> leverage, Out1<double> loss, int n_threads) {
  const std::int64_t n = n_rows(X), d = n_columns(X), r = n_columns(W);
  if (n_rows(mean) != d || n_rows(scale) != d || n_rows(W) != d || !same_shape(completed, X) || n_rows(loss) != n ||
      (leverage.size() && !same_shape(leverage, X)))
    throw std::invalid_argument("fill_missing: the arrays must agree in their shapes");

  std::vector<double> Wt(static_cast<std::size_t>(d * r)), unit(static_cast<std::size_t>(d));
  const std::int64_t packed = in_triangle(r, 0);
  const std::int64_t stride = (packed + kLanes - 1) / kLanes * kLanes;
  const auto size = static_cast<std::size_t>(stride);
  Model model{mean.data(), scale.data(), unit.data(), W.data(), Wt.data(), d,  r,
              packed,      stride,       ridge,       0.0,      {},        {}, {}};
  model.all.assign(size, 0.0);
  if (packed <= kKnown) model.outer.assign(static_cast<std::size_t>(d) * size, 0.0);
  for (std::int64_t j = 0; j < d; ++j) {
    const double* w = W.data() + j * r;
    unit[static_cast<std::size_t>(j)] = 1.0 / scale(j);
    for (std::int64_t a = 0; a < r; ++a) Wt[static_cast<std::size_t>(a * d + j)] = w[a];
    if (!model.outer.empty()) add_outer(model.outer.data() + j * stride, w, r, 1.0);
    add_outer(model.all.data(), w, r, 1.0);
  }
  double largest = 0.0;
  for (std::int64_t a = 0; a < r; ++a) {
    double& entry = model.all[static_cast<std::size_t>(in_triangle(a, a))];
    entry += ridge;
    largest = std::max(largest, entry);
  }
  model.least = 1e-15 * largest;
  model.factor = model.all;
  factor(model.factor.data(), r, model.least);

  WithoutGil free;
  parallel_for(n, kRows, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    const auto dd = static_cast<std::size_t>(d), rr = static_cast<std::size_t>(r);
    Scratch s{std::vector<double>(dd),
              std::vector<double>(dd),
              std::vector<double>(size),
              std::vector<double>(rr),
              std::vector<double>(rr),
              std::vector<std::int64_t>(dd),
              {},
              {}};
    for (std::int64_t i = begin; i < end; ++i)
      loss(i) = fill_row(model, X.data() + i * d, completed.data() + i * d,
                         leverage.size() ? leverage.data() + i * d : nullptr, whole, s);
  });
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("fill_missing", &fill_missing<T>, "rows"_a.noconvert(), "mean"_a.noconvert(), "scale"_a.noconvert(),
        "weights"_a.noconvert(), "ridge"_a, "whole"_a, "completed"_a.noconvert(), "leverage"_a.noconvert(),
        "loss"_a.noconvert(), "n_threads"_a,
        "Fill the missing cells of rows under a low-rank model; each row's squared error where observed.");
}

}  // namespace

void bind_fill_missing(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
