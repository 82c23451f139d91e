// Ranks of distances, row by row, and what two tables of ranks have in common.
//
// rank_rows orders every row of a block of distances by (distance, index) with a radix sort: stable, so that equal
// distances go by index. tally_ranks compares the ranks of the same rows in two spaces and adds integers only, so the
// result is the same for any number of threads and any order of the blocks.
#include <cstring>
#include <string>

#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

template <class T>
struct Bits;
template <>
struct Bits<float> {
  using type = std::uint32_t;
  static constexpr type infinity = 0x7f800000u;
};
template <>
struct Bits<double> {
  using type = std::uint64_t;
  static constexpr type infinity = 0x7ff0000000000000ull;
};

// Non-negative floating-point numbers are ordered like their bits. Adding zero turns -0 into 0.
template <class T>
typename Bits<T>::type bits_of(T x) {
  x += T(0);
  typename Bits<T>::type b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}

constexpr int kDigit = 11;                    // bits of one radix pass: its counts fit the first-level cache
constexpr std::int64_t kTwoPasses = 1 << 16;  // rows up to here are ordered in two passes, longer ones in three

struct Scratch {
  std::vector<std::uint64_t> from, to;
  std::vector<std::uint32_t> count;
};

int bit_length(std::uint64_t x) {
  int length = 0;
  for (; x; x >>= 1) ++length;
  return length;
}

// The smallest positive and the largest finite key of a row, its zeros, and whether anything is NaN or negative.
template <class T>
struct Span {
  using Key = typename Bits<T>::type;
  Key low = Bits<T>::infinity, high = 0;
  std::int64_t zeros = 0;
  bool bad = false;

  void widen(const T* d, std::int64_t begin, std::int64_t end) {
    Key lo = low, hi = high, most = 0;
    std::int64_t zero = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      const Key b = bits_of(d[j]);
      most = std::max(most, b);
      zero += b == 0;
      lo = std::min(lo, b == 0 ? Bits<T>::infinity : b);
      hi = std::max(hi, b >= Bits<T>::infinity ? Key(0) : b);
    }
    low = lo, high = hi, zeros += zero, bad = bad || most > Bits<T>::infinity;
  }
  std::uint64_t width() const { return high >= low ? std::uint64_t(high - low) : 0; }
  // 0 for zero, 1.. for positive distances, the last one for infinity: no gap between them.
  std::uint64_t key(T x) const {
    const Key b = bits_of(x);
    const std::uint64_t inside = std::uint64_t(Key(b - low)) + 1;
    return b == 0 ? 0 : b == Bits<T>::infinity ? width() + 2 : inside;
  }
};

// Stable radix passes over entries (key << 32 | index); the sorted entries end in s.from.
template <int passes>
void radix(Scratch& s, std::int64_t m, int digit) {
  const std::uint64_t mask = (std::uint64_t(1) << digit) - 1;
  const std::int64_t size = std::int64_t(1) << digit;
  s.count.assign(static_cast<std::size_t>(size * passes), 0);
  std::uint32_t* counts = s.count.data();
  for (std::int64_t i = 0; i < m; ++i) {
    const std::uint64_t entry = s.from[i];
    for (int p = 0; p < passes; ++p) ++counts[p * size + ((entry >> (32 + p * digit)) & mask)];
  }
  for (int p = 0; p < passes; ++p) {
    std::uint32_t* count = counts + p * size;
    std::uint32_t start = 0;
    for (std::int64_t c = 0; c < size; ++c) {
      const std::uint32_t here = count[c];
      count[c] = start;
      start += here;
    }
    const int shift = 32 + p * digit;
    const std::uint64_t* from = s.from.data();
    std::uint64_t* to = s.to.data();
    for (std::int64_t i = 0; i < m; ++i) {
      const std::uint64_t entry = from[i];
      to[count[(entry >> shift) & mask]++] = entry;
    }
    s.from.swap(s.to);
  }
}

// Entries whose leading bits agree are still in index order; put each such run in the order of its distances.
template <class T>
void finish_runs(const T* d, std::uint64_t* entry, std::int64_t m) {
  auto before = [d](std::uint64_t a, std::uint64_t b) {
    const auto i = static_cast<std::uint32_t>(a), j = static_cast<std::uint32_t>(b);
    return d[i] < d[j] || (d[i] == d[j] && i < j);
  };
  for (std::int64_t begin = 0; begin < m;) {
    std::int64_t end = begin + 1;
    while (end < m && (entry[end] >> 32) == (entry[begin] >> 32)) ++end;
    if (end - begin > 1 && !std::is_sorted(entry + begin, entry + end, before))
      std::sort(entry + begin, entry + end, before);
    begin = end;
  }
}

