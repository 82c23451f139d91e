#include "arrays.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace lowdim {

void bind_ranks(nb::module_&) {}

}  // namespace lowdim
