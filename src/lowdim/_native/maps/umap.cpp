// A map whose edges pull and whose random pairs push: UMAP's descent, and what comes before and after it.
//
// Every row moves on its own and reads where the others were after the last step. What is drawn is a function of the
// seed, the step and the row. The map is therefore the same for any number of threads, which moving both ends of an
// edge at once would not allow. Yet both ends of an edge are pulled in the same step, and at first by the same force:
// otherwise what is drawn would push whole groups about, and where they lie to each other would be lost. Later, at a
// low rate, a row follows its pulls one after the other, which brings it nearer to its own neighbours.
#include <cmath>
#include <cstring>

#include "common/arrays.hpp"
#include "common/exp_log.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"
#include "common/vector_pack.hpp"

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
      const double width = std::max(width_of(d, count, reach, std::log2(static_cast<double>(count + 1))),
                                    least * (reach > 0 ? mean : overall));
      for (std::int64_t e = 0; e < count; ++e) weights(starts(i) + e) = membership(d[e] - reach, width);
      reaches(i) = reach, widths(i) = width;
    }
  });
}

// ---- forces --------------------------------------------------------------------------------------------------------

constexpr double kMost = 4;            // no pull or push is longer, as in the original code
constexpr double kLeastSquare = 1e-8;  // of distances in the map whose logarithm is taken
constexpr double kNear = 0.001;        // added to squared distances where a push would be infinite

// What the difference of two points is multiplied by, as a function of their squared distance s, for the kernel
// q = 1 / (1 + a s^b): for a pull 2ab s^(b-1) / (1 + a s^b), for a push 2b / ((0.001 + s) (1 + a s^b)), both held to
// the length 4. Tabulated over 2^-60 < s < 2^60: the bits of a number say its place, powers would cost ten times more.
class Force {
 public:
  Force(double a, double b, double strength, bool pull) : table_(count) {
    // (m 2^e)^b = m^b 2^eb: a power for each piece of an octave and for each octave, not for each entry.
    std::vector<double> powers(std::size_t{1} << fine);
    for (std::size_t m = 0; m < powers.size(); ++m)
      powers[m] = std::pow(1 + static_cast<double>(m) / static_cast<double>(powers.size()), b);
    double scale = 0, low = 0, at = 0;
    for (std::uint64_t k = 0; k <= count; ++k) {
      const std::uint64_t m = k % powers.size();
      if (m == 0) scale = std::exp2((static_cast<double>(k >> fine) - octaves) * b);
      const double s = border(k), power = scale * powers[m], over = 1 + a * power;
      const double factor = pull ? 2 * a * b * power / (s * over) : 2 * strength * b / ((kNear + s) * over);
      const double value = std::min(factor, kMost / std::sqrt(s));
      if (k > 0) {
        const double slope = (value - at) / (s - low);
        table_[k - 1] = {at - slope * low, slope};
      }
      low = s, at = value;
    }
  }

  double operator()(double s) const {
    s = s > 0x1p-60 ? std::min(s, 0x1.ffp59) : 0x1p-60;  // NaN, of places that left the range, too: it has no entry
    std::uint64_t bits;
    std::memcpy(&bits, &s, sizeof bits);
    const Entry& entry = table_[(bits >> (52 - fine)) - first];
    return entry.value + s * entry.slope;
  }

 private:
  static constexpr int fine = 8, octaves = 60;  // 256 pieces for each octave
  static constexpr std::uint64_t first = std::uint64_t{1023 - octaves} << fine,
                                 count = std::uint64_t{2 * octaves} << fine;
  struct Entry {
    double value, slope;
  };
  std::vector<Entry> table_;

  static double border(std::uint64_t k) {
    const std::uint64_t bits = (first + k) << (52 - fine);
    double s;
    std::memcpy(&s, &bits, sizeof s);
    return s;
  }
};

inline double squared(const double* a, const double* b, int dims) {
  double s = 0;
  for (int c = 0; c < dims; ++c) s += (a[c] - b[c]) * (a[c] - b[c]);
  return s;
}

// ---- the descent by draws ------------------------------------------------------------------------------------------

