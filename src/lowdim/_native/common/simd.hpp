// Runtime choice of vector width. A loop is written once, as a lambda marked LOWDIM_INLINE; `dispatch` compiles it
// for the baseline and for wider registers and picks at run time. Contraction is off and sums use explicit
// lanes, so every width gives the same bits; `force_baseline` lets a test see that.
#pragma once

#if defined(__GNUC__) && defined(__x86_64__)
#define LOWDIM_X86 1
#endif

// What GCC and Clang have beyond C++: vector types, and shuffles of them. LOWDIM_PORTABLE: without, as other compilers.
#if defined(__GNUC__) && !defined(LOWDIM_PORTABLE)
#define LOWDIM_VECTORS 1
#if defined(__clang__) || __GNUC__ >= 12
#define LOWDIM_SHUFFLES 1
#endif
#endif
#if defined(__GNUC__)
#define LOWDIM_INLINE __attribute__((always_inline))
#else
#define LOWDIM_INLINE
#endif

// For arrays that never overlap, which the compiler cannot know.
#if defined(_MSC_VER)
#define LOWDIM_RESTRICT __restrict
#else
#define LOWDIM_RESTRICT __restrict__
#endif

namespace lowdim {

enum class Width { baseline = 0, avx2 = 1, avx512 = 2 };

Width width();  // the width in use
const char* width_name();
void force_baseline(bool forced);

#ifdef LOWDIM_X86
// Both compilers would stay at half of the width where they may choose; each is told in its own words.
#if defined(__clang__)
#define LOWDIM_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw"), min_vector_width(512)))
#else
#define LOWDIM_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")))
#endif

template <class Body>
__attribute__((target("avx2"), noinline)) void run_avx2(const Body& body) {
  body();
}
template <class Body>
LOWDIM_AVX512 __attribute__((noinline)) void run_avx512(const Body& body) {
  body();
}
#endif

template <class Body>
void dispatch(const Body& body) {
#ifdef LOWDIM_X86
  switch (width()) {
    case Width::avx512: return run_avx512(body);
    case Width::avx2: return run_avx2(body);
    case Width::baseline: break;
  }
#endif
  body();
}

}  // namespace lowdim