// Ranks 1..n-1 of one row, 0 for the row itself. Returns the number of zero distances to other rows, -1 for bad input.
template <class T>
std::int64_t rank_row(const T* d, std::int64_t n, std::int64_t self, std::int32_t* rank, Scratch& s) {
  Span<T> span;
  span.widen(d, 0, self);
  span.widen(d, self + 1, n);
  if (span.bad) return -1;

  const int passes = n <= kTwoPasses ? 2 : 3;
  const int length = bit_length(span.width() + 2);
  const int drop = std::max(0, length - std::min(passes * kDigit, 32));
  const int digit = std::max(1, (length - drop + passes - 1) / passes);
  s.from.resize(static_cast<std::size_t>(n));
  s.to.resize(static_cast<std::size_t>(n));
  auto enter = [&, to = s.from.data()](std::int64_t begin, std::int64_t end, std::int64_t offset) {
    for (std::int64_t j = begin; j < end; ++j)
      to[j - offset] = (span.key(d[j]) >> drop) << 32 | static_cast<std::uint64_t>(j);
  };
  enter(0, self, 0);
  enter(self + 1, n, 1);
  const std::int64_t m = n - 1;
  passes == 2 ? radix<2>(s, m, digit) : radix<3>(s, m, digit);
  if (drop > 0) finish_runs(d, s.from.data(), m);

  rank[self] = 0;
  for (std::int64_t i = 0; i < m; ++i) rank[static_cast<std::uint32_t>(s.from[i])] = static_cast<std::int32_t>(i + 1);
  return span.zeros;
}

bool out_of_range(const std::int32_t* x, std::int64_t count, std::int64_t n) {
  std::uint32_t most = 0;
  for (std::int64_t j = 0; j < count; ++j) most = std::max(most, static_cast<std::uint32_t>(x[j]));
  return most >= n;
}

void check_self(In1<std::int64_t> self, std::int64_t n) {
  for (std::size_t i = 0; i < self.shape(0); ++i)
    if (self(i) < 0 || self(i) >= n) throw std::invalid_argument("self must be a column of the block");
}

template <class T>
void rank_rows(In2<T> distances, In1<std::int64_t> self, Out2<std::int32_t> ranks, Out1<std::int64_t> zeros,
               int n_threads) {
  const std::int64_t rows = distances.shape(0), n = distances.shape(1);
  if (static_cast<std::int64_t>(ranks.shape(0)) != rows || static_cast<std::int64_t>(ranks.shape(1)) != n ||
      static_cast<std::int64_t>(self.shape(0)) != rows || static_cast<std::int64_t>(zeros.shape(0)) != rows)
    throw std::invalid_argument("rank_rows: the arrays must agree in their shapes");
  check_self(self, n);
  std::atomic<bool> bad{false};
  {
    nb::gil_scoped_release free;
    parallel_for(rows, std::max<std::int64_t>(1, 100000 / std::max<std::int64_t>(n, 1)), n_threads,
                 [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                   Scratch scratch;
                   for (std::int64_t i = begin; i < end; ++i) {
                     zeros(i) = rank_row(distances.data() + i * n, n, self(i), ranks.data() + i * n, scratch);
                     if (zeros(i) < 0) bad.store(true, std::memory_order_relaxed);
                   }
                 });
  }
  if (bad) throw std::invalid_argument("rank_rows: distances must be non-negative numbers or infinity");
}

// ---- the nearest few, and ranks of given columns -------------------------------------------------------------------

// Columns of the k nearest of a row, by (distance, index), into `to`. Columns come in ascending order, so that one at
// the distance of the k-th is not nearer.
template <class T>
LOWDIM_INLINE inline void nearest_row(const T* d, std::int64_t n, std::int64_t self, std::int64_t k, T* best,
                                      std::int32_t* to) {
  std::int64_t filled = 0;
  auto enter = [&](std::int64_t j) {
    std::int64_t at = filled < k ? filled++ : k - 1;
    for (; at > 0 && best[at - 1] > d[j]; --at) best[at] = best[at - 1], to[at] = to[at - 1];
    best[at] = d[j], to[at] = static_cast<std::int32_t>(j);
  };
  constexpr std::int64_t step = 32;
  std::int64_t j = 0;
  for (; j < n && filled < k; ++j)
    if (j != self) enter(j);
  for (; j < n; j += step) {
    const std::int64_t end = std::min(n, j + step);
    int any = 0;
    for (std::int64_t l = j; l < end; ++l) any |= d[l] < best[k - 1];
    if (!any) continue;
    for (std::int64_t l = j; l < end; ++l)
      if (d[l] < best[k - 1] && l != self) enter(l);
  }
}

