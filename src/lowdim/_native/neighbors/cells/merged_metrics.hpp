// Metrics of two sparse rows whose columns are gone through together, each column in which either has a cell.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "common/exp_log.hpp"

namespace lowdim {

// A metric: what a column with the cells a and b adds to the sum, and what becomes of the sum, where `rest` columns
// have a cell in neither row. `shift`: by how much the origins of the two rows are apart.
struct MergedMetric {
  template <class T>
  static T value(T sum, T, T, T) {
    return sum;
  }
};

struct MergedChebyshev : MergedMetric {
  template <class T>
  LOWDIM_INLINE static void add(T& sum, T a, T b, T) {
    const T gap = std::fabs(a - b);
    sum = gap > sum ? gap : sum;
  }
};

struct MergedCanberra : MergedMetric {
  template <class T>
  LOWDIM_INLINE static void add(T& sum, T a, T b, T) {
    const T all = std::fabs(a) + std::fabs(b);
    sum += all > 0 ? std::fabs(a - b) / all : T(0);
  }
};

struct MergedHamming : MergedMetric {
  template <class T>
  LOWDIM_INLINE static void add(T& sum, T a, T b, T) {
    sum += a != b ? T(1) : T(0);
  }
  template <class T>
  static T value(T sum, T, T, T d) {
    return sum / d;
  }
};

struct MergedMinkowski : MergedMetric {
  double p;
  explicit MergedMinkowski(double p_) : p(p_) {}
  template <class T>
  LOWDIM_INLINE void add(T& sum, T a, T b, T) const {
    const T gap = std::fabs(a - b);
    sum += p == 3.0 ? gap * gap * gap : std::pow(gap, static_cast<T>(p));
  }
  template <class T>
  T value(T sum, T, T, T) const {
    return std::pow(sum, static_cast<T>(1.0 / p));
  }
};

// Of shares.
struct MergedJensenShannon : MergedMetric {
  template <class T>
  LOWDIM_INLINE static void add(T& sum, T a, T b, T) {
    const double x = static_cast<double>(a), y = static_cast<double>(b), all = x + y;
    const double left = x > 0 ? x * log_positive(2.0 * x / all) : 0.0;
    const double right = y > 0 ? y * log_positive(2.0 * y / all) : 0.0;
    sum += static_cast<T>(left + right);
  }
  template <class T>
  static T value(T sum, T, T, T) {
    return std::sqrt(sum > 0 ? sum / 2 : T(0));
  }
};

// Half the squared chord of rows that are centred and of length 1: their cells less their origins.
struct MergedCorrelation : MergedMetric {
  template <class T>
  LOWDIM_INLINE static void add(T& sum, T a, T b, T shift) {
    const T gap = (a - b) - shift;
    sum += gap * gap;
  }
  template <class T>
  static T value(T sum, T rest, T shift, T) {
    const T half = (sum + rest * (shift * shift)) / 2;
    return half < 2 ? half : T(2);
  }
};

// Calls body(metric) for the metric of that name: chosen once, outside of the loops.
template <class Body>
void with_merged_metric(std::string_view name, double p, const Body& body) {
  if (name == "chebyshev") return body(MergedChebyshev{});
  if (name == "canberra") return body(MergedCanberra{});
  if (name == "hamming") return body(MergedHamming{});
  if (name == "jensenshannon") return body(MergedJensenShannon{});
  if (name == "correlation") return body(MergedCorrelation{});
  if (name == "minkowski" && p > 0) return body(MergedMinkowski(p));
  throw std::invalid_argument("no such metric");
}

// Compressed sparse rows, and the origin of each.
template <class T>
struct OriginRows {
  const T* cells;
  const std::int32_t* columns;
  const std::int64_t* starts;
  const T* origins;
};

// The distance of row i of x to row j of y in d columns. Columns are gone through in their order, so that a pair has
// the same bits either way round.
template <class T, class Metric>
LOWDIM_INLINE inline T merged_pair(const Metric& metric, const OriginRows<T>& x, std::int64_t i, const OriginRows<T>& y,
                                   std::int64_t j, std::int64_t d) {
  std::int64_t s = x.starts[i], t = y.starts[j], either = 0;
  const std::int64_t s_end = x.starts[i + 1], t_end = y.starts[j + 1];
  const T shift = x.origins[i] - y.origins[j];
  T sum = 0;
  for (; s < s_end && t < t_end; ++either) {
    const std::int32_t left = x.columns[s], right = y.columns[t];
    const T a = left <= right ? x.cells[s] : T(0), b = right <= left ? y.cells[t] : T(0);
    metric.add(sum, a, b, shift);
    s += left <= right;
    t += right <= left;
  }
  either += (s_end - s) + (t_end - t);
  for (; s < s_end; ++s) metric.add(sum, x.cells[s], T(0), shift);
  for (; t < t_end; ++t) metric.add(sum, T(0), y.cells[t], shift);
  return metric.value(sum, static_cast<T>(d - either), shift, static_cast<T>(d));
}

}  // namespace lowdim
