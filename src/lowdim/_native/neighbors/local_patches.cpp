// Neighbourhoods one by one: weights that rebuild a row from its neighbours, quadratic forms that say how far a
// function on a neighbourhood is from what a method allows there, and the sparse sum of these forms.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "neighbors/patch.hpp"

namespace lowdim {
namespace {

constexpr std::int64_t kRows = 64;  // of a chunk

enum Method { standard = 0, modified = 1, hessian = 2, ltsa = 3 };

// One thread's working space for forms. F: lower triangle over the patch, row after row without gaps.
class Former {
 public:
  Former(Method method, std::int64_t r, Ridge ridge, double eta) : method_(method), r_(r), ridge_(ridge), eta_(eta) {}

  template <class T>
  void form(const T* X, std::int64_t d, const std::int32_t* members, std::int64_t p, double* F) {
    std::fill(F, F + p * (p + 1) / 2, 0.0);
    if (method_ == standard || method_ == modified) {
      patch_.read(X, d, members + 1, p - 1, X + members[0] * d);
      patch_.gram();
      w_.resize(p - 1);
      patch_.weights(ridge_, false, w_.data());
      method_ == standard ? one_vector(p, F) : several_vectors(p, F);
      return;
    }
    patch_.read(X, d, members, p, static_cast<const T*>(nullptr));
    if (d >= p) patch_.gram();
    patch_.decompose();
    method_ == ltsa ? tangent(p, F) : curvature(p, F);
  }

 private:
  Method method_;
  std::int64_t r_;
  Ridge ridge_;
  double eta_;
  Patch patch_;
  std::vector<double> w_, row_, P_, basis_;

  void one_vector(std::int64_t p, double* F) {
    row_.resize(p);
    row_[0] = 1.0;
    for (std::int64_t a = 1; a < p; ++a) row_[a] = -w_[a - 1];
    add_outer(F, row_.data(), p, 1.0);
  }

  // Modified LLE. V spans the s directions of least variance, H is the mirror that leads V'1 to a multiple of 1, and
  // the s weight vectors are W = V H + (1 - alpha) w 1'. With P = V V' and alpha = |V'1| / sqrt(s), one has
  // V H 1 = P 1 / alpha, so that W W' and W 1 need neither V nor H.
  void several_vectors(std::int64_t p, double* F) {
    const std::int64_t k = p - 1, major = leading(k), s = k - major;
    P_.assign(k * (k + 1) / 2, 0.0);
    for (std::int64_t a = 0; a < k; ++a) P_[in_triangle(a, a)] = 1.0;
    row_.resize(k);
    for (std::int64_t j = 0; j < major; ++j) {
      patch_.vector(j, row_.data());
      add_outer(P_.data(), row_.data(), k, -1.0);
    }
    std::vector<double>& ones = basis_;  // P 1, then P 1 / alpha
    ones.assign(k, 0.0);
    double total = 0;
    for (std::int64_t a = 0; a < k; ++a)
      for (std::int64_t b = 0; b < k; ++b) ones[a] += P_[in_triangle(std::max(a, b), std::min(a, b))];
    for (std::int64_t a = 0; a < k; ++a) total += ones[a];
    const double count = static_cast<double>(s);
    double alpha = std::sqrt(std::max(total, 0.0) / count);
    if (alpha < 1e-12) alpha = 0;
    for (std::int64_t a = 0; a < k; ++a) ones[a] = alpha > 0 ? ones[a] / alpha : 0.0;
    const double beta = 1.0 - alpha;
    F[0] = count;
    for (std::int64_t a = 0; a < k; ++a) {
      F[in_triangle(a + 1, 0)] = -(ones[a] + beta * count * w_[a]);
      for (std::int64_t b = 0; b <= a; ++b)
        F[in_triangle(a + 1, b + 1)] =
            P_[in_triangle(a, b)] + beta * (ones[a] * w_[b] + w_[a] * ones[b]) + beta * beta * count * w_[a] * w_[b];
    }
  }

