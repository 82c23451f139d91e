// What each file of kernels adds to the Python module.
#pragma once

#include "common/arrays.hpp"

namespace lowdim {

void bind_polyline(nb::module_& m);
void bind_segments(nb::module_& m);

void bind_essential_loops(nb::module_& m);
void bind_path_flow(nb::module_& m);
void bind_shortest_paths(nb::module_& m);
void bind_tree_paths(nb::module_& m);

void bind_spline_grid(nb::module_& m);
void bind_tsne_affinities(nb::module_& m);
void bind_tsne_descent(nb::module_& m);
void bind_tsne_placing(nb::module_& m);
void bind_umap_densities(nb::module_& m);
void bind_umap_expected_descent(nb::module_& m);
void bind_umap_memberships(nb::module_& m);
void bind_umap_sampled_descent(nb::module_& m);

void bind_descent_spaces(nb::module_& m);
void bind_gower_distances(nb::module_& m);
void bind_local_patches(nb::module_& m);
void bind_measured_rows(nb::module_& m);
void bind_merged_cells(nb::module_& m);
void bind_nn_descent(nb::module_& m);
void bind_rank_tally(nb::module_& m);
void bind_ranks(nb::module_& m);
void bind_row_pairs(nb::module_& m);
void bind_shared_cells(nb::module_& m);
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
