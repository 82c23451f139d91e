#include "arrays.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace lowdim {

void bind_neighbors(nb::module_&) {}

}  // namespace lowdim