  // How many directions carry so much variance that the others have at most eta times theirs; at least r.
  std::int64_t leading(std::int64_t k) {
    if (ridge_.given >= 0) patch_.decompose();
    double sum = 0;
    for (std::int64_t j = 0; j < k; ++j) sum += patch_.value(j);
    double head = 0;
    std::int64_t major = 0;
    while (major < k - 1 && patch_.has(major)) {
      head += patch_.value(major++);
      if (major >= r_ && sum - head <= eta_ * head * (1 + 1e-12)) break;
    }
    return major;
  }

  void tangent(std::int64_t p, double* F) {
    for (std::int64_t a = 0; a < p; ++a)
      for (std::int64_t b = 0; b <= a; ++b) F[in_triangle(a, b)] = (a == b) - 1.0 / static_cast<double>(p);
    row_.resize(p);
    for (std::int64_t j = 0; j < r_ && patch_.has(j); ++j) {
      patch_.vector(j, row_.data());
      add_outer(F, row_.data(), p, -1.0);
    }
  }

  // Hessian: products of tangent coordinates, made orthogonal to 1, to the coordinates and to each other.
  void curvature(std::int64_t p, double* F) {
    std::int64_t have = 0;
    while (have < r_ && patch_.has(have)) ++have;
    const std::int64_t columns = 1 + have + have * (have + 1) / 2;
    basis_.resize(columns * p);
    std::fill(basis_.begin(), basis_.begin() + p, 1.0 / std::sqrt(static_cast<double>(p)));
    for (std::int64_t j = 0; j < have; ++j) patch_.vector(j, basis_.data() + (1 + j) * p);
    std::int64_t filled = 1 + have;
    for (std::int64_t a = 0; a < have; ++a)
      for (std::int64_t b = a; b < have; ++b) {
        double* next = basis_.data() + filled * p;
        for (std::int64_t i = 0; i < p; ++i) next[i] = basis_[(1 + a) * p + i] * basis_[(1 + b) * p + i];
        if (!orthogonal(next, filled, p)) continue;
        add_outer(F, next, p, 1.0);
        ++filled;
      }
  }

  // Gram-Schmidt, twice; false where nothing but rounding is left.
  bool orthogonal(double* next, std::int64_t filled, std::int64_t p) const {
    const double before = std::sqrt(dot(next, next, p));
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t j = 0; j < filled; ++j) {
        const double* known = basis_.data() + j * p;
        const double part = dot(known, next, p);
        for (std::int64_t i = 0; i < p; ++i) next[i] -= part * known[i];
      }
    const double after = std::sqrt(dot(next, next, p));
    if (!(after > 1e-7 * before)) return false;
    for (std::int64_t i = 0; i < p; ++i) next[i] /= after;
    return true;
  }
};

void check_patches(In1<std::int64_t> starts, In1<std::int32_t> members, std::int64_t n, const char* who) {
  const std::int64_t m = n_rows(starts) - 1;
  bool good = m >= 0 && starts(0) == 0 && starts(m) == n_rows(members);
  for (std::int64_t i = 0; good && i < m; ++i) good = starts(i + 1) - starts(i) >= 1;
  if (!good || !all_below(members, n))
    throw std::invalid_argument(std::string(who) + ": patches must be lists of row numbers, none empty");
}

template <class T>
void local_weights(In2<T> X, In2<T> Q, In1<std::int64_t> starts, In1<std::int32_t> members, double reg,
                   std::int64_t rank, bool by_distance, Out1<double> W, int n_threads) {
  const std::int64_t d = n_columns(X), m = n_rows(Q);
  if (n_columns(Q) != d || n_rows(starts) != m + 1 || n_rows(W) != n_rows(members))
    throw std::invalid_argument("local_weights: Q needs the columns of X and a patch for each row, W a place a member");
  check_patches(starts, members, n_rows(X), "local_weights");
  WithoutGil free;
  parallel_for(m, kRows, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    Patch patch;
    for (std::int64_t i = begin; i < end; ++i) {
      patch.read(X.data(), d, members.data() + starts(i), starts(i + 1) - starts(i), Q.data() + i * d);
      patch.gram();
      patch.weights({reg, rank}, by_distance, W.data() + starts(i));
    }
  });
}

