// t-SNE's descent: the forces between the points of a map, and the steps they make.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/exp_log.hpp"
#include "maps/graph_edges.hpp"
#include "maps/repulsion_field.hpp"

namespace lowdim {
namespace {

// ---- attraction ----------------------------------------------------------------------------------------------------

template <class T>
struct Edges {
  const std::int64_t* starts;
  const std::int32_t* ends;
  const T* weights;
};

// d[c] = own[c] - coordinate c of the rows `ends`, one in each lane.
template <class T, int D>
LOWDIM_INLINE inline void differences(const std::int32_t* ends, const T* y, const T* own, Pack<T>* d) {
  for (int c = 0; c < D; ++c) {
    T other[lanes_of<T>];
    for (std::int64_t l = 0; l < lanes_of<T>; ++l) other[l] = y[static_cast<std::int64_t>(ends[l]) * D + c];
    load_pack<T>(d[c], other);
    d[c] = own[c] - d[c];
  }
}

#ifdef LOWDIM_SHUFFLES
// The two floats of a row travel as one double: half the loads, and none through the stack.
template <>
LOWDIM_INLINE inline void differences<float, 2>(const std::int32_t* ends, const float* y, const float* own,
                                                Pack<float>* d) {
  const auto pair = [&](std::int64_t l) LOWDIM_INLINE {
    double both;
    std::memcpy(&both, y + static_cast<std::int64_t>(ends[l]) * 2, sizeof both);
    return both;
  };
  const Pack<double> low = {pair(0), pair(1), pair(2), pair(3), pair(4), pair(5), pair(6), pair(7)};
  const Pack<double> high = {pair(8), pair(9), pair(10), pair(11), pair(12), pair(13), pair(14), pair(15)};
  Pack<float> a, b;
  std::memcpy(&a, &low, sizeof a), std::memcpy(&b, &high, sizeof b);
  d[0] = own[0] - __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  d[1] = own[1] - __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
#endif

template <class T, int D>
LOWDIM_INLINE inline void pull_lanes(const std::int32_t* ends, const T* weights, const T* y, const T* own, T over_dof,
                                     Pack<T>* force) {
  Pack<T> d[D], p, s = {};
  load_pack<T>(p, weights);
  differences<T, D>(ends, y, own, d);
  for (int c = 0; c < D; ++c) s += d[c] * d[c];
  p = p / (s * over_dof + T{1});
  for (int c = 0; c < D; ++c) force[c] += p * d[c];
}

// The pull of its edges on row i: the sum of p q (y_i - y_j).
template <class T, int D>
LOWDIM_INLINE inline void pull(const Edges<T>& edges, std::int64_t i, const T* y, T over_dof, T* out) {
  constexpr std::int64_t lanes = lanes_of<T>;
  Pack<T> force[D] = {};
  std::int64_t e = edges.starts[i];
  const std::int64_t end = edges.starts[i + 1];
  for (; e + lanes <= end; e += lanes)
    pull_lanes<T, D>(edges.ends + e, edges.weights + e, y, y + i * D, over_dof, force);
  if (e < end) {
    std::int32_t ends[lanes];
    T weights[lanes] = {};
    std::fill(ends, ends + lanes, static_cast<std::int32_t>(i));
    std::copy(edges.ends + e, edges.ends + end, ends);
    std::copy(edges.weights + e, edges.weights + end, weights);
    pull_lanes<T, D>(ends, weights, y, y + i * D, over_dof, force);
  }
  for (int c = 0; c < D; ++c) out[c] = static_cast<T>(sum_pack<T>(force[c]));
}

template <class T>
void pull_any(const Edges<T>& edges, std::int64_t i, const T* y, std::int64_t dims, T over_dof, T* out) {
  std::fill(out, out + dims, T{0});
  for (std::int64_t e = edges.starts[i]; e < edges.starts[i + 1]; ++e) {
    const T* other = y + static_cast<std::int64_t>(edges.ends[e]) * dims;
    T s{0};
    for (std::int64_t c = 0; c < dims; ++c) s += (y[i * dims + c] - other[c]) * (y[i * dims + c] - other[c]);
    const T weight = edges.weights[e] / (T{1} + s * over_dof);
    for (std::int64_t c = 0; c < dims; ++c) out[c] += weight * (y[i * dims + c] - other[c]);
  }
}

template <class T>
void pull_rows(const Edges<T>& edges, std::int64_t first, std::int64_t last, const T* y, std::int64_t dims, T over_dof,
               T* out) {
  dispatch([&]() LOWDIM_INLINE {
    for (std::int64_t i = first; i < last; ++i) {
      if (dims == 1)
        pull<T, 1>(edges, i, y, over_dof, out + i);
      else if (dims == 2)
        pull<T, 2>(edges, i, y, over_dof, out + 2 * i);
      else if (dims == 3)
        pull<T, 3>(edges, i, y, over_dof, out + 3 * i);
      else
        pull_any(edges, i, y, dims, over_dof, out + dims * i);
    }
  });
}

// ---- steps ---------------------------------------------------------------------------------------------------------

struct Rates {
  double exaggeration, rate, momentum, most_gain;
};

struct Norms {
  double gradient = 0, pull = 0;  // sums of squares
};

// New velocities of rows [first, last): a gain for each coordinate that grows while the gradient keeps its direction
// (Jacobs, 1988), and momentum.
template <class T>
LOWDIM_INLINE inline void accelerate(const T* pulled, const T* pushed, T over_z, const Rates& rates, std::int64_t count,
                                     T* velocity, T* gains, Norms& norms) {
  constexpr std::int64_t strands = 16;
  const T exaggeration = static_cast<T>(rates.exaggeration), rate = static_cast<T>(rates.rate);
  const T momentum = static_cast<T>(rates.momentum), most = static_cast<T>(rates.most_gain);
  double gradients[strands] = {}, pulls[strands] = {};
  const auto one = [&](std::int64_t k, std::int64_t strand) LOWDIM_INLINE {
    const T attraction = exaggeration * pulled[k], gradient = attraction - pushed[k] * over_z;
    const T grown = gains[k] + T(0.2), shrunk = gains[k] * T(0.8);
    const T gain = gradient * velocity[k] > T{0} ? shrunk : grown;  // the step has gone too far
    gains[k] = gain < T(0.01) ? T(0.01) : gain > most ? most : gain;
    velocity[k] = momentum * velocity[k] - rate * gains[k] * gradient;
    gradients[strand] += static_cast<double>(gradient) * static_cast<double>(gradient);
    pulls[strand] += static_cast<double>(attraction) * static_cast<double>(attraction);
  };
  std::int64_t k = 0;
  for (; k + strands <= count; k += strands)
    for (std::int64_t strand = 0; strand < strands; ++strand) one(k + strand, strand);
  for (; k < count; ++k) one(k, 0);
  for (std::int64_t strand = 0; strand < strands; ++strand)
    norms.gradient += gradients[strand], norms.pull += pulls[strand];
}

// Moves rows by their velocities; no step is longer than `longest`.
template <class T>
LOWDIM_INLINE inline void move(std::int64_t count, std::int64_t dims, T* velocity, T* y) {
  constexpr T longest{5};
  for (std::int64_t i = 0; i < count; ++i) {
    T length{0};
    for (std::int64_t c = 0; c < dims; ++c) length += velocity[i * dims + c] * velocity[i * dims + c];
    if (length > longest * longest)
      for (std::int64_t c = 0; c < dims; ++c) velocity[i * dims + c] *= longest / std::sqrt(length);
  }
  for (std::int64_t k = 0; k < count * dims; ++k) y[k] += velocity[k];
}

constexpr std::int64_t step_chunk = 4096, pull_chunk = 256;

template <class T>
Norms step_rows(const T* pulled, const T* pushed, double z, const Rates& rates, std::int64_t n, std::int64_t dims,
                int n_threads, T* y, T* velocity, T* gains) {
  std::vector<Norms> parts(static_cast<std::size_t>((n + step_chunk - 1) / step_chunk));
  parallel_for(n, step_chunk, n > 4 * step_chunk ? n_threads : 1,
               [&](std::int64_t first, std::int64_t last, std::int64_t chunk) {
                 const std::int64_t at = first * dims, count = last - first;
                 dispatch([&]() LOWDIM_INLINE {
                   accelerate(pulled + at, pushed + at, static_cast<T>(1 / z), rates, count * dims, velocity + at,
                              gains + at, parts[chunk]);
                   move(count, dims, velocity + at, y + at);
                 });
               });
  Norms norms;
  for (const Norms& part : parts) norms.gradient += part.gradient, norms.pull += part.pull;
  return norms;
}

template <class T>
Edges<T> open_edges(const In1<std::int64_t>& starts, const In1<std::int32_t>& ends, const In1<T>& weights,
                    std::int64_t n) {
  require_edges(starts, ends, n);
  require(starts.data()[0] == 0 && starts.data()[n] == n_rows(ends) && n_rows(weights) == n_rows(ends));
  return {starts.data(), ends.data(), weights.data()};
}

// Both forces on every point. Returns Z, the kernel summed over all pairs of different points.
template <class T>
double forces(const Edges<T>& edges, const Field<T>& field, std::int64_t n, std::int64_t dims, double dof,
              int n_threads, const T* y, T* pulled, T* pushed) {
  const std::int64_t pulls = (n + pull_chunk - 1) / pull_chunk, pushes = field.chunks();
  std::vector<double> sums(static_cast<std::size_t>(pushes));
  // Few tasks for a thread, so that waiting at the end is short, but not one by one.
  const std::int64_t chunk = std::max<std::int64_t>(1, (pulls + pushes) / 256);
  const int threads = (pulls + pushes) * dims > 16 ? n_threads : 1;
  parallel_for(pulls + pushes, chunk, threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (std::int64_t task = first; task < last; ++task) {
      if (task < pushes) {
        sums[task] = field.chunk(task, pushed);
      } else {
        const std::int64_t begin = (task - pushes) * pull_chunk;
        pull_rows(edges, begin, std::min(n, begin + pull_chunk), y, dims, static_cast<T>(1 / dof), pulled);
      }
    }
  });
  double z = 0;
  for (const double sum : sums) z += sum;
  // Each point counts itself once; points so far apart that nothing else is left must not divide by rounding.
  const double own = static_cast<double>(n);
  return std::max(z - own, 8 * own * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

// `n_iter` steps of the map `y` under the edges; y, velocity and gains are carried on. Returns Z before the last step,
// and the norms of the gradient and of the attraction there.
template <class T>
std::tuple<double, double, double> descend_map(In1<std::int64_t> starts, In1<std::int32_t> ends, In1<T> weights,
                                               double exaggeration, double rate, double momentum, double most_gain,
                                               double theta, double dof, int n_iter, int n_threads, Out2<T> y,
                                               Out2<T> velocity, Out2<T> gains) {
  const std::int64_t n = n_rows(y), dims = n_columns(y);
  require(same_shape(velocity, y) && same_shape(gains, y) && n > 1 && dims > 0);
  const Edges<T> edges = open_edges(starts, ends, weights, n);
  const auto field = make_field<T>(n, dims, theta, dof);
  std::vector<T> pulled(static_cast<std::size_t>(n * dims)), pushed(pulled.size());
  SignalPoll poll;
  double z = 1;
  Norms norms;
  for (int step = 0; step < n_iter; ++step) {
    field->follow(y.data(), step == 0, n_threads);
    z = forces(edges, *field, n, dims, dof, n_threads, y.data(), pulled.data(), pushed.data());
    norms = step_rows(pulled.data(), pushed.data(), z, {exaggeration, rate, momentum, most_gain}, n, dims, n_threads,
                      y.data(), velocity.data(), gains.data());
    if (poll.stop()) throw Interrupted();
  }
  return {z, std::sqrt(norms.gradient), std::sqrt(norms.pull)};
}

// The two forces, for those who make the step elsewhere and for tests; returns Z.
template <class T>
double map_forces(In1<std::int64_t> starts, In1<std::int32_t> ends, In1<T> weights, In2<T> y, double theta, double dof,
                  int n_threads, Out2<T> pulled, Out2<T> pushed) {
  const std::int64_t n = n_rows(y), dims = n_columns(y);
  require(same_shape(pulled, y) && same_shape(pushed, y) && n > 1 && dims > 0);
  const Edges<T> edges = open_edges(starts, ends, weights, n);
  const auto field = make_field<T>(n, dims, theta, dof);
  field->follow(y.data(), true, n_threads);
  return forces(edges, *field, n, dims, dof, n_threads, y.data(), pulled.data(), pushed.data());
}

// The attraction alone.
template <class T>
void pull_map(In1<std::int64_t> starts, In1<std::int32_t> ends, In1<T> weights, In2<T> y, double dof, int n_threads,
              Out2<T> pulled) {
  const std::int64_t n = n_rows(y), dims = n_columns(y);
  require(same_shape(pulled, y));
  const Edges<T> edges = open_edges(starts, ends, weights, n);
  parallel_for(n, pull_chunk, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    pull_rows(edges, first, last, y.data(), dims, static_cast<T>(1 / dof), pulled.data());
  });
}

// One step from given forces.
template <class T>
std::tuple<double, double> step_map(In2<T> pulled, In2<T> pushed, double z, double exaggeration, double rate,
                                    double momentum, double most_gain, int n_threads, Out2<T> y, Out2<T> velocity,
                                    Out2<T> gains) {
  const std::int64_t n = n_rows(y), dims = n_columns(y);
  require(same_shape(pulled, y) && same_shape(pushed, y) && same_shape(velocity, y) && same_shape(gains, y));
  const Norms norms = step_rows(pulled.data(), pushed.data(), z, {exaggeration, rate, momentum, most_gain}, n, dims,
                                n_threads, y.data(), velocity.data(), gains.data());
  return {std::sqrt(norms.gradient), std::sqrt(norms.pull)};
}

// sum p log(p / w) over the edges, w the kernel of their points; with log Z this is the divergence.
template <class T>
double edge_costs(In1<std::int64_t> starts, In1<std::int32_t> ends, In1<T> weights, In2<T> y, double dof,
                  int n_threads) {
  const std::int64_t n = n_rows(y), dims = n_columns(y), chunk = 256;
  const Edges<T> edges = open_edges(starts, ends, weights, n);
  std::vector<double> sums(static_cast<std::size_t>((n + chunk - 1) / chunk));
  parallel_for(n, chunk, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t c) {
    for (std::int64_t i = first; i < last; ++i) {
      double cost = 0;
      for (std::int64_t e = edges.starts[i]; e < edges.starts[i + 1]; ++e) {
        const double p = static_cast<double>(edges.weights[e]);
        if (!(p > 0)) continue;
        double s = 0;
        for (std::int64_t k = 0; k < dims; ++k) {
          const double d = static_cast<double>(y.data()[i * dims + k]) -
                           static_cast<double>(y.data()[static_cast<std::int64_t>(edges.ends[e]) * dims + k]);
          s += d * d;
        }
        cost += p * (std::log(p) + (dof + 1) / 2 * log_positive(1 + s / dof));
      }
      sums[c] += cost;
    }
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("descend_map", &descend_map<T>, "starts"_a.noconvert(), "ends"_a.noconvert(), "weights"_a.noconvert(),
        "exaggeration"_a, "rate"_a, "momentum"_a, "most_gain"_a, "theta"_a, "dof"_a, "n_iter"_a, "n_threads"_a,
        "y"_a.noconvert(), "velocity"_a.noconvert(), "gains"_a.noconvert(), release(),
        "Steps of the map y under its edges; Z, the norm of the gradient and that of the attraction before the last.");
  m.def("map_forces", &map_forces<T>, "starts"_a.noconvert(), "ends"_a.noconvert(), "weights"_a.noconvert(),
        "y"_a.noconvert(), "theta"_a, "dof"_a, "n_threads"_a, "pulled"_a.noconvert(), "pushed"_a.noconvert(), release(),
        "Both forces on every point of the map y; Z, the kernel summed over all pairs.");
  m.def("pull_map", &pull_map<T>, "starts"_a.noconvert(), "ends"_a.noconvert(), "weights"_a.noconvert(),
        "y"_a.noconvert(), "dof"_a, "n_threads"_a, "pulled"_a.noconvert(), release(), "The attraction alone.");
  m.def("step_map", &step_map<T>, "pulled"_a.noconvert(), "pushed"_a.noconvert(), "z"_a, "exaggeration"_a, "rate"_a,
        "momentum"_a, "most_gain"_a, "n_threads"_a, "y"_a.noconvert(), "velocity"_a.noconvert(), "gains"_a.noconvert(),
        release(), "One step of the map y from given forces; the norms of the gradient and of the attraction.");
  m.def("edge_costs", &edge_costs<T>, "starts"_a.noconvert(), "ends"_a.noconvert(), "weights"_a.noconvert(),
        "y"_a.noconvert(), "dof"_a, "n_threads"_a, release(),
        "Sum of p log(p / w) over the edges, w the kernel of their points.");
}

}  // namespace

void bind_tsne_descent(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
