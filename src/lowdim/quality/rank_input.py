"""Arguments of the rank measures: data and embedding with the options of `Ranks.of`, or a `Ranks` record."""

from __future__ import annotations

from inspect import signature
from typing import Any

from numpy.typing import NDArray

from lowdim._core import params
from lowdim._core.ranks import Ranks, penalty_norm

Array = NDArray[Any]


def ranks_of(X: Any, Z: Any, owner: str, **options: Any) -> Ranks:
    """The record itself, or one computed from data and embedding."""
    if isinstance(X, Ranks):
        if Z is not None or options:
            raise TypeError(f"{owner}: pass a Ranks record alone; it replaces X, Z and all options.")
        return X
    if Z is None:
        raise TypeError(f"{owner}: pass the data and the embedding, or a Ranks record.")
    refuse_unknown(options, owner)
    return Ranks.of(X, Z, **options)


def refuse_unknown(options: dict[str, Any], owner: str) -> None:
    """An error in the name of the calling function for options that `Ranks.of` does not have."""
    known = [name for name, p in signature(Ranks.of_each).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise TypeError(f"{owner}: unknown option {name!r}; the options are {', '.join(known)}.")


def check_size(k: Any, n: int, owner: str, name: str = "n_neighbors") -> None:
    """An error for a neighbourhood size that leaves no row outside."""
    if n < 3:
        raise ValueError(f"{owner}: X must have at least 3 rows; got {n}.")
    params.check(owner, {name: k}, {name: params.whole(1, max(1, n - 2))})


def row_penalty(ranks: Ranks, k: int, name: str) -> Array | None:
    """Trustworthiness or continuity of each row at K = k; None if the record does not have this size."""
    if k not in ranks.ks:
        return None
    depth = ranks.row_intrusion if name == "trustworthiness" else ranks.row_extrusion
    return 1 - 2 * depth[:, ranks.ks.index(k)] / penalty_norm(k, ranks.n)