// For each patch (its row first) the variance of the others about that row off the leading r directions, over that in
// them.
template <class T>
void local_ratios(In2<T> X, In1<std::int64_t> starts, In1<std::int32_t> members, std::int64_t r, Out1<double> out,
                  int n_threads) {
  const std::int64_t d = n_columns(X), m = n_rows(out);
  if (n_rows(starts) != m + 1) throw std::invalid_argument("local_ratios: out needs a place for each patch");
  check_patches(starts, members, n_rows(X), "local_ratios");
  WithoutGil free;
  parallel_for(m, kRows, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    Patch patch;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t* mine = members.data() + starts(i);
      const std::int64_t k = starts(i + 1) - starts(i) - 1;
      patch.read(X.data(), d, mine + 1, k, X.data() + mine[0] * d);
      if (d >= k) patch.gram();
      patch.decompose();
      const double rest = patch.rest(r), all = patch.rest(0);
      out(i) = all > rest ? rest / (all - rest) : 0.0;
    }
  });
}

// F: the triangles of all patches one after the other.
template <class T>
void local_forms(In2<T> X, In1<std::int64_t> starts, In1<std::int32_t> members, In1<std::int64_t> offsets, int method,
                 std::int64_t r, double reg, double eta, Out1<double> F, int n_threads) {
  const std::int64_t d = n_columns(X), m = n_rows(starts) - 1;
  check_patches(starts, members, n_rows(X), "local_forms");
  bool good = n_rows(offsets) == m + 1 && method >= standard && method <= ltsa && (m == 0 || offsets(m) == n_rows(F));
  for (std::int64_t i = 0; good && i < m; ++i) {
    const std::int64_t p = starts(i + 1) - starts(i);
    good = p >= 2 && offsets(i + 1) - offsets(i) == p * (p + 1) / 2;
  }
  if (!good) throw std::invalid_argument("local_forms: each patch of p >= 2 rows needs p (p + 1) / 2 places in F");
  WithoutGil free;
  parallel_for(m, kRows, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    Former former(static_cast<Method>(method), r, {reg, r}, eta);
    for (std::int64_t i = begin; i < end; ++i)
      former.form(X.data(), d, members.data() + starts(i), starts(i + 1) - starts(i), F.data() + offsets(i));
  });
}

// The sum of all forms, row by row of the sparse result. `where` lists, row after row (borders in `first`), the places
// of `members` that name the row. Twice: with no room for values it counts the entries of each row, then fills them in
// ascending order of columns. Sums run over patches in their order, so that the result is symmetric to the last bit.
void sum_forms(In1<std::int64_t> starts, In1<std::int32_t> members, In1<std::int64_t> offsets, In1<double> F,
               In1<std::int32_t> patch_of, In1<std::int64_t> first, In1<std::int64_t> where, Out1<std::int64_t> borders,
               Out1<std::int32_t> columns, Out1<double> values, int n_threads) {
  const std::int64_t n = n_rows(first) - 1, m = n_rows(starts) - 1;
  const bool fills = n_rows(values) > 0;
  check_patches(starts, members, n, "sum_forms");
  bool good = n_rows(patch_of) == n_rows(members) && n_rows(where) == n_rows(members) && n_rows(borders) == n + 1 &&
              n_rows(offsets) == m + 1 && n_rows(columns) == n_rows(values) && are_borders(first, n_rows(where)) &&
              (!fills || (are_borders(borders, n_rows(values)) && are_borders(offsets, n_rows(F)))) &&
              all_below(patch_of, m);
  for (std::int64_t q = 0; good && q < n_rows(where); ++q) {
    good = where(q) >= 0 && where(q) < n_rows(members);
    good = good && starts(patch_of(where(q))) <= where(q) && where(q) < starts(patch_of(where(q)) + 1);
  }
  for (std::int64_t i = 0; good && fills && i < m; ++i) {
    const std::int64_t p = starts(i + 1) - starts(i);
    good = offsets(i + 1) - offsets(i) == p * (p + 1) / 2;
  }
  if (!good) throw std::invalid_argument("sum_forms: the arrays do not belong together");
  WithoutGil free;
  const std::int64_t chunk = std::max<std::int64_t>(512, n / 64 + 1);
  parallel_for(n, chunk, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::vector<std::int64_t> seen(n, -1);
    std::vector<double> sums(fills ? n : 0);
    std::vector<std::int32_t> found;
    for (std::int64_t row = begin; row < end; ++row) {
      found.clear();
      for (std::int64_t q = first(row); q < first(row + 1); ++q) {
        const std::int64_t place = where(q), i = patch_of(place), a = place - starts(i);
        const double* form = fills ? F.data() + offsets(i) : nullptr;
        for (std::int64_t b = 0; b < starts(i + 1) - starts(i); ++b) {
          const std::int32_t column = members(starts(i) + b);
          const double part = fills ? form[in_triangle(std::max(a, b), std::min(a, b))] : 0.0;
          if (seen[column] != row) {
            seen[column] = row;
            found.push_back(column);
            if (fills) sums[column] = part;
          } else if (fills) {
            sums[column] += part;
          }
        }
      }
      if (!fills) {
        borders(row + 1) = static_cast<std::int64_t>(found.size());
        continue;
      }
      std::sort(found.begin(), found.end());
      for (std::size_t f = 0; f < found.size(); ++f) {
        columns(borders(row) + static_cast<std::int64_t>(f)) = found[f];
        values(borders(row) + static_cast<std::int64_t>(f)) = sums[found[f]];
      }
    }
  });
}