template <class T>
LOWDIM_INLINE inline std::int64_t nearer_columns(const T* LOWDIM_RESTRICT d, std::int64_t n, std::int64_t j) {
  using Count = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const T v = d[j];
  Count before = 0, after = 0;
  for (std::int64_t l = 0; l < j; ++l) before += d[l] <= v;
  for (std::int64_t l = j + 1; l < n; ++l) after += d[l] < v;
  return static_cast<std::int64_t>(before) + after;
}

template <class T>
void nearest_columns(In2<T> distances, In1<std::int64_t> self, Out2<std::int32_t> columns, int n_threads) {
  const std::int64_t rows = distances.shape(0), n = distances.shape(1), k = columns.shape(1);
  if (static_cast<std::int64_t>(columns.shape(0)) != rows || static_cast<std::int64_t>(self.shape(0)) != rows ||
      k < 1 || k >= n)
    throw std::invalid_argument("nearest_columns: the arrays must agree in their shapes");
  check_self(self, n);
  nb::gil_scoped_release free;
  parallel_for(rows, 16, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::vector<T> best(static_cast<std::size_t>(k));
    for (std::int64_t i = begin; i < end; ++i)
      dispatch([&]() LOWDIM_INLINE {
        nearest_row(distances.data() + i * n, n, self(i), k, best.data(), columns.data() + i * k);
      });
  });
}

template <class T>
void column_ranks(In2<T> distances, In1<std::int64_t> self, In2<std::int32_t> columns, Out2<std::int32_t> ranks,
                  int n_threads) {
  const std::int64_t rows = distances.shape(0), n = distances.shape(1), k = columns.shape(1);
  if (static_cast<std::int64_t>(columns.shape(0)) != rows || static_cast<std::int64_t>(self.shape(0)) != rows ||
      static_cast<std::int64_t>(ranks.shape(0)) != rows || static_cast<std::int64_t>(ranks.shape(1)) != k)
    throw std::invalid_argument("column_ranks: the arrays must agree in their shapes");
  check_self(self, n);
  if (out_of_range(columns.data(), rows * k, n)) throw std::invalid_argument("column_ranks: columns must be in 0..n-1");
  nb::gil_scoped_release free;
  parallel_for(rows, 16, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* d = distances.data() + i * n;
      const std::int64_t me = self(i);
      for (std::int64_t c = 0; c < k; ++c) {
        const std::int64_t j = columns(i, c);
        std::int64_t nearer = 0;
        dispatch([&]() LOWDIM_INLINE { nearer = nearer_columns(d, n, j); });
        nearer -= me != j && (d[me] < d[j] || (d[me] == d[j] && me < j));
        ranks(i, c) = static_cast<std::int32_t>(nearer + 1);
      }
    }
  });
}

// ---- squared distances by differences ---------------------------------------------------------------------------

// A matrix product is faster in high dimension, but it rounds differently for every pair: copies of a row would not be
// at distance 0, and equal distances would be ordered by noise instead of by index.
constexpr std::int64_t kTileRows = 4, kTileColumns = 32;

// Features by points, kTileColumns points side by side; points that do not exist are zeros.
template <class T>
void pack_panel(const T* y, std::int64_t d, std::int64_t points, T* panel) {
  for (std::int64_t k = 0; k < d * kTileColumns; ++k) panel[k] = 0;
  for (std::int64_t c = 0; c < points; ++c)
    for (std::int64_t k = 0; k < d; ++k) panel[k * kTileColumns + c] = y[c * d + k];
}

template <class T, std::int64_t rows>
LOWDIM_INLINE inline void square_tile(const T* LOWDIM_RESTRICT x, std::int64_t d, const T* LOWDIM_RESTRICT panel,
                                      T* LOWDIM_RESTRICT out, std::int64_t n, std::int64_t points) {
  T sum[rows][kTileColumns] = {};
  for (std::int64_t k = 0; k < d; ++k)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < kTileColumns; ++c) {
        const T gap = x[r * d + k] - panel[k * kTileColumns + c];
        sum[r][c] += gap * gap;
      }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < points; ++c) out[r * n + c] = sum[r][c];
}

