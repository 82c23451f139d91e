// What two rows share: bits, products of cells, or the lesser of two cells.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/simd.hpp"

namespace lowdim {

LOWDIM_INLINE inline std::int64_t count_bits(std::uint64_t word) {
#if defined(__GNUC__)
  return __builtin_popcountll(word);
#else
  word -= (word >> 1) & 0x5555555555555555ULL;
  word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
  return static_cast<std::int64_t>((((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL) >> 56);
#endif
}

LOWDIM_INLINE inline std::int64_t shared_bits(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words) {
  std::int64_t even = 0, odd = 0, w = 0;
  for (; w + 2 <= words; w += 2) even += count_bits(a[w] & b[w]), odd += count_bits(a[w + 1] & b[w + 1]);
  if (w < words) even += count_bits(a[w] & b[w]);
  return even + odd;
}

struct Product {
  template <class T>
  LOWDIM_INLINE static T of(T a, T b) {
    return a * b;
  }
};

// The lesser of two cells; of two signs, that of the sizes where both cells are on the same side of 0, else nothing. So
// |a - b| = |a| + |b| - 2 overlap.
struct Overlap {
  template <class T>
  LOWDIM_INLINE static T of(T a, T b) {
    return std::max(T(0), std::min(a, b)) - std::min(T(0), std::max(a, b));
  }
};

}  // namespace lowdim
