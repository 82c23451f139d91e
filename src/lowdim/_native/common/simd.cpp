#include "common/simd.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

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

// LOWDIM_SIMD_WIDTH: no wider than that, for tests of each width on a machine that has all of them.
Width allowed() {
  const char* name = std::getenv("LOWDIM_SIMD_WIDTH");
  if (name != nullptr && std::strcmp(name, "baseline") == 0) return Width::baseline;
  if (name != nullptr && std::strcmp(name, "avx2") == 0) return Width::avx2;
  return Width::avx512;
}

const Width detected = std::min(detect(), allowed());
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
