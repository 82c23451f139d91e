// The array types of the kernels' signatures, their sizes, and the check that they fit together.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "common/gil.hpp"

namespace lowdim {

namespace nb = nanobind;

template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Sizes are signed here, as all indices are.
template <class Array>
std::int64_t n_rows(const Array& array) {
  return static_cast<std::int64_t>(array.shape(0));
}
template <class Array>
std::int64_t n_columns(const Array& array) {
  return static_cast<std::int64_t>(array.shape(1));
}

template <class Array>
bool has_shape(const Array& array, std::int64_t rows) {
  return n_rows(array) == rows;
}
template <class Array>
bool has_shape(const Array& array, std::int64_t rows, std::int64_t columns) {
  return n_rows(array) == rows && n_columns(array) == columns;
}
template <class One, class Other>
bool same_shape(const One& one, const Other& other) {
  return has_shape(one, n_rows(other), n_columns(other));
}

// Whether all of them number one of n rows. Negative numbers count as large ones, so that one comparison does.
inline bool all_below(const std::int32_t* numbers, std::int64_t count, std::int64_t n) {
  std::uint32_t most = 0;
  for (std::int64_t e = 0; e < count; ++e) most = std::max(most, static_cast<std::uint32_t>(numbers[e]));
  return count == 0 || most < n;
}
template <class Array>
bool all_below(const Array& numbers, std::int64_t n) {
  return all_below(numbers.data(), static_cast<std::int64_t>(numbers.size()), n);
}

// Whether they are the borders of runs of `count` entries, one after the other.
inline bool are_borders(const std::int64_t* starts, std::int64_t runs, std::int64_t count) {
  if (starts[0] != 0 || starts[runs] != count) return false;
  for (std::int64_t i = 0; i < runs; ++i)
    if (starts[i] > starts[i + 1]) return false;
  return true;
}
template <class Array>
bool are_borders(const Array& starts, std::int64_t count) {
  return n_rows(starts) > 0 && are_borders(starts.data(), n_rows(starts) - 1, count);
}

constexpr std::int64_t most_numbered = std::numeric_limits<std::int32_t>::max();  // rows that 32 bits can number

// For kernels whose callers have checked what a user handed over: what fails here is a mistake inside the package.
inline void require(bool fits) {
  if (!fits) throw std::invalid_argument("the arrays do not fit together");
}

}  // namespace lowdim
