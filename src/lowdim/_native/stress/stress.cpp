// Stress of a configuration against dissimilarities, and the forces on its points.
//
// Pairs i < j lie in one vector, row after row, as scipy's `pdist` has them. Nothing of the size of all pairs is
// written: one pass reads each dissimilarity once, and adds what it does to both of its points. Points are kept
// coordinate after coordinate, so that the inner loop runs over neighbouring numbers; sums run in fixed lanes, and
// chunks depend on the number of points alone: every vector width and number of threads gives the same bits.
#include <cmath>
#include <cstring>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/float_bits.hpp"
#include "common/lane_sums.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

constexpr int kLanes = 32;                // pairs handled together
constexpr std::int64_t kStrip = 1024;     // points whose coordinates and forces stay in the nearest cache
constexpr std::int64_t kPairs = 1 << 16;  // pairs of a chunk, at least
constexpr std::int64_t kChunks = 48;      // chunks, at most: each keeps forces of its own

// 1 / sqrt(s): Newton's method from a guess by the exponent, to within two units of the last place. Multiplications
// alone, twice as fast as the processor's root and division, which share one slow unit. For s = 0 it is large and
// finite, so that a force along a vector of length 0 is 0.
template <class T>
LOWDIM_INLINE inline T inverse_root(T s) {
  constexpr bool wide = sizeof(T) == sizeof(double);
  constexpr Bits<T> guess = static_cast<Bits<T>>(wide ? 0x5fe6eb50c7b537a9ull : 0x5f3759dfull);
  T y = from_bits<T>(guess - (bits_of(s) >> 1));
  const T half = T(0.5) * s;
  y *= T(1.5) - half * y * y;
  y *= T(1.5) - half * y * y;
  y *= T(1.5) - half * y * y;
  if constexpr (wide) y *= T(1.5) - half * y * y;
  return y;
}

// Lanes of sums for one point; added up in double when the point is done.
template <class T>
struct PointSums {
  std::vector<T> force;
  std::vector<T> room;  // for the last few pairs of a row
  T stress[kLanes];
  explicit PointSums(int r)
      : force(static_cast<std::size_t>(r) * kLanes), room(static_cast<std::size_t>(2 * r + 2) * kLanes) {}
  void clear() {
    std::fill(force.begin(), force.end(), T(0));
    std::fill(stress, stress + kLanes, T(0));
  }
};

// One point against kLanes others: c = w (delta / d - 1) pulls or pushes along their difference.
template <class T, int R, bool Weighted>
LOWDIM_INLINE inline void add_lanes(const T* LOWDIM_RESTRICT xi, const T* LOWDIM_RESTRICT x, std::int64_t stride, int r,
                                    const T* LOWDIM_RESTRICT delta, const T* LOWDIM_RESTRICT w,
                                    T* LOWDIM_RESTRICT force, T* LOWDIM_RESTRICT mine, T* LOWDIM_RESTRICT stress) {
  T s[kLanes], c[kLanes];
  const int dims = R > 0 ? R : r;
  for (int l = 0; l < kLanes; ++l) s[l] = T(0);
  for (int k = 0; k < dims; ++k) {
    const T a = xi[k];
    const T* LOWDIM_RESTRICT b = x + k * stride;
    for (int l = 0; l < kLanes; ++l) {
      const T gap = a - b[l];
      s[l] += gap * gap;
    }
  }
  for (int l = 0; l < kLanes; ++l) {
    const T y = inverse_root(s[l]);
    const T miss = delta[l] - s[l] * y;
    const T pull = delta[l] * y - T(1);
    c[l] = Weighted ? w[l] * pull : pull;
    stress[l] += Weighted ? w[l] * (miss * miss) : miss * miss;
  }
  for (int k = 0; k < dims; ++k) {
    const T a = xi[k];
    const T* LOWDIM_RESTRICT b = x + k * stride;
    T* LOWDIM_RESTRICT f = force + k * stride;
    T* LOWDIM_RESTRICT m = mine + k * kLanes;
    for (int l = 0; l < kLanes; ++l) {
      const T g = c[l] * (a - b[l]);
      m[l] += g;
      f[l] -= g;
    }
  }
}

