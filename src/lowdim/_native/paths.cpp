#include "arrays.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace lowdim {

void bind_paths(nb::module_&) {}

}  // namespace lowdim
