// Blocks and lists of distances, pair by pair in float64, under the metrics that no matrix product gives.
//
// Rows x go two at a time over panels of sixteen rows y that lie column by column. Every pair adds up its terms one
// column after the other, so a pair has the same bits in a block, in a list, either way round and at every width.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/exp_log.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {

namespace {

constexpr std::int64_t panel_rows = 16;

// log(x) for panel_rows normal numbers x > 0, in place.
LOWDIM_INLINE inline void log_panel(double* x) {
#ifdef LOWDIM_VECTORS
  for (std::int64_t c = 0; c < panel_rows; c += 8) {
    Pack<double> from, to;
    load_pack<double>(from, x + c);
    Elementary<Pack<double>, Pack<std::int64_t>>::log(from, to);
    store_pack<double>(x + c, to);
  }
#else
  for (std::int64_t c = 0; c < panel_rows; ++c) x[c] = log_positive(x[c]);
#endif
}

// x^p for panel_rows numbers x >= 0, in place; 0 stays 0.
LOWDIM_INLINE inline void power_panel(double* x, double p) {
  double log_x[panel_rows];
  for (std::int64_t c = 0; c < panel_rows; ++c) log_x[c] = x[c] > 1e-300 ? x[c] : 1e-300;
  log_panel(log_x);
  for (std::int64_t c = 0; c < panel_rows; ++c) {
    const double y = log_x[c] * p, lower = y < 700.0 ? y : 700.0;
    log_x[c] = lower > -700.0 ? lower : -700.0;
  }
#ifdef LOWDIM_VECTORS
  for (std::int64_t c = 0; c < panel_rows; c += 8) {
    Pack<double> from, to;
    load_pack<double>(from, log_x + c);
    Elementary<Pack<double>, Pack<std::int64_t>>::exp(from, to);
    store_pack<double>(log_x + c, to);
  }
#else
  for (std::int64_t c = 0; c < panel_rows; ++c) Elementary<double, std::int64_t>::exp(log_x[c], log_x[c]);
#endif
  // Below the range of exp there is nothing left, as for scipy.
  for (std::int64_t c = 0; c < panel_rows; ++c) x[c] = x[c] > 0 && log_x[c] > 1e-303 ? log_x[c] : 0.0;
}

// A metric: what a column adds to the sums of a row x with sixteen rows y, and what becomes of a sum; `both` is the sum
// of the cells of the two rows, d the number of columns.
struct Metric {
  static constexpr bool heavy = false;   // sums of several rows x would not stay in registers
  static constexpr bool packed = false;  // `add` takes vectors of eight rows y
  LOWDIM_INLINE static double value(double sum, double, double) { return sum; }
};

struct Manhattan : Metric {
#ifdef LOWDIM_VECTORS
  static constexpr bool packed = true;
  LOWDIM_INLINE static void add(const Pack<double>& x, const Pack<double>& y, Pack<double>& sum) {
    const Pack<double> gap = x - y;
    Pack<std::int64_t> bits;
    std::memcpy(&bits, &gap, sizeof bits);
    bits = bits & 0x7fffffffffffffff;  // |gap|
    Pack<double> size;
    std::memcpy(&size, &bits, sizeof size);
    sum += size;
  }
#else
  LOWDIM_INLINE static void add(double x, const double* y, double* sum) {
    for (std::int64_t c = 0; c < panel_rows; ++c) sum[c] += std::fabs(x - y[c]);
  }
#endif
};

struct BrayCurtis : Manhattan {
  LOWDIM_INLINE static double value(double sum, double both, double) { return both > 0 ? sum / both : 0.0; }
};

// One less the sum of the lesser cells over that of the greater: Tanimoto's distance of counts.
struct Ruzicka : Manhattan {
  LOWDIM_INLINE static double value(double sum, double both, double) {
    return both > 0 ? 2.0 * sum / (both + sum) : 0.0;
  }
};

struct Chebyshev : Metric {
  LOWDIM_INLINE static void add(double x, const double* y, double* sum) {
    for (std::int64_t c = 0; c < panel_rows; ++c) {
      const double gap = std::fabs(x - y[c]);
      sum[c] = gap > sum[c] ? gap : sum[c];
    }
  }
};

struct Hamming : Metric {
  LOWDIM_INLINE static void add(double x, const double* y, double* sum) {
    for (std::int64_t c = 0; c < panel_rows; ++c) sum[c] += x != y[c] ? 1.0 : 0.0;
  }
  LOWDIM_INLINE static double value(double sum, double, double d) { return sum / d; }
};

struct Canberra : Metric {
  LOWDIM_INLINE static void add(double x, const double* y, double* sum) {
    for (std::int64_t c = 0; c < panel_rows; ++c) {
      const double all = std::fabs(x) + std::fabs(y[c]);
      sum[c] += all > 0 ? std::fabs(x - y[c]) / all : 0.0;
    }
  }
};

// Of shares.
struct JensenShannon : Metric {
  static constexpr bool heavy = true;
  LOWDIM_INLINE static void add(double x, const double* y, double* sum) {
    double left[panel_rows], right[panel_rows];
    for (std::int64_t c = 0; c < panel_rows; ++c) {
      const double all = x + y[c];
      left[c] = x > 0 ? 2.0 * x / all : 1.0;
      right[c] = y[c] > 0 ? 2.0 * y[c] / all : 1.0;
    }
    log_panel(left), log_panel(right);
    for (std::int64_t c = 0; c < panel_rows; ++c) sum[c] += x * left[c] + y[c] * right[c];
  }
  LOWDIM_INLINE static double value(double sum, double, double) { return std::sqrt(sum > 0 ? sum / 2.0 : 0.0); }
};

struct Minkowski : Metric {
  static constexpr bool heavy = true;
  double p;
  explicit Minkowski(double p_) : p(p_) {}
  LOWDIM_INLINE void add(double x, const double* y, double* sum) const {
    double gap[panel_rows];
    for (std::int64_t c = 0; c < panel_rows; ++c) gap[c] = std::fabs(x - y[c]);
    if (p == 3.0)
      for (std::int64_t c = 0; c < panel_rows; ++c) gap[c] *= gap[c] * gap[c];
    else
      power_panel(gap, p);
    for (std::int64_t c = 0; c < panel_rows; ++c) sum[c] += gap[c];
  }
  double value(double sum, double, double) const { return std::pow(sum, 1.0 / p); }
};

template <class Body>
void with_metric(std::string_view name, double p, const Body& body) {
  if (name == "manhattan") return body(Manhattan{});
  if (name == "braycurtis") return body(BrayCurtis{});
  if (name == "ruzicka") return body(Ruzicka{});
  if (name == "chebyshev") return body(Chebyshev{});
  if (name == "hamming") return body(Hamming{});
  if (name == "canberra") return body(Canberra{});
  if (name == "jensenshannon") return body(JensenShannon{});
  if (name == "minkowski" && p > 0) return body(Minkowski(p));
  throw std::invalid_argument("no such metric");
}

// Sixteen rows y column by column, and their sums; rows that do not exist are zeros.
struct Panel {
  std::vector<double> cells;
  double sums[panel_rows] = {};

