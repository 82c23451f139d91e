// The edges of a graph as rows of a compressed sparse matrix, and the check that they are that.
#pragma once

#include "common/arrays.hpp"

namespace lowdim {

// Those of row i are starts[i] .. starts[i + 1] - 1; each leads to one of n rows.
inline void require_edges(const In1<std::int64_t>& starts, const In1<std::int32_t>& ends, std::int64_t n) {
  require(n_rows(starts) == n + 1 && starts.data()[0] >= 0 && starts.data()[n] <= n_rows(ends));
  for (std::int64_t i = 0; i < n; ++i) require(starts.data()[i] <= starts.data()[i + 1]);
  require(all_below(ends, n));
}

}  // namespace lowdim