constexpr int kLanes = 16;  // rows that move together, each on its own, to fill vectors and the waits for memory
constexpr std::int64_t kChunk = 512;  // rows of a task
constexpr float kBeyond = 8;          // maps of digits (14, 100 neighbours) get better with longer steps up to there

struct Kernel {
  float a, b, pull, push;
  Kernel(double a_, double b_, double strength)
      : a(static_cast<float>(a_)),
        b(static_cast<float>(b_)),
        pull(static_cast<float>(2 * a_ * b_)),
        push(static_cast<float>(2 * strength * b_)) {}
};

// The factors of `Force` for a float, or for a Pack of them with Whole = a vector of 32-bit integers.
template <class Real, class Whole>
struct Factors {
  static constexpr float shifter = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number

  LOWDIM_INLINE static void hold(Real& x, float low, float high) {
    x = x < low ? Real{} + low : x;
    x = x > high ? Real{} + high : x;
  }

  // s^b to 1e-5 of its value, for 1e-12 <= s <= 1e12.
  LOWDIM_INLINE static void power(const Real& s, float b, Real& out) {
    constexpr float logarithm[] = {-0.206858124f, 0.318407118f, -0.366413259f, 0.479793884f, -0.721208468f, 1.4427018f};
    constexpr float exponential[] = {0.0096760371f, 0.0559220356f, 0.240221074f, 0.693121034f, 1.0f};
    Whole bits;
    std::memcpy(&bits, &s, sizeof bits);
    const Whole exponent = (bits - 0x3f3504f3) >> 23;  // of s = m 2^exponent, m between sqrt(1/2) and sqrt(2)
    bits = bits - exponent * (1 << 23);
    Real m, whole;
    std::memcpy(&m, &bits, sizeof m);
    bits = exponent + 0x4b400000;  // the bits of `shifter` + exponent
    std::memcpy(&whole, &bits, sizeof whole);
    m = m - 1.0f;
    Real p = m * logarithm[0] + logarithm[1];
    for (int c = 2; c < 6; ++c) p = p * m + logarithm[c];
    Real x = ((whole - shifter) + m * p) * b;
    hold(x, -120.0f, 120.0f);
    const Real shifted = x + shifter;
    x = x - (shifted - shifter);
    p = x * exponential[0] + exponential[1];
    for (int c = 2; c < 5; ++c) p = p * x + exponential[c];
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits - 0x4b400000 + 127) * (1 << 23);
    std::memcpy(&whole, &bits, sizeof whole);
    out = p * whole;
  }

  LOWDIM_INLINE static void pull(const Kernel& kernel, const Real& squares, Real& out) {
    Real s = squares, p;
    hold(s, 1e-12f, 1e12f);
    power(s, kernel.b, p);
    out = p * kernel.pull / (s * (p * kernel.a + 1.0f));
  }

  LOWDIM_INLINE static void push(const Kernel& kernel, const Real& squares, Real& out) {
    Real s = squares, p;
    hold(s, 1e-12f, 1e12f);
    power(s, kernel.b, p);
    out = (Real{} + kernel.push) / ((s + static_cast<float>(kNear)) * (p * kernel.a + 1.0f));
  }
};

#if defined(__GNUC__)
typedef std::int32_t Whole16 __attribute__((vector_size(64)));
using Sixteen = Factors<Pack<float>, Whole16>;
#else
struct Sixteen {  // lane by lane
  using One = Factors<float, std::int32_t>;
  static void hold(Pack<float>& x, float low, float high) {
    for (int l = 0; l < kLanes; ++l) One::hold(x[l], low, high);
  }
  static void pull(const Kernel& kernel, const Pack<float>& s, Pack<float>& out) {
    for (int l = 0; l < kLanes; ++l) One::pull(kernel, s[l], out[l]);
  }
  static void push(const Kernel& kernel, const Pack<float>& s, Pack<float>& out) {
    for (int l = 0; l < kLanes; ++l) One::push(kernel, s[l], out[l]);
  }
};
#endif

struct Draws {
  const std::int64_t* starts;
  const std::int32_t* ends;
  const std::uint16_t* steps;  // of the clocks of the edges; an edge pulls when its clock comes round
  std::uint16_t* clocks;
  Kernel kernel;
  double per_pull;  // pushes
  bool together;
  std::uint64_t seed;
  std::uint32_t n;
};

