// Ranks of distances, row by row.
//
// rank_rows orders every row of a block of distances by (distance, index) with a radix sort: stable, so that equal
// distances go by index. Where only the nearest few matter, nearest_columns and column_ranks do less.
#include <algorithm>
#include <atomic>
#include <type_traits>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/float_bits.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

template <class T>
constexpr Bits<T> infinity = static_cast<Bits<T>>(sizeof(T) == 4 ? 0x7f800000ull : 0x7ff0000000000000ull);

// Distances order as their bits do. Adding zero turns -0 into 0.
template <class T>
Bits<T> distance_bits(T x) {
  return bits_of(x + T(0));
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
  using Key = Bits<T>;
  Key low = infinity<T>, high = 0;
  std::int64_t zeros = 0;
  bool bad = false;

  void widen(const T* d, std::int64_t begin, std::int64_t end) {
    Key lo = low, hi = high, most = 0;
    std::int64_t zero = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      const Key b = distance_bits(d[j]);
      most = std::max(most, b);
      zero += b == 0;
      lo = std::min(lo, b == 0 ? infinity<T> : b);
      hi = std::max(hi, b >= infinity<T> ? Key(0) : b);
    }
    low = lo, high = hi, zeros += zero, bad = bad || most > infinity<T>;
  }
  std::uint64_t width() const { return high >= low ? std::uint64_t(high - low) : 0; }
  // 0 for zero, 1.. for positive distances, the last one for infinity: no gap between them.
  std::uint64_t key(T x) const {
    const Key b = distance_bits(x);
    const std::uint64_t inside = std::uint64_t(Key(b - low)) + 1;
    return b == 0 ? 0 : b == infinity<T> ? width() + 2 : inside;
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

void check_self(In1<std::int64_t> self, std::int64_t n) {
  if (n > most_numbered) throw std::invalid_argument("ranks are 32 bits: a row can have at most 2^31 - 1 distances");
  for (std::int64_t i = 0; i < n_rows(self); ++i)
    if (self(i) < 0 || self(i) >= n) throw std::invalid_argument("self must be a column of the block");
}

template <class T>
void rank_rows(In2<T> distances, In1<std::int64_t> self, Out2<std::int32_t> ranks, Out1<std::int64_t> zeros,
               int n_threads) {
  const std::int64_t rows = n_rows(distances), n = n_columns(distances);
  if (!same_shape(ranks, distances) || n_rows(self) != rows || n_rows(zeros) != rows)
    throw std::invalid_argument("rank_rows: the arrays must agree in their shapes");
  check_self(self, n);
  std::atomic<bool> bad{false};
  {
    WithoutGil free;
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
  const std::int64_t rows = n_rows(distances), n = n_columns(distances), k = n_columns(columns);
  if (n_rows(columns) != rows || n_rows(self) != rows || k < 1 || k >= n)
    throw std::invalid_argument("nearest_columns: the arrays must agree in their shapes");
  check_self(self, n);
  WithoutGil free;
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
  const std::int64_t rows = n_rows(distances), n = n_columns(distances), k = n_columns(columns);
  if (n_rows(columns) != rows || n_rows(self) != rows || !same_shape(ranks, columns))
    throw std::invalid_argument("column_ranks: the arrays must agree in their shapes");
  check_self(self, n);
  if (!all_below(columns, n)) throw std::invalid_argument("column_ranks: columns must be in 0..n-1");
  WithoutGil free;
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

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("rank_rows", &rank_rows<T>, "distances"_a.noconvert(), "self"_a.noconvert(), "ranks"_a.noconvert(),
        "zeros"_a.noconvert(), "n_threads"_a, "Ranks of every row by (distance, index); the row itself has rank 0.");
  m.def("nearest_columns", &nearest_columns<T>, "distances"_a.noconvert(), "self"_a.noconvert(),
        "columns"_a.noconvert(), "n_threads"_a,
        "Columns of the k nearest of every row by (distance, index), the row itself left out.");
  m.def("column_ranks", &column_ranks<T>, "distances"_a.noconvert(), "self"_a.noconvert(), "columns"_a.noconvert(),
        "ranks"_a.noconvert(), "n_threads"_a,
        "Ranks by (distance, index) of the given columns of every row: counted, not sorted.");
}

}  // namespace

void bind_ranks(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
