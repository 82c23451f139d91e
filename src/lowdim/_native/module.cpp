#include <atomic>

#include "arrays.hpp"
#include "parallel.hpp"
#include "simd.hpp"

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

const char* width_name() {
  switch (width()) {
    case Width::avx512: return "avx512";
    case Width::avx2: return "avx2";
    case Width::baseline: break;
  }
  return "baseline";
}

}  // namespace

Width width() { return baseline_only.load(std::memory_order_relaxed) ? Width::baseline : detected; }
void force_baseline(bool forced) { baseline_only.store(forced); }

void bind_cells(nb::module_& m);
void bind_curve(nb::module_& m);
void bind_segments(nb::module_& m);
void bind_decay(nb::module_& m);
void bind_descent(nb::module_& m);
void bind_expected(nb::module_& m);
void bind_flow(nb::module_& m);
void bind_grid(nb::module_& m);
void bind_ica(nb::module_& m);
void bind_incomplete(nb::module_& m);
void bind_local(nb::module_& m);
void bind_loops(nb::module_& m);
void bind_monotone(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_paths(nb::module_& m);
void bind_placing(nb::module_& m);
void bind_ranks(nb::module_& m);
void bind_stress(nb::module_& m);
void bind_tsne(nb::module_& m);
void bind_umap(nb::module_& m);

}  // namespace lowdim

NB_MODULE(_native, m) {
  m.doc() = "Compiled loops of lowdim: arrays in, arrays out.";
  nanobind::set_leak_warnings(false);
  nanobind::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const lowdim::Interrupted&) {
      // PyErr_CheckSignals has set KeyboardInterrupt already.
    }
  });
  m.def("simd_width", &lowdim::width_name, "Name of the vector width in use.");
  m.def("force_baseline", &lowdim::force_baseline, nanobind::arg("forced"),
        "Use only baseline instructions from now on (for tests).");
  lowdim::bind_cells(m);
  lowdim::bind_curve(m);
  lowdim::bind_segments(m);
  lowdim::bind_decay(m);
  lowdim::bind_descent(m);
  lowdim::bind_expected(m);
  lowdim::bind_flow(m);
  lowdim::bind_grid(m);
  lowdim::bind_ica(m);
  lowdim::bind_incomplete(m);
  lowdim::bind_local(m);
  lowdim::bind_loops(m);
  lowdim::bind_monotone(m);
  lowdim::bind_neighbors(m);
  lowdim::bind_paths(m);
  lowdim::bind_placing(m);
  lowdim::bind_ranks(m);
  lowdim::bind_stress(m);
  lowdim::bind_tsne(m);
  lowdim::bind_umap(m);
}