template <class T>
void square_rows(In2<T> x, In2<T> y, Out2<T> out, int n_threads) {
  const std::int64_t b = x.shape(0), d = x.shape(1), n = y.shape(0);
  if (static_cast<std::int64_t>(y.shape(1)) != d || static_cast<std::int64_t>(out.shape(0)) != b ||
      static_cast<std::int64_t>(out.shape(1)) != n)
    throw std::invalid_argument("square_rows: the arrays must agree in their shapes");
  nb::gil_scoped_release free;
  parallel_for((n + kTileColumns - 1) / kTileColumns, 16, n_threads,
               [&](std::int64_t first, std::int64_t last, std::int64_t) {
                 std::vector<T> panel(static_cast<std::size_t>(d * kTileColumns));
                 for (std::int64_t c = first * kTileColumns; c < std::min(n, last * kTileColumns); c += kTileColumns) {
                   const std::int64_t points = std::min(kTileColumns, n - c);
                   pack_panel(y.data() + c * d, d, points, panel.data());
                   dispatch([&]() LOWDIM_INLINE {
                     std::int64_t i = 0;
                     for (; i + kTileRows <= b; i += kTileRows)
                       square_tile<T, kTileRows>(x.data() + i * d, d, panel.data(), out.data() + i * n + c, n, points);
                     for (; i < b; ++i)
                       square_tile<T, 1>(x.data() + i * d, d, panel.data(), out.data() + i * n + c, n, points);
                   });
                 }
               });
}

// ---- the tally ------------------------------------------------------------------------------------------------------

constexpr int kTallies = 7;
constexpr std::int64_t kTallyRows = 16;  // rows of one chunk; its sums stay below 16 n, so 32 bits hold them
constexpr std::int64_t kMostPoints = 1 << 27;

// other[k] = the rank in the other space of the point that has rank k in this one.
LOWDIM_INLINE inline void tally_side(const std::int32_t* LOWDIM_RESTRICT other, std::int64_t n,
                                     std::int32_t* LOWDIM_RESTRICT below, std::int32_t* LOWDIM_RESTRICT depth,
                                     std::int32_t* LOWDIM_RESTRICT error) {
  const auto end = static_cast<std::int32_t>(n);
  for (std::int32_t k = 1; k < end; ++k) {
    const std::int32_t gap = other[k] - k;
    below[k] += gap < 0;
    depth[k] += std::max(gap, 0);
    error[k] += std::max(gap, -gap);
  }
}

// One row: high_at[k] = rank in the first space of the point with rank k in the second, low_at the reverse.
// The tallies are in the order of TALLIES in _core/ranks.py. Returns the sum of weight[max of the two ranks].
LOWDIM_INLINE inline double tally_row(const std::int32_t* LOWDIM_RESTRICT high_at,
                                      const std::int32_t* LOWDIM_RESTRICT low_at, const double* LOWDIM_RESTRICT weight,
                                      std::int64_t n, std::int32_t* tally) {
  std::int32_t* LOWDIM_RESTRICT equal = tally;
  const auto end = static_cast<std::int32_t>(n);
  for (std::int32_t k = 1; k < end; ++k) equal[k] += high_at[k] == k;
  tally_side(low_at, n, tally + n, tally + 2 * n, tally + 3 * n);
  tally_side(high_at, n, tally + 4 * n, tally + 5 * n, tally + 6 * n);
  double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int l = 0; l < 8; ++l) {
      const auto k = static_cast<std::int32_t>(i + l);
      lane[l] += weight[i + l] * static_cast<double>((high_at[i + l] <= k) + (low_at[i + l] < k));
    }
  for (int l = 0; i < n; ++i, ++l) {
    const auto k = static_cast<std::int32_t>(i);
    lane[l] += weight[i] * static_cast<double>((high_at[i] <= k) + (low_at[i] < k));
  }
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// Neighbours kept, depth of the intrusions and of the extrusions of one row for a neighbourhood of size K.
void row_terms(const std::int32_t* high_at, const std::int32_t* low_at, std::int64_t K, std::int64_t* out) {
  std::int64_t kept = 0, intrusion = 0, extrusion = 0;
  for (std::int64_t k = 1; k <= K; ++k) {
    kept += high_at[k] <= K;
    intrusion += high_at[k] > K ? high_at[k] - K : 0;
    extrusion += low_at[k] > K ? low_at[k] - K : 0;
  }
  out[0] = kept, out[1] = intrusion, out[2] = extrusion;
}

