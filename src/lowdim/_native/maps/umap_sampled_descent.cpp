// UMAP's descent by draws: edges pull whenever their time has come, and random pairs push.
//
// Every row moves on its own and reads where the others were after the last step. What is drawn is a function of the
// seed, the step and the row. The map is therefore the same for any number of threads, which moving both ends of an
// edge at once would not allow. Yet both ends of an edge are pulled in the same step, and at first by the same force:
// otherwise what is drawn would push whole groups about, and where they lie to each other would be lost. Later, at a
// low rate, a row follows its pulls one after the other, which brings it nearer to its own neighbours.
#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"
#include "common/splitmix.hpp"
#include "maps/graph_edges.hpp"
#include "maps/umap_kernel.hpp"

namespace lowdim {
namespace {

constexpr int kLanes = static_cast<int>(
    lanes_of<float>);  // rows that move together, each on its own, to fill vectors and the waits for memory
constexpr std::int64_t kChunk = 512;  // rows of a task
constexpr float kBeyond = 8;          // maps of digits (14, 100 neighbours) get better with longer steps up to there

struct Draws {
  const std::int64_t* starts;
  const std::int32_t* ends;
  const std::uint16_t* steps;  // of the clocks of the edges; an edge pulls when its clock comes round
  std::uint16_t* clocks;
  UmapKernel kernel;
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
LOWDIM_INLINE inline void add_forces(const UmapKernel& kernel, int dims, const Group<D>& here, const Pack<float>& on,
                                     Group<D>& gap, Group<D>& sum, Pack<float>& stiff) {
  const int width = D ? D : dims;
  Pack<float> s{}, f;
  for (int c = 0; c < width; ++c) {
    gap.at[c] = Pull ? gap.at[c] - here.at[c] : here.at[c] - gap.at[c];
    s = s + gap.at[c] * gap.at[c];
  }
  if (Pull)
    SixteenFactors::pull(kernel, s, f);
  else
    SixteenFactors::push(kernel, s, f);
  if (Pull) stiff = stiff + on * f;
  for (int c = 0; c < width; ++c) {
    Pack<float> move = f * gap.at[c];
    SixteenFactors::hold(move, static_cast<float>(-longest_force), static_cast<float>(longest_force));
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
  SixteenFactors::hold(over, 1.0f, 1e30f);
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
  const std::int64_t n = n_rows(y);
  require(n_rows(steps) == n_rows(ends) && n_rows(clocks) == n_rows(ends));
  if (static_cast<std::int64_t>(y.size()) > most_numbered)  // places are numbered in 32 bits, see `gather`
    throw std::invalid_argument("sample_map: at most 2^31 - 1 coordinates; take fewer components or fewer rows");
  require_edges(starts, ends, n);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < n; ++i) most = std::max(most, starts(i + 1) - starts(i));
  const Draws draws{starts.data(),
                    ends.data(),
                    steps.data(),
                    clocks.data(),
                    UmapKernel(a, b, strength),
                    per_pull,
                    together,
                    seed,
                    static_cast<std::uint32_t>(n)};
  const int dims = static_cast<int>(n_columns(y));
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

}  // namespace

void bind_umap_sampled_descent(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("sample_map", &sample_map, "starts"_a.noconvert(), "ends"_a.noconvert(), "steps"_a.noconvert(),
        "clocks"_a.noconvert(), "a"_a, "b"_a, "strength"_a, "per_pull"_a, "together"_a, "seed"_a, "first"_a,
        "n_steps"_a, "total"_a, "rate"_a, "n_threads"_a, "y"_a.noconvert(), release(),
        "Steps first .. first + n_steps of `total` of the map y: edges pull when their clocks come round, drawn rows "
        "push.");
}

}  // namespace lowdim