  explicit Panel(std::int64_t d) : cells(static_cast<std::size_t>(d * panel_rows)) {}

  template <class Row>  // row(c): where row c begins
  void fill(std::int64_t d, std::int64_t count, const Row& row) {
    if (count < panel_rows) std::fill(cells.begin(), cells.end(), 0.0);
    for (std::int64_t c = 0; c < count; ++c) {
      const double* y = row(c);
      double sum = 0;
      for (std::int64_t k = 0; k < d; ++k) {
        cells[k * panel_rows + c] = y[k];
        sum += y[k];
      }
      sums[c] = sum;
    }
  }
};

// The sums of up to four rows x and two vectors of rows y, each in a register of its own.
template <std::int64_t rows, class Term>
LOWDIM_INLINE inline void packed_sums(const Term& term, const double* LOWDIM_RESTRICT x, std::int64_t d,
                                      const double* LOWDIM_RESTRICT cells, double (*sum)[panel_rows]) {
  static_assert(rows == 1 || rows == 4);
  Pack<double> a0{}, a1{}, b0{}, b1{}, c0{}, c1{}, d0{}, d1{}, left, right;
  for (std::int64_t k = 0; k < d; ++k) {
    load_pack<double>(left, cells + k * panel_rows), load_pack<double>(right, cells + k * panel_rows + 8);
    const Pack<double> u = Pack<double>{} + x[k];
    term.add(u, left, a0), term.add(u, right, a1);
    if constexpr (rows == 4) {
      const Pack<double> v = Pack<double>{} + x[d + k], w = Pack<double>{} + x[2 * d + k];
      const Pack<double> t = Pack<double>{} + x[3 * d + k];
      term.add(v, left, b0), term.add(v, right, b1);
      term.add(w, left, c0), term.add(w, right, c1);
      term.add(t, left, d0), term.add(t, right, d1);
    }
  }
  store_pack<double>(sum[0], a0), store_pack<double>(sum[0] + 8, a1);
  if constexpr (rows == 4) {
    store_pack<double>(sum[1], b0), store_pack<double>(sum[1] + 8, b1);
    store_pack<double>(sum[2], c0), store_pack<double>(sum[2] + 8, c1);
    store_pack<double>(sum[3], d0), store_pack<double>(sum[3] + 8, d1);
  }
}

template <std::int64_t rows, class Term>
LOWDIM_INLINE inline void measured_tile(const Term& term, const double* LOWDIM_RESTRICT x,
                                        const double* LOWDIM_RESTRICT x_sums, std::int64_t d, const Panel& panel,
                                        double* LOWDIM_RESTRICT out, std::int64_t n, std::int64_t count) {
  double sum[rows][panel_rows] = {};
  const double* LOWDIM_RESTRICT cells = panel.cells.data();
  if constexpr (Term::packed)
    packed_sums<rows>(term, x, d, cells, sum);
  else
    for (std::int64_t k = 0; k < d; ++k)
      for (std::int64_t r = 0; r < rows; ++r) term.add(x[r * d + k], cells + k * panel_rows, sum[r]);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < count; ++c)
      out[r * n + c] = term.value(sum[r][c], x_sums[r] + panel.sums[c], static_cast<double>(d));
}

