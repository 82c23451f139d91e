// Pairs of rows measured exactly: candidates, all rows of a table, listed pairs, whole blocks.
//
// The candidates come from matrix products, which lose digits. What is handed out comes from `distance` of
// row_differences.hpp. Everywhere the order is the total order (value, index).
#include <algorithm>
#include <cmath>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"
#include "neighbors/nearest_heap.hpp"
#include "neighbors/row_differences.hpp"

namespace lowdim {

namespace {

constexpr std::int64_t group = 64;  // values looked at with one branch

// Exact distances of the candidates of each query, sorted.
template <int P, class Rows>
void refine(const Rows& rows, const In1<std::int32_t>& queries, const Out2<double>& values,
            const Out2<std::int32_t>& indices) {
  const std::int64_t k = n_columns(values);
  dispatch([&]() LOWDIM_INLINE {
    for (std::int64_t i = 0; i < n_rows(values); ++i) {
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
  const std::int64_t k = n_columns(values);
  parallel_for(n_rows(values), 32, 1, [&](std::int64_t first, std::int64_t last, std::int64_t) {
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
    for (std::int64_t i = 0; i < n_rows(values); ++i)
      values.data()[i] = rows.template distance<P>(queries.data()[i], columns.data()[i], everything);
  });
}

// Exact distances of all pairs.
template <int P, class T, class Rows>
void all_pairs(const Rows& rows, const Out2<T>& block) {
  const std::int64_t n = n_columns(block);
  dispatch([&]() LOWDIM_INLINE {
    for (std::int64_t i = 0; i < n_rows(block); ++i)
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
  const std::int64_t n = n_columns(block);
  const T* other = x_norms.data();
  const T small = static_cast<T>(tol);
  dispatch([&]() LOWDIM_INLINE {
    for (std::int64_t i = 0; i < n_rows(block); ++i) {
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
    require(n_columns(q) == n_columns(x) && n_rows(q) == n_rows(q_scale) && n_rows(x) == n_rows(x_scale));
  }
  bool has_queries(const In1<std::int32_t>& queries) const { return all_below(queries, n_rows(q_scale)); }
  DenseRows<T> rows() const { return {q.data(), x.data(), n_columns(x), q_scale.data(), x_scale.data(), n_rows(x)}; }
  std::int64_t row_bytes() const { return n_columns(x) * static_cast<std::int64_t>(sizeof(T)); }
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
    require(n_rows(q) == n_rows(q_columns) && n_rows(x) == n_rows(x_columns) &&
            n_rows(q_starts) == n_rows(q_scale) + 1 && n_rows(x_starts) == n_rows(x_scale) + 1);
    require(are_borders(q_starts, n_rows(q)) && are_borders(x_starts, n_rows(x)));
  }
  bool has_queries(const In1<std::int32_t>& queries) const { return all_below(queries, n_rows(q_scale)); }
  SparseRows<T> rows() const {
    return {q.data(),        q_columns.data(), q_starts.data(), x.data(),       x_columns.data(),
            x_starts.data(), q_scale.data(),   x_scale.data(),  n_rows(x_scale)};
  }
  std::int64_t row_bytes() const {
    return n_rows(x) * static_cast<std::int64_t>(sizeof(T) + 4) / std::max<std::int64_t>(n_rows(x_scale), 1);
  }
};

// Rows that fit into half of a common second-level cache.
std::int64_t tile_rows(std::int64_t row_bytes) { return std::max<std::int64_t>(16, (1 << 18) / (row_bytes + 8)); }

template <class Pairs>
void bind_pairs(nb::class_<Pairs>& cls) {
  using namespace nb::literals;
  using T = typename Pairs::Value;
  using Queries = In1<std::int32_t>;
  const auto no_gil = nb::call_guard<WithoutGil>();
  cls.def(
      "refine",
      [](const Pairs& self, int p, Queries queries, Out2<double> values, Out2<std::int32_t> indices) {
        require(n_rows(queries) == n_rows(values) && same_shape(indices, values) && self.has_queries(queries));
        for (std::size_t e = 0; e < indices.size(); ++e)
          require(indices.data()[e] == nobody || all_below(indices.data() + e, 1, n_rows(self.x_scale)));
        p == 1 ? refine<1>(self.rows(), queries, values, indices) : refine<2>(self.rows(), queries, values, indices);
      },
      "p"_a, "queries"_a.noconvert(), "values"_a.noconvert(), "indices"_a.noconvert(), no_gil,
      "Measure the candidates `indices` of each query again, into `values`, and sort both.");
  cls.def(
      "scan",
      [](const Pairs& self, int p, Queries queries, Queries skip, Out2<double> values, Out2<std::int32_t> indices) {
        require(n_rows(queries) == n_rows(values) && same_shape(indices, values) && n_rows(skip) == n_rows(queries));
        require(self.has_queries(queries) && n_columns(values) > 0);
        const std::int64_t tile = tile_rows(self.row_bytes());
        p == 1 ? scan<1>(self.rows(), tile, queries, skip, values, indices)
               : scan<2>(self.rows(), tile, queries, skip, values, indices);
      },
      "p"_a, "queries"_a.noconvert(), "skip"_a.noconvert(), "values"_a.noconvert(), "indices"_a.noconvert(), no_gil,
      "The nearest rows of each query by looking at all rows.");
  cls.def(
      "pairs",
      [](const Pairs& self, int p, Queries queries, Queries columns, Out1<double> values) {
        require(n_rows(queries) == n_rows(values) && n_rows(columns) == n_rows(values));
        require(self.has_queries(queries) && all_below(columns, n_rows(self.x_scale)));
        p == 1 ? pairs<1>(self.rows(), queries, columns, values) : pairs<2>(self.rows(), queries, columns, values);
      },
      "p"_a, "queries"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), no_gil,
      "Distances (powers of) of the listed pairs.");
  cls.def(
      "block",
      [](const Pairs& self, int p, Out2<T> block) {
        require(has_shape(block, n_rows(self.q_scale), n_rows(self.x_scale)));
        p == 1 ? all_pairs<1, T>(self.rows(), block) : all_pairs<2, T>(self.rows(), block);
      },
      "p"_a, "block"_a.noconvert(), no_gil, "Distances (powers of) of all pairs.");
  cls.def(
      "from_products",
      [](const Pairs& self, In1<T> q_norms, In1<T> x_norms, double tol, bool root, Out2<T> block) {
        require(has_shape(block, n_rows(q_norms), n_rows(x_norms)) &&
                has_shape(block, n_rows(self.q_scale), n_rows(self.x_scale)));
        from_products<T>(self.rows(), q_norms, x_norms, tol, root, block);
      },
      "q_norms"_a.noconvert(), "x_norms"_a.noconvert(), "tol"_a, "root"_a, "block"_a.noconvert(), no_gil,
      "Turn products into (roots of) squared distances in place; pairs that lose digits are measured again.");
}

template <class T>
void bind_type(nb::module_& m, const char* dense_name, const char* sparse_name) {
  using namespace nb::literals;
  nb::class_<DensePairs<T>> dense(m, dense_name, "Pairs of dense rows, one from each table.");
  dense.def(nb::init<In2<T>, In2<T>, In1<double>, In1<double>>(), "q"_a.noconvert(), "x"_a.noconvert(),
            "q_scale"_a.noconvert(), "x_scale"_a.noconvert());
  bind_pairs(dense);
  using Columns = In1<std::int32_t>;
  using Starts = In1<std::int64_t>;
  nb::class_<SparsePairs<T>> sparse(m, sparse_name, "Pairs of compressed sparse rows, one from each table.");
  sparse.def(nb::init<In1<T>, Columns, Starts, In1<T>, Columns, Starts, In1<double>, In1<double>>(), "q"_a.noconvert(),
             "q_columns"_a.noconvert(), "q_starts"_a.noconvert(), "x"_a.noconvert(), "x_columns"_a.noconvert(),
             "x_starts"_a.noconvert(), "q_scale"_a.noconvert(), "x_scale"_a.noconvert());
  bind_pairs(sparse);
}

}  // namespace

void bind_row_pairs(nb::module_& m) {
  bind_type<float>(m, "DensePairs32", "SparsePairs32");
  bind_type<double>(m, "DensePairs64", "SparsePairs64");
}

}  // namespace lowdim
