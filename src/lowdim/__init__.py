"""Dimensionality reduction you can trust.

Estimators with the interface of scikit-learn, measures of how faithful an embedding is, and comparisons of methods.

    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> Z = lowdim.Isomap(n_components=2, n_neighbors=10).fit_transform(X)
    >>> Z.shape
    (300, 2)
"""

from sys import _getframe

from lowdim import _importing

__version__ = "0.1.0"

# Estimator -> module it lives in. Nothing is imported before it is used.
_ESTIMATORS = {
    "PCA": "lowdim.linear.pca.pca",
    "ICA": "lowdim.linear.ica",
    "LDA": "lowdim.linear.lda",
    "CCA": "lowdim.linear.cca",
    "Whitening": "lowdim.linear.whitening",
    "TruncatedSVD": "lowdim.linear.truncated_svd",
    "RandomProjection": "lowdim.linear.random_projection",
    "ColumnSelection": "lowdim.linear.columns.column_selection",
    "MinMax": "lowdim.linear.columns.min_max",
    "FAMD": "lowdim.linear.mixed.famd",
    "MCA": "lowdim.linear.mixed.mca",
    "CA": "lowdim.linear.mixed.ca",
    "ProbabilisticPCA": "lowdim.linear.latent_gaussian.probabilistic_pca",
    "FactorAnalysis": "lowdim.linear.latent_gaussian.factor_analysis",
    "BayesianPCA": "lowdim.linear.latent_gaussian.bayesian_pca",
    "ClassicalMDS": "lowdim.spectral.classical_mds",
    "LandmarkMDS": "lowdim.spectral.landmark_mds",
    "KernelPCA": "lowdim.spectral.kernel.kernel_pca",
    "FeatureMapPCA": "lowdim.spectral.kernel.feature_map_pca",
    "KernelCCA": "lowdim.spectral.kernel.kernel_cca",
    "Isomap": "lowdim.spectral.isomap",
    "LaplacianEigenmaps": "lowdim.spectral.laplacian_eigenmaps",
    "DiffusionMaps": "lowdim.spectral.diffusion_maps",
    "LLE": "lowdim.spectral.lle",
    "MVU": "lowdim.spectral.unfolding.mvu",
    "MDS": "lowdim.stress.mds",
    "TCIE": "lowdim.stress.tcie",
    "TSNE": "lowdim.neighbor_embedding.tsne",
    "UMAP": "lowdim.neighbor_embedding.umap",
    "PrincipalCurve": "lowdim.curves.principal_curve",
    "GPLVM": "lowdim.latent.gp.gplvm",
    "Autoencoder": "lowdim.latent.networks.autoencoder",
    "VAE": "lowdim.latent.networks.vae",
    "NLPCA": "lowdim.latent.networks.nlpca",
    "InverseNLPCA": "lowdim.latent.networks.inverse_nlpca",
}
_OTHERS = {
    "FactorMap": "lowdim.linear.mixed.factor_map",
    "Comparison": "lowdim.study.comparison",
    "compare": "lowdim.study.compare",
    "config": "lowdim._core.runtime.memory",
    "dissimilarities": "lowdim._core.distances.dissimilarities",
    "Imputation": "lowdim.imputation.result",
    "impute": "lowdim.imputation.impute",
    "load": "lowdim._core.persist",
    "ModelFileError": "lowdim._core.persist",
    "low_rank": "lowdim.linear.low_rank",
    "NeighborGraph": "lowdim.neighbor_graph",
    "pseudo_inverse": "lowdim.linear.low_rank",
    "save": "lowdim._core.persist",
    "transform_batches": "lowdim._core.arrow_batches",
}
_HOMES = _ESTIMATORS | _OTHERS
_MODULES = ("datasets", "kernels", "plot", "quality", "select", "trust")

__all__ = [*_HOMES, *_MODULES]


def __getattr__(name):
    if name in _HOMES:
        value = getattr(_importing.load(_HOMES[name]), name)
    elif name in _MODULES:
        value = _importing.load(f"lowdim.{name}")
    else:
        raise _unknown(name)
    globals()[name] = value
    return value


def _unknown(name):
    """The error about a name that is not here; an import statement would lose the text of an AttributeError."""
    text = f"module 'lowdim' has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(text)
    from lowdim._core import foreign_names

    text += foreign_names.about_name(name, __all__)
    importing = _getframe(2).f_globals.get("__name__") == "importlib._bootstrap"
    return (ImportError if importing and name in foreign_names.NAMES else AttributeError)(text)


def __dir__():
    return sorted([*__all__, "__version__"])
