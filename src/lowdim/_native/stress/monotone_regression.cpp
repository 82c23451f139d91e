// Monotone regression: the values nearest to given ones, in least squares, that never fall along an order.
//
// Pool adjacent violators: values are laid down in order, and whatever lies above its successor is pooled with it. The
// order stays what it is from call to call; values that tie in it may be sorted by what is fitted (primary), share one
// value (secondary), or keep their differences (tertiary).
#include <algorithm>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/lane_sums.hpp"

namespace lowdim {
namespace {

struct Pools {  // of successive places: their end, weight and weighted sum
  std::vector<std::int64_t> end;
  std::vector<double> weight, sum;

  void add(std::int64_t until, double w, double ws) {
    while (!end.empty() && sum.back() * w >= ws * weight.back()) {
      w += weight.back();
      ws += sum.back();
      end.pop_back();
      weight.pop_back();
      sum.pop_back();
    }
    end.push_back(until);
    weight.push_back(w);
    sum.push_back(ws);
  }
};

constexpr std::int64_t kBlock = 64;

// A sum in eight lanes.
double block_sum(const double* v, std::int64_t count) {
  double lane[8] = {};
  for (std::int64_t i = 0; i < count / 8 * 8; i += 8)
    for (int l = 0; l < 8; ++l) lane[l] += v[i + l];
  double sum = sum_in_order<8>(lane);
  for (std::int64_t i = count / 8 * 8; i < count; ++i) sum += v[i];
  return sum;
}

// v[0], v[0] + v[1], ... beyond a start. A whole block is added up in four parts at once, which then move: one after
// another each addition would wait for the last.
void running_sums(const double* v, std::int64_t count, double start, double* out) {
  if (count < kBlock) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = start += v[i];
    return;
  }
  constexpr std::int64_t kPart = kBlock / 4;
  double a = 0, b = 0, c = 0, d = 0;
  for (std::int64_t i = 0; i < kPart; ++i) {
    out[i] = a += v[i];
    out[kPart + i] = b += v[kPart + i];
    out[2 * kPart + i] = c += v[2 * kPart + i];
    out[3 * kPart + i] = d += v[3 * kPart + i];
  }
  const double before[4] = {start, start + a, start + a + b, start + a + b + c};
  for (int part = 0; part < 4; ++part)
    for (std::int64_t i = 0; i < kPart; ++i) out[part * kPart + i] += before[part];
}

// Ends of the pools of values ws / w. Along the sums of w and ws they are corners of the greatest convex function below
// all points; it lies below that of every 64th point too, so points above the latter are no corners. Which those are is
// told many at a time, without the jumps that laying down one noisy value after another costs: few are left.
std::vector<std::int64_t> pool_ends(const std::vector<double>& ws, const std::vector<double>& w) {
  const std::int64_t m = static_cast<std::int64_t>(ws.size());
  Pools coarse, fine;
  for (std::int64_t p = 0; p < m; p += kBlock) {
    const std::int64_t count = std::min(m - p, kBlock);
    const double weight = w.empty() ? static_cast<double>(count) : block_sum(w.data() + p, count);
    coarse.add(p + count, weight, block_sum(ws.data() + p, count));
  }
  std::int64_t from = 0;
  for (std::size_t k = 0; k < coarse.end.size(); ++k) {
    const std::int64_t to = coarse.end[k];
    const double slope = coarse.sum[k] / coarse.weight[k];
    double S = 0, W = 0, last_S = 0, last_W = 0;  // from the start of the pool, and from there to the last corner
    for (std::int64_t p = from; p < to; p += kBlock) {
      const std::int64_t count = std::min(to - p, kBlock);
      double s[kBlock], x[kBlock];
      running_sums(ws.data() + p, count, S, s);
      if (w.empty())
        for (std::int64_t i = 0; i < count; ++i) x[i] = W + static_cast<double>(i + 1);
      else
        running_sums(w.data() + p, count, W, x);
      S = s[count - 1];
      W = x[count - 1];
      int below = 0;
      for (std::int64_t i = 0; i < count; ++i) below |= s[i] < slope * x[i];
      for (std::int64_t i = 0; below && i < count && p + i + 1 < to; ++i)
        if (s[i] < slope * x[i]) {
          fine.add(p + i + 1, x[i] - last_W, s[i] - last_S);
          last_S = s[i];
          last_W = x[i];
        }
    }
    fine.add(to, W - last_W, S - last_S);
    from = to;
  }
  return fine.end;
}

// Pools with their sums added up afresh: differences of long sums would lose digits of short pools.
Pools pooled(const std::vector<double>& ws, const std::vector<double>& w) {
  Pools pools;
  std::int64_t p = 0;
  for (const std::int64_t end : pool_ends(ws, w)) {
    const double weight = w.empty() ? static_cast<double>(end - p) : block_sum(w.data() + p, end - p);
    pools.add(end, weight, block_sum(ws.data() + p, end - p));
    p = end;
  }
  return pools;
}

template <class T>
struct Values {
  const T* y;
  const T* w;  // null: all 1
  double weight(std::uint64_t i) const { return w ? static_cast<double>(w[i]) : 1.0; }
  double value(std::uint64_t i) const { return static_cast<double>(y[i]); }
};

// Every value by itself; values that tie are sorted first.
template <class T, class Place>
std::int64_t untied(const Values<T>& v, Place* order, std::int64_t m, const std::int64_t* ties, std::int64_t n_ties,
                    T* fit) {
  auto lower = [&](Place a, Place b) { return v.y[a] != v.y[b] ? v.y[a] < v.y[b] : a < b; };
  for (std::int64_t t = 0; t < n_ties; ++t)
    if (!std::is_sorted(order + ties[2 * t], order + ties[2 * t + 1], lower))
      std::sort(order + ties[2 * t], order + ties[2 * t + 1], lower);
  std::vector<double> ws(static_cast<std::size_t>(m)), w(static_cast<std::size_t>(v.w ? m : 0));
  for (std::int64_t p = 0; p < m; ++p) ws[p] = v.weight(order[p]) * v.value(order[p]);
  if (v.w)
    for (std::int64_t p = 0; p < m; ++p) w[p] = v.weight(order[p]);
  const Pools pools = pooled(ws, w);
  std::int64_t p = 0;
  for (std::size_t q = 0; q < pools.end.size(); ++q) {
    const T level = static_cast<T>(pools.sum[q] / pools.weight[q]);
    for (; p < pools.end[q]; ++p) fit[order[p]] = level;
  }
  return static_cast<std::int64_t>(pools.end.size());
}

// Values that tie count as one, their mean; `keep` gives each its difference from that mean back.
template <class T, class Place>
std::int64_t tied(const Values<T>& v, const Place* order, std::int64_t m, const std::int64_t* ties, std::int64_t n_ties,
                  bool keep, T* fit) {
  std::vector<std::int64_t> end;
  std::vector<double> ws, w;
  for (std::int64_t p = 0, t = 0; p < m;) {
    const bool block = t < n_ties && ties[2 * t] == p;
    const std::int64_t until = block ? ties[2 * t++ + 1] : p + 1;
    double weight = 0, sum = 0;
    for (; p < until; ++p) {
      weight += v.weight(order[p]);
      sum += v.weight(order[p]) * v.value(order[p]);
    }
    end.push_back(until);
    w.push_back(weight);
    ws.push_back(sum);
  }
  const Pools pools = pooled(ws, w);
  std::int64_t p = 0;
  std::size_t b = 0;
  for (std::size_t q = 0; q < pools.end.size(); ++q) {
    const double level = pools.sum[q] / pools.weight[q];
    for (; b < static_cast<std::size_t>(pools.end[q]); ++b)
      for (const double shift = level - ws[b] / w[b]; p < end[b]; ++p)
        fit[order[p]] = static_cast<T>(keep ? std::max(0.0, v.value(order[p]) + shift) : level);
  }
  return static_cast<std::int64_t>(pools.end.size());
}

// fit = monotone regression of y along `order` (which it may sort within ties); returns the number of levels.
// ties: (first, last + 1) of each run of places that tie. approach: 0 primary, 1 secondary, 2 tertiary.
// Places of more than 2^32 values take 64 bits.
template <class T, class Place>
std::int64_t monotone(In1<T> y, In1<T> w, Out1<Place> order, In2<std::int64_t> ties, int approach, Out1<T> fit) {
  const std::int64_t n = n_rows(y), m = n_rows(order), n_ties = n_rows(ties);
  if (n_rows(fit) != n || (n_rows(w) && n_rows(w) != n))
    throw std::invalid_argument("monotone: w and fit must be as long as y");
  for (std::int64_t p = 0; p < m; ++p)
    if (order(p) >= static_cast<std::uint64_t>(n)) throw std::invalid_argument("monotone: order must hold places of y");
  for (std::int64_t t = 0; t < n_ties; ++t)
    if (ties(t, 0) < (t ? ties(t - 1, 1) : 0) || ties(t, 1) <= ties(t, 0) || ties(t, 1) > m)
      throw std::invalid_argument("monotone: ties must be increasing runs of places");
  WithoutGil free;
  const Values<T> v{y.data(), n_rows(w) ? w.data() : nullptr};
  if (approach == 0) return untied(v, order.data(), m, ties.data(), n_ties, fit.data());
  return tied(v, order.data(), m, ties.data(), n_ties, approach == 2, fit.data());
}

template <class T, class Place>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("monotone", &monotone<T, Place>, "y"_a.noconvert(), "w"_a.noconvert(), "order"_a.noconvert(),
        "ties"_a.noconvert(), "approach"_a, "fit"_a.noconvert(),
        "Monotone regression of y along an order with ties; the number of levels.");
}

}  // namespace

void bind_monotone_regression(nb::module_& m) {
  bind_for<float, std::uint32_t>(m);
  bind_for<double, std::uint32_t>(m);
  bind_for<float, std::uint64_t>(m);
  bind_for<double, std::uint64_t>(m);
}

}  // namespace lowdim
