// The Python module: every kernel binds itself in the file that holds it.
#include "bindings.hpp"
#include "common/gil.hpp"
#include "common/simd.hpp"

NB_MODULE(_native, m) {
  m.doc() = "Compiled loops of lowdim: arrays in, arrays out.";
  nanobind::set_leak_warnings(false);
  lowdim::find_main_thread();
  nanobind::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const lowdim::Interrupted&) {
      if (!PyErr_Occurred()) PyErr_SetNone(PyExc_SystemExit);  // else PyErr_CheckSignals has set KeyboardInterrupt
    }
  });
  m.def("simd_width", &lowdim::width_name, "Name of the vector width in use.");
  m.def("force_baseline", &lowdim::force_baseline, nanobind::arg("forced"),
        "Use only baseline instructions from now on (for tests).");
  m.def(
      "raise_in",
      [](unsigned long thread, nanobind::handle type) { return PyThreadState_SetAsyncExc(thread, type.ptr()) == 1; },
      nanobind::arg("thread"), nanobind::arg("type"),
      "Raise an exception in another Python thread before its next line; False where there is no such thread.");
  m.def("stop_other_threads", &lowdim::stop_other_threads,
        "Kernels outside the main thread stop with SystemExit from now on: the interpreter is about to end.");
  m.def("hold_thread", &lowdim::hold_thread, nanobind::arg("held"),
        "What this thread keeps for libraries outlives the interpreter, or no longer; calls with True and False pair.");
  m.def("end_at_once", &lowdim::end_at_once,
        "Skip what libraries do at the end of the process: one of them is still at work in a thread.");

  lowdim::bind_polyline(m);
  lowdim::bind_segments(m);

  lowdim::bind_essential_loops(m);
  lowdim::bind_path_flow(m);
  lowdim::bind_shortest_paths(m);
  lowdim::bind_tree_paths(m);

  lowdim::bind_spline_grid(m);
  lowdim::bind_tsne_affinities(m);
  lowdim::bind_tsne_descent(m);
  lowdim::bind_tsne_placing(m);
  lowdim::bind_umap_densities(m);
  lowdim::bind_umap_expected_descent(m);
  lowdim::bind_umap_memberships(m);
  lowdim::bind_umap_sampled_descent(m);

  lowdim::bind_descent_spaces(m);
  lowdim::bind_gower_distances(m);
  lowdim::bind_local_patches(m);
  lowdim::bind_measured_rows(m);
  lowdim::bind_merged_cells(m);
  lowdim::bind_nn_descent(m);
  lowdim::bind_rank_tally(m);
  lowdim::bind_ranks(m);
  lowdim::bind_row_pairs(m);
  lowdim::bind_shared_cells(m);
  lowdim::bind_squared_distances(m);
  lowdim::bind_top_k(m);

  lowdim::bind_monotone_regression(m);
  lowdim::bind_placing(m);
  lowdim::bind_stress(m);

  lowdim::bind_cell_scans(m);
  lowdim::bind_expected_gaussian(m);
  lowdim::bind_exponential_decay(m);
  lowdim::bind_fill_missing(m);
  lowdim::bind_log_cosh(m);
}
