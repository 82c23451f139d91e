// UMAP's descent by what is to be expected: every row moves by the mean of its pulls and pushes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/float_bits.hpp"
#include "common/parallel.hpp"
#include "maps/graph_edges.hpp"
#include "maps/umap_kernel.hpp"

namespace lowdim {
namespace {

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
      const double factor = pull ? 2 * a * b * power / (s * over) : 2 * strength * b / ((push_offset + s) * over);
      const double value = std::min(factor, longest_force / std::sqrt(s));
      if (k > 0) {
        const double slope = (value - at) / (s - low);
        table_[k - 1] = {at - slope * low, slope};
      }
      low = s, at = value;
    }
  }

  double operator()(double s) const {
    s = s > 0x1p-60 ? std::min(s, 0x1.ffp59) : 0x1p-60;  // NaN, of places that left the range, too: it has no entry
    const Entry& entry = table_[(bits_of(s) >> (52 - fine)) - first];
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

  static double border(std::uint64_t k) { return from_bits<double>((first + k) << (52 - fine)); }
};

inline double squared(const double* a, const double* b, int dims) {
  double s = 0;
  for (int c = 0; c < dims; ++c) s += (a[c] - b[c]) * (a[c] - b[c]);
  return s;
}

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
  const std::int64_t n = n_rows(y);
  const int dims = static_cast<int>(n_columns(y));
  require(n_rows(weights) == n_rows(ends));
  require_edges(starts, ends, n);
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
  const std::int64_t n = n_rows(fitted), m = n_rows(y), k = n_columns(near);
  const int dims = static_cast<int>(n_columns(y));
  require(n_rows(near) == m && same_shape(weights, near) && n_columns(fitted) == dims && n_columns(others) == dims);
  require(all_below(near, n));
  const Force pull(a, b, strength, true), push(a, b, strength, false);
  const std::int64_t n_others = n_rows(others);
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

void bind_umap_expected_descent(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("settle_map", &settle_map, "starts"_a.noconvert(), "ends"_a.noconvert(), "weights"_a.noconvert(), "a"_a, "b"_a,
        "strength"_a, "per_pull"_a, "first"_a, "n_steps"_a, "total"_a, "rate"_a, "n_threads"_a, "y"_a.noconvert(),
        release(), "Steps first .. first + n_steps of `total` of the map y, each row by its mean move.");
  m.def("settle_rows", &settle_rows, "fitted"_a.noconvert(), "others"_a.noconvert(), "near"_a.noconvert(),
        "weights"_a.noconvert(), "a"_a, "b"_a, "strength"_a, "per_pull"_a, "n_steps"_a, "n_threads"_a,
        "y"_a.noconvert(), release(), "Move new points y to where fitted neighbours and pushes from others balance.");
}

}  // namespace lowdim