// The last few, fewer than kLanes: the others are the point itself at dissimilarity 0, which adds exactly 0.
template <class T, int R, bool Weighted>
LOWDIM_INLINE inline void add_rest(const T* xi, const T* x, std::int64_t stride, int r, const T* delta, const T* w,
                                   int count, T* force, T* mine, T* stress, T* room) {
  const int dims = R > 0 ? R : r;
  T *places = room, *forces = room + dims * kLanes, *goals = room + 2 * dims * kLanes, *weights = goals + kLanes;
  for (int k = 0; k < dims; ++k) {
    for (int l = 0; l < kLanes; ++l) places[k * kLanes + l] = xi[k];
    for (int l = 0; l < count; ++l) places[k * kLanes + l] = x[k * stride + l];
    for (int l = 0; l < count; ++l) forces[k * kLanes + l] = force[k * stride + l];
  }
  for (int l = 0; l < kLanes; ++l) goals[l] = T(0);
  for (int l = 0; l < count; ++l) goals[l] = delta[l];
  for (int l = 0; l < kLanes; ++l) weights[l] = T(0);
  if (Weighted)
    for (int l = 0; l < count; ++l) weights[l] = w[l];
  add_lanes<T, R, Weighted>(xi, places, kLanes, r, goals, weights, forces, mine, stress);
  for (int k = 0; k < dims; ++k)
    for (int l = 0; l < count; ++l) force[k * stride + l] = forces[k * kLanes + l];
}

template <class T, int R, bool Weighted>
LOWDIM_INLINE inline void add_row(const T* xi, const T* x, std::int64_t stride, int r, const T* delta, const T* w,
                                  std::int64_t count, T* force, T* mine, T* stress, T* room) {
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t j = 0; j < whole; j += kLanes)
    add_lanes<T, R, Weighted>(xi, x + j, stride, r, delta + j, Weighted ? w + j : nullptr, force + j, mine, stress);
  if (count > whole)
    add_rest<T, R, Weighted>(xi, x + whole, stride, r, delta + whole, Weighted ? w + whole : nullptr,
                             static_cast<int>(count - whole), force + whole, mine, stress, room);
}

// Picks the code for the number of coordinates; the loop over others is the same.
template <class T, bool Weighted>
void add_row_any(const T* xi, const T* x, std::int64_t stride, int r, const T* delta, const T* w, std::int64_t count,
                 T* force, PointSums<T>& sums) {
  T *mine = sums.force.data(), *stress = sums.stress, *room = sums.room.data();
  dispatch([&]() LOWDIM_INLINE {
    if (r == 2)
      add_row<T, 2, Weighted>(xi, x, stride, r, delta, w, count, force, mine, stress, room);
    else if (r == 3)
      add_row<T, 3, Weighted>(xi, x, stride, r, delta, w, count, force, mine, stress, room);
    else
      add_row<T, 0, Weighted>(xi, x, stride, r, delta, w, count, force, mine, stress, room);
  });
}

// Coordinate after coordinate, each starting at a multiple of `stride`.
template <class T>
std::vector<T> by_coordinate(const double* Z, std::int64_t n, int r) {
  std::vector<T> x(static_cast<std::size_t>(n * r));
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = 0; k < r; ++k) x[k * n + i] = static_cast<T>(Z[i * r + k]);
  return x;
}

std::int64_t pairs_before(std::int64_t i, std::int64_t n) { return i * (2 * n - i - 1) / 2; }  // of the first i rows

// Borders of chunks of rows with about as many pairs each.
std::vector<std::int64_t> row_chunks(std::int64_t n) {
  const std::int64_t pairs = pairs_before(n, n);
  const std::int64_t count = std::clamp<std::int64_t>(pairs / kPairs, 1, kChunks);
  std::vector<std::int64_t> border{0};
  for (std::int64_t i = 1, c = 1; i < n && c < count; ++i)
    if (pairs_before(i, n) * count >= pairs * c) {
      border.push_back(i);
      while (c < count && pairs_before(i, n) * count >= pairs * c) ++c;
    }
  border.push_back(n);
  return border;
}

template <class T>
struct ChunkSums {
  std::vector<T> force;      // on the points from `begin` on, r blocks of n - begin
  std::vector<double> mine;  // on the chunk's own rows, from later points
  double stress = 0;
};

