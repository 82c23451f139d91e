// Separate segments of a k-segments curve: the nearest one of every row, and where a new one would gain most.
#include <limits>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"

namespace lowdim {
namespace {

constexpr std::int64_t kRows = 256;   // of a chunk
constexpr std::int64_t kColumns = 8;  // between two looks at whether a distance is too large already

double squared_distance(const double* x, const double* a, const double* b, std::int64_t d) {
  double along = 0, length = 0;
  for (std::int64_t k = 0; k < d; ++k) {
    const double u = b[k] - a[k];
    along += (x[k] - a[k]) * u;
    length += u * u;
  }
  const double t = length > 0 ? std::min(std::max(along / length, 0.0), 1.0) : 0.0;
  double sum = 0;
  for (std::int64_t k = 0; k < d; ++k) {
    const double gap = x[k] - a[k] - t * (b[k] - a[k]);
    sum += gap * gap;
  }
  return sum;
}

// Rows whose own segment stands still can only be won by one that moved. `home` and `squared` are of the call before
// (home -1: of none), and are brought up to date; of segments equally near it is the first.
void nearest_segments(In2<double> X, In2<double> ends, In1<std::uint8_t> moved, Out1<std::int64_t> home,
                      Out1<double> squared, int n_threads) {
  const std::int64_t n = n_rows(X), d = n_columns(X), m = n_rows(moved);
  if (!has_shape(ends, 2 * m, d))
    throw std::invalid_argument("nearest_segments: ends must have two rows for each segment, and the columns of X");
  if (n_rows(home) != n || n_rows(squared) != n)
    throw std::invalid_argument("nearest_segments: the results must have one entry for each row of X");
  for (std::int64_t i = 0; i < n; ++i)
    if (home.data()[i] >= m) throw std::invalid_argument("nearest_segments: home must be one of the segments, or -1");
  WithoutGil free;
  parallel_for(n, kRows, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double* x = X.data() + i * d;
      const bool all = home.data()[i] < 0 || moved.data()[home.data()[i]];
      std::int64_t best = all ? m : home.data()[i];
      double least = all ? std::numeric_limits<double>::infinity() : squared.data()[i];
      for (std::int64_t j = 0; j < m; ++j) {
        if (!all && !moved.data()[j]) continue;
        const double* a = ends.data() + 2 * j * d;
        const double sum = squared_distance(x, a, a + d, d);
        if (sum < least || (sum == least && j < best)) {
          least = sum;
          best = j;
        }
      }
      home.data()[i] = best;
      squared.data()[i] = least;
    }
  });
}

// For each candidate row: how much the rows nearer to it than to the curve would gain, and how many they are.
void segment_gains(In2<double> X, In1<double> squared, In1<std::int64_t> candidates, Out1<double> gains,
                   Out1<std::int64_t> counts, int n_threads) {
  const std::int64_t n = n_rows(X), d = n_columns(X), m = n_rows(candidates);
  if (n_rows(squared) != n || n_rows(gains) != m || n_rows(counts) != m)
    throw std::invalid_argument("segment_gains: one squared distance for each row, one result for each candidate");
  for (std::int64_t c = 0; c < m; ++c)
    if (candidates.data()[c] < 0 || candidates.data()[c] >= n)
      throw std::invalid_argument("segment_gains: candidates must be rows of X");
  WithoutGil free;
  parallel_for(m, 1, n_threads, [&](std::int64_t c, std::int64_t, std::int64_t) {
    const double* q = X.data() + candidates.data()[c] * d;
    double gain = 0;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double *x = X.data() + i * d, most = squared.data()[i];
      double sum = 0;
      for (std::int64_t from = 0; from < d && sum < most; from += kColumns)
        for (std::int64_t k = from; k < std::min(d, from + kColumns); ++k) sum += (x[k] - q[k]) * (x[k] - q[k]);
      if (sum < most) {
        gain += most - sum;
        ++count;
      }
    }
    gains.data()[c] = gain;
    counts.data()[c] = count;
  });
}

}  // namespace

void bind_segments(nb::module_& m) {
  using namespace nb::literals;
  m.def("nearest_segments", &nearest_segments, "X"_a.noconvert(), "ends"_a.noconvert(), "moved"_a.noconvert(),
        "home"_a.noconvert(), "squared"_a.noconvert(), "n_threads"_a,
        "The nearest segment of each row and its squared distance, where some of the segments moved.");
  m.def("segment_gains", &segment_gains, "X"_a.noconvert(), "squared"_a.noconvert(), "candidates"_a.noconvert(),
        "gains"_a.noconvert(), "counts"_a.noconvert(), "n_threads"_a,
        "Sum of max(0, squared - distance to a candidate row) over the rows, and how many are positive.");
}

}  // namespace lowdim
