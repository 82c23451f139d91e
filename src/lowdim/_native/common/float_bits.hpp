// A floating-point number as the unsigned integer of its bits, and back.
//
// Without the sign bit the integers order as the numbers do, infinity above all of them and NaN above infinity.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/simd.hpp"

namespace lowdim {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
LOWDIM_INLINE inline Bits<T> bits_of(T x) {
  Bits<T> bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

template <class T>
LOWDIM_INLINE inline T from_bits(Bits<T> bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace lowdim
