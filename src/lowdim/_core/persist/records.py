"""The records a model may hold, each under a tag that stays when the code moves or a class is renamed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

# Tag -> module and class; frozen dataclasses, written and read field by field. A tag is never reused.
RECORDS = {
    **{
        f"kernel:{name}": ("lowdim._core.kernels.algebra", name)
        for name in ("Constant", "Scaled", "Sum", "Product", "Power")
    },
    **{
        f"kernel:{name}": ("lowdim._core.kernels.catalogue", name)
        for name in (
            *("Linear", "Polynomial", "Sigmoid", "Cosine", "RBF", "RationalQuadratic"),
            *("Matern", "Laplace", "Bessel", "ANOVA", "Chi2"),
        )
    },
    **{f"kernel:{name}": ("lowdim._core.kernels.given", name) for name in ("Precomputed", "Custom")},
    "kernel:Incomplete": ("lowdim._core.incomplete.kernels", "IncompleteKernel"),
    **{
        f"extension:{name}": ("lowdim._core.extend", name)
        for name in ("Linear", "Nystrom", "KernelMap", "Interpolation")
    },
    "extension:Rebuilt": ("lowdim._core.extend", "NeighborWeights"),
    "inverse:Learned": ("lowdim._core.inverse", "LearnedInverse"),
    "distances:Gower": ("lowdim._core.distances.gower", "Gower"),
    "incomplete:Gaussian": ("lowdim._core.incomplete.gaussian", "Gaussian"),
    "incomplete:Joint": ("lowdim._core.incomplete.moments", "JointGaussian"),
    "incomplete:Distances": ("lowdim._core.incomplete.holes", "Holes"),
    "incomplete:Kernels": ("lowdim._core.incomplete.kernels", "KernelHoles"),
    "graph:Component": ("lowdim._core.manifold.geodesic_component", "GeodesicComponent"),
    "walk:Walk": ("lowdim._core.manifold.random_walk", "Walk"),
    "walk:Component": ("lowdim._core.manifold.random_walk", "WalkComponent"),
    "stress:Placement": ("lowdim.stress._placement", "StressPlacement"),
    "stress:Steps": ("lowdim.stress._monotone", "StepFunction"),
    "stress:Line": ("lowdim.stress._monotone", "Line"),
    "stress:Spline": ("lowdim.stress._monotone", "MonotoneSpline"),
    "process:Process": ("lowdim.latent.gp._process", "Process"),
    "process:Predictor": ("lowdim.latent.gp._process", "Predictor"),
    "sums:Moments": ("lowdim._core.spectrum.moments", "Moments"),
    "sums:Triangle": ("lowdim._core.spectrum.triangles", "Triangle"),
    "sums:Rows": ("lowdim.linear.in_blocks.sums", "Sums"),
    "sums:Pairs": ("lowdim.linear.in_blocks.sums", "PairSums"),
    "alignment:Alignment": ("lowdim._core.tables.align", "Alignment"),
    "table:Model": ("lowdim.study.columns.table_model", "TableModel"),
    "table:Column": ("lowdim.study.columns.table_model", "FittedColumn"),
    "table:Conversion": ("lowdim.study.columns.column", "Conversion"),
}
WRAPPERS = ("table:Model",)  # records that are models: they hold an estimator and what is done before it

# Format version 1 wrote "lowdim._core.MODULE:CLASS". MODULE -> what the tags of its classes begin with.
_FIRST = {
    **dict.fromkeys(("kernel_algebra", "kernel_catalogue", "kernel_given"), "kernel"),
    "extend": "extension",
    "gaussian": "incomplete",
    "process": "process",
    "align": "alignment",
    "monotone": "stress",
    "walk": "walk",
}
_FIRST_RENAMED = {
    "incomplete:Holes": "incomplete:Distances",
    "incomplete_kernels:KernelHoles": "incomplete:Kernels",
    "incomplete_kernels:IncompleteKernel": "kernel:Incomplete",
    "inverse:LearnedInverse": "inverse:Learned",
    "monotone:MonotoneSpline": "stress:Spline",
    "parts:Part": "graph:Component",
    "placing:Among": "stress:Placement",
    "walk:Piece": "walk:Component",
}

# Names that changed after files with them were written: fields of records by tag, fitted attributes by estimator. What
# was a parameter is in `renamed`.
FIELDS: dict[str, dict[str, str]] = {
    "extension:Interpolation": {"places": "embedding"},
    "extension:Rebuilt": {"places": "embedding", "part_of": "component_of", "reg": "ridge"},
    "inverse:Learned": {"places": "embedding"},
    "walk:Walk": {"pieces": "components"},
}
ATTRIBUTES: dict[str, dict[str, str]] = {
    "FeatureMapPCA": {"reconstruction_error_": "feature_space_error_"},
    "Isomap": {"_parts": "_components"},
    "KernelPCA": {"reconstruction_error_": "feature_space_error_"},
    "LLE": {"reconstruction_error_": "embedding_error_"},
    "MVU": {"_parts": "_fitted_columns", "eigenvalues_": "gram_eigenvalues_"},
}


def today(names: dict[str, str], values: dict[str, Any]) -> dict[str, Any]:
    """Values of a file under the names of today."""
    return {names.get(name, name): value for name, value in values.items()}


def tag_of(value: object) -> str | None:
    """The tag of a record; None for everything else."""
    cls = type(value)
    return _tags().get((cls.__module__, cls.__qualname__))


@cache
def _tags() -> dict[tuple[str, str], str]:
    return {home: tag for tag, home in RECORDS.items()}


def current_tag(name: str) -> str:
    """A tag as it is; for a name of format version 1, its tag."""
    return _tag_of_version_1(name) or name


def class_of(tag: str) -> Any:
    """The class that a tag stands for; None where there is none."""
    home = RECORDS.get(tag)
    return None if home is None else getattr(import_module(home[0]), home[1])


def _tag_of_version_1(name: str) -> str | None:
    first = name.removeprefix("lowdim._core.")
    if first == name:
        return None
    module, _, label = first.partition(":")
    return _FIRST_RENAMED.get(first) or (f"{_FIRST[module]}:{label}" if module in _FIRST else None)