// Coordinates of a group of rows, a Pack for each axis; D axes, or any number where D is 0.
template <int D>
struct Group {
  Pack<float> at[D];
  explicit Group(int) : at{} {}
};
template <>
struct Group<0> {
  std::unique_ptr<Pack<float>[]> kept;
  Pack<float>* at;
  explicit Group(int dims) : kept(new Pack<float>[dims]), at(kept.get()) {}
};

// The ends of the edges of each row whose time has come, row l's at due[k * kLanes + l]; how many at most.
std::int32_t ends_due(const Draws& draws, const std::int32_t* rows, int filled, std::int32_t* count,
                      std::int32_t* due) {
  std::int32_t most = 0;
  for (int l = 0; l < kLanes; ++l) {
    std::int32_t found = 0;
    const std::int64_t end = l < filled ? draws.starts[rows[l] + 1] : 0;
    for (std::int64_t e = l < filled ? draws.starts[rows[l]] : 0; e < end; ++e) {
      const std::uint16_t before = draws.clocks[e], after = static_cast<std::uint16_t>(before + draws.steps[e]);
      draws.clocks[e] = after;
      due[found * kLanes + l] = draws.ends[e];
      found += after < before;
    }
    count[l] = found, most = std::max(most, found);
  }
  for (int l = 0; l < kLanes; ++l)
    for (std::int32_t k = count[l]; k < most; ++k) due[k * kLanes + l] = rows[l];
  return most;
}

