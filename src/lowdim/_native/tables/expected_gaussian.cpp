// E exp(-gamma |x - y|^2) of pairs of rows whose missing cells have normal distributions.
//
// The difference of two rows is N(gap, S) with S the sum of both covariances, so the expectation is
// |I + 2 gamma S|^-1/2 exp(-gamma gap' (I + 2 gamma S)^-1 gap). S is a diagonal plus a few roots, and only the cells
// missing in both rows tie the two together: where there are none, each row's own factor does.
#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/cholesky.hpp"
#include "common/parallel.hpp"

namespace lowdim {
namespace {

// A table of rows whose missing cells are known up to a normal distribution N(m, F F' + diag(noise)): cell by cell,
// the row of F, and per row what a partner without holes in common needs.
struct Blurred {
  const double* mean;
  const std::int64_t* start;  // n + 1: where the missing cells of each row begin
  const std::int32_t* cells;
  const double* roots;                 // one row of F, times sqrt(2 gamma), for each missing cell
  std::vector<double> M;               // I + F' D^-1 F of each row, packed
  std::vector<double> L;               // its Cholesky factor
  std::vector<double> log_noise, log;  // log determinants of D = I + 2 gamma diag(noise), and of D + F F'
};

// What noise does to a cell missing in one row, or in both: 1 / (1 + 2 gamma noise), and the logarithms.
struct Blur {
  std::vector<double> one, two, log_one, log_two;
};

// Of the matrix whose factor `factor` left, with 1 / pivot on the diagonal.
double log_determinant(const double* L, std::int64_t r) {
  double sum = 0.0;
  for (std::int64_t k = 0; k < r; ++k) sum -= std::log(L[in_triangle(k, k)]);
  return 2.0 * sum;
}

Blurred blurred(In2<double> rows, In1<std::int64_t> start, In1<std::int32_t> cells, In2<double> roots,
                const Blur& blur) {
  const std::int64_t n = n_rows(rows), d = n_columns(rows), r = n_columns(roots), packed = in_triangle(r, 0);
  const auto total = n_rows(cells);
  if (n_rows(start) != n + 1 || n_rows(roots) != total || start(0) != 0 || start(n) != total ||
      static_cast<std::int64_t>(blur.one.size()) != d)
    throw std::invalid_argument("expected_gaussian: the arrays must agree in their shapes");
  Blurred out{rows.data(), start.data(), cells.data(), roots.data(), {}, {}, {}, {}};
  out.M.assign(static_cast<std::size_t>(n * packed), 0.0);
  out.log_noise.assign(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    if (start(i + 1) < start(i)) throw std::invalid_argument("expected_gaussian: start must not decrease");
    double* M = out.M.data() + i * packed;
    for (std::int64_t a = 0; a < r; ++a) M[in_triangle(a, a)] = 1.0;
    for (std::int64_t c = start(i); c < start(i + 1); ++c) {
      if (cells(c) < 0 || cells(c) >= d) throw std::invalid_argument("expected_gaussian: no such column");
      const auto j = static_cast<std::size_t>(cells(c));
      add_outer(M, roots.data() + c * r, r, blur.one[j]);
      out.log_noise[static_cast<std::size_t>(i)] += blur.log_one[j];
    }
  }
  out.L = out.M;
  out.log = out.log_noise;
  for (std::int64_t i = 0; i < n; ++i) {
    factor(out.L.data() + i * packed, r, 0.0);
    out.log[static_cast<std::size_t>(i)] += log_determinant(out.L.data() + i * packed, r);
  }
  return out;
}

struct Meeting {  // of two rows, and room for it
  std::vector<double> gap, v, M;
  std::vector<std::int64_t> where;  // of each column among the missing cells of the left row, or -1
};

// The matrix of both rows, as long as they have no missing cell in common.
void join(double* M, const double* A, const double* B, std::int64_t r) {
  std::copy(A, A + in_triangle(r, 0), M);
  for (std::int64_t a = 0; a < r; ++a) {
    double* row = M + in_triangle(r + a, 0);
    std::fill(row, row + r, 0.0);
    std::copy(B + in_triangle(a, 0), B + in_triangle(a, a) + 1, row + r);
  }
}

// The part of the matrix of both rows that belongs to cells missing in both: corrections, and the block across.
void add_shared(double* M, const double* f, const double* g, std::int64_t r, double change, double across) {
  add_outer(M, f, r, change);
  for (std::int64_t a = 0; a < r; ++a) {
    double* row = M + in_triangle(r + a, 0);
    for (std::int64_t b = 0; b < r; ++b) row[b] += across * g[a] * f[b];
    for (std::int64_t b = 0; b <= a; ++b) row[r + b] += change * g[a] * g[b];
  }
}

// With D the diagonal of I + 2 gamma noise and gap = x - y, the exponent is gap' (D + F F')^-1 gap
// = gap' D^-1 gap - v' M^-1 v for v = F' D^-1 gap, M = I + F' D^-1 F, and F the roots of both rows side by side.
double expected_of(const Blurred& X, std::int64_t i, const Blurred& Y, std::int64_t j, const Blur& blur, std::int64_t d,
                   std::int64_t r, double gamma, Meeting& s) {
  const double *x = X.mean + i * d, *y = Y.mean + j * d;
  const std::int64_t packed = in_triangle(r, 0);
  for (std::int64_t k = 0; k < d; ++k) s.gap[k] = x[k] - y[k];
  double square = dot(s.gap.data(), s.gap.data(), d), log = X.log[i] + Y.log[j];
  double *v = s.v.data(), *u = v + r;
  std::fill(s.v.begin(), s.v.end(), 0.0);
  for (std::int64_t c = X.start[i]; c < X.start[i + 1]; ++c) {
    const std::int64_t k = X.cells[c];
    square -= (1.0 - blur.one[k]) * s.gap[k] * s.gap[k];
    const double weight = blur.one[k] * s.gap[k];
    for (std::int64_t a = 0; a < r; ++a) v[a] += weight * X.roots[c * r + a];
  }
  bool shares = false;
  for (std::int64_t c = Y.start[j]; c < Y.start[j + 1]; ++c) {
    const std::int64_t k = Y.cells[c], at_x = s.where[k];
    const double* g = Y.roots + c * r;
    const double before = at_x < 0 ? 1.0 : blur.one[k], after = at_x < 0 ? blur.one[k] : blur.two[k];
    square -= (before - after) * s.gap[k] * s.gap[k];
    for (std::int64_t a = 0; a < r; ++a) u[a] += after * s.gap[k] * g[a];
    if (at_x < 0) continue;
    const double* f = X.roots + at_x * r;
    if (!shares) {
      join(s.M.data(), X.M.data() + i * packed, Y.M.data() + j * packed, r);
      log = X.log_noise[i] + Y.log_noise[j];
      shares = true;
    }
    log += blur.log_two[k] - 2.0 * blur.log_one[k];
    add_shared(s.M.data(), f, g, r, after - before, after);
    for (std::int64_t a = 0; a < r; ++a) v[a] += (after - before) * s.gap[k] * f[a];
  }
  if (shares) {
    factor(s.M.data(), 2 * r, 0.0);
    forward(s.M.data(), 2 * r, v);
    log += log_determinant(s.M.data(), 2 * r);
  } else {
    forward(X.L.data() + i * packed, r, v);
    forward(Y.L.data() + j * packed, r, u);
  }
  square -= dot(v, v, 2 * r);
  return std::exp(-gamma * std::max(square, 0.0) - 0.5 * log);
}

void expected_gaussian(In2<double> x_rows, In1<std::int64_t> x_start, In1<std::int32_t> x_cells, In2<double> x_roots,
                       In2<double> y_rows, In1<std::int64_t> y_start, In1<std::int32_t> y_cells, In2<double> y_roots,
                       In1<double> noise, double gamma, Out2<double> out, int n_threads) {
  const std::int64_t n = n_rows(x_rows), m = n_rows(y_rows), d = n_columns(x_rows), r = n_columns(x_roots);
  if (n_columns(y_rows) != d || n_columns(y_roots) != r || n_rows(noise) != d || !has_shape(out, n, m))
    throw std::invalid_argument("expected_gaussian: the arrays must agree in their shapes");
  const auto width = static_cast<std::size_t>(d);
  Blur blur{std::vector<double>(width), std::vector<double>(width), std::vector<double>(width),
            std::vector<double>(width)};
  for (std::size_t k = 0; k < width; ++k) {
    const double grown = 2.0 * gamma * noise(k);
    blur.one[k] = 1.0 / (1.0 + grown);
    blur.two[k] = 1.0 / (1.0 + 2.0 * grown);
    blur.log_one[k] = std::log1p(grown);
    blur.log_two[k] = std::log1p(2.0 * grown);
  }
  const Blurred X = blurred(x_rows, x_start, x_cells, x_roots, blur);
  const Blurred Y = blurred(y_rows, y_start, y_cells, y_roots, blur);
  const auto pair = static_cast<std::size_t>(2 * r);

  WithoutGil free;
  parallel_for(n, 8, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    Meeting s{std::vector<double>(width), std::vector<double>(pair), std::vector<double>(pair * (pair + 1) / 2),
              std::vector<std::int64_t>(width, -1)};
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t c = X.start[i]; c < X.start[i + 1]; ++c) s.where[X.cells[c]] = c;
      for (std::int64_t j = 0; j < m; ++j) out(i, j) = expected_of(X, i, Y, j, blur, d, r, gamma, s);
      for (std::int64_t c = X.start[i]; c < X.start[i + 1]; ++c) s.where[X.cells[c]] = -1;
    }
  });
}

}  // namespace

void bind_expected_gaussian(nb::module_& m) {
  using namespace nb::literals;
  m.def("expected_gaussian", &expected_gaussian, "x_rows"_a.noconvert(), "x_start"_a.noconvert(),
        "x_cells"_a.noconvert(), "x_roots"_a.noconvert(), "y_rows"_a.noconvert(), "y_start"_a.noconvert(),
        "y_cells"_a.noconvert(), "y_roots"_a.noconvert(), "noise"_a.noconvert(), "gamma"_a, "out"_a.noconvert(),
        "n_threads"_a, "E exp(-gamma |x - y|^2) of rows whose missing cells have normal distributions.");
}

}  // namespace lowdim
