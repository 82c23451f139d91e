// t-SNE's affinities: weights of each row's neighbours, of given perplexity.
#include <algorithm>
#include <limits>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/exp_log.hpp"
#include "common/lane_sums.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {
namespace {

struct Moments {
  double sum, mean, variance;  // of the weights; of d under them
};

// Weights exp(-beta d) of a row of squared distances less their smallest, and their moments.
LOWDIM_INLINE inline Moments weigh(const double* d, std::int64_t count, double beta, double* weights) {
  for (std::int64_t l = 0; l < count; ++l) weights[l] = exp_negative(-beta * d[l]);
  constexpr int strands = 8;
  double s[strands] = {}, f[strands] = {}, g[strands] = {};
  std::int64_t l = 0;
  for (; l + strands <= count; l += strands)
    for (int e = 0; e < strands; ++e) {
      const double weighted = weights[l + e] * d[l + e];
      s[e] += weights[l + e], f[e] += weighted, g[e] += weighted * d[l + e];
    }
  for (; l < count; ++l) s[0] += weights[l], f[0] += weights[l] * d[l], g[0] += weights[l] * d[l] * d[l];
  const double sum = sum_by_halves<strands>(s), mean = sum_by_halves<strands>(f) / sum;
  return {sum, mean, sum_by_halves<strands>(g) / sum - mean * mean};
}

// The beta at which the entropy of the weights, log sum + beta mean, is log(perplexity); the weights, summing to 1, are
// left in `weights`. The entropy falls with beta, by beta times the variance: Newton's steps, inside a bracket.
LOWDIM_INLINE inline double calibrate(const double* d, std::int64_t count, double perplexity, double* weights) {
  const double target = log_positive(perplexity);
  double mean = 0;
  for (std::int64_t l = 0; l < count; ++l) mean += d[l] / static_cast<double>(count);
  double low = 0, high = std::numeric_limits<double>::infinity(), beta = mean > 0 ? 1 / mean : 1;
  Moments found{1, 0, 0};
  for (int step = 0; step < 200; ++step) {
    found = weigh(d, count, beta, weights);
    const double gap = log_positive(found.sum) + beta * found.mean - target;
    if (gap < 1e-9 && gap > -1e-9) break;
    (gap > 0 ? low : high) = beta;
    double next = beta + gap / (beta * found.variance);
    if (!(next > low && next < high))
      next = high == std::numeric_limits<double>::infinity() ? beta * 2 : (low + high) / 2;
    if (next > 4 * beta) next = 4 * beta;
    if (next == beta || next > 1e300) break;
    beta = next;
  }
  for (std::int64_t l = 0; l < count; ++l) weights[l] /= found.sum;
  return beta;
}

// Weights of each row's neighbours whose perplexity is `perplexity`, or as near as their number and ties allow.
void calibrate_rows(In1<std::int64_t> starts, In1<double> squares, double perplexity, int n_threads,
                    Out1<double> weights, Out1<double> betas) {
  const std::int64_t n = n_rows(starts) - 1;
  require(n >= 0 && n_rows(weights) == n_rows(squares) && n_rows(betas) == n);
  for (std::int64_t i = 0; i < n; ++i) require(starts.data()[i] <= starts.data()[i + 1]);
  require(starts.data()[0] >= 0 && starts.data()[n] <= n_rows(squares));
  parallel_for(n, 64, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    std::vector<double> shifted;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t begin = starts.data()[i], count = starts.data()[i + 1] - begin;
      if (count == 0) continue;
      const double* d = squares.data() + begin;
      const double least = *std::min_element(d, d + count);
      shifted.resize(static_cast<std::size_t>(count));
      double* out = weights.data() + begin;
      dispatch([&]() LOWDIM_INLINE {
        for (std::int64_t l = 0; l < count; ++l) shifted[l] = d[l] - least;
        betas.data()[i] = calibrate(shifted.data(), count, perplexity, out);
      });
    }
  });
}

}  // namespace

void bind_tsne_affinities(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("calibrate_rows", &calibrate_rows, "starts"_a.noconvert(), "squares"_a.noconvert(), "perplexity"_a,
        "n_threads"_a, "weights"_a.noconvert(), "betas"_a.noconvert(), release(),
        "Weights exp(-beta square) of each row, summing to 1, whose perplexity is as asked; and the betas.");
}

}  // namespace lowdim
