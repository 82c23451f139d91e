// Sums over lanes that were added up side by side: always in the same order, so the same bits at every vector width.
#pragma once

#include "common/simd.hpp"

namespace lowdim {

template <int n, class T>
LOWDIM_INLINE inline double sum_in_order(const T* lane) {
  double sum = 0;
  for (int l = 0; l < n; ++l) sum += static_cast<double>(lane[l]);
  return sum;
}

// Halves onto halves: no addition waits for the one before it.
template <int n, class T>
LOWDIM_INLINE inline double sum_by_halves(const T* lane) {
  double sum[n];
  for (int l = 0; l < n; ++l) sum[l] = static_cast<double>(lane[l]);
  for (int half = n / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) sum[l] += sum[l + half];
  return sum[0];
}

}  // namespace lowdim
