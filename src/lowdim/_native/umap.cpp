// A map whose edges pull and whose random pairs push: UMAP's descent, and what comes before and after it.
//
// Every row moves on its own: it reads where the others were after the last step, and follows its own pulls and pushes
// one after the other. What is drawn is a function of the seed, the step and the row. The map is therefore the same for
// any number of threads, which moving both ends of an edge at once would not allow.
#include <cmath>
#include <cstring>

#include "arrays.hpp"
#include "elementary.hpp"
#include "parallel.hpp"

namespace lowdim {
namespace {

void require(bool fits) {
  if (!fits) throw std::invalid_argument("the arrays do not fit together");
}

// The finaliser of splitmix64.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9e3779b97f4a7c15ULL * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// ---- how strongly neighbours belong to a row -----------------------------------------------------------------------

// The distance up to which neighbours belong fully: that of the `connectivity`-th neighbour that is not at distance 0,
// and between two of them where that is no whole number.
double reach_of(const double* d, std::int64_t count, double connectivity, std::vector<double>& apart) {
  apart.clear();
  for (std::int64_t e = 0; e < count; ++e)
    if (d[e] > 0) apart.push_back(d[e]);
  if (apart.empty()) return 0;
  std::sort(apart.begin(), apart.end());
  const std::size_t whole = static_cast<std::size_t>(connectivity);
  const double rest = connectivity - static_cast<double>(whole);
  if (static_cast<double>(apart.size()) < connectivity || whole >= apart.size())
    return apart[std::min(std::max<std::size_t>(whole, 1), apart.size()) - 1];
  return whole > 0 ? apart[whole - 1] + rest * (apart[whole] - apart[whole - 1]) : rest * apart[0];
}

double membership(double gap, double width) { return gap <= 0 ? 1.0 : width > 0 ? exp_negative(-gap / width) : 0.0; }

// The width at which the memberships of a row sum to `target`, by bisection.
double width_of(const double* d, std::int64_t count, double reach, double target) {
  double largest = 0;
  for (std::int64_t e = 0; e < count; ++e) largest = std::max(largest, d[e] - reach);
  if (largest <= 0) return 0;
  double low = 0, high = INFINITY, width = largest;
  for (int step = 0; step < 100; ++step) {
    double sum = 0;
    for (std::int64_t e = 0; e < count; ++e) sum += membership(d[e] - reach, width);
    if (std::abs(sum - target) < 1e-9) break;
    (sum > target ? high : low) = width;
    width = high == INFINITY ? 2 * width : 0.5 * (low + high);
    if (width > 1e30 * largest || width < 1e-30 * largest) break;
  }
  return width;
}

// Rows of distances become memberships exp(-(d - reach) / width). A width is at least `least` of the mean distance: of
// the row, or of all rows where the reach is 0.
void fuzzy_rows(In1<std::int64_t> starts, In1<double> distances, double connectivity, double least, int n_threads,
                Out1<double> weights, Out1<double> reaches, Out1<double> widths) {
  const std::int64_t n = reaches.shape(0);
  require(static_cast<std::int64_t>(starts.shape(0)) == n + 1 && weights.shape(0) == distances.shape(0) &&
          widths.shape(0) == reaches.shape(0) && starts(n) <= static_cast<std::int64_t>(distances.shape(0)));
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
      const double width = std::max(width_of(d, count, reach, std::log2(static_cast<double>(std::max<std::int64_t>(count, 1)))),
                                    least * (reach > 0 ? mean : overall));
      for (std::int64_t e = 0; e < count; ++e) weights(starts(i) + e) = membership(d[e] - reach, width);
      reaches(i) = reach, widths(i) = width;
    }
  });
}

// ---- forces --------------------------------------------------------------------------------------------------------

constexpr double kMost = 4;      // no pull or push is longer, as in the original code
constexpr double kNear = 0.001;  // added to squared distances where a push would be infinite

// What the difference of two points is multiplied by, as a function of their squared distance s, for the kernel
// q = 1 / (1 + a s^b): for a pull 2ab s^(b-1) / (1 + a s^b), for a push 2b / ((0.001 + s) (1 + a s^b)), both held to
// the length 4. Tabulated over 2^-30 < s < 2^30: the bits of a number say its place, powers would cost ten times more.
template <class T, int Fine>
struct Force {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int mantissa = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023, octaves = 30;
  static constexpr Bits first = static_cast<Bits>(bias - octaves) << Fine;
  static constexpr Bits count = static_cast<Bits>(2 * octaves) << Fine;
  struct Entry {
    T value, slope;  // at the lower border, and times what lies beyond it
  };
  std::vector<Entry> table;
  T least, most;

