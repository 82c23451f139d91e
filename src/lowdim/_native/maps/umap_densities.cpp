// Densities of a UMAP map: the radius of each point's neighbourhood, and how it changes with the places of the points.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "maps/graph_edges.hpp"
#include "maps/umap_kernel.hpp"

namespace lowdim {
namespace {

constexpr std::int64_t kChunk = 512;   // rows of a task
constexpr double kLeastSquare = 1e-8;  // of distances in the map whose logarithm is taken

// q = 1 / (1 + a s^b) and a s^b of two points.
struct Near {
  double s, q, power;
  Near(const UmapKernel& kernel, const float* y, const float* z, int dims) : s(0) {
    for (int c = 0; c < dims; ++c) s += static_cast<double>(y[c] - z[c]) * static_cast<double>(y[c] - z[c]);
    float held = static_cast<float>(s), found;
    OneFactor::hold(held, 1e-12f, 1e12f);
    OneFactor::power(held, kernel.b, found);
    power = static_cast<double>(kernel.a) * static_cast<double>(found);
    q = 1 / (1 + power);
  }
};

// The radius of a point in the map: log of sum q s / sum q over its edges, s squared distances; and that sum of q.
void map_radii(In1<std::int64_t> starts, In1<std::int32_t> ends, double a, double b, int n_threads, In2<float> y,
               Out1<double> radii, Out1<double> sums) {
  const std::int64_t n = n_rows(y);
  const int dims = static_cast<int>(n_columns(y));
  require(n_rows(radii) == n && n_rows(sums) == n);
  require_edges(starts, ends, n);
  const UmapKernel kernel(a, b, 1);
  parallel_for(n, kChunk, n_threads, [&](std::int64_t low, std::int64_t high, std::int64_t) {
    for (std::int64_t i = low; i < high; ++i) {
      double total = 0, spread = 0;
      for (std::int64_t e = starts(i); e < starts(i + 1); ++e) {
        const Near near(kernel, y.data() + i * dims, y.data() + static_cast<std::int64_t>(ends(e)) * dims, dims);
        total += near.q, spread += near.q * near.s;
      }
      sums(i) = total;
      radii(i) = std::log(kLeastSquare + (total > 0 ? spread / total : 0.0));
    }
  });
}

// Where sum_i slopes_i radii_i grows: its gradient in the places of the points. The radius of i changes with the
// squared distance s of an edge by q / sum q ((1 - b (1 - q)) / exp(radius) + b a s^(b-1) q).
void radii_gradient(In1<std::int64_t> starts, In1<std::int32_t> ends, double a, double b, In1<double> radii,
                    In1<double> sums, In1<double> slopes, int n_threads, In2<float> y, Out2<double> moves) {
  const std::int64_t n = n_rows(y);
  const int dims = static_cast<int>(n_columns(y));
  require(n_rows(radii) == n && n_rows(sums) == n && n_rows(slopes) == n && same_shape(moves, y));
  require_edges(starts, ends, n);
  const UmapKernel kernel(a, b, 1);
  std::vector<double> shares(static_cast<std::size_t>(n)), over(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    shares[i] = slopes(i) / std::max(sums(i), 1e-300), over[i] = shares[i] * std::exp(-radii(i));
  parallel_for(n, kChunk, n_threads, [&](std::int64_t low, std::int64_t high, std::int64_t) {
    for (std::int64_t i = low; i < high; ++i) {
      double* move = moves.data() + i * dims;
      const float* here = y.data() + i * dims;
      std::fill(move, move + dims, 0.0);
      for (std::int64_t e = starts(i); e < starts(i + 1); ++e) {
        const std::int64_t j = ends(e);
        const float* other = y.data() + j * dims;
        const Near near(kernel, here, other, dims);
        const double by = near.q * ((1 - b * (1 - near.q)) * (over[i] + over[j]) +
                                    b * near.power / std::max(near.s, kLeastSquare) * near.q * (shares[i] + shares[j]));
        for (int c = 0; c < dims; ++c) move[c] += 2 * by * static_cast<double>(here[c] - other[c]);
      }
    }
  });
}

}  // namespace

void bind_umap_densities(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("map_radii", &map_radii, "starts"_a.noconvert(), "ends"_a.noconvert(), "a"_a, "b"_a, "n_threads"_a,
        "y"_a.noconvert(), "radii"_a.noconvert(), "sums"_a.noconvert(), release(),
        "The logarithmic radius of each point's neighbourhood in the map, and the sum of its kernel values.");
  m.def("radii_gradient", &radii_gradient, "starts"_a.noconvert(), "ends"_a.noconvert(), "a"_a, "b"_a,
        "radii"_a.noconvert(), "sums"_a.noconvert(), "slopes"_a.noconvert(), "n_threads"_a, "y"_a.noconvert(),
        "moves"_a.noconvert(), release(), "The gradient of sum(slopes * radii) in the places of the points.");
}

}  // namespace lowdim