std::vector<double> row_sums(const In2<double>& x) {
  std::vector<double> sums(static_cast<std::size_t>(n_rows(x)));
  for (std::int64_t i = 0; i < n_rows(x); ++i)
    for (std::int64_t k = 0; k < n_columns(x); ++k) sums[i] += x.data()[i * n_columns(x) + k];
  return sums;
}

// out[i, j]: the distance of row i of x to row j of y.
void measured_block(In2<double> x, In2<double> y, const char* metric, double p, int n_threads, Out2<double> out) {
  const std::int64_t b = n_rows(x), d = n_columns(x), n = n_rows(y);
  require(n_columns(y) == d && has_shape(out, b, n));
  const std::vector<double> sums = row_sums(x);
  // A task is a panel and so many rows x as take some milliseconds.
  const std::int64_t rows =
      std::max<std::int64_t>(16, std::min(b, (std::int64_t{1} << 16) / std::max<std::int64_t>(d, 1)));
  const std::int64_t parts = (b + rows - 1) / rows, panels = (n + panel_rows - 1) / panel_rows;
  with_metric(metric, p, [&](const auto& term) {
    constexpr std::int64_t step = std::decay_t<decltype(term)>::heavy ? 1 : 4;
    parallel_for(panels * parts, 1, n_threads, [&](std::int64_t task, std::int64_t, auto) {
      const std::int64_t j = task / parts * panel_rows, count = std::min(panel_rows, n - j);
      const std::int64_t first = task % parts * rows, last = std::min(b, first + rows);
      Panel panel(d);
      panel.fill(d, count, [&](std::int64_t c) { return y.data() + (j + c) * d; });
      dispatch([&]() LOWDIM_INLINE {
        std::int64_t i = first;
        for (; i + step <= last; i += step)
          measured_tile<step>(term, x.data() + i * d, sums.data() + i, d, panel, out.data() + i * n + j, n, count);
        for (; i < last; ++i)
          measured_tile<1>(term, x.data() + i * d, sums.data() + i, d, panel, out.data() + i * n + j, n, count);
      });
    });
  });
}

// out[i, c]: the distance of row i of x to row indices[i, c] of y.
void measured_lists(In2<double> x, In2<double> y, const char* metric, double p, In2<std::int32_t> indices,
                    Out2<double> out) {
  const std::int64_t d = n_columns(x), k = n_columns(indices);
  require(n_columns(y) == d && n_rows(indices) == n_rows(x) && same_shape(out, indices));
  require(all_below(indices, n_rows(y)));
  const std::vector<double> sums = row_sums(x);
  with_metric(metric, p, [&](const auto& term) {
    parallel_for(n_rows(x), 16, 1, [&](std::int64_t first, std::int64_t last, auto) {
      Panel panel(d);
      for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t j = 0; j < k; j += panel_rows) {
          const std::int64_t count = std::min(panel_rows, k - j);
          const std::int32_t* listed = indices.data() + i * k + j;
          panel.fill(d, count, [&](std::int64_t c) { return y.data() + listed[c] * d; });
          dispatch([&]() LOWDIM_INLINE {
            measured_tile<1>(term, x.data() + i * d, sums.data() + i, d, panel, out.data() + i * k + j, k, count);
          });
        }
    });
  });
}

}  // namespace

void bind_measured_rows(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("measured_block", &measured_block, "x"_a.noconvert(), "y"_a.noconvert(), "metric"_a, "p"_a, "n_threads"_a,
        "out"_a.noconvert(), release(), "Distances of the rows x to the rows y under the metric of that name.");
  m.def("measured_lists", &measured_lists, "x"_a.noconvert(), "y"_a.noconvert(), "metric"_a, "p"_a,
        "indices"_a.noconvert(), "out"_a.noconvert(), release(),
        "Distances of each row of x to the rows of y that `indices` lists for it.");
}

}  // namespace lowdim
