"""The number of dimensions for classical scaling of dissimilarities."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from lowdim._core import params
from lowdim._core.distances import check_dissimilarities, check_metric, comparable, pairwise
from lowdim._core.distances.labelled import labelled
from lowdim._core.runtime import memory
from lowdim._core.scaling.centring import inner_products
from lowdim._core.spectrum import eigenpairs
from lowdim._core.spectrum.eigenvalues import all_eigenvalues
from lowdim.select import _component_rules as rules
from lowdim.select._component_rules import Verdict

Array = np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class DimensionChoice:
    """The number of dimensions by several rules, with the fit of each number.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n,)
        All eigenvalues, largest first, with the negative ones.
    negative_share : float
        Sum of the magnitudes of the negative eigenvalues over that of all: how far the dissimilarities are from
        Euclidean distances.
    goodness_of_fit : ndarray of shape (k, 2)
        For 1, 2, ... dimensions: the sum of their eigenvalues over that of all magnitudes, and over that of the
        positive eigenvalues.
    stress : ndarray of shape (k,)
        Kruskal's stress of these solutions, sqrt(sum (delta - d)² / sum d²).
    verdicts : dict of str to Verdict
        For each rule its ``choice`` and a ``note``.
    """

    eigenvalues: Array
    negative_share: float
    goodness_of_fit: Array
    stress: Array
    verdicts: dict[str, Verdict]

    @property
    def choices(self) -> dict[str, int | None]:
        """The number of dimensions by each rule; None if a rule has no answer."""
        return {name: verdict.choice for name, verdict in self.verdicts.items()}

    def _table(self) -> list[tuple[str, ...]]:
        rows = zip(self.eigenvalues, *self.goodness_of_fit.T, self.stress, strict=False)
        return [(str(r), *(f"{cell:.4g}" for cell in cells)) for r, cells in enumerate(rows, 1)]

    def __repr__(self) -> str:
        lines = [
            f"{name:>12}  {'-' if v.choice is None else v.choice:>3}  {v.note}" for name, v in self.verdicts.items()
        ]
        head = f"{'dimensions':>12} {'eigenvalue':>11} {'fit':>8} {'fit (+)':>8} {'stress':>8}"
        table = [f"{r:>12} {value:>11} {fit:>8} {plus:>8} {left:>8}" for r, value, fit, plus, left in self._table()]
        negative = f"negative eigenvalues: {self.negative_share:.2g} of the spectrum"
        return "\n".join([f"Number of dimensions; {negative}", *lines, head, *table])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("dimensions", "eigenvalue", "fit", "fit (+)", "stress"))
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in self._table())
        choices = "; ".join(f"{name}: {v.choice}" for name, v in self.verdicts.items())
        return f"<table><caption>{escape(choices)}</caption><tr>{head}</tr>{body}</table>"


@params.checked("n_dimensions")
def n_dimensions(D: Any, *, n_components: int = 10, metric: Any = "precomputed") -> DimensionChoice:
    """Choose the number of dimensions for classical scaling of dissimilarities.

    * negative: eigenvalues above the magnitude of the most negative one. What makes eigenvalues negative (errors,
      distances that are not Euclidean) changes the positive ones by as much.
    * share: the fewest dimensions with more than 0.8 of the sum of the positive eigenvalues.
    * drop: up to the largest drop of the positive ones on a log scale, if it is at least a factor of two.
    * broken-stick: above the expected lengths of the parts of a stick broken at random.

    Parameters
    ----------
    D : dissimilarities, or array-like of shape (n, d)
        A square table (array or labelled data frame) or a condensed vector; rows, with a `metric`.
    n_components : int
        Solutions of 1, 2, ... up to this many dimensions are listed with their fit and stress.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where D holds distances.

    Returns
    -------
    DimensionChoice
        The eigenvalues, the fit of each solution, and the choices of the rules.

    References
    ----------
    Mardia, Some properties of classical multi-dimensional scaling, 1978.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(100, noise=0, random_state=0).X
    >>> lowdim.select.n_dimensions(X, metric="euclidean").choices["drop"]
    3
    """
    params.check("n_dimensions", {"n_components": n_components}, {"n_components": params.whole(1)})
    table = _dissimilarities(D, metric)
    n = len(table)
    if n < 2:
        raise ValueError(f"n_dimensions: D must be about at least 2 rows; got {n}.")
    memory.check("n_dimensions", {"inner products": 5 * n * n * 8}, "Use a sample of the rows.")
    B, _ = inner_products(table)
    values = all_eigenvalues(B, owner="n_dimensions")
    values = np.where(np.abs(values) > 10 * n * np.finfo(np.float64).eps * values[0], values, 0.0)  # beyond rounding
    positive = values[values > 0]
    if not len(positive):
        raise ValueError(f"n_dimensions: D must have dissimilarities above 0; all those of the {n} rows are 0.")
    pairs = eigenpairs(B, min(n_components, len(positive)), owner="n_dimensions")
    fit = np.cumsum(pairs.values)[:, None] / [np.abs(values).sum(), positive.sum()]
    return DimensionChoice(
        eigenvalues=values,
        negative_share=float(np.abs(values[values < 0]).sum() / np.abs(values).sum()),
        goodness_of_fit=fit,
        stress=_stress(table, pairs.vectors * np.sqrt(pairs.values)),
        verdicts=_verdicts(positive, values),
    )


def _dissimilarities(D: Any, metric: Any) -> Array:
    if check_metric(metric, "n_dimensions") == "precomputed":
        return np.asarray(check_dissimilarities(labelled(D, "n_dimensions")[0], "n_dimensions"))
    rows, metric = comparable(D, metric, "n_dimensions")
    return pairwise(rows, metric=metric, owner="n_dimensions")


def _stress(D: Array, Z: Array) -> Array:
    """Kruskal's stress of the first 1, 2, ... columns of Z."""
    squares, found = np.zeros(D.shape), []
    for z in Z.T:
        squares += np.square(z[:, None] - z)
        found.append(np.sqrt(np.square(D - np.sqrt(squares)).sum() / squares.sum()))
    return np.array(found)


def _verdicts(positive: Array, values: Array) -> dict[str, Verdict]:
    most = max(0.0, -float(values[-1]))
    above = int((positive > most).sum())
    shown = f"eigenvalues above {most:.3g}, the magnitude of the most negative one"
    shares, stick = rules.share(positive, 0.8), rules.broken_stick(positive)
    return {
        "negative": Verdict(above, shown),
        "share": Verdict(
            shares.choice, "the fewest dimensions with more than 0.8 of the sum of the positive eigenvalues"
        ),
        "drop": rules.drop(positive if most or len(positive) >= len(values) - 1 else np.append(positive, 0.0)),
        "broken-stick": Verdict(stick.choice, stick.note),
    }
