"""The table of methods: their names, the class of each, and its properties.

The comparison and the command line read this table, and docs/methods.md is tested against it; nothing else lists the
methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lowdim
from lowdim.study.suggestions import did_you_mean


@dataclass(frozen=True)
class Method:
    """Properties of a method that do not depend on data.

    Attributes
    ----------
    name : str
        The name in `compare` and on the command line: the class name in lower case with dashes.
    home : str
        The class, a public name of `lowdim`.
    title : str
        The name in texts.
    linear : bool
        The map is a linear function of the columns, with default parameters.
    view : str
        ``"global"`` if all distances count, ``"local"`` if mostly those between near rows do.
    idea : str
        ``"projection"`` (onto directions in a space of features) or ``"manifold"`` (unfolds a curved surface).
    has_scale : bool
        Distances in the map approximate distances in the data, so the stress without rescaling is meaningful.
    usual : bool
        Part of the default selection. Not: methods whose map equals that of another one up to scale, and slow ones.
    """

    name: str
    home: str
    title: str
    linear: bool
    view: str
    idea: str
    has_scale: bool
    usual: bool = True

    def estimator(self, **parameters: Any) -> Any:
        """A new estimator; parameters that the class does not have are left out."""
        cls = getattr(lowdim, self.home)
        known = set(cls()._get_param_names() if hasattr(cls, "_get_param_names") else parameters)
        if getattr(cls(), "missing", "error") != "error":  # it has its own model of incomplete rows
            known.discard("missing")
        return cls(**{key: value for key, value in parameters.items() if key in known})


_TABLE = (
    Method("pca", "PCA", "PCA", True, "global", "projection", True),
    Method("ica", "ICA", "ICA", True, "global", "projection", False),
    Method(
        "probabilistic-pca", "ProbabilisticPCA", "Probabilistic PCA", True, "global", "projection", False, usual=False
    ),
    Method("factor-analysis", "FactorAnalysis", "Factor analysis", True, "global", "projection", False),
    Method("bayesian-pca", "BayesianPCA", "Bayesian PCA", True, "global", "projection", False, usual=False),
    Method("kernel-pca", "KernelPCA", "Kernel PCA", False, "global", "projection", False),
    Method("feature-map-pca", "FeatureMapPCA", "Feature-map PCA", False, "global", "projection", False, usual=False),
    Method("classical-mds", "ClassicalMDS", "Classical MDS", True, "global", "projection", True),
    Method("landmark-mds", "LandmarkMDS", "Landmark MDS", True, "global", "projection", True, usual=False),
    Method("mds", "MDS", "MDS", False, "global", "projection", True, usual=False),
    Method("isomap", "Isomap", "Isomap", False, "global", "manifold", True),
    Method("tcie", "TCIE", "TCIE", False, "global", "manifold", True, usual=False),
    Method("tsne", "TSNE", "t-SNE", False, "local", "manifold", False),
    Method("umap", "UMAP", "UMAP", False, "local", "manifold", False),
    Method("laplacian-eigenmaps", "LaplacianEigenmaps", "Laplacian eigenmaps", False, "local", "manifold", False),
    Method("diffusion-maps", "DiffusionMaps", "Diffusion maps", False, "local", "manifold", False, usual=False),
    Method("lle", "LLE", "LLE", False, "local", "manifold", False),
    Method("gplvm", "GPLVM", "GPLVM", False, "global", "manifold", False, usual=False),
    Method("autoencoder", "Autoencoder", "Autoencoder", False, "global", "manifold", False, usual=False),
    Method("vae", "VAE", "VAE", False, "global", "manifold", False, usual=False),
    Method("nlpca", "NLPCA", "NLPCA", False, "global", "manifold", False, usual=False),
    Method("inverse-nlpca", "InverseNLPCA", "Inverse NLPCA", False, "global", "manifold", False, usual=False),
    Method("mvu", "MVU", "MVU", False, "global", "manifold", True, usual=False),
)


def methods() -> dict[str, Method]:
    """The methods by name, in the order of the table."""
    return {method.name: method for method in _TABLE}


def usual() -> list[str]:
    """The names of the default selection."""
    return [method.name for method in methods().values() if method.usual]


def find(name: str, owner: str = "compare") -> Method:
    """The method called `name`; the error for an unknown name has the nearest name and the whole list."""
    known = methods()
    key = name.strip().lower().replace("_", "-")
    if key in known:
        return known[key]
    joined = {known_name.replace("-", ""): known_name for known_name in known}
    if key.replace("-", "") in joined:  # KernelPCA, kernelpca
        return known[joined[key.replace("-", "")]]
    raise ValueError(f"{owner}: method must be one of {', '.join(known)}; got {name!r}.{did_you_mean(key, known)}")


def method_of(estimator: object) -> Method | None:
    """The entry of an estimator of this library; None for other estimators."""
    cls = type(estimator)
    if not cls.__module__.startswith("lowdim."):
        return None
    return next((method for method in methods().values() if method.home == cls.__name__), None)


def has_scale(estimator: object) -> bool:
    """Whether distances in this estimator's map approximate distances in the data.

    Unknown classes count as having no scale: then only the scale-optimal stress is shown, which is right for both.
    """
    method = method_of(estimator)
    return method is not None and method.has_scale
