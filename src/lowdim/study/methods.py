"""The table of methods: the names people type, the class behind each, and what each can do.

One line per method. The comparison and the command line read this table, and docs/methods.md is tested against it;
nothing else lists the methods. A line whose class is not part of this version is passed over, so that the table can
be read as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lowdim
from lowdim.study.spelling import did_you_mean


@dataclass(frozen=True)
class Method:
    """What can be said about a method before it has seen any data.

    Attributes
    ----------
    name : str
        What people type: the class name in lower case with dashes.
    home : str
        The class, a public name of `lowdim`.
    title : str
        How it is written in text.
    linear : bool
        The map is a linear function of the columns, with the parameters as they come.
    view : str
        ``"global"`` when far pairs count as much as near ones, ``"local"`` when mostly the near ones do.
    idea : str
        ``"projection"`` (looks along directions) or ``"manifold"`` (unrolls a curved surface).
    has_scale : bool
        Distances in the map are meant to equal distances in the data, so raw stress may be shown.
    new_rows, way_back : bool
        `transform` for rows not seen at fit; `inverse_transform`.
    usual : bool
        Run where no methods are named. A method whose map is that of another one, up to scale, waits to be asked for.
    """

    name: str
    home: str
    title: str
    linear: bool
    view: str
    idea: str
    has_scale: bool
    new_rows: bool = True
    way_back: bool = True
    usual: bool = True

    def estimator(self, **parameters: Any) -> Any:
        """A fresh estimator; parameters the class does not have are left out."""
        cls = getattr(lowdim, self.home)
        known = set(cls()._get_param_names() if hasattr(cls, "_get_param_names") else parameters)
        if getattr(cls(), "missing", "error") != "error":  # it has a reading of its own
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
    """The methods of this version by name, in the order of the table."""
    return {method.name: method for method in _TABLE if method.home in lowdim.__all__}


def usual() -> list[str]:
    """The names of those that run where none are named."""
    return [method.name for method in methods().values() if method.usual]


def find(name: str, owner: str = "compare") -> Method:
    """The method called `name`; an unknown name is answered with the nearest one and the whole list."""
    known = methods()
    key = name.strip().lower().replace("_", "-")
    if key in known:
        return known[key]
    joined = {known_name.replace("-", ""): known_name for known_name in known}
    if key.replace("-", "") in joined:  # KernelPCA, kernelpca
        return known[joined[key.replace("-", "")]]
    raise ValueError(f"{owner}: method must be one of {', '.join(known)}; got {name!r}.{did_you_mean(key, known)}")


def method_of(estimator: object) -> Method | None:
    """The line of the table for an estimator of this library; None for anybody else's."""
    cls = type(estimator)
    if not cls.__module__.startswith("lowdim."):
        return None
    return next((method for method in methods().values() if method.home == cls.__name__), None)


def has_scale(estimator: object) -> bool:
    """Whether distances in this estimator's map can be read as distances in the data.

    Unknown classes are taken to have no scale: then the scale-optimal stress is shown, which is right for both.
    """
    method = method_of(estimator)
    return method is not None and method.has_scale