LOWDIM_INLINE inline std::uint32_t scrambled(std::uint32_t x) {  // the finaliser of MurmurHash3
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

// Places of sixteen rows, a Pack for each axis.
template <int D>
LOWDIM_INLINE inline void gather(const float* old, const std::int32_t* rows, int dims, Group<D>& out) {
  const int width = D ? D : dims;
  for (int c = 0; c < width; ++c) {
    float lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = old[rows[l] * width + c];
    load_pack<float>(out.at[c], lane);
  }
}

// Adds to `sum` what sixteen points, whose places are in `gap`, do to those at `here`: a pull or a push, each
// coordinate held to 4 as in the original code, times `on`; to `stiff` how much that grows with the distance.
template <int D, bool Pull>
LOWDIM_INLINE inline void add_forces(const Kernel& kernel, int dims, const Group<D>& here, const Pack<float>& on,
                                     Group<D>& gap, Group<D>& sum, Pack<float>& stiff) {
  const int width = D ? D : dims;
  Pack<float> s{}, f;
  for (int c = 0; c < width; ++c) {
    gap.at[c] = Pull ? gap.at[c] - here.at[c] : here.at[c] - gap.at[c];
    s = s + gap.at[c] * gap.at[c];
  }
  if (Pull)
    Sixteen::pull(kernel, s, f);
  else
    Sixteen::push(kernel, s, f);
  if (Pull) stiff = stiff + on * f;
  for (int c = 0; c < width; ++c) {
    Pack<float> move = f * gap.at[c];
    Sixteen::hold(move, static_cast<float>(-kMost), static_cast<float>(kMost));
    sum.at[c] = sum.at[c] + on * move;
  }
}

// Edges whose time has come pull the rows of a group. `together`: all from where the rows were. Many pulls at once
// would throw a row far beyond its neighbours: where they would, by more than kBeyond times its way to them, all moves
// of the row in this step are divided by `over`. Else one pull after the other.
template <int D>
LOWDIM_INLINE inline void pull_group(const Draws& draws, const std::int32_t* count, const std::int32_t* due,
                                     std::int32_t most, int dims, float rate, const float* old, Group<D>& here,
                                     Group<D>& gap, Group<D>& sum, Pack<float>& over) {
  const int width = D ? D : dims;
  float on[kLanes];
  Pack<float> rates;
  over = Pack<float>{};
  for (int c = 0; c < width; ++c) sum.at[c] = Pack<float>{};
  for (std::int32_t k = 0; k < most; ++k) {
    for (int l = 0; l < kLanes; ++l) on[l] = k < count[l] ? rate : 0.0f;
    load_pack<float>(rates, on);
    gather<D>(old, due + k * kLanes, dims, gap);
    add_forces<D, true>(draws.kernel, dims, here, rates, gap, draws.together ? sum : here, over);
  }
  over = draws.together ? over * (1.0f / kBeyond) : Pack<float>{};
  Sixteen::hold(over, 1.0f, 1e30f);
  for (int c = 0; c < width; ++c) here.at[c] = here.at[c] + sum.at[c] / over;
}

// One step of a group of rows: pulls, and for each of them pushes from rows drawn at random.
template <int D>
LOWDIM_INLINE inline void move_group(const Draws& draws, const std::int32_t* rows, const std::int32_t* count,
                                     const std::int32_t* due, std::int32_t most, int dims, std::int64_t step,
                                     float rate, const float* old, Group<D>& here, Group<D>& gap, Group<D>& sum) {
  const int width = D ? D : dims;
  std::uint32_t key[kLanes];
  std::int32_t drawn[kLanes];
  float by[kLanes];
  Pack<float> rates, over, unused{};
  for (int l = 0; l < kLanes; ++l)
    key[l] = static_cast<std::uint32_t>(
        mix(draws.seed, static_cast<std::uint64_t>(step) * draws.n + static_cast<std::uint64_t>(rows[l])));
  gather<D>(old, rows, dims, here);
  pull_group<D>(draws, count, due, most, dims, rate, old, here, gap, sum, over);
  // Of a number of pushes per pull that is not whole, the rest is drawn for the step.
  double turn = static_cast<double>(mix(draws.seed ^ 0x5bd1e995U, static_cast<std::uint64_t>(step)) >> 11) * 0x1p-53;
  std::uint32_t draw = 0;
  for (std::int32_t k = 0; k < most; ++k) {
    for (int c = 0; c < width; ++c) sum.at[c] = Pack<float>{};
    for (turn += draws.per_pull; turn >= 1; turn -= 1) {
      draw += 0x9e3779b9U;
      for (int l = 0; l < kLanes; ++l) {
        const std::uint64_t random = scrambled(key[l] + draw);
        drawn[l] = static_cast<std::int32_t>((random * draws.n) >> 32);
        by[l] = k < count[l] && drawn[l] != rows[l] ? rate : 0.0f;
      }
      load_pack<float>(rates, by);
      gather<D>(old, drawn, dims, gap);
      add_forces<D, false>(draws.kernel, dims, here, rates, gap, sum, unused);
    }
    for (int c = 0; c < width; ++c) here.at[c] = here.at[c] + sum.at[c] / over;
  }
}

// Rows of a chunk by how many edges they have in a step, so that the rows of a group are done at the same time.
std::vector<std::int32_t> grouped(const Draws& draws) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(draws.n));
  std::vector<std::int64_t> busy(static_cast<std::size_t>(draws.n));
  for (std::int64_t i = 0; i < draws.n; ++i) {
    order[i] = static_cast<std::int32_t>(i);
    for (std::int64_t e = draws.starts[i]; e < draws.starts[i + 1]; ++e) busy[i] += draws.steps[e];
  }
  for (std::int64_t low = 0; low < draws.n; low += kChunk)
    std::stable_sort(order.begin() + low, order.begin() + std::min<std::int64_t>(draws.n, low + kChunk),
                     [&](std::int32_t a, std::int32_t b) { return busy[a] < busy[b]; });
  return order;
}

