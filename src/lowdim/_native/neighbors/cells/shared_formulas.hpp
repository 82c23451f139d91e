// Distances between two rows from what they share: a of the row sums u and v, in d columns.
//
// Of True and False: a columns are True in both. Of numbers: their product, or the sum of the lesser cells.
#pragma once

#include <stdexcept>
#include <string_view>

#include "common/simd.hpp"

namespace lowdim {

template <class T>
LOWDIM_INLINE inline T ratio_or_zero(T part, T whole) {
  return part > 0 && whole > 0 ? part / whole : T(0);
}

// What only one of the two rows has; never negative, whatever rounding does.
template <class T>
LOWDIM_INLINE inline T unshared(T a, T u, T v) {
  const T rest = (u + v) - 2 * a;
  return rest > 0 ? rest : T(0);
}

struct Difference {
  template <class T>
  LOWDIM_INLINE static T of(T a, T u, T v, T) {
    return unshared(a, u, v);
  }
};
struct Hamming {
  template <class T>
  LOWDIM_INLINE static T of(T a, T u, T v, T d) {
    return unshared(a, u, v) / d;
  }
};
struct Dice {
  template <class T>
  LOWDIM_INLINE static T of(T a, T u, T v, T) {
    return ratio_or_zero(unshared(a, u, v), u + v);
  }
};
struct Jaccard {
  template <class T>
  LOWDIM_INLINE static T of(T a, T u, T v, T) {
    return ratio_or_zero(unshared(a, u, v), (u + v) - a);
  }
};
struct RogersTanimoto {
  template <class T>
  LOWDIM_INLINE static T of(T a, T u, T v, T d) {
    const T rest = unshared(a, u, v);
    return 2 * rest / (d + rest);
  }
};
struct RussellRao {
  template <class T>
  LOWDIM_INLINE static T of(T a, T u, T v, T d) {
    return u + v > 0 ? (d - a) / d : T(0);  // two rows without a single True are equal
  }
};
struct SokalSneath {
  template <class T>
  LOWDIM_INLINE static T of(T a, T u, T v, T) {
    const T rest = 2 * unshared(a, u, v);
    return ratio_or_zero(rest, a + rest);
  }
};
struct Yule {
  template <class T>
  LOWDIM_INLINE static T of(T a, T u, T v, T d) {
    const T apart = (u - a) * (v - a);
    return ratio_or_zero(2 * apart, a * ((d - u) - (v - a)) + apart);
  }
};

// Calls body(formula) for the formula of that name: chosen once, outside of the loops.
template <class Body>
void with_formula(std::string_view name, const Body& body) {
  if (name == "difference") return body(Difference{});
  if (name == "hamming") return body(Hamming{});
  if (name == "dice" || name == "braycurtis") return body(Dice{});
  if (name == "jaccard" || name == "ruzicka") return body(Jaccard{});
  if (name == "rogerstanimoto") return body(RogersTanimoto{});
  if (name == "russellrao") return body(RussellRao{});
  if (name == "sokalsneath") return body(SokalSneath{});
  if (name == "yule") return body(Yule{});
  throw std::invalid_argument("no such formula");
}

}  // namespace lowdim
