// The Python module: every kernel binds itself in the file that holds it.
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "common/simd.hpp"

namespace lowdim {

void bind_polyline(nb::module_& m);
void bind_segments(nb::module_& m);

void bind_essential_loops(nb::module_& m);
void bind_path_flow(nb::module_& m);
void bind_shortest_paths(nb::module_& m);

void bind_spline_grid(nb::module_& m);
void bind_tsne_affinities(nb::module_& m);
void bind_tsne_descent(nb::module_& m);
void bind_tsne_placing(nb::module_& m);
void bind_umap_densities(nb::module_& m);
void bind_umap_expected_descent(nb::module_& m);
void bind_umap_memberships(nb::module_& m);
void bind_umap_sampled_descent(nb::module_& m);

void bind_local_patches(nb::module_& m);
void bind_nn_descent(nb::module_& m);
void bind_rank_tally(nb::module_& m);
void bind_ranks(nb::module_& m);
void bind_row_pairs(nb::module_& m);
void bind_squared_distances(nb::module_& m);
void bind_top_k(nb::module_& m);

void bind_monotone_regression(nb::module_& m);
void bind_placing(nb::module_& m);
void bind_stress(nb::module_& m);

void bind_cell_scans(nb::module_& m);
void bind_expected_gaussian(nb::module_& m);
void bind_exponential_decay(nb::module_& m);
void bind_fill_missing(nb::module_& m);
void bind_log_cosh(nb::module_& m);

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

  lowdim::bind_polyline(m);
  lowdim::bind_segments(m);

  lowdim::bind_essential_loops(m);
  lowdim::bind_path_flow(m);
  lowdim::bind_shortest_paths(m);

  lowdim::bind_spline_grid(m);
  lowdim::bind_tsne_affinities(m);
  lowdim::bind_tsne_descent(m);
  lowdim::bind_tsne_placing(m);
  lowdim::bind_umap_densities(m);
  lowdim::bind_umap_expected_descent(m);
  lowdim::bind_umap_memberships(m);
  lowdim::bind_umap_sampled_descent(m);

  lowdim::bind_local_patches(m);
  lowdim::bind_nn_descent(m);
  lowdim::bind_rank_tally(m);
  lowdim::bind_ranks(m);
  lowdim::bind_row_pairs(m);
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