template <int D>
void sample_steps(const Draws& draws, int dims, std::int64_t most_edges, std::int64_t first, std::int64_t n_steps,
                  std::int64_t total, double rate, int n_threads, float* y) {
  const std::int64_t n = draws.n;
  const std::vector<std::int32_t> order = grouped(draws);
  std::vector<float> before(static_cast<std::size_t>(n * dims));
  SignalPoll poll;
  for (std::int64_t step = first; step < first + n_steps; ++step) {
    std::copy(y, y + n * dims, before.begin());
    const float now = static_cast<float>(rate * (1 - static_cast<double>(step) / static_cast<double>(total)));
    parallel_for(n, kChunk, n_threads, [&](std::int64_t low, std::int64_t high, std::int64_t) {
      std::vector<std::int32_t> due(static_cast<std::size_t>((most_edges + 1) * kLanes));
      Group<D> here(dims), gap(dims), sum(dims);
      for (std::int64_t g = low; g < high; g += kLanes) {
        const int filled = static_cast<int>(std::min<std::int64_t>(kLanes, high - g));
        std::int32_t rows[kLanes], count[kLanes];
        for (int l = 0; l < kLanes; ++l) rows[l] = order[g + std::min(l, filled - 1)];
        const std::int32_t most = ends_due(draws, rows, filled, count, due.data());
        dispatch([&]() LOWDIM_INLINE {
          move_group<D>(draws, rows, count, due.data(), most, dims, step, now, before.data(), here, gap, sum);
        });
        for (int l = 0; l < filled; ++l)
          for (int c = 0; c < dims; ++c) y[rows[l] * dims + c] = here.at[c][l];
      }
    });
    if (poll.stop()) throw Interrupted();
  }
}

// Steps first .. first + n_steps of `total`, the rate going down to 0 by the end. `steps` are the weights of the edges,
// 65,535 being one pull in each step.
void sample_map(In1<std::int64_t> starts, In1<std::int32_t> ends, In1<std::uint16_t> steps, Out1<std::uint16_t> clocks,
                double a, double b, double strength, double per_pull, bool together, std::uint64_t seed,
                std::int64_t first, std::int64_t n_steps, std::int64_t total, double rate, int n_threads,
                Out2<float> y) {
  const std::int64_t n = y.shape(0);
  require(static_cast<std::int64_t>(starts.shape(0)) == n + 1 && steps.shape(0) == ends.shape(0) &&
          clocks.shape(0) == ends.shape(0) && static_cast<std::int64_t>(y.size()) < (std::int64_t{1} << 31));
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < n; ++i) most = std::max(most, starts(i + 1) - starts(i));
  for (std::size_t e = 0; e < ends.shape(0); ++e) require(ends(e) >= 0 && ends(e) < n);
  const Draws draws{starts.data(),
                    ends.data(),
                    steps.data(),
                    clocks.data(),
                    Kernel(a, b, strength),
                    per_pull,
                    together,
                    seed,
                    static_cast<std::uint32_t>(n)};
  const int dims = static_cast<int>(y.shape(1));
  auto run = [&](auto with) {
    sample_steps<decltype(with)::value>(draws, dims, most, first, n_steps, total, rate, n_threads, y.data());
  };
  if (dims == 1)
    run(std::integral_constant<int, 1>());
  else if (dims == 2)
    run(std::integral_constant<int, 2>());
  else if (dims == 3)
    run(std::integral_constant<int, 3>());
  else
    run(std::integral_constant<int, 0>());
}

// ---- densities ------------------------------------------------------------------------------------------------------

using One = Factors<float, std::int32_t>;

// q = 1 / (1 + a s^b) and a s^b of two points.
struct Near {
  double s, q, power;
  Near(const Kernel& kernel, const float* y, const float* z, int dims) : s(0) {
    for (int c = 0; c < dims; ++c) s += static_cast<double>(y[c] - z[c]) * static_cast<double>(y[c] - z[c]);
    float held = static_cast<float>(s), found;
    One::hold(held, 1e-12f, 1e12f);
    One::power(held, kernel.b, found);
    power = kernel.a * static_cast<double>(found);
    q = 1 / (1 + power);
  }
};

void check_edges(In1<std::int64_t> starts, In1<std::int32_t> ends, std::int64_t n) {
  require(static_cast<std::int64_t>(starts.shape(0)) == n + 1 && starts(n) <= static_cast<std::int64_t>(ends.shape(0)));
  for (std::size_t e = 0; e < ends.shape(0); ++e) require(ends(e) >= 0 && ends(e) < n);
}

