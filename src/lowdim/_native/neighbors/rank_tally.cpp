// What two tables of ranks of the same rows have in common.
//
// Integers only are added up, so the result is the same for any number of threads and any order of the blocks.
#include <algorithm>
#include <mutex>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/lane_sums.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

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
// The tallies are in the order of TALLIES in ranks.py. Returns the sum of weight[max of the two ranks].
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
  return sum_by_halves<8>(lane);
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
  const std::int64_t rows = n_rows(high), n = n_columns(high), n_ks = n_rows(ks);
  if (!same_shape(low, high) || n_rows(weight) != n || !has_shape(tally, kTallies, n) || n_rows(row_sum) != rows ||
      !has_shape(terms, rows, 3 * n_ks))
    throw std::invalid_argument("tally_ranks: the arrays must agree in their shapes");
  if (n < 1 || n > kMostPoints) throw std::invalid_argument("tally_ranks: between 1 and 2^27 points");
  for (std::int64_t k = 0; k < n_ks; ++k)
    if (ks(k) < 1 || ks(k) >= n) throw std::invalid_argument("tally_ranks: every K must be in 1..n-1");

  WithoutGil free;
  std::mutex hold;
  parallel_for(rows, kTallyRows, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::vector<std::int32_t> sums(static_cast<std::size_t>(kTallies * n), 0);
    std::vector<std::int32_t> at(static_cast<std::size_t>(2 * n), 0);
    std::int32_t *high_at = at.data(), *low_at = at.data() + n;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t *h = high.data() + i * n, *l = low.data() + i * n;
      if (!all_below(h, n, n) || !all_below(l, n, n))
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

void bind_rank_tally(nb::module_& m) {
  using namespace nb::literals;
  m.def("tally_ranks", &tally_ranks, "high"_a.noconvert(), "low"_a.noconvert(), "weight"_a.noconvert(),
        "ks"_a.noconvert(), "tally"_a.noconvert(), "row_sum"_a.noconvert(), "terms"_a.noconvert(), "n_threads"_a,
        "Add up what the ranks of the same rows in two spaces have in common.");
}

}  // namespace lowdim
