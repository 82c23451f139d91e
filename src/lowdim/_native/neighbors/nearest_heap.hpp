// The nearest so far of one row, and the order in which everything here is near: by value, then by index.
#pragma once

#include <cstdint>
#include <limits>

#include "common/simd.hpp"

namespace lowdim {

constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::max();  // index of a place not filled yet

template <class T>
LOWDIM_INLINE inline bool before(T value, std::int32_t index, T other_value, std::int32_t other_index) {
  return value < other_value || (value == other_value && index < other_index);
}

// The k best so far of one row as a binary heap, worst on top.
template <class T>
struct Best {
  T* values;
  std::int32_t* indices;
  std::int64_t k;

  LOWDIM_INLINE void offer(T value, std::int32_t index) const {
    if (before(value, index, values[0], indices[0])) sink(0, value, index, k);
  }

  // Put (value, index) at place `at` of the first `size` entries, or below it.
  LOWDIM_INLINE void sink(std::int64_t at, T value, std::int32_t index, std::int64_t size) const {
    for (std::int64_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
      const std::int64_t right = child + 1;
      if (right < size && before(values[child], indices[child], values[right], indices[right])) child = right;
      if (!before(value, index, values[child], indices[child])) break;
      values[at] = values[child];
      indices[at] = indices[child];
      at = child;
    }
    values[at] = value;
    indices[at] = index;
  }

  // Any order to a heap, a heap to ascending order.
  LOWDIM_INLINE void heapify() const {
    for (std::int64_t at = k / 2 - 1; at >= 0; --at) sink(at, values[at], indices[at], k);
  }
  LOWDIM_INLINE void sort() const {
    for (std::int64_t last = k - 1; last > 0; --last) {
      const T value = values[last];
      const std::int32_t index = indices[last];
      values[last] = values[0];
      indices[last] = indices[0];
      sink(0, value, index, last);
    }
  }
};

}  // namespace lowdim