// The radius of a point in the map: log of sum q s / sum q over its edges, s squared distances; and that sum of q.
void map_radii(In1<std::int64_t> starts, In1<std::int32_t> ends, double a, double b, int n_threads, In2<float> y,
               Out1<double> radii, Out1<double> sums) {
  const std::int64_t n = y.shape(0);
  const int dims = static_cast<int>(y.shape(1));
  require(static_cast<std::int64_t>(radii.shape(0)) == n && static_cast<std::int64_t>(sums.shape(0)) == n);
  check_edges(starts, ends, n);
  const Kernel kernel(a, b, 1);
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
  const std::int64_t n = y.shape(0);
  const int dims = static_cast<int>(y.shape(1));
  require(static_cast<std::int64_t>(radii.shape(0)) == n && sums.shape(0) == radii.shape(0) &&
          slopes.shape(0) == radii.shape(0) && moves.shape(0) == y.shape(0) && moves.shape(1) == y.shape(1));
  check_edges(starts, ends, n);
  const Kernel kernel(a, b, 1);
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

// ---- the descent by what is to be expected -------------------------------------------------------------------------

// The mean pull and push of a point at y, over their stiffness: neighbours `near` of `weights`, and pushes from all
// rows of `others` (but `own`), each of weight `share`.
void expected_move(const Force& pull, const Force& push, const double* y, int dims, const std::int32_t* near,
                   const double* weights, std::int64_t count, const double* places, const double* others,
                   std::int64_t n_others, std::int64_t own, double share, double* move) {
  double stiff = 0;
  for (int c = 0; c < dims; ++c) move[c] = 0;
  for (std::int64_t e = 0; e < count; ++e) {
    const double* other = places + static_cast<std::int64_t>(near[e]) * dims;
    const double factor = 2 * weights[e] * pull(squared(y, other, dims));
    stiff += factor;
    for (int c = 0; c < dims; ++c) move[c] += factor * (other[c] - y[c]);
  }
  for (std::int64_t j = 0; j < n_others; ++j) {
    if (j == own) continue;
    const double* other = others + j * dims;
    const double factor = share * push(squared(y, other, dims));
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
  const Force pull(a, b, strength, true), push(a, b, strength, false);
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
void settle_rows(In2<double> fitted, In2<double> others, In2<std::int32_t> near, In2<double> weights, double a,
                 double b, double strength, double per_pull, std::int64_t n_steps, int n_threads, Out2<double> y) {
  const std::int64_t n = fitted.shape(0), m = y.shape(0), k = near.shape(1);
  const int dims = static_cast<int>(y.shape(1));
  require(near.shape(0) == y.shape(0) && weights.shape(0) == y.shape(0) && weights.shape(1) == near.shape(1) &&
          fitted.shape(1) == y.shape(1) && others.shape(1) == y.shape(1));
  for (std::size_t e = 0; e < near.size(); ++e) require(near.data()[e] >= 0 && near.data()[e] < n);
  const Force pull(a, b, strength, true), push(a, b, strength, false);
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
        "clocks"_a.noconvert(), "a"_a, "b"_a, "strength"_a, "per_pull"_a, "together"_a, "seed"_a, "first"_a,
        "n_steps"_a, "total"_a, "rate"_a, "n_threads"_a, "y"_a.noconvert(), release());
  m.def("map_radii", &map_radii, "starts"_a.noconvert(), "ends"_a.noconvert(), "a"_a, "b"_a, "n_threads"_a,
        "y"_a.noconvert(), "radii"_a.noconvert(), "sums"_a.noconvert(), release());
  m.def("radii_gradient", &radii_gradient, "starts"_a.noconvert(), "ends"_a.noconvert(), "a"_a, "b"_a,
        "radii"_a.noconvert(), "sums"_a.noconvert(), "slopes"_a.noconvert(), "n_threads"_a, "y"_a.noconvert(),
        "moves"_a.noconvert(), release());
  m.def("settle_map", &settle_map, "starts"_a.noconvert(), "ends"_a.noconvert(), "weights"_a.noconvert(), "a"_a, "b"_a,
        "strength"_a, "per_pull"_a, "first"_a, "n_steps"_a, "total"_a, "rate"_a, "n_threads"_a, "y"_a.noconvert(),
        release());
  m.def("settle_rows", &settle_rows, "fitted"_a.noconvert(), "others"_a.noconvert(), "near"_a.noconvert(),
        "weights"_a.noconvert(), "a"_a, "b"_a, "strength"_a, "per_pull"_a, "n_steps"_a, "n_threads"_a,
        "y"_a.noconvert(), release());
}

}  // namespace lowdim