  Force(double a, double b, double strength, bool pull) : table(count) {
    least = static_cast<T>(std::ldexp(1.0, -octaves)), most = static_cast<T>(std::ldexp(1.0, octaves) * 0.99);
    auto value = [&](double s) {
      const double power = std::pow(s, b), over = 1 + a * power;
      const double factor = pull ? 2 * a * b * power / (s * over) : 2 * strength * b / ((kNear + s) * over);
      return std::min(factor, kMost / std::sqrt(s));
    };
    auto border = [&](Bits k) {
      const Bits bits = (first + k) << (mantissa - Fine);
      T s;
      std::memcpy(&s, &bits, sizeof s);
      return static_cast<double>(s);
    };
    for (Bits k = 0; k < count; ++k) {
      const double low = border(k), high = border(k + 1), at = value(low);
      const double slope = (value(high) - at) / (high - low);
      table[k] = {static_cast<T>(at - slope * low), static_cast<T>(slope)};
    }
  }

  T operator()(T s) const {
    s = s < least ? least : s > most ? most : s;
    Bits bits;
    std::memcpy(&bits, &s, sizeof bits);
    const Entry& entry = table[(bits >> (mantissa - Fine)) - first];
    return entry.value + s * entry.slope;
  }
};

// A point of D coordinates; of any number where D is 0.
template <class T, int D>
struct Coordinates {
  T at[D];
  explicit Coordinates(int) : at{} {}
};
template <class T>
struct Coordinates<T, 0> {
  std::vector<T> kept;
  T* at;
  explicit Coordinates(int dims) : kept(static_cast<std::size_t>(dims)), at(kept.data()) {}
  Coordinates(const Coordinates&) = delete;
};

template <class T, int D>
inline T squared(const T* a, const T* b, int dims) {
  T s = 0;
  for (int c = 0; c < (D ? D : dims); ++c) s += (a[c] - b[c]) * (a[c] - b[c]);
  return s;
}

// ---- the descent by draws ------------------------------------------------------------------------------------------

using Single = Force<float, 5>;

struct Draws {
  const std::int64_t* starts;
  const std::int32_t* ends;
  const std::uint16_t* steps;  // of the clocks of the edges; an edge pulls when its clock comes round
  std::uint16_t* clocks;
  Single pull, push;
  double per_pull;  // pushes
  std::uint64_t seed;
};

// One step of row i: its edges whose time has come pull it, each followed by pushes from rows drawn at random.
template <int D>
void move_row(const Draws& draws, std::int64_t i, std::int64_t n, int dims, std::int64_t step, float rate,
              const float* old, std::int32_t* due, Coordinates<float, D>& here, Coordinates<float, D>& move) {
  const int width = D ? D : dims;
  std::int64_t count = 0;
  for (std::int64_t e = draws.starts[i]; e < draws.starts[i + 1]; ++e) {
    const std::uint16_t before = draws.clocks[e], after = static_cast<std::uint16_t>(before + draws.steps[e]);
    draws.clocks[e] = after;
    due[count] = draws.ends[e];
    count += after < before;
  }
  std::uint64_t state = mix(draws.seed, static_cast<std::uint64_t>(step * n + i));
  // Of a number of pushes per pull that is not whole, the rest is drawn too.
  double drawn = static_cast<double>(state >> 11) * 0x1p-53;
  float *y = here.at, *sum = move.at;
  for (int c = 0; c < width; ++c) y[c] = old[i * width + c];
  for (std::int64_t k = 0; k < count; ++k) {
    const float* other = old + static_cast<std::int64_t>(due[k]) * width;
    const float pull = rate * draws.pull(squared<float, D>(y, other, dims));
    for (int c = 0; c < width; ++c) y[c] += pull * (other[c] - y[c]), sum[c] = 0;
    drawn += draws.per_pull;
    for (; drawn >= 1; drawn -= 1) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const std::int64_t j = static_cast<std::int64_t>(((state >> 32) * static_cast<std::uint64_t>(n)) >> 32);
      other = old + j * width;
      const float push = j == i ? 0.0f : rate * draws.push(squared<float, D>(y, other, dims));
      for (int c = 0; c < width; ++c) sum[c] += push * (y[c] - other[c]);
    }
    for (int c = 0; c < width; ++c) y[c] += sum[c];
  }
}