template <class T, bool Weighted>
void pass_rows(const std::vector<T>& x, std::int64_t n, int r, const T* delta, const T* w, std::int64_t begin,
               std::int64_t end, ChunkSums<T>& sums) {
  const std::int64_t width = n - begin;
  sums.force.assign(static_cast<std::size_t>(width * r), T(0));
  sums.mine.assign(static_cast<std::size_t>((end - begin) * r), 0.0);
  PointSums<T> point(r);
  std::vector<T> xi(static_cast<std::size_t>(r));
  std::vector<T> strip(static_cast<std::size_t>(2 * kStrip * r));  // x, then force: one strip of points
  for (std::int64_t left = begin; left < n; left += kStrip) {
    const std::int64_t right = std::min(n, left + kStrip), size = right - left;
    for (int k = 0; k < r; ++k) {
      std::copy_n(x.data() + k * n + left, size, strip.data() + k * kStrip);
      std::fill_n(strip.data() + (r + k) * kStrip, size, T(0));
    }
    for (std::int64_t i = begin; i < std::min(end, right - 1); ++i) {
      const std::int64_t from = std::max(left, i + 1);
      const std::int64_t at = pairs_before(i, n) + from - i - 1;
      for (int k = 0; k < r; ++k) xi[k] = x[k * n + i];
      point.clear();
      add_row_any<T, Weighted>(xi.data(), strip.data() + (from - left), kStrip, r, delta + at,
                               Weighted ? w + at : nullptr, right - from, strip.data() + r * kStrip + (from - left),
                               point);
      for (int k = 0; k < r; ++k)
        sums.mine[(i - begin) * r + k] += sum_by_halves<kLanes>(point.force.data() + k * kLanes);
      sums.stress += sum_by_halves<kLanes>(point.stress);
    }
    for (int k = 0; k < r; ++k)
      std::copy_n(strip.data() + (r + k) * kStrip, size, sums.force.data() + k * width + (left - begin));
  }
}

// stress = sum w (delta - d)^2 and force_i = sum_j w (delta / d - 1)(z_i - z_j), minus half the gradient.
template <class T>
double stress_pass(In1<T> delta, In1<T> w, In2<double> Z, Out2<double> force, int n_threads) {
  const std::int64_t n = n_rows(Z);
  const int r = static_cast<int>(n_columns(Z));
  const std::int64_t pairs = pairs_before(n, n);
  const bool weighted = n_rows(w) > 0;
  if (n_rows(delta) != pairs || (weighted && n_rows(w) != pairs))
    throw std::invalid_argument("stress_pass: delta and w must have n (n - 1) / 2 entries");
  if (!same_shape(force, Z)) throw std::invalid_argument("stress_pass: force must have the shape of Z");
  WithoutGil free;
  const std::vector<T> x = by_coordinate<T>(Z.data(), n, r);
  const auto border = row_chunks(n);
  const std::int64_t chunks = static_cast<std::int64_t>(border.size()) - 1;
  std::vector<ChunkSums<T>> sums(static_cast<std::size_t>(chunks));
  parallel_for(chunks, 1, n_threads, [&](std::int64_t c, std::int64_t, std::int64_t) {
    if (weighted)
      pass_rows<T, true>(x, n, r, delta.data(), w.data(), border[c], border[c + 1], sums[c]);
    else
      pass_rows<T, false>(x, n, r, delta.data(), nullptr, border[c], border[c + 1], sums[c]);
  });
  double stress = 0;
  double* f = force.data();
  std::fill(f, f + n * r, 0.0);
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t begin = border[c], width = n - begin;
    for (int k = 0; k < r; ++k)
      for (std::int64_t i = 0; i < width; ++i)
        f[(begin + i) * r + k] += static_cast<double>(sums[c].force[k * width + i]);
    for (std::int64_t i = 0; i < (border[c + 1] - begin) * r; ++i) f[begin * r + i] += sums[c].mine[i];
    stress += sums[c].stress;
  }
  return stress;
}

