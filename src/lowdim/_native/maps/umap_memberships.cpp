// UMAP's graph: how strongly neighbours belong to a row.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/exp_log.hpp"
#include "common/parallel.hpp"

namespace lowdim {
namespace {

// The distance up to which neighbours belong fully: that of the `connectivity`-th neighbour that is not at distance 0,
// and between two of them where that is no whole number.
double reach_of(const double* d, std::int64_t count, double connectivity, std::vector<double>& apart) {
  apart.clear();
  for (std::int64_t e = 0; e < count; ++e)
    if (d[e] > 0) apart.push_back(d[e]);
  if (apart.empty()) return 0;
  std::sort(apart.begin(), apart.end());
  if (connectivity >= static_cast<double>(apart.size())) return apart.back();
  const std::size_t whole = static_cast<std::size_t>(connectivity);
  const double rest = connectivity - static_cast<double>(whole);
  return whole > 0 ? apart[whole - 1] + rest * (apart[whole] - apart[whole - 1]) : rest * apart[0];
}

double membership(double gap, double width) { return gap <= 0 ? 1.0 : width > 0 ? exp_negative(-gap / width) : 0.0; }

// The width at which the memberships of a row sum to `target`, by bisection.
double width_of(const double* d, std::int64_t count, double reach, double target) {
  double largest = 0;
  for (std::int64_t e = 0; e < count; ++e) largest = std::max(largest, d[e] - reach);
  if (largest <= 0) return 0;
  constexpr double unknown = std::numeric_limits<double>::infinity();
  double low = 0, high = unknown, width = largest;
  for (int step = 0; step < 100; ++step) {
    double sum = 0;
    for (std::int64_t e = 0; e < count; ++e) sum += membership(d[e] - reach, width);
    if (std::abs(sum - target) < 1e-9) break;
    (sum > target ? high : low) = width;
    width = high == unknown ? 2 * width : 0.5 * (low + high);
    if (width > 1e30 * largest || width < 1e-30 * largest) break;
  }
  return width;
}

// Rows of distances become memberships exp(-(d - reach) / width). A width is at least `least` of the mean distance: of
// the row, or of all rows where the reach is 0.
void fuzzy_rows(In1<std::int64_t> starts, In1<double> distances, double connectivity, double least, int n_threads,
                Out1<double> weights, Out1<double> reaches, Out1<double> widths) {
  const std::int64_t n = n_rows(reaches);
  require(n_rows(starts) == n + 1 && n_rows(weights) == n_rows(distances) && n_rows(widths) == n &&
          are_borders(starts, n_rows(distances)));
  double sum = 0;
  for (std::int64_t e = 0; e < starts(n); ++e) sum += distances(e);
  const double overall = starts(n) > 0 ? sum / static_cast<double>(starts(n)) : 0.0;
  parallel_for(n, 512, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    std::vector<double> apart;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t count = starts(i + 1) - starts(i);
      const double* d = distances.data() + starts(i);
      double mean = 0;
      for (std::int64_t e = 0; e < count; ++e) mean += d[e] / static_cast<double>(count);
      const double reach = reach_of(d, count, connectivity, apart);
      const double width = std::max(width_of(d, count, reach, std::log2(static_cast<double>(count + 1))),
                                    least * (reach > 0 ? mean : overall));
      for (std::int64_t e = 0; e < count; ++e) weights(starts(i) + e) = membership(d[e] - reach, width);
      reaches(i) = reach, widths(i) = width;
    }
  });
}

}  // namespace

void bind_umap_memberships(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("fuzzy_rows", &fuzzy_rows, "starts"_a.noconvert(), "distances"_a.noconvert(), "connectivity"_a, "least"_a,
        "n_threads"_a, "weights"_a.noconvert(), "reaches"_a.noconvert(), "widths"_a.noconvert(), release(),
        "Turn each row's distances to its neighbours into memberships between 0 and 1; their reach and width.");
}

}  // namespace lowdim
