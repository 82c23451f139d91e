"""Parameters that scanpy's functions have and these do not: taken where nothing depends on them, else answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SOLVERS = ("auto", "arpack", "randomized", "full", "lobpcg", "covariance_eigh", "tsqr", None)
_GRAPH = "run scanpy.pp.neighbors first and go on here: the steps that follow use the graph that is there"

# For each function: name, the values that ask for nothing else than what is done, and what to do about others.
_KNOWN: Mapping[str, Mapping[str, tuple[tuple[Any, ...], str]]] = {
    "scverse.pca": {
        "svd_solver": (_SOLVERS, "leave it out: the components do not depend on a solver"),
        "chunked": ((True, False), "leave it out: tables in files are read in blocks"),
        "return_info": ((False,), "take lowdim.PCA for arrays"),
    },
    "scverse.neighbors": {
        "knn": ((True,), "the dense graph of all cells is not built; see lowdim.DiffusionMaps for a Gaussian kernel"),
        "method": (("umap",), f"for other weights {_GRAPH}"),
        "transformer": ((None,), _GRAPH),
    },
    "scverse.umap": {"method": (("umap",), "leave it out: there is one implementation")},
    "scverse.tsne": {"use_fast_tsne": ((True, False), "leave it out: large tables take the fast one")},
}
_UNUSED = {"scverse.pca": ("chunk_size",)}  # whatever the value


def take(owner: str, theirs: Mapping[str, Any]) -> None:
    """Nothing for parameters of scanpy that change nothing here; a TypeError with the way out for others."""
    known, unused = _KNOWN[owner], _UNUSED.get(owner, ())
    for name, value in theirs.items():
        if name in unused:
            continue
        if name not in known:
            taken = f" Of scanpy's: {', '.join([*known, *unused])}."
            raise TypeError(f"{owner}: there is no parameter {name!r}.{taken}")
        values, way_out = known[name]
        if not any(value is one or (isinstance(value, str) and value == one) for one in values):
            shown = ", ".join(map(repr, values))
            raise TypeError(f"{owner}: {name} must be {shown} here; got {value!r}. Otherwise {way_out}.")
