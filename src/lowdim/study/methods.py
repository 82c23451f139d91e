"""The methods that can be asked for by name: the class of each, and its properties.

The comparison and the command line read this table, and docs/methods.md is tested against it; nothing else lists the
methods.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import lowdim
from lowdim.study.suggestions import did_you_mean

# Group -> its heading in lists of methods.
GROUPS = {
    "projection": "projections onto directions",
    "labels": "directions and columns that tell labels apart (need a label)",
    "mixed": "categories and counts",
    "distances": "maps of distances",
    "graph": "along a graph of neighbours",
    "neighbors": "who is near whom",
    "latent": "curves, networks and latent variables",
    "columns": "columns chosen, scaled or mixed at random",
    "outside": "of other libraries, where installed",
}


@dataclass(frozen=True)
class Method:
    """Properties of a method that do not depend on data.

    Attributes
    ----------
    name : str
        The name in `compare` and on the command line: the class name in lower case with dashes.
    home : str
        The class: a public name of `lowdim`, or "module:class" of another library.
    title : str
        The name in texts.
    group : str
        Where it stands in lists: a key of `GROUPS`.
    linear : bool
        The map is a linear function of the columns, with default parameters.
    view : str
        ``"global"`` if all distances count, ``"local"`` if mostly those between near rows do; else in words.
    idea : str
        ``"projection"`` (onto directions in a space of features), ``"manifold"`` (unfolds a curved surface), or in
        words.
    has_scale : bool
        Distances in the map approximate distances in the data, so the stress without rescaling is meaningful.
    needs : str
        What the columns must hold: "numbers", "counts", "categories", or "mixed" (numbers and categories).
    target : str
        What `y` is for: "" (not used), "classes", "classes or a quantity" (required), or "a second table".
    own_units : bool
        It counts or compares the units of the columns, so that it sees them unscaled whatever the others see.
    preset : mapping
        Parameters that make this method of its class.
    library : str
        The library of a class that is not of lowdim or scikit-learn: the name it is imported by.
    package : str
        The name it is installed by.
    """

    name: str
    home: str
    title: str
    group: str
    linear: bool = False
    view: str = "global"
    idea: str = "projection"
    has_scale: bool = False
    needs: str = "numbers"
    target: str = ""
    own_units: bool = False
    preset: Mapping[str, Any] = field(default_factory=dict)
    library: str = ""
    package: str = ""

    @property
    def installed(self) -> bool:
        """Whether the library of its class is there."""
        return not self.library or find_spec(self.library) is not None

    def cls(self) -> Any:
        """Its class."""
        if ":" not in self.home:
            return getattr(lowdim, self.home)
        if not self.installed:
            raise ImportError(f"{self.name} needs {self.package}; install it with: pip install {self.package}")
        module, name = self.home.split(":")
        with warnings.catch_warnings():  # of the library, about parts of it that are not asked for
            warnings.simplefilter("ignore")
            return getattr(import_module(module), name)

    def for_holes(self) -> str:
        """The value of `missing` under which its class takes rows with missing cells: "expected" if it can be."""
        policies = getattr(self.cls(), "_hole_policies", ())
        return "expected" if "expected" in policies or not policies else policies[0]

    def estimator(self, **parameters: Any) -> Any:
        """A new estimator; parameters that the class does not have are left out."""
        cls = self.cls()
        plain = cls(**self.preset)
        known = set(plain.get_params(deep=False) if hasattr(plain, "get_params") else parameters)
        if getattr(plain, "missing", "error") != "error":  # it has its own model of incomplete rows
            known.discard("missing")
        if isinstance(getattr(plain, "verbose", 0), bool) and "verbose" in parameters:
            parameters["verbose"] = bool(parameters["verbose"])
        given = {key: value for key, value in parameters.items() if key in known}
        if self.library:  # what None means there is not known
            given = {key: value for key, value in given.items() if value is not None}
        return cls(**{**self.preset, **given})


def _projections() -> tuple[Method, ...]:
    return (
        Method("pca", "PCA", "PCA", "projection", linear=True, has_scale=True),
        Method("ica", "ICA", "ICA", "projection", linear=True),
        Method("probabilistic-pca", "ProbabilisticPCA", "Probabilistic PCA", "projection", linear=True),
        Method("factor-analysis", "FactorAnalysis", "Factor analysis", "projection", linear=True),
        Method("bayesian-pca", "BayesianPCA", "Bayesian PCA", "projection", linear=True),
        Method("kernel-pca", "KernelPCA", "Kernel PCA", "projection"),
        Method("feature-map-pca", "FeatureMapPCA", "Feature-map PCA", "projection"),
        Method("whitening", "Whitening", "Whitening", "projection", linear=True),
        Method("lda", "LDA", "LDA", "labels", linear=True, view="what separates labelled classes", target="classes"),
        Method("cca", "CCA", "CCA", "labels", linear=True, view="what two tables share", target="a second table"),
        Method(
            "kernel-cca", "KernelCCA", "Kernel CCA", "labels", view="what two tables share", target="a second table"
        ),
        Method(
            "famd", "FAMD", "FAMD", "mixed", linear=True, idea="projection of numbers and categories", needs="mixed"
        ),
        Method("mca", "MCA", "MCA", "mixed", linear=True, idea="projection of categories", needs="categories"),
        Method(
            "ca",
            "CA",
            "CA",
            "mixed",
            linear=True,
            idea="projection of counts",
            needs="counts",
            own_units=True,
        ),
    )


def _maps() -> tuple[Method, ...]:
    return (
        Method("classical-mds", "ClassicalMDS", "Classical MDS", "distances", linear=True, has_scale=True),
        Method("landmark-mds", "LandmarkMDS", "Landmark MDS", "distances", linear=True, has_scale=True),
        Method("mds", "MDS", "MDS", "distances", has_scale=True),
        Method("isomap", "Isomap", "Isomap", "graph", idea="manifold", has_scale=True),
        Method("tcie", "TCIE", "TCIE", "graph", idea="manifold", has_scale=True),
        Method("tsne", "TSNE", "t-SNE", "neighbors", view="local", idea="manifold"),
        Method("umap", "UMAP", "UMAP", "neighbors", view="local", idea="manifold"),
        Method(
            "laplacian-eigenmaps", "LaplacianEigenmaps", "Laplacian eigenmaps", "graph", view="local", idea="manifold",
        ),
        Method("diffusion-maps", "DiffusionMaps", "Diffusion maps", "graph", view="local", idea="manifold"),
        Method("lle", "LLE", "LLE", "graph", view="local", idea="manifold"),
        Method("mvu", "MVU", "MVU", "graph", idea="manifold", has_scale=True),
    )  # fmt: skip


def _latent() -> tuple[Method, ...]:
    return (
        Method(
            "principal-curve", "PrincipalCurve", "Principal curve", "latent", view="one curve through the middle",
            idea="curve",
        ),
        Method("gplvm", "GPLVM", "GPLVM", "latent", idea="manifold"),
        Method("autoencoder", "Autoencoder", "Autoencoder", "latent", idea="manifold"),
        Method("vae", "VAE", "VAE", "latent", idea="manifold"),
        Method("nlpca", "NLPCA", "NLPCA", "latent", idea="manifold"),
        Method("inverse-nlpca", "InverseNLPCA", "Inverse NLPCA", "latent", idea="manifold"),
    )  # fmt: skip


def _columns() -> tuple[Method, ...]:
    linear: dict[str, Any] = {"linear": True, "has_scale": True}
    chosen: dict[str, Any] = {"group": "labels", "target": "classes or a quantity", **linear}
    return (
        Method(
            "variance-filter", "ColumnSelection", "Variance filter", "columns", preset={"criterion": "variance"},
            own_units=True,
            **linear,
        ),
        Method(
            "mutual-information", "ColumnSelection", "Mutual information", preset={"criterion": "mutual-information"},
            **chosen,
        ),
        Method("rfe", "ColumnSelection", "Recursive feature elimination", preset={"criterion": "rfe"}, **chosen),
        Method(
            "forest-importance", "ColumnSelection", "Forest importance", preset={"criterion": "forest-importance"},
            **chosen,
        ),
        Method(
            "min-max", "MinMax", "Min-max scaling", "columns", view="single columns", idea="scaling of columns",
            own_units=True,
            **linear,
        ),
        Method("random-projection", "RandomProjection", "Random projection", "columns", **linear),
        Method("truncated-svd", "TruncatedSVD", "Truncated SVD", "projection", **linear),
    )  # fmt: skip


def _outside() -> tuple[Method, ...]:
    local: dict[str, Any] = {"group": "outside", "view": "local", "idea": "manifold"}
    return (
        Method("umap-learn", "umap:UMAP", "UMAP of umap-learn", library="umap", package="umap-learn", **local),
        Method(
            "opentsne",
            "lowdim.study.outside:OpenTSNE",
            "t-SNE of openTSNE",
            library="openTSNE",
            package="openTSNE",
            **local,
        ),
        Method("pacmap", "pacmap:PaCMAP", "PaCMAP", library="pacmap", package="pacmap", **local),
        Method("phate", "phate:PHATE", "PHATE", library="phate", package="phate", **local),
    )


@cache
def _table() -> dict[str, Method]:
    return {m.name: m for m in (*_projections(), *_maps(), *_latent(), *_columns(), *_outside())}


def methods() -> dict[str, Method]:
    """The methods by name, in the order of the table."""
    return dict(_table())


def by_group() -> dict[str, list[str]]:
    """Heading -> names of the methods under it."""
    found: dict[str, list[str]] = {}
    for method in methods().values():
        found.setdefault(GROUPS[method.group], []).append(method.name)
    return found


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
    own = [method for method in methods().values() if method.home == cls.__name__]
    alike = (m for m in own if all(getattr(estimator, key, None) == value for key, value in m.preset.items()))
    return next(alike, None)


def keeps_units(estimator: object) -> bool:
    """Whether this estimator must see the columns in their own units."""
    method = method_of(estimator)
    return method is not None and method.own_units


def is_linear(estimator: object) -> bool:
    """Whether a place in this estimator's map is a linear function of the columns; unknown classes count as curved."""
    method = method_of(estimator)
    if method is None or not method.linear:
        return False
    return str(getattr(estimator, "metric", "euclidean")) == "euclidean"  # scaling of other distances is not


def has_scale(estimator: object) -> bool:
    """Whether distances in this estimator's map approximate distances in the data.

    Unknown classes count as having no scale: then only the scale-optimal stress is shown, which is right for both.
    """
    method = method_of(estimator)
    return method is not None and method.has_scale
