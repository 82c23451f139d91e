#include "common/simd.hpp"

#include <atomic>

namespace lowdim {

namespace {

Width detect() {
#ifdef LOWDIM_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    return Width::avx512;
  if (__builtin_cpu_supports("avx2")) return Width::avx2;
#endif
  return Width::baseline;
}

const Width detected = detect();
std::atomic<bool> baseline_only{false};

}  // namespace

Width width() { return baseline_only.load(std::memory_order_relaxed) ? Width::baseline : detected; }

void force_baseline(bool forced) { baseline_only.store(forced); }

const char* width_name() {
  switch (width()) {
    case Width::avx512: return "avx512";
    case Width::avx2: return "avx2";
    case Width::baseline: break;
  }
  return "baseline";
}

}  // namespace lowdim
