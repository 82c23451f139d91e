// Vectors of 64 bytes, sixteen floats or eight doubles, for loops that are written once for both; and of integers of
// the same sizes, where the compiler has vectors of its own.
//
// The compiler cuts them to the registers there are: the same operations lane by lane, so the same bits, at every
// width. Passed by reference, because how a wide vector is passed by value depends on the registers.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/lane_sums.hpp"
#include "common/simd.hpp"

namespace lowdim {

#ifdef LOWDIM_VECTORS
template <class T>
struct PackOf {
  typedef T type __attribute__((vector_size(64)));
};
#else
template <class T>
struct Lanes64 {
  static constexpr int count = 64 / sizeof(T);
  T lane[count];
  T& operator[](std::int64_t l) { return lane[l]; }
  T operator[](std::int64_t l) const { return lane[l]; }
  template <class F>
  static Lanes64 map(F f) {
    Lanes64 out;
    for (int l = 0; l < count; ++l) out.lane[l] = f(l);
    return out;
  }
#define LOWDIM_LANEWISE(op)                                        \
  friend Lanes64 operator op(const Lanes64& a, const Lanes64& b) { \
    return map([&](int l) { return a.lane[l] op b.lane[l]; });     \
  }                                                                \
  friend Lanes64 operator op(const Lanes64& a, T b) {              \
    return map([&](int l) { return a.lane[l] op b; });             \
  }                                                                \
  friend Lanes64 operator op(T a, const Lanes64& b) {              \
    return map([&](int l) { return a op b.lane[l]; });             \
  }
  LOWDIM_LANEWISE(+)
  LOWDIM_LANEWISE(-)
  LOWDIM_LANEWISE(*)
  LOWDIM_LANEWISE(/)
#undef LOWDIM_LANEWISE
  Lanes64& operator+=(const Lanes64& o) { return *this = *this + o; }
};
template <class T>
struct PackOf {
  using type = Lanes64<T>;
};
#endif

template <class T>
using Pack = typename PackOf<T>::type;
template <class T>
constexpr std::int64_t lanes_of = 64 / static_cast<std::int64_t>(sizeof(T));

template <class T>
LOWDIM_INLINE inline void load_pack(Pack<T>& into, const T* from) {
  std::memcpy(&into, from, sizeof into);
}
template <class T>
LOWDIM_INLINE inline void store_pack(T* into, const Pack<T>& from) {
  std::memcpy(into, &from, sizeof from);
}

template <class T>
LOWDIM_INLINE inline double sum_pack(const Pack<T>& from) {
  T lane[lanes_of<T>];
  store_pack<T>(lane, from);
  return sum_by_halves<static_cast<int>(lanes_of<T>)>(lane);
}

}  // namespace lowdim