// All eigenpairs of one small matrix, for the test of the solver inside the forms.
void small_eigen(In2<double> A, Out1<double> values, Out2<double> vectors) {
  const std::int64_t n = n_rows(A);
  if (n_columns(A) != n || n_rows(values) != n || !same_shape(vectors, A))
    throw std::invalid_argument("small_eigen: A and vectors must be square, values as long");
  std::vector<double> copy(A.data(), A.data() + n * n);
  SmallEigen eigen;
  eigen.solve(copy.data(), n);
  for (std::int64_t j = 0; j < n; ++j) {
    values(j) = eigen.value(j);
    for (std::int64_t i = 0; i < n; ++i) vectors(i, j) = eigen.vector(j)[i];
  }
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("local_weights", &local_weights<T>, "X"_a.noconvert(), "Q"_a.noconvert(), "starts"_a.noconvert(),
        "members"_a.noconvert(), "reg"_a, "rank"_a, "by_distance"_a, "W"_a.noconvert(), "n_threads"_a,
        "Weights with sum 1 that rebuild each row of Q from its patch of rows of X.");
  m.def("local_ratios", &local_ratios<T>, "X"_a.noconvert(), "starts"_a.noconvert(), "members"_a.noconvert(), "r"_a,
        "out"_a.noconvert(), "n_threads"_a, "Variance of each patch off its r leading directions over that in them.");
  m.def("local_forms", &local_forms<T>, "X"_a.noconvert(), "starts"_a.noconvert(), "members"_a.noconvert(),
        "offsets"_a.noconvert(), "method"_a, "r"_a, "reg"_a, "eta"_a, "F"_a.noconvert(), "n_threads"_a,
        "The quadratic form of each patch, as a packed lower triangle.");
}

}  // namespace

void bind_local_patches(nb::module_& m) {
  using namespace nb::literals;
  bind_for<float>(m);
  bind_for<double>(m);
  m.def("sum_forms", &sum_forms, "starts"_a.noconvert(), "members"_a.noconvert(), "offsets"_a.noconvert(),
        "F"_a.noconvert(), "patch_of"_a.noconvert(), "first"_a.noconvert(), "where"_a.noconvert(),
        "borders"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "n_threads"_a,
        "The sparse sum of the forms of all patches; without room for values, the entries of its rows.");
  m.def("small_eigen", &small_eigen, "A"_a.noconvert(), "values"_a.noconvert(), "vectors"_a.noconvert(),
        "All eigenpairs of a small symmetric matrix, largest first.");
}

}  // namespace lowdim
