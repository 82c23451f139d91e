// The running k smallest values of every row of a table that comes in blocks of columns.
#include <algorithm>
#include <limits>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/simd.hpp"
#include "neighbors/nearest_heap.hpp"

namespace lowdim {

namespace {

constexpr std::int64_t group = 64;  // values looked at with one branch

// `half` null: the block holds the values. Else it holds products x.y, `half` holds |y|^2 / 2, and the value is
// |y|^2 / 2 - x.y: half the squared distance up to a term that is the same for the whole row.
template <class T, bool products>
LOWDIM_INLINE inline T block_value(const T* block, const T* half, std::int64_t j) {
  return products ? half[j] - block[j] : block[j];
}

// A first limit for an empty heap. The smallest value of each of `sieve` interleaved parts: at least k + 1 columns
// are not above the (k + 1)-th smallest of these, and at most one of them is to be skipped. Filling the heap without it
// costs more than a matrix product over 50 coordinates.
constexpr std::int64_t sieve = 256;

template <class T, bool products>
LOWDIM_INLINE inline void prime(const T* block, const T* half, std::int64_t n, const Best<T>& best) {
  if (best.indices[0] != nobody || 2 * (best.k + 1) > sieve || n < 4 * sieve) return;
  T smallest[sieve];
  for (T& value : smallest) value = std::numeric_limits<T>::infinity();
  for (std::int64_t start = 0; start + sieve <= n; start += sieve)
    for (std::int64_t l = 0; l < sieve; ++l) {
      const T value = block_value<T, products>(block, half, start + l);
      smallest[l] = value < smallest[l] ? value : smallest[l];
    }
  std::nth_element(smallest, smallest + best.k, smallest + sieve);
  const T limit = smallest[best.k];
  for (std::int64_t c = 0; c < best.k; ++c)
    if (limit < best.values[c]) best.values[c] = limit;
}

template <class T, bool products>
LOWDIM_INLINE inline void offer_row(const T* block, const T* half, std::int64_t n, std::int32_t offset,
                                    std::int32_t skip, const Best<T>& best) {
  auto offer = [&](std::int64_t j) LOWDIM_INLINE {
    const std::int32_t index = offset + static_cast<std::int32_t>(j);
    if (index != skip) best.offer(block_value<T, products>(block, half, j), index);
  };
  prime<T, products>(block, half, n, best);
  std::int64_t j = 0;
  for (; j + group <= n; j += group) {
    const T limit = best.values[0];
    int hits = 0;
    for (std::int64_t l = j; l < j + group; ++l) hits |= block_value<T, products>(block, half, l) <= limit;
    if (hits == 0) continue;
    for (std::int64_t l = j; l < j + group; ++l) offer(l);
  }
  for (; j < n; ++j) offer(j);
}

template <class T, bool products>
void offer_block(const In2<T>& block, const T* half, std::int32_t offset, const In1<std::int32_t>& skip,
                 const Out2<T>& values, const Out2<std::int32_t>& indices) {
  const std::int64_t n = n_columns(block), k = n_columns(values);
  require(n_rows(skip) == n_rows(block) && n_rows(values) == n_rows(block) && k > 0 && same_shape(indices, values));
  require(offset >= 0 && offset + n <= most_numbered);  // the largest number is nobody's
  dispatch([&]() LOWDIM_INLINE {
    for (std::int64_t i = 0; i < n_rows(block); ++i) {
      const Best<T> best{values.data() + i * k, indices.data() + i * k, k};
      offer_row<T, products>(block.data() + i * n, half, n, offset, skip.data()[i], best);
    }
  });
}

template <class T>
void top_distances(In2<T> block, std::int32_t offset, In1<std::int32_t> skip, Out2<T> values,
                   Out2<std::int32_t> indices) {
  offer_block<T, false>(block, nullptr, offset, skip, values, indices);
}

template <class T>
void top_products(In2<T> block, In1<T> half, std::int32_t offset, In1<std::int32_t> skip, Out2<T> values,
                  Out2<std::int32_t> indices) {
  require(n_rows(half) == n_columns(block));
  offer_block<T, true>(block, half.data(), offset, skip, values, indices);
}

template <class T>
void sort_top(Out2<T> values, Out2<std::int32_t> indices) {
  const std::int64_t k = n_columns(values);
  require(same_shape(indices, values));
  for (std::int64_t i = 0; i < n_rows(values); ++i) Best<T>{values.data() + i * k, indices.data() + i * k, k}.sort();
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  const auto no_gil = nb::call_guard<WithoutGil>();
  m.def("top_distances", &top_distances<T>, "block"_a.noconvert(), "offset"_a, "skip"_a.noconvert(),
        "values"_a.noconvert(), "indices"_a.noconvert(), no_gil,
        "Offer a block of distances (columns offset, offset + 1, ...) to the heaps of its rows' smallest values.");
  m.def("top_products", &top_products<T>, "block"_a.noconvert(), "half"_a.noconvert(), "offset"_a, "skip"_a.noconvert(),
        "values"_a.noconvert(), "indices"_a.noconvert(), no_gil, "The same for values half[j] - block[i, j].");
  m.def("sort_top", &sort_top<T>, "values"_a.noconvert(), "indices"_a.noconvert(), no_gil,
        "Sort the heaps, smallest first.");
}

}  // namespace

void bind_top_k(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace lowdim
