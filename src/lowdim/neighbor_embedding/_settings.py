"""Settings of t-SNE and UMAP: what each may be, and which exclude each other."""

from __future__ import annotations

from typing import Any

from lowdim._core import params
from lowdim.neighbor_embedding import _affinity, _init
from lowdim.neighbor_embedding._umap_descent import SOLVERS


def _are_numbers(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and len(values) > 0 and all(params.real(0).accepts(v) for v in values)


def _are_momenta(values: Any) -> bool:
    share = params.real(0, 1, open_high=True)
    return isinstance(values, (list, tuple)) and len(values) == 2 and all(share.accepts(v) for v in values)


TSNE_RULES: dict[str, params.Rule] = {
    "n_components": params.whole(1),
    "perplexity": params.real(0, open_low=True) | params.Rule("a list of such", _are_numbers),
    "affinity": params.one_of(*_affinity.KINDS, "precomputed"),
    "n_neighbors": params.none() | params.whole(1),
    "sigma": params.none() | params.real(0, open_low=True),
    "dof": params.real(0, open_low=True),
    "solver": params.one_of("auto", "exact", "barnes_hut", "fft"),
    "theta": params.real(0, 2),
    "early_exaggeration": params.one_of("auto") | params.real(0, open_low=True),
    "exaggeration": params.real(0, open_low=True),
    "early_iter": params.whole(0),
    "learning_rate": params.one_of("auto") | params.real(0, open_low=True),
    "momentum": params.real(0, 1, open_high=True) | params.Rule("a pair of such", _are_momenta),
    "warm_start": params.flag(),
    "callback_every": params.whole(1),
    "init": _init.rule(),
}
UMAP_RULES: dict[str, params.Rule] = {
    "n_components": params.whole(1),
    "n_neighbors": params.whole(1),
    "affinity": params.one_of("fuzzy", "precomputed"),
    **dict.fromkeys(("min_dist", "local_connectivity", "repulsion"), params.real(0)),
    "negative_sample_rate": params.real(0, 1000),  # an epoch takes as long as its samples are many
    "densities": params.real(0),
    "spread": params.real(1e-15, 1e15),
    **dict.fromkeys(("a", "b"), params.none() | params.real(0, open_low=True)),
    "set_op_mix_ratio": params.real(0, 1),
    "disconnection_distance": params.none() | params.real(0, open_low=True),
    "solver": params.one_of("auto", *SOLVERS),
    "learning_rate": params.real(0, open_low=True),
    "target_weight": params.real(0, 1),
    "target_metric": params.text() | params.function(),
    "target_n_neighbors": params.none() | params.whole(1),
    "init": _init.rule(),
    "max_iter": params.none() | params.whole(1),
}


def check_curve(a: float | None, b: float | None) -> None:
    """ValueError where one parameter of UMAP's curve is given without the other."""
    if (a is None) != (b is None):
        raise ValueError(f"UMAP: a and b must both be given, or both be None; got a={a!r} and b={b!r}.")


def check_densities(densities: float, solver: str, *, with_target: bool) -> None:
    """ValueError where UMAP keeps densities in a fit that cannot: with a target that counts, or the exact solver."""
    if densities and with_target:
        raise ValueError(
            f"UMAP: densities must be 0 for a fit with y; got {densities:g}. Leave out y, or set target_weight=0."
        )
    if densities and solver == "exact":
        raise ValueError(f"UMAP: densities must be 0 for solver='exact'; got {densities:g}. Use solver='sampled'.")


def refuse_with_weights(affinity: str, **given: Any) -> None:
    """ValueError where UMAP is given weights, and asked for what needs distances: settings that are not at default."""
    for name, value in given.items():
        if value and affinity == "precomputed":
            raise ValueError(
                f"UMAP: {name} must be left out for affinity='precomputed', which has no distances; got {value!r}. "
                "Pass the distances instead, with metric='precomputed'."
            )
