// One look at every cell of a table.
#include <cstring>
#include <type_traits>

#include "arrays.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace lowdim {

namespace {

// Without its sign bit a float orders like the unsigned integer of its bits, and NaN lies above infinity: the largest
// integer is the largest magnitude, or tells of a cell that is none.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
LOWDIM_INLINE inline Bits<T> largest_bits(const T* x, std::int64_t n) {
  constexpr int lanes = 64;
  constexpr Bits<T> magnitude = static_cast<Bits<T>>(~Bits<T>{0}) >> 1;
  Bits<T> most[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) {
      Bits<T> b;
      std::memcpy(&b, x + i + l, sizeof(T));
      b &= magnitude;
      most[l] = most[l] > b ? most[l] : b;
    }
  for (; i < n; ++i) {
    Bits<T> b;
    std::memcpy(&b, x + i, sizeof(T));
    most[0] = std::max(most[0], static_cast<Bits<T>>(b & magnitude));
  }
  for (int l = 1; l < lanes; ++l) most[0] = std::max(most[0], most[l]);
  return most[0];
}

template <class T>
double largest(In1<T> x, int n_threads) {
  const std::int64_t n = static_cast<std::int64_t>(x.shape(0)), chunk = std::int64_t{1} << 18;
  std::atomic<Bits<T>> most{0};
  {
    nb::gil_scoped_release release;
    parallel_for(n, chunk, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      Bits<T> here = 0;
      dispatch([&]() LOWDIM_INLINE { here = largest_bits(x.data() + begin, end - begin); });
      Bits<T> seen = most.load();
      while (seen < here && !most.compare_exchange_weak(seen, here)) {
      }
    });
  }
  const Bits<T> bits = most.load();
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

void bind_cells(nb::module_& m) {
  using namespace nb::literals;
  const char* about = "The largest magnitude; NaN where there is any.";
  m.def("largest", &largest<float>, "x"_a.noconvert(), "n_threads"_a, about);
  m.def("largest", &largest<double>, "x"_a.noconvert(), "n_threads"_a, about);
}

}  // namespace lowdim
