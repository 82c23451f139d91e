// Distances between rows of float32, sixteen pairs at a time, under any metric of float_metrics.hpp.
//
// Rows are padded with zeros to whole vectors of sixteen coordinates. A pair's value is the sum over those vectors lane
// by lane, folded in halves (8, 4, 2, 1): the same operations in the same order wherever the pair stands among the
// sixteen, for (a, b) as for (b, a), and at every vector width. Differences, not norms and products: nothing cancels.
#pragma once

#include <cstdint>
#include <cstring>

#include "neighbors/float_metrics.hpp"

namespace lowdim {

// Asks for a row that is needed soon.
LOWDIM_INLINE inline void prefetch(const float* row, std::int64_t width) {
#ifdef LOWDIM_VECTORS
  for (std::int64_t c = 0; c < width; c += float_lanes) __builtin_prefetch(row + c);
#else
  (void)row, (void)width;
#endif
}

template <class Join = Sum>
LOWDIM_INLINE inline float fold(const FloatPack& s) {
  const auto join = [](float x, float y) LOWDIM_INLINE { return Join::of(x, y); };
  const float a = join(join(s[0], s[8]), join(s[4], s[12])), b = join(join(s[1], s[9]), join(s[5], s[13]));
  const float c = join(join(s[2], s[10]), join(s[6], s[14])), d = join(join(s[3], s[11]), join(s[7], s[15]));
  return join(join(a, c), join(b, d));
}

// out[p] = fold(sums[p]) for sixteen sums at once.
#ifdef LOWDIM_SHUFFLES
template <class Join>
LOWDIM_INLINE inline void fold_all(const FloatPack* sums, float* out) {
  FloatPack h[8], q[4], e[2];
  for (int p = 0; p < 8; ++p) {
    const FloatPack &a = sums[2 * p], &b = sums[2 * p + 1];
    h[p] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    Join::into(h[p], __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31));
  }
  for (int p = 0; p < 4; ++p) {
    const FloatPack &a = h[2 * p], &b = h[2 * p + 1];
    q[p] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
    Join::into(q[p], __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31));
  }
  for (int p = 0; p < 2; ++p) {
    const FloatPack &a = q[2 * p], &b = q[2 * p + 1];
    e[p] = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29);
    Join::into(e[p], __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31));
  }
  FloatPack all = __builtin_shufflevector(e[0], e[1], 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  Join::into(all, __builtin_shufflevector(e[0], e[1], 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31));
  std::memcpy(out, &all, sizeof all);
}
#else
template <class Join>
LOWDIM_INLINE inline void fold_all(const FloatPack* sums, float* out) {
  for (std::int64_t p = 0; p < float_lanes; ++p) out[p] = fold<Join>(sums[p]);
}
#endif

template <class Metric>
LOWDIM_INLINE inline void add_term(const Metric& metric, FloatPack& sum, const FloatPack& a, const float* b) {
  FloatPack other;
  load_pack<float>(other, b);
  metric.add(sum, a, other);
}

// sums[j] += the terms of row `a` against rows b[0..15]: sixteen sums in registers where there are 32 of them.
template <class Metric>
LOWDIM_INLINE inline void sums_16(const Metric& m, const float* a, const float* const* b, std::int64_t width,
                                  FloatPack* sums) {
  FloatPack s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{}, s8{}, s9{}, s10{}, s11{}, s12{}, s13{}, s14{}, s15{};
  for (std::int64_t c = 0; c < width; c += float_lanes) {
    FloatPack u;
    load_pack<float>(u, a + c);
    add_term(m, s0, u, b[0] + c), add_term(m, s1, u, b[1] + c), add_term(m, s2, u, b[2] + c);
    add_term(m, s3, u, b[3] + c), add_term(m, s4, u, b[4] + c), add_term(m, s5, u, b[5] + c);
    add_term(m, s6, u, b[6] + c), add_term(m, s7, u, b[7] + c), add_term(m, s8, u, b[8] + c);
    add_term(m, s9, u, b[9] + c), add_term(m, s10, u, b[10] + c), add_term(m, s11, u, b[11] + c);
    add_term(m, s12, u, b[12] + c), add_term(m, s13, u, b[13] + c), add_term(m, s14, u, b[14] + c);
    add_term(m, s15, u, b[15] + c);
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3, sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;
  sums[8] = s8, sums[9] = s9, sums[10] = s10, sums[11] = s11, sums[12] = s12, sums[13] = s13, sums[14] = s14;
  sums[15] = s15;
}

// The same for rows b[0..3]: what sixteen narrow registers hold.
template <class Metric>
LOWDIM_INLINE inline void sums_4(const Metric& m, const float* a, const float* const* b, std::int64_t width,
                                 FloatPack* sums) {
  FloatPack s0{}, s1{}, s2{}, s3{};
  for (std::int64_t c = 0; c < width; c += float_lanes) {
    FloatPack u;
    load_pack<float>(u, a + c);
    add_term(m, s0, u, b[0] + c), add_term(m, s1, u, b[1] + c);
    add_term(m, s2, u, b[2] + c), add_term(m, s3, u, b[3] + c);
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

// out[j] = the terms of a and b[j], joined, for sixteen rows.
template <class Metric>
LOWDIM_INLINE inline void one_to_many(const Metric& metric, const float* a, const float* const* b, std::int64_t width,
                                      bool wide, float* out) {
  FloatPack sums[float_lanes];
  if (wide && !Metric::heavy)
    sums_16(metric, a, b, width, sums);
  else
    for (std::int64_t j = 0; j < float_lanes; j += 4) sums_4(metric, a, b + j, width, sums + j);
  fold_all<typename Metric::Join>(sums, out);
}

LOWDIM_INLINE inline void add_square(FloatPack& sum, const FloatPack& a, const float* b) {
  add_term(Squares{}, sum, a, b);
}

// The squared distance of one pair of any width, or anything above `limit` once that is certain. Not the bits of
// `one_to_many`: it sums in four strands.
LOWDIM_INLINE inline float one_pair(const float* a, const float* b, std::int64_t width, float limit) {
  constexpr std::int64_t stride = 4 * float_lanes, segment = 4 * stride;
  FloatPack s{}, s1{}, s2{}, s3{}, u;
  std::int64_t c = 0;
  for (; c + stride <= width; c += stride) {
    load_pack<float>(u, a + c);
    add_square(s, u, b + c);
    load_pack<float>(u, a + c + float_lanes);
    add_square(s1, u, b + c + float_lanes);
    load_pack<float>(u, a + c + 2 * float_lanes);
    add_square(s2, u, b + c + 2 * float_lanes);
    load_pack<float>(u, a + c + 3 * float_lanes);
    add_square(s3, u, b + c + 3 * float_lanes);
    if (c % segment != segment - stride) continue;
    FloatPack so_far = s;
    so_far += s1, so_far += s2, so_far += s3;
    const float bound = fold(so_far);
    if (bound > limit) return bound;
  }
  for (; c + float_lanes <= width; c += float_lanes) {
    load_pack<float>(u, a + c);
    add_square(s, u, b + c);
  }
  if (c < width) {
    float left[float_lanes] = {}, right[float_lanes] = {};
    std::memcpy(left, a + c, static_cast<std::size_t>(width - c) * sizeof(float));
    std::memcpy(right, b + c, static_cast<std::size_t>(width - c) * sizeof(float));
    load_pack<float>(u, left);
    add_square(s, u, right);
  }
  s += s1, s += s2, s += s3;
  return fold(s);
}

}  // namespace lowdim
