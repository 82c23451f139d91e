// Monotone regression: the values nearest to given ones, in least squares, that never fall along an order.
//
// Pool adjacent violators: values are laid down in order, and whatever lies above its successor is pooled with it, each
// value at most once. The order stays what it is from call to call; values that tie in it may be sorted by what is
// fitted (primary), share one value (secondary), or keep their differences (tertiary).
#include <algorithm>
#include <cmath>

#include "arrays.hpp"

namespace lowdim {
namespace {

struct Pools {  // of successive places: their end, weight and weighted sum
  std::vector<std::int64_t> end;
  std::vector<double> weight, sum;

  void reserve(std::size_t n) {
    end.reserve(n);
    weight.reserve(n);
    sum.reserve(n);
  }
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

template <class T>
struct Values {
  const T* y;
  const T* w;  // null: all 1
  double weight(std::uint32_t i) const { return w ? static_cast<double>(w[i]) : 1.0; }
  double value(std::uint32_t i) const { return static_cast<double>(y[i]); }
};

// Every value by itself; values that tie are sorted first.
template <class T>
std::int64_t untied(const Values<T>& v, std::uint32_t* order, std::int64_t m, const std::int64_t* ties,
                    std::int64_t n_ties, T* fit) {
  auto lower = [&](std::uint32_t a, std::uint32_t b) { return v.y[a] != v.y[b] ? v.y[a] < v.y[b] : a < b; };
  for (std::int64_t t = 0; t < n_ties; ++t)
    if (!std::is_sorted(order + ties[2 * t], order + ties[2 * t + 1], lower))
      std::sort(order + ties[2 * t], order + ties[2 * t + 1], lower);
  Pools pools;
  pools.reserve(static_cast<std::size_t>(m));
  for (std::int64_t p = 0; p < m; ++p) {
    const double w = v.weight(order[p]);
    pools.add(p + 1, w, w * v.value(order[p]));
  }
  std::int64_t p = 0;
  for (std::size_t q = 0; q < pools.end.size(); ++q) {
    const T level = static_cast<T>(pools.sum[q] / pools.weight[q]);
    for (; p < pools.end[q]; ++p) fit[order[p]] = level;
  }
  return static_cast<std::int64_t>(pools.end.size());
}

// Values that tie count as one, their mean; `keep` gives each its difference from that mean back.
template <class T>
std::int64_t tied(const Values<T>& v, const std::uint32_t* order, std::int64_t m, const std::int64_t* ties,
                  std::int64_t n_ties, bool keep, T* fit) {
  std::vector<std::int64_t> end;
  std::vector<double> mean;
  Pools pools;
  for (std::int64_t p = 0, t = 0; p < m;) {
    const bool block = t < n_ties && ties[2 * t] == p;
    const std::int64_t until = block ? ties[2 * t++ + 1] : p + 1;
    double w = 0, ws = 0;
    for (std::int64_t q = p; q < until; ++q) {
      const double one = v.weight(order[q]);
      w += one;
      ws += one * v.value(order[q]);
    }
    end.push_back(until);
    mean.push_back(ws / w);
    pools.add(static_cast<std::int64_t>(end.size()), w, ws);
    p = until;
  }
  std::int64_t p = 0, b = 0;
  for (std::size_t q = 0; q < pools.end.size(); ++q) {
    const double level = pools.sum[q] / pools.weight[q];
    for (; b < pools.end[q]; ++b)
      for (; p < end[static_cast<std::size_t>(b)]; ++p)
        fit[order[p]] =
            static_cast<T>(keep ? std::max(0.0, v.value(order[p]) + level - mean[static_cast<std::size_t>(b)]) : level);
  }
  return static_cast<std::int64_t>(pools.end.size());
}

// fit = monotone regression of y along `order` (which it may sort within ties); returns the number of levels.
// ties: (first, last + 1) of each run of places that tie. approach: 0 primary, 1 secondary, 2 tertiary.
template <class T>
std::int64_t monotone(In1<T> y, In1<T> w, Out1<std::uint32_t> order, In2<std::int64_t> ties, int approach, Out1<T> fit) {
  const std::int64_t n = y.shape(0), m = order.shape(0), n_ties = ties.shape(0);
  if (static_cast<std::int64_t>(fit.shape(0)) != n || (w.shape(0) && static_cast<std::int64_t>(w.shape(0)) != n))
    throw std::invalid_argument("monotone: w and fit must be as long as y");
  for (std::int64_t p = 0; p < m; ++p)
    if (static_cast<std::int64_t>(order(p)) >= n) throw std::invalid_argument("monotone: order must hold places of y");
  for (std::int64_t t = 0; t < n_ties; ++t)
    if (ties(t, 0) < (t ? ties(t - 1, 1) : 0) || ties(t, 1) <= ties(t, 0) || ties(t, 1) > m)
      throw std::invalid_argument("monotone: ties must be increasing runs of places");
  nb::gil_scoped_release free;
  const Values<T> v{y.data(), w.shape(0) ? w.data() : nullptr};
  if (approach == 0) return untied(v, order.data(), m, ties.data(), n_ties, fit.data());
  return tied(v, order.data(), m, ties.data(), n_ties, approach == 2, fit.data());
}

}  // namespace

void bind_monotone(nb::module_& m) {
  using namespace nb::literals;
  const char* about = "Monotone regression of y along an order with ties; the number of levels.";
  m.def("monotone", &monotone<float>, "y"_a.noconvert(), "w"_a.noconvert(), "order"_a.noconvert(), "ties"_a.noconvert(),
        "approach"_a, "fit"_a.noconvert(), about);
  m.def("monotone", &monotone<double>, "y"_a.noconvert(), "w"_a.noconvert(), "order"_a.noconvert(),
        "ties"_a.noconvert(), "approach"_a, "fit"_a.noconvert(), about);
}

}  // namespace lowdim