// Distances of all pairs, in their order.
template <class T>
void pair_distances(In2<double> Z, Out1<T> out, int n_threads) {
  const std::int64_t n = n_rows(Z);
  const int r = static_cast<int>(n_columns(Z));
  if (n_rows(out) != pairs_before(n, n))
    throw std::invalid_argument("pair_distances: out must have n (n - 1) / 2 entries");
  WithoutGil free;
  const std::vector<T> x = by_coordinate<T>(Z.data(), n, r);
  const auto border = row_chunks(n);
  parallel_for(static_cast<std::int64_t>(border.size()) - 1, 1, n_threads,
               [&](std::int64_t c, std::int64_t, std::int64_t) {
                 dispatch([&]() LOWDIM_INLINE {
                   for (std::int64_t i = border[c]; i < border[c + 1]; ++i) {
                     T* LOWDIM_RESTRICT row = out.data() + pairs_before(i, n);
                     const std::int64_t count = n - 1 - i;
                     for (std::int64_t j = 0; j < count; ++j) row[j] = T(0);
                     for (int k = 0; k < r; ++k) {
                       const T a = x[k * n + i];
                       const T* LOWDIM_RESTRICT b = x.data() + k * n + i + 1;
                       for (std::int64_t j = 0; j < count; ++j) row[j] += (a - b[j]) * (a - b[j]);
                     }
                     for (std::int64_t j = 0; j < count; ++j) row[j] = row[j] * inverse_root(row[j]);
                   }
                 });
               });
}

// A few rows of dissimilarities, `rows` of the points against all of them: forces on all points from the rows, and on
// the rows from all points. A pair of a row with itself adds nothing.
template <class T>
void stress_rows(In2<T> delta, In2<T> w, In1<std::int64_t> rows, In2<double> Z, Out2<double> force,
                 Out2<double> row_force, Out1<double> row_stress, int n_threads) {
  const std::int64_t n = n_rows(Z), b = n_rows(rows);
  const int r = static_cast<int>(n_columns(Z));
  const bool weighted = n_rows(w) > 0;
  if (!has_shape(delta, b, n))
    throw std::invalid_argument("stress_rows: delta must have one row for each of rows and one column for each point");
  if (weighted && !same_shape(w, delta)) throw std::invalid_argument("stress_rows: w must have the shape of delta");
  if (!same_shape(force, Z) || !has_shape(row_force, b, r) || n_rows(row_stress) != b)
    throw std::invalid_argument("stress_rows: force, row_force and row_stress must fit Z and rows");
  for (std::int64_t i = 0; i < b; ++i)
    if (rows(i) < 0 || rows(i) >= n) throw std::invalid_argument("stress_rows: rows must be points");
  WithoutGil free;
  const std::vector<T> x = by_coordinate<T>(Z.data(), n, r);
  const std::int64_t strips = (n + kStrip - 1) / kStrip;
  std::vector<double> mine(static_cast<std::size_t>(strips * b * r)), stress(static_cast<std::size_t>(strips * b));
  parallel_for(strips, 1, n_threads, [&](std::int64_t s, std::int64_t, std::int64_t) {
    const std::int64_t left = s * kStrip, size = std::min(n, left + kStrip) - left;
    std::vector<T> strip(static_cast<std::size_t>(2 * kStrip * r)), xi(static_cast<std::size_t>(r));
    PointSums<T> point(r);
    for (int k = 0; k < r; ++k) std::copy_n(x.data() + k * n + left, size, strip.data() + k * kStrip);
    for (std::int64_t i = 0; i < b; ++i) {
      for (int k = 0; k < r; ++k) xi[k] = x[k * n + rows(i)];
      point.clear();
      const T* d = delta.data() + i * n + left;
      if (weighted)
        add_row_any<T, true>(xi.data(), strip.data(), kStrip, r, d, w.data() + i * n + left, size,
                             strip.data() + r * kStrip, point);
      else
        add_row_any<T, false>(xi.data(), strip.data(), kStrip, r, d, nullptr, size, strip.data() + r * kStrip, point);
      for (int k = 0; k < r; ++k) mine[(s * b + i) * r + k] = sum_by_halves<kLanes>(point.force.data() + k * kLanes);
      stress[s * b + i] = sum_by_halves<kLanes>(point.stress);
    }
    for (std::int64_t j = 0; j < size; ++j)
      for (int k = 0; k < r; ++k) force(left + j, k) = static_cast<double>(strip[(r + k) * kStrip + j]);
  });
  std::fill(row_force.data(), row_force.data() + b * r, 0.0);
  std::fill(row_stress.data(), row_stress.data() + b, 0.0);
  for (std::int64_t s = 0; s < strips; ++s) {
    for (std::int64_t i = 0; i < b; ++i) row_stress(i) += stress[s * b + i];
    for (std::int64_t i = 0; i < b * r; ++i) row_force.data()[i] += mine[s * b * r + i];
  }
}

