// What a metric adds to its sum for sixteen coordinates of two rows of float32, and what becomes of the sum.
//
// Values only have to be ordered like the distances, and not negative; coordinates that are 0 in both rows add nothing.
#pragma once

#include <algorithm>

#include "common/pack_math.hpp"

namespace lowdim {

struct Sum {
  LOWDIM_INLINE static float of(float x, float y) { return x + y; }
  LOWDIM_INLINE static void into(FloatPack& x, const FloatPack& y) { x += y; }
};
struct Largest {
  LOWDIM_INLINE static float of(float x, float y) { return x > y ? x : y; }
  LOWDIM_INLINE static void into(FloatPack& x, const FloatPack& y) { larger_pack(x, y); }
};

// `heavy`: a term needs so many registers that sixteen sums beside it do not stay in them.
template <class JoinOf, bool is_heavy = false>
struct FloatMetric {
  using Join = JoinOf;
  static constexpr bool heavy = is_heavy;
  // `both`: the sum of the two rows' own sums.
  LOWDIM_INLINE static float value(float sum, float both) { return (void)both, sum; }
};

struct Squares : FloatMetric<Sum> {
  LOWDIM_INLINE static void add(FloatPack& sum, const FloatPack& a, const FloatPack& b) {
    const FloatPack gap = a - b;
    sum += gap * gap;
  }
};

struct Manhattan : FloatMetric<Sum> {
  LOWDIM_INLINE static void add(FloatPack& sum, const FloatPack& a, const FloatPack& b) {
    FloatPack gap = a - b;
    abs_pack(gap);
    sum += gap;
  }
};

struct Chebyshev : FloatMetric<Largest> {
  LOWDIM_INLINE static void add(FloatPack& sum, const FloatPack& a, const FloatPack& b) {
    FloatPack gap = a - b;
    abs_pack(gap);
    larger_pack(sum, gap);
  }
};

struct Differing : FloatMetric<Sum> {
  LOWDIM_INLINE static void add(FloatPack& sum, const FloatPack& a, const FloatPack& b) {
    FloatPack gap = a;
    differ_pack(gap, b);
    sum += gap;
  }
};

// Bray-Curtis: |a - b| summed over a + b summed. The count form of Tanimoto's distance, one less the sum of the lesser
// cells over that of the greater, orders pairs alike.
struct BrayCurtis : Manhattan {
  LOWDIM_INLINE static float value(float sum, float both) { return both > 0 ? sum / both : 0.0f; }
};

struct Canberra : FloatMetric<Sum, true> {
  LOWDIM_INLINE static void add(FloatPack& sum, const FloatPack& a, const FloatPack& b) {
    FloatPack gap = a - b, all = a, other = b;
    abs_pack(gap), abs_pack(all), abs_pack(other);
    all += other;
    sum += gap / (all + 1e-37f);  // 0 where both are 0
  }
};

// Of shares: half the square of Jensen-Shannon's distance.
struct JensenShannon : FloatMetric<Sum, true> {
  LOWDIM_INLINE static void add(FloatPack& sum, const FloatPack& a, const FloatPack& b) {
    const FloatPack both = a + b + 1e-30f;
    FloatPack left = (a + a) / both + 1e-30f, right = (b + b) / both + 1e-30f;  // 1 where they are equal
    log_pack(left), log_pack(right);
    sum += a * left + b * right;
  }
  LOWDIM_INLINE static float value(float sum, float) { return std::max(sum, 0.0f); }
};

struct Cubes : FloatMetric<Sum> {
  LOWDIM_INLINE static void add(FloatPack& sum, const FloatPack& a, const FloatPack& b) {
    FloatPack gap = a - b;
    abs_pack(gap);
    sum += gap * gap * gap;
  }
};

struct Powers : FloatMetric<Sum, true> {
  float p;
  explicit Powers(float p_) : p(p_) {}
  LOWDIM_INLINE void add(FloatPack& sum, const FloatPack& a, const FloatPack& b) const {
    FloatPack gap = a - b;
    abs_pack(gap);
    gap = gap + 1e-37f;
    log_pack(gap);
    gap = gap * p;
    exp_pack(gap);
    sum += gap;
  }
};

}  // namespace lowdim