template <int D>
void sample_steps(const Draws& draws, std::int64_t n, int dims, std::int64_t most_edges, std::int64_t first,
                  std::int64_t n_steps, std::int64_t total, double rate, int n_threads, float* y) {
  std::vector<float> before(static_cast<std::size_t>(n * dims));
  SignalPoll poll;
  for (std::int64_t step = first; step < first + n_steps; ++step) {
    std::copy(y, y + n * dims, before.begin());
    const float now = static_cast<float>(rate * (1 - static_cast<double>(step) / static_cast<double>(total)));
    parallel_for(n, 512, n_threads, [&](std::int64_t low, std::int64_t high, std::int64_t) {
      std::vector<std::int32_t> due(static_cast<std::size_t>(most_edges + 1));
      Coordinates<float, D> here(dims), move(dims);
      for (std::int64_t i = low; i < high; ++i) {
        move_row<D>(draws, i, n, dims, step, now, before.data(), due.data(), here, move);
        std::copy(here.at, here.at + dims, y + i * dims);
      }
    });
    if (poll.stop()) throw Interrupted();
  }
}

// Steps first .. first + n_steps of `total`, the rate going down to 0 by the end. `steps` are the weights of the edges,
// 65,535 being one pull in each step.
void sample_map(In1<std::int64_t> starts, In1<std::int32_t> ends, In1<std::uint16_t> steps, Out1<std::uint16_t> clocks,
                double a, double b, double strength, double per_pull, std::uint64_t seed, std::int64_t first,
                std::int64_t n_steps, std::int64_t total, double rate, int n_threads, Out2<float> y) {
  const std::int64_t n = y.shape(0);
  require(static_cast<std::int64_t>(starts.shape(0)) == n + 1 && steps.shape(0) == ends.shape(0) &&
          clocks.shape(0) == ends.shape(0) && n < (std::int64_t{1} << 31));
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < n; ++i) most = std::max(most, starts(i + 1) - starts(i));
  for (std::size_t e = 0; e < ends.shape(0); ++e) require(ends(e) >= 0 && ends(e) < n);
  const Draws draws{starts.data(), ends.data(), steps.data(), clocks.data(), Single(a, b, strength, true),
                    Single(a, b, strength, false), per_pull, seed};
  const int dims = static_cast<int>(y.shape(1));
  auto run = [&](auto with) {
    sample_steps<decltype(with)::value>(draws, n, dims, most, first, n_steps, total, rate, n_threads, y.data());
  };
  if (dims == 1) run(std::integral_constant<int, 1>());
  else if (dims == 2) run(std::integral_constant<int, 2>());
  else if (dims == 3) run(std::integral_constant<int, 3>());
  else run(std::integral_constant<int, 0>());
}

// ---- the descent by what is to be expected -------------------------------------------------------------------------

using Double = Force<double, 8>;

// The mean pull and push of a point at y, over their stiffness: neighbours `near` of `weights`, and pushes from all rows
// of `others` (but `own`), each of weight `share`.
void expected_move(const Double& pull, const Double& push, const double* y, int dims, const std::int32_t* near,
                   const double* weights, std::int64_t count, const double* places, const double* others,
                   std::int64_t n_others, std::int64_t own, double share, double* move) {
  double stiff = 0;
  for (int c = 0; c < dims; ++c) move[c] = 0;
  for (std::int64_t e = 0; e < count; ++e) {
    const double* other = places + static_cast<std::int64_t>(near[e]) * dims;
    const double factor = 2 * weights[e] * pull(squared<double, 0>(y, other, dims));
    stiff += factor;
    for (int c = 0; c < dims; ++c) move[c] += factor * (other[c] - y[c]);
  }
  for (std::int64_t j = 0; j < n_others; ++j) {
    if (j == own) continue;
    const double* other = others + j * dims;
    const double factor = share * push(squared<double, 0>(y, other, dims));
    stiff += factor;
    for (int c = 0; c < dims; ++c) move[c] += factor * (y[c] - other[c]);
  }
  for (int c = 0; c < dims; ++c) move[c] /= std::max(stiff, 1e-300);
}