// What each point's pairs add up to: their stress, and the diagonal of half the Hessian. Run once a fit: plain loops.
template <class T>
void stress_detail(In1<T> delta, In1<T> w, In2<double> Z, Out1<double> stress, Out2<double> curvature, int n_threads) {
  const std::int64_t n = n_rows(Z);
  const int r = static_cast<int>(n_columns(Z));
  const bool weighted = n_rows(w) > 0;
  if (n_rows(delta) != pairs_before(n, n) || (weighted && n_rows(w) != n_rows(delta)) || n_rows(stress) != n ||
      !has_shape(curvature, n, r))
    throw std::invalid_argument("stress_detail: delta, w, stress and curvature must fit Z");
  WithoutGil free;
  const double* z = Z.data();
  const auto border = row_chunks(n);
  const std::int64_t chunks = static_cast<std::int64_t>(border.size()) - 1, width = 1 + r;
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(chunks));
  parallel_for(chunks, 1, n_threads, [&](std::int64_t c, std::int64_t, std::int64_t) {
    sums[c].assign(static_cast<std::size_t>(n * width), 0.0);
    std::vector<double> add(static_cast<std::size_t>(width));
    for (std::int64_t i = border[c]; i < border[c + 1]; ++i)
      for (std::int64_t j = i + 1, at = pairs_before(i, n); j < n; ++j, ++at) {
        double s = 0;
        for (int k = 0; k < r; ++k) s += (z[i * r + k] - z[j * r + k]) * (z[i * r + k] - z[j * r + k]);
        const double d = std::sqrt(s), goal = static_cast<double>(delta(at));
        const double one = weighted ? static_cast<double>(w(at)) : 1.0, ratio = s > 0 ? goal / d : 0.0;
        add[0] = one * (goal - d) * (goal - d);
        for (int k = 0; k < r; ++k) {
          const double u = s > 0 ? (z[i * r + k] - z[j * r + k]) / d : 0.0;
          add[1 + k] = one * (1.0 - ratio + ratio * u * u);
        }
        for (int q = 0; q < width; ++q) {
          sums[c][i * width + q] += add[q];
          sums[c][j * width + q] += add[q];
        }
      }
  });
  std::fill(stress.data(), stress.data() + n, 0.0);
  std::fill(curvature.data(), curvature.data() + n * r, 0.0);
  for (std::int64_t c = 0; c < chunks; ++c)
    for (std::int64_t i = border[c]; i < n; ++i) {
      stress(i) += sums[c][i * width];
      for (int k = 0; k < r; ++k) curvature(i, k) += sums[c][i * width + 1 + k];
    }
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("stress_pass", &stress_pass<T>, "delta"_a.noconvert(), "w"_a.noconvert(), "Z"_a.noconvert(),
        "force"_a.noconvert(), "n_threads"_a,
        "Stress of Z against the pairs' dissimilarities (returned), and the force on each point.");
  m.def("stress_rows", &stress_rows<T>, "delta"_a.noconvert(), "w"_a.noconvert(), "rows"_a.noconvert(),
        "Z"_a.noconvert(), "force"_a.noconvert(), "row_force"_a.noconvert(), "row_stress"_a.noconvert(), "n_threads"_a,
        "The same for some rows of dissimilarities: forces on all points, and on those rows.");
  m.def("stress_detail", &stress_detail<T>, "delta"_a.noconvert(), "w"_a.noconvert(), "Z"_a.noconvert(),
        "stress"_a.noconvert(), "curvature"_a.noconvert(), "n_threads"_a,
        "The stress of each point's pairs, and the diagonal of half the Hessian.");
  m.def("pair_distances", &pair_distances<T>, "Z"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        "Distances of all pairs i < j.");
}

}  // namespace

void bind_stress(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