void tally_ranks(In2<std::int32_t> high, In2<std::int32_t> low, In1<double> weight, In1<std::int64_t> ks,
                 Out2<std::int64_t> tally, Out1<double> row_sum, Out2<std::int64_t> terms, int n_threads) {
  const std::int64_t rows = high.shape(0), n = high.shape(1), n_ks = ks.shape(0);
  if (static_cast<std::int64_t>(low.shape(0)) != rows || static_cast<std::int64_t>(low.shape(1)) != n ||
      static_cast<std::int64_t>(weight.shape(0)) != n || tally.shape(0) != kTallies ||
      static_cast<std::int64_t>(tally.shape(1)) != n || static_cast<std::int64_t>(row_sum.shape(0)) != rows ||
      static_cast<std::int64_t>(terms.shape(0)) != rows || static_cast<std::int64_t>(terms.shape(1)) != 3 * n_ks)
    throw std::invalid_argument("tally_ranks: the arrays must agree in their shapes");
  if (n < 1 || n > kMostPoints) throw std::invalid_argument("tally_ranks: between 1 and 2^27 points");
  for (std::int64_t k = 0; k < n_ks; ++k)
    if (ks(k) < 1 || ks(k) >= n) throw std::invalid_argument("tally_ranks: every K must be in 1..n-1");

  nb::gil_scoped_release free;
  std::mutex hold;
  parallel_for(rows, kTallyRows, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::vector<std::int32_t> sums(static_cast<std::size_t>(kTallies * n), 0);
    std::vector<std::int32_t> at(static_cast<std::size_t>(2 * n), 0);
    std::int32_t *high_at = at.data(), *low_at = at.data() + n;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t *h = high.data() + i * n, *l = low.data() + i * n;
      if (out_of_range(h, n, n) || out_of_range(l, n, n))
        throw std::invalid_argument("tally_ranks: ranks must be in 0..n-1");
      for (std::int64_t j = 0; j < n; ++j) {
        high_at[l[j]] = h[j];
        low_at[h[j]] = l[j];
      }
      double sum = 0;
      dispatch([&]() LOWDIM_INLINE { sum = tally_row(high_at, low_at, weight.data(), n, sums.data()); });
      row_sum(i) = sum;
      for (std::int64_t k = 0; k < n_ks; ++k) row_terms(high_at, low_at, ks(k), terms.data() + (i * n_ks + k) * 3);
    }
    std::lock_guard<std::mutex> guard(hold);
    for (std::int64_t i = 0; i < kTallies * n; ++i) tally.data()[i] += sums[static_cast<std::size_t>(i)];
  });
}

}  // namespace

void bind_ranks(nb::module_& m) {
  using namespace nb::literals;
  const char* about = "Ranks of every row by (distance, index); the row itself has rank 0.";
  m.def("rank_rows", &rank_rows<float>, "distances"_a.noconvert(), "self"_a.noconvert(), "ranks"_a.noconvert(),
        "zeros"_a.noconvert(), "n_threads"_a, about);
  m.def("rank_rows", &rank_rows<double>, "distances"_a.noconvert(), "self"_a.noconvert(), "ranks"_a.noconvert(),
        "zeros"_a.noconvert(), "n_threads"_a, about);
  const char* few = "Columns of the k nearest of every row by (distance, index), the row itself left out.";
  m.def("nearest_columns", &nearest_columns<float>, "distances"_a.noconvert(), "self"_a.noconvert(),
        "columns"_a.noconvert(), "n_threads"_a, few);
  m.def("nearest_columns", &nearest_columns<double>, "distances"_a.noconvert(), "self"_a.noconvert(),
        "columns"_a.noconvert(), "n_threads"_a, few);
  const char* given = "Ranks by (distance, index) of the given columns of every row: counted, not sorted.";
  m.def("column_ranks", &column_ranks<float>, "distances"_a.noconvert(), "self"_a.noconvert(), "columns"_a.noconvert(),
        "ranks"_a.noconvert(), "n_threads"_a, given);
  m.def("column_ranks", &column_ranks<double>, "distances"_a.noconvert(), "self"_a.noconvert(), "columns"_a.noconvert(),
        "ranks"_a.noconvert(), "n_threads"_a, given);
  const char* squares = "Squared distances of the rows x to the rows y, by differences.";
  m.def("square_rows", &square_rows<float>, "x"_a.noconvert(), "y"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        squares);
  m.def("square_rows", &square_rows<double>, "x"_a.noconvert(), "y"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        squares);
  m.def("tally_ranks", &tally_ranks, "high"_a.noconvert(), "low"_a.noconvert(), "weight"_a.noconvert(),
        "ks"_a.noconvert(), "tally"_a.noconvert(), "row_sum"_a.noconvert(), "terms"_a.noconvert(), "n_threads"_a,
        "Add up what the ranks of the same rows in two spaces have in common.");
}

}  // namespace lowdim
