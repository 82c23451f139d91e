// Exact neighbour search: keep the best of a block of values, and measure pairs of rows by their differences.
//
// The candidates come from matrix products, which lose digits. What is handed out comes from `Rows::distance`: plain
// differences summed in float64 over fixed lanes, so that two equal rows are at exactly 0 and every vector width
// gives the same bits. Everywhere the order is the total order (value, index).
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {

namespace {

constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::max();  // index of a place not filled yet
constexpr std::int64_t group = 64;                                         // values looked at with one branch

void require(bool fits) {
  if (!fits) throw std::invalid_argument("the arrays do not fit together");
}

template <class T>
LOWDIM_INLINE inline bool before(T value, std::int32_t index, T other_value, std::int32_t other_index) {
  return value < other_value || (value == other_value && index < other_index);
}

// The k best so far of one row as a binary heap, worst on top.
template <class T>
struct Best {
  T* values;
  std::int32_t* indices;
  std::int64_t k;

  LOWDIM_INLINE void offer(T value, std::int32_t index) const {
    if (before(value, index, values[0], indices[0])) sink(0, value, index, k);
  }

  // Put (value, index) at place `at` of the first `size` entries, or below it.
  LOWDIM_INLINE void sink(std::int64_t at, T value, std::int32_t index, std::int64_t size) const {
    for (std::int64_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
      const std::int64_t right = child + 1;
      if (right < size && before(values[child], indices[child], values[right], indices[right])) child = right;
      if (!before(value, index, values[child], indices[child])) break;
      values[at] = values[child];
      indices[at] = indices[child];
      at = child;
    }
    values[at] = value;
    indices[at] = index;
  }

  // Any order to a heap, a heap to ascending order.
  LOWDIM_INLINE void heapify() const {
    for (std::int64_t at = k / 2 - 1; at >= 0; --at) sink(at, values[at], indices[at], k);
  }
  LOWDIM_INLINE void sort() const {
    for (std::int64_t last = k - 1; last > 0; --last) {
      const T value = values[last];
      const std::int32_t index = indices[last];
      values[last] = values[0];
      indices[last] = indices[0];
      sink(0, value, index, last);
    }
  }
};

// ---- the running top k of a block ---------------------------------------------------------------------------------

// `half` null: the block holds the values. Else it holds products x.y, `half` holds |y|^2 / 2, and the value is
// |y|^2 / 2 - x.y: half the squared distance up to a term that is the same for the whole row.
template <class T, bool products>
LOWDIM_INLINE inline T block_value(const T* block, const T* half, std::int64_t j) {
  return products ? half[j] - block[j] : block[j];
}

// A first limit for an empty heap. The smallest value of each of `sieve` interleaved parts: at least k + 1 columns
// are not above the (k + 1)-th smallest of these, and at most one of them is to be skipped. Filling the heap without it
// costs more than a matrix product over 50 coordinates.
constexpr std::int64_t sieve = 256;

template <class T, bool products>
LOWDIM_INLINE inline void prime(const T* block, const T* half, std::int64_t n, const Best<T>& best) {
  if (best.indices[0] != nobody || 2 * (best.k + 1) > sieve || n < 4 * sieve) return;
  T smallest[sieve];
  for (T& value : smallest) value = std::numeric_limits<T>::infinity();
  for (std::int64_t start = 0; start + sieve <= n; start += sieve)
    for (std::int64_t l = 0; l < sieve; ++l) {
      const T value = block_value<T, products>(block, half, start + l);
      smallest[l] = value < smallest[l] ? value : smallest[l];
    }
  std::nth_element(smallest, smallest + best.k, smallest + sieve);
  const T limit = smallest[best.k];
  for (std::int64_t c = 0; c < best.k; ++c)
    if (limit < best.values[c]) best.values[c] = limit;
}

template <class T, bool products>
LOWDIM_INLINE inline void offer_row(const T* block, const T* half, std::int64_t n, std::int32_t offset,
                                    std::int32_t skip, const Best<T>& best) {
  auto offer = [&](std::int64_t j) LOWDIM_INLINE {
    const std::int32_t index = offset + static_cast<std::int32_t>(j);
    if (index != skip) best.offer(block_value<T, products>(block, half, j), index);
  };
  prime<T, products>(block, half, n, best);
  std::int64_t j = 0;
  for (; j + group <= n; j += group) {
    const T limit = best.values[0];
    int hits = 0;
    for (std::int64_t l = j; l < j + group; ++l) hits |= block_value<T, products>(block, half, l) <= limit;
    if (hits == 0) continue;
    for (std::int64_t l = j; l < j + group; ++l) offer(l);
  }
  for (; j < n; ++j) offer(j);
}

template <class T, bool products>
void offer_block(const In2<T>& block, const T* half, std::int32_t offset, const In1<std::int32_t>& skip,
                 const Out2<T>& values, const Out2<std::int32_t>& indices) {
  const std::int64_t n = block.shape(1), k = values.shape(1);
  require(skip.shape(0) == block.shape(0) && values.shape(0) == block.shape(0) && k > 0 &&
          indices.shape(0) == values.shape(0) && indices.shape(1) == values.shape(1));
  dispatch([&]() LOWDIM_INLINE {
    for (std::size_t i = 0; i < block.shape(0); ++i) {
      const Best<T> best{values.data() + i * k, indices.data() + i * k, k};
      offer_row<T, products>(block.data() + i * n, half, n, offset, skip.data()[i], best);
    }
  });
}

template <class T>
void top_distances(In2<T> block, std::int32_t offset, In1<std::int32_t> skip, Out2<T> values,
                   Out2<std::int32_t> indices) {
  offer_block<T, false>(block, nullptr, offset, skip, values, indices);
}

template <class T>
void top_products(In2<T> block, In1<T> half, std::int32_t offset, In1<std::int32_t> skip, Out2<T> values,
                  Out2<std::int32_t> indices) {
  require(half.shape(0) == block.shape(1));
  offer_block<T, true>(block, half.data(), offset, skip, values, indices);
}

template <class T>
void sort_top(Out2<T> values, Out2<std::int32_t> indices) {
  const std::int64_t k = values.shape(1);
  for (std::size_t i = 0; i < values.shape(0); ++i) Best<T>{values.data() + i * k, indices.data() + i * k, k}.sort();
}

// ---- rows and their differences -----------------------------------------------------------------------------------

constexpr std::int64_t lanes = 8;
constexpr std::int64_t segment = 128;  // coordinates between two looks at the limit

// sums[l] += |u[l] a - v[l] b|^P over `lanes` coordinates. Compilers do not reliably keep an array of sums in
// registers; a vector type says it, and is lowered to what the machine has: lane by lane the same operations.
template <int P>
LOWDIM_INLINE inline double power(double difference) {
  return P == 1 ? std::fabs(difference) : difference * difference;
}
#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(lanes * sizeof(double))));

template <int P, class T>
LOWDIM_INLINE inline void add_powers(Lanes& sums, const T* u, double a, const T* v, double b) {
  typedef T Loaded __attribute__((vector_size(lanes * sizeof(T))));
  Loaded left, right;
  std::memcpy(&left, u, sizeof left);
  std::memcpy(&right, v, sizeof right);
  const Lanes difference = __builtin_convertvector(left, Lanes) * a - __builtin_convertvector(right, Lanes) * b;
  if constexpr (P == 1)
    sums += difference < 0 ? -difference : difference;
  else
    sums += difference * difference;
}
#else
struct Lanes {
  double lane[lanes];
  double operator[](std::int64_t l) const { return lane[l]; }
  Lanes& operator+=(const Lanes& other) {
    for (std::int64_t l = 0; l < lanes; ++l) lane[l] += other.lane[l];
    return *this;
  }
};

template <int P, class T>
inline void add_powers(Lanes& sums, const T* u, double a, const T* v, double b) {
  for (std::int64_t l = 0; l < lanes; ++l)
    sums.lane[l] += power<P>(static_cast<double>(u[l]) * a - static_cast<double>(v[l]) * b);
}
#endif

LOWDIM_INLINE inline double total(const Lanes& s0, const Lanes& s1, const Lanes& s2, const Lanes& s3) {
  Lanes s = s0;
  s += s1;
  Lanes t = s2;
  t += s3;
  s += t;
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// Queries `q` and rows `x`, each row multiplied by its scale. A row of scale 0 has no direction (cosine): it is at
// squared distance 2 from everything, as if orthogonal.
template <class T>
struct DenseRows {
  const T* q;
  const T* x;
  std::int64_t d;
  const double* q_scale;
  const double* x_scale;
  std::int64_t n;

  // Sum of |difference|^P; anything above `limit` once that is certain.
  template <int P>
  LOWDIM_INLINE double distance(std::int64_t i, std::int64_t j, double limit) const {
    const double a = q_scale[i], b = x_scale[j];
    if (a == 0.0 || b == 0.0) return 2.0;
    const T* u = q + i * d;
    const T* v = x + j * d;
    if (d < lanes) return short_distance<P>(u, a, v, b, d);
    Lanes s0{}, s1{}, s2{}, s3{};
    std::int64_t c = 0;
    while (c + segment <= d) {
      for (const std::int64_t end = c + segment; c < end; c += 4 * lanes) {
        add_powers<P>(s0, u + c, a, v + c, b);
        add_powers<P>(s1, u + c + lanes, a, v + c + lanes, b);
        add_powers<P>(s2, u + c + 2 * lanes, a, v + c + 2 * lanes, b);
        add_powers<P>(s3, u + c + 3 * lanes, a, v + c + 3 * lanes, b);
      }
      const double so_far = total(s0, s1, s2, s3);
      if (so_far > limit) return so_far;
    }
    for (; c + 2 * lanes <= d; c += 2 * lanes) {
      add_powers<P>(s0, u + c, a, v + c, b);
      add_powers<P>(s1, u + c + lanes, a, v + c + lanes, b);
    }
    for (; c + lanes <= d; c += lanes) add_powers<P>(s0, u + c, a, v + c, b);
    return total(s0, s1, s2, s3) + short_distance<P>(u + c, a, v + c, b, d - c);
  }

  // Fewer coordinates than lanes, one after the other.
  template <int P>
  LOWDIM_INLINE double short_distance(const T* u, double a, const T* v, double b, std::int64_t count) const {
    double sum = 0.0;
    for (std::int64_t c = 0; c < count; ++c)
      sum += power<P>(static_cast<double>(u[c]) * a - static_cast<double>(v[c]) * b);
    return sum;
  }
};

// The same for compressed sparse rows with sorted indices: a merge of the two index lists.
template <class T>
struct SparseRows {
  const T* q;
  const std::int32_t* q_columns;
  const std::int64_t* q_starts;
  const T* x;
  const std::int32_t* x_columns;
  const std::int64_t* x_starts;
  const double* q_scale;
  const double* x_scale;
  std::int64_t n;

  template <int P>
  LOWDIM_INLINE double distance(std::int64_t i, std::int64_t j, double limit) const {
    const double a = q_scale[i], b = x_scale[j];
    if (a == 0.0 || b == 0.0) return 2.0;
    std::int64_t s = q_starts[i], t = x_starts[j];
    const std::int64_t s_end = q_starts[i + 1], t_end = x_starts[j + 1];
    double sum = 0.0;
    while (s < s_end && t < t_end && sum <= limit) {
      const std::int32_t left = q_columns[s], right = x_columns[t];
      const double u = left <= right ? static_cast<double>(q[s]) * a : 0.0;
      const double v = right <= left ? static_cast<double>(x[t]) * b : 0.0;
      sum += power<P>(u - v);
      s += left <= right;
      t += right <= left;
    }
    for (; s < s_end; ++s) sum += power<P>(static_cast<double>(q[s]) * a);
    for (; t < t_end; ++t) sum += power<P>(static_cast<double>(x[t]) * b);
    return sum;
  }
};

constexpr double everything = std::numeric_limits<double>::infinity();

// Exact distances of the candidates of each query, sorted.
template <int P, class Rows>
void refine(const Rows& rows, const In1<std::int32_t>& queries, const Out2<double>& values,
            const Out2<std::int32_t>& indices) {
  const std::int64_t k = values.shape(1);
  dispatch([&]() LOWDIM_INLINE {
    for (std::size_t i = 0; i < values.shape(0); ++i) {
      const Best<double> best{values.data() + i * k, indices.data() + i * k, k};
      for (std::int64_t c = 0; c < k; ++c) {
        const std::int32_t j = best.indices[c];
        best.values[c] = j == nobody ? everything : rows.template distance<P>(queries.data()[i], j, everything);
      }
      best.heapify();
      best.sort();
    }
  });
}

// The k best of all rows for each query by looking at every row. `values` comes in filled with a bound that the k-th
// best does not exceed (infinity will do). Rows are taken in tiles that stay in the cache while several queries use
// them; once k rows at distance 0 are found no later row can enter.
template <int P, class Rows>
void scan(const Rows& rows, std::int64_t tile, const In1<std::int32_t>& queries, const In1<std::int32_t>& skip,
          const Out2<double>& values, const Out2<std::int32_t>& indices) {
  const std::int64_t k = values.shape(1);
  parallel_for(values.shape(0), 32, 1, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    dispatch([&]() LOWDIM_INLINE {
      for (std::int64_t start = 0; start < rows.n; start += tile) {
        const std::int64_t stop = std::min(rows.n, start + tile);
        for (std::int64_t i = first; i < last; ++i) {
          const Best<double> best{values.data() + i * k, indices.data() + i * k, k};
          const std::int32_t query = queries.data()[i], self = skip.data()[i];
          for (std::int64_t j = start; j < stop; ++j) {
            if (best.values[0] == 0.0 && best.indices[0] < j) break;
            if (j == self) continue;
            best.offer(rows.template distance<P>(query, j, best.values[0]), static_cast<std::int32_t>(j));
          }
        }
      }
      for (std::int64_t i = first; i < last; ++i) Best<double>{values.data() + i * k, indices.data() + i * k, k}.sort();
    });
  });
}

// Exact distances of listed pairs.
template <int P, class Rows>
void pairs(const Rows& rows, const In1<std::int32_t>& queries, const In1<std::int32_t>& columns,
           const Out1<double>& values) {
  dispatch([&]() LOWDIM_INLINE {
    for (std::size_t i = 0; i < values.shape(0); ++i)
      values.data()[i] = rows.template distance<P>(queries.data()[i], columns.data()[i], everything);
  });
}

// Exact distances of all pairs.
template <int P, class T, class Rows>
void all_pairs(const Rows& rows, const Out2<T>& block) {
  const std::int64_t n = block.shape(1);
  dispatch([&]() LOWDIM_INLINE {
    for (std::size_t i = 0; i < block.shape(0); ++i)
      for (std::int64_t j = 0; j < n; ++j)
        block.data()[i * n + j] = static_cast<T>(rows.template distance<P>(i, j, everything));
  });
}

// A block of products x.y becomes the block of squared distances |x|^2 + |y|^2 - 2 x.y, or of their roots. Where that
// difference is smaller than `tol` times the sum, digits are lost: these pairs are measured again by their differences.
// So are those whose squares leave the range of T.
template <class T, class Rows>
void from_products(const Rows& rows, const In1<T>& q_norms, const In1<T>& x_norms, double tol, bool root,
                   const Out2<T>& block) {
  const std::int64_t n = block.shape(1);
  const T* other = x_norms.data();
  const T small = static_cast<T>(tol);
  dispatch([&]() LOWDIM_INLINE {
    for (std::size_t i = 0; i < block.shape(0); ++i) {
      T* row = block.data() + i * n;
      const T norm = q_norms.data()[i];
      for (std::int64_t start = 0; start < n; start += group) {
        const std::int64_t stop = std::min(n, start + group);
        T squares[group];
        int fine = 1;
        for (std::int64_t j = start; j < stop; ++j) {
          const T sum = norm + other[j];
          const T square = sum - 2 * row[j];
          fine &= square > small * sum;  // false for NaN and for infinity, too
          squares[j - start] = square;
          row[j] = root ? std::sqrt(square) : square;
        }
        if (fine) continue;
        for (std::int64_t j = start; j < stop; ++j) {
          if (squares[j - start] > small * (norm + other[j])) continue;
          const double square = rows.template distance<2>(i, j, everything);
          row[j] = static_cast<T>(root ? std::sqrt(square) : square);
        }
      }
    }
  });
}

// ---- bindings -----------------------------------------------------------------------------------------------------

template <class T>
struct DensePairs {
  using Value = T;
  In2<T> q, x;
  In1<double> q_scale, x_scale;

  DensePairs(In2<T> q_, In2<T> x_, In1<double> q_scale_, In1<double> x_scale_)
      : q(q_), x(x_), q_scale(q_scale_), x_scale(x_scale_) {
    require(q.shape(1) == x.shape(1) && q.shape(0) == q_scale.shape(0) && x.shape(0) == x_scale.shape(0));
  }
  DenseRows<T> rows() const {
    return {q.data(),       x.data(),       static_cast<std::int64_t>(x.shape(1)),
            q_scale.data(), x_scale.data(), static_cast<std::int64_t>(x.shape(0))};
  }
  std::int64_t row_bytes() const { return static_cast<std::int64_t>(x.shape(1) * sizeof(T)); }
};

template <class T>
struct SparsePairs {
  using Value = T;
  In1<T> q;
  In1<std::int32_t> q_columns;
  In1<std::int64_t> q_starts;
  In1<T> x;
  In1<std::int32_t> x_columns;
  In1<std::int64_t> x_starts;
  In1<double> q_scale, x_scale;

  SparsePairs(In1<T> q_, In1<std::int32_t> q_columns_, In1<std::int64_t> q_starts_, In1<T> x_,
              In1<std::int32_t> x_columns_, In1<std::int64_t> x_starts_, In1<double> q_scale_, In1<double> x_scale_)
      : q(q_),
        q_columns(q_columns_),
        q_starts(q_starts_),
        x(x_),
        x_columns(x_columns_),
        x_starts(x_starts_),
        q_scale(q_scale_),
        x_scale(x_scale_) {
    require(q.shape(0) == q_columns.shape(0) && x.shape(0) == x_columns.shape(0) &&
            q_starts.shape(0) == q_scale.shape(0) + 1 && x_starts.shape(0) == x_scale.shape(0) + 1);
  }
  SparseRows<T> rows() const {
    return {q.data(),       q_columns.data(), q_starts.data(),
            x.data(),       x_columns.data(), x_starts.data(),
            q_scale.data(), x_scale.data(),   static_cast<std::int64_t>(x_scale.shape(0))};
  }
  std::int64_t row_bytes() const {
    return static_cast<std::int64_t>(x.shape(0) * (sizeof(T) + 4) / std::max<std::size_t>(x_scale.shape(0), 1));
  }
};

// Rows that fit into half of a common second-level cache.
std::int64_t tile_rows(std::int64_t row_bytes) { return std::max<std::int64_t>(16, (1 << 18) / (row_bytes + 8)); }

template <class Pairs>
void bind_pairs(nb::class_<Pairs>& cls) {
  using T = typename Pairs::Value;
  using Queries = In1<std::int32_t>;
  const auto no_gil = nb::call_guard<nb::gil_scoped_release>();
  cls.def(
      "refine",
      [](const Pairs& self, int p, Queries queries, Out2<double> values, Out2<std::int32_t> indices) {
        require(queries.shape(0) == values.shape(0) && values.shape(0) == indices.shape(0) &&
                values.shape(1) == indices.shape(1));
        p == 1 ? refine<1>(self.rows(), queries, values, indices) : refine<2>(self.rows(), queries, values, indices);
      },
      nb::arg("p"), nb::arg("queries").noconvert(), nb::arg("values").noconvert(), nb::arg("indices").noconvert(),
      no_gil, "Measure the candidates `indices` of each query again, into `values`, and sort both.");
  cls.def(
      "scan",
      [](const Pairs& self, int p, Queries queries, Queries skip, Out2<double> values, Out2<std::int32_t> indices) {
        require(queries.shape(0) == values.shape(0) && values.shape(0) == indices.shape(0) &&
                values.shape(1) == indices.shape(1) && skip.shape(0) == queries.shape(0));
        const std::int64_t tile = tile_rows(self.row_bytes());
        p == 1 ? scan<1>(self.rows(), tile, queries, skip, values, indices)
               : scan<2>(self.rows(), tile, queries, skip, values, indices);
      },
      nb::arg("p"), nb::arg("queries").noconvert(), nb::arg("skip").noconvert(), nb::arg("values").noconvert(),
      nb::arg("indices").noconvert(), no_gil, "The nearest rows of each query by looking at all rows.");
  cls.def(
      "pairs",
      [](const Pairs& self, int p, Queries queries, Queries columns, Out1<double> values) {
        require(queries.shape(0) == values.shape(0) && columns.shape(0) == values.shape(0));
        p == 1 ? pairs<1>(self.rows(), queries, columns, values) : pairs<2>(self.rows(), queries, columns, values);
      },
      nb::arg("p"), nb::arg("queries").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
      no_gil, "Distances (powers of) of the listed pairs.");
  cls.def(
      "block",
      [](const Pairs& self, int p, Out2<T> block) {
        require(self.q_scale.shape(0) == block.shape(0) && self.x_scale.shape(0) == block.shape(1));
        p == 1 ? all_pairs<1, T>(self.rows(), block) : all_pairs<2, T>(self.rows(), block);
      },
      nb::arg("p"), nb::arg("block").noconvert(), no_gil, "Distances (powers of) of all pairs.");
  cls.def(
      "from_products",
      [](const Pairs& self, In1<T> q_norms, In1<T> x_norms, double tol, bool root, Out2<T> block) {
        require(q_norms.shape(0) == block.shape(0) && x_norms.shape(0) == block.shape(1) &&
                self.q_scale.shape(0) == block.shape(0) && self.x_scale.shape(0) == block.shape(1));
        from_products<T>(self.rows(), q_norms, x_norms, tol, root, block);
      },
      nb::arg("q_norms").noconvert(), nb::arg("x_norms").noconvert(), nb::arg("tol"), nb::arg("root"),
      nb::arg("block").noconvert(), no_gil,
      "Turn products into (roots of) squared distances in place; pairs that lose digits are measured again.");
}

template <class T>
void bind_type(nb::module_& m, const char* dense_name, const char* sparse_name) {
  nb::class_<DensePairs<T>> dense(m, dense_name, "Pairs of dense rows, one from each table.");
  dense.def(nb::init<In2<T>, In2<T>, In1<double>, In1<double>>(), nb::arg("q").noconvert(), nb::arg("x").noconvert(),
            nb::arg("q_scale").noconvert(), nb::arg("x_scale").noconvert());
  bind_pairs(dense);
  using Columns = In1<std::int32_t>;
  using Starts = In1<std::int64_t>;
  nb::class_<SparsePairs<T>> sparse(m, sparse_name, "Pairs of compressed sparse rows, one from each table.");
  sparse.def(nb::init<In1<T>, Columns, Starts, In1<T>, Columns, Starts, In1<double>, In1<double>>(),
             nb::arg("q").noconvert(), nb::arg("q_columns").noconvert(), nb::arg("q_starts").noconvert(),
             nb::arg("x").noconvert(), nb::arg("x_columns").noconvert(), nb::arg("x_starts").noconvert(),
             nb::arg("q_scale").noconvert(), nb::arg("x_scale").noconvert());
  bind_pairs(sparse);

  const auto no_gil = nb::call_guard<nb::gil_scoped_release>();
  m.def("top_distances", &top_distances<T>, nb::arg("block").noconvert(), nb::arg("offset"),
        nb::arg("skip").noconvert(), nb::arg("values").noconvert(), nb::arg("indices").noconvert(), no_gil,
        "Offer a block of distances (columns offset, offset + 1, ...) to the heaps of its rows' smallest values.");
  m.def("top_products", &top_products<T>, nb::arg("block").noconvert(), nb::arg("half").noconvert(), nb::arg("offset"),
        nb::arg("skip").noconvert(), nb::arg("values").noconvert(), nb::arg("indices").noconvert(), no_gil,
        "The same for values half[j] - block[i, j].");
  m.def("sort_top", &sort_top<T>, nb::arg("values").noconvert(), nb::arg("indices").noconvert(), no_gil,
        "Sort the heaps, smallest first.");
}

}  // namespace

void bind_exact_neighbors(nb::module_& m) {
  bind_type<float>(m, "DensePairs32", "SparsePairs32");
  bind_type<double>(m, "DensePairs64", "SparsePairs64");
}

}  // namespace lowdim