// Steps of all rows at once, each by its mean move.
void settle_map(In1<std::int64_t> starts, In1<std::int32_t> ends, In1<double> weights, double a, double b,
                double strength, double per_pull, std::int64_t first, std::int64_t n_steps, std::int64_t total,
                double rate, int n_threads, Out2<double> y) {
  const std::int64_t n = y.shape(0);
  const int dims = static_cast<int>(y.shape(1));
  require(static_cast<std::int64_t>(starts.shape(0)) == n + 1 && weights.shape(0) == ends.shape(0));
  for (std::size_t e = 0; e < ends.shape(0); ++e) require(ends(e) >= 0 && ends(e) < n);
  const Double pull(a, b, strength, true), push(a, b, strength, false);
  std::vector<double> before(static_cast<std::size_t>(n * dims));
  SignalPoll poll;
  for (std::int64_t step = first; step < first + n_steps; ++step) {
    std::copy(y.data(), y.data() + n * dims, before.begin());
    const double now = rate * (1 - static_cast<double>(step) / static_cast<double>(total));
    parallel_for(n, 32, n_threads, [&](std::int64_t low, std::int64_t high, std::int64_t) {
      std::vector<double> move(static_cast<std::size_t>(dims));
      for (std::int64_t i = low; i < high; ++i) {
        double degree = 0;
        for (std::int64_t e = starts(i); e < starts(i + 1); ++e) degree += weights(e);
        expected_move(pull, push, before.data() + i * dims, dims, ends.data() + starts(i), weights.data() + starts(i),
                      starts(i + 1) - starts(i), before.data(), before.data(), n, i,
                      2 * per_pull * degree / static_cast<double>(n), move.data());
        for (int c = 0; c < dims; ++c) y.data()[i * dims + c] += now * move[c];
      }
    });
    if (poll.stop()) throw Interrupted();
  }
}

// New points move from where they are to where their weights to fitted points and pushes from `others` balance.
void settle_rows(In2<double> fitted, In2<double> others, In2<std::int32_t> near, In2<double> weights, double a, double b,
                 double strength, double per_pull, std::int64_t n_steps, int n_threads, Out2<double> y) {
  const std::int64_t n = fitted.shape(0), m = y.shape(0), k = near.shape(1);
  const int dims = static_cast<int>(y.shape(1));
  require(near.shape(0) == y.shape(0) && weights.shape(0) == y.shape(0) && weights.shape(1) == near.shape(1) &&
          fitted.shape(1) == y.shape(1) && others.shape(1) == y.shape(1));
  for (std::size_t e = 0; e < near.size(); ++e) require(near.data()[e] >= 0 && near.data()[e] < n);
  const Double pull(a, b, strength, true), push(a, b, strength, false);
  const std::int64_t n_others = others.shape(0);
  parallel_for(m, 8, n_threads, [&](std::int64_t low, std::int64_t high, std::int64_t) {
    std::vector<double> move(static_cast<std::size_t>(dims));
    for (std::int64_t i = low; i < high; ++i) {
      double* z = y.data() + i * dims;
      double degree = 0;
      for (std::int64_t e = 0; e < k; ++e) degree += weights(i, e);
      const double share = 2 * per_pull * degree / static_cast<double>(std::max<std::int64_t>(n_others, 1));
      for (std::int64_t step = 0; step < n_steps; ++step) {
        expected_move(pull, push, z, dims, near.data() + i * k, weights.data() + i * k, k, fitted.data(), others.data(),
                      n_others, -1, share, move.data());
        const double now = 1 - static_cast<double>(step) / static_cast<double>(n_steps);
        for (int c = 0; c < dims; ++c) z[c] += now * move[c];
      }
    }
  });
}

}  // namespace

void bind_umap(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;
  m.def("fuzzy_rows", &fuzzy_rows, "starts"_a.noconvert(), "distances"_a.noconvert(), "connectivity"_a, "least"_a,
        "n_threads"_a, "weights"_a.noconvert(), "reaches"_a.noconvert(), "widths"_a.noconvert(), release());
  m.def("sample_map", &sample_map, "starts"_a.noconvert(), "ends"_a.noconvert(), "steps"_a.noconvert(),
        "clocks"_a.noconvert(), "a"_a, "b"_a, "strength"_a, "per_pull"_a, "seed"_a, "first"_a, "n_steps"_a, "total"_a,
        "rate"_a, "n_threads"_a, "y"_a.noconvert(), release());
  m.def("settle_map", &settle_map, "starts"_a.noconvert(), "ends"_a.noconvert(), "weights"_a.noconvert(), "a"_a, "b"_a,
        "strength"_a, "per_pull"_a, "first"_a, "n_steps"_a, "total"_a, "rate"_a, "n_threads"_a, "y"_a.noconvert(),
        release());
  m.def("settle_rows", &settle_rows, "fitted"_a.noconvert(), "others"_a.noconvert(), "near"_a.noconvert(),
        "weights"_a.noconvert(), "a"_a, "b"_a, "strength"_a, "per_pull"_a, "n_steps"_a, "n_threads"_a,
        "y"_a.noconvert(), release());
}

}  // namespace lowdim
