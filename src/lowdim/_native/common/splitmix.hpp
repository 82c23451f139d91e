// Random numbers that are functions of what they are for: the same for any order and number of threads.
#pragma once

#include <cstdint>

namespace lowdim {

// The finaliser of splitmix64 (Steele, Lea & Flood, 2014).
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9e3779b97f4a7c15ULL * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace lowdim
