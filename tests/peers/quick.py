"""The sample of adopted tests that every run of the suite makes; the others are deep."""

_NAMES = {
    "pca": "test_pca test_whitening test_pca_inverse test_n_components_mle test_pca_score",
    "factor_analysis": "test_factor_analysis",
    "fastica": "test_fastica_simple test_fastica_nowhiten",
    "kernel_pca": "test_kernel_pca test_kernel_pca_precomputed test_nested_circles",
    "truncated_svd": "test_solvers test_inverse_transform",
    "isomap": "test_transform test_isomap_clone_bug",
    "locally_linear": "test_lle_simple_grid",
    "classical_mds": "test_classical_mds_equivalent_to_pca test_classical_mds_metric_params",
    "mds": "test_mds_recovers_true_data test_smacof",
    "spectral_embedding": "test_spectral_embedding_unnormalized test_pipeline_spectral_clustering",
    "t_sne": "test_trustworthiness test_uniform_grid test_init_ndarray",
    "pls": "test_scale_and_stability test_copy",
    "discriminant_analysis": "test_lda_predict test_lda_explained_variance_ratio test_lda_coefs",
}
SAMPLE = {(module, name) for module, names in _NAMES.items() for name in names.split()}
