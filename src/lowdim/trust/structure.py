"""Is there structure at all?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim._core import params
from lowdim._core.runtime.rng import generator
from lowdim.trust.agreement import Compared
from lowdim.trust.null import NULLS, null_maps

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class StructureTest:
    """Does a map keep more of the data than the same method keeps of noise?

    Attributes
    ----------
    p_value : float
        Share of the maps of noise that stand out at least as much, at the neighbourhood size where each stands out
        most; at least 1 / (n_null + 1).
    scale : int
        The neighbourhood size at which the map of the data stands out most.
    observed : ndarray
        R_NX of the map at each neighbourhood size: 1 is perfect, 0 chance.
    scales : ndarray of int
        Those sizes.
    null : ndarray of shape (n_null, number of scales)
        The same for each map of noise.
    example : tuple of two arrays
        One table of noise and its map, to be drawn beside the map of the data.
    """

    p_value: float
    scale: int
    observed: Array
    scales: Array
    null: Array
    example: tuple[Any, Array]

    @property
    def clear(self) -> bool:
        """Whether the map leads the best map of noise by more than the maps of noise differ.

        A p-value cannot tell a narrow lead from a wide one: of 19 maps of noise the least is 0.05 for both. On a narrow
        lead, set a larger `n_null`.
        """
        value, low, high = self._at_scale()
        return self.p_value * (1 + len(self.null)) < 1.5 and is_clear(value, low, high)

    def _at_scale(self) -> tuple[float, float, float]:
        """The map of the data, the lowest and the highest map of noise."""
        at = int(np.flatnonzero(self.scales == self.scale)[0])
        return float(self.observed[at]), float(self.null[:, at].min()), float(self.null[:, at].max())

    def __repr__(self) -> str:
        value, low, high = self._at_scale()
        lead = "a clear lead" if self.clear else "no clear lead"
        return (
            f"StructureTest: R_NX({self.scale}) {value:.3f}, of noise {low:.3f} to {high:.3f} "
            f"({len(self.null)} tables), p = {self.p_value:.2g}, {lead}"
        )


def structure(
    X: Any,
    estimator: Any,
    *,
    null: str = "permuted",
    n_null: int = 20,
    reference: str = "ambient",
    graph_neighbors: int = 10,
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> StructureTest:
    """Compare the map of the data with maps of noise by the same method.

    Parameters
    ----------
    X : array (n, d)
        Data.
    estimator : estimator
        The method with its settings, fitted or not; copies of it are fitted.
    null : {"permuted", "gaussian"}
        The noise: columns shuffled one by one (any relation between columns counts as structure), or Gaussian rows
        with the same covariance (only what is beyond linear structure counts).
    n_null : int
        Tables of noise.
    reference : {"ambient", "geodesic", "precomputed"}
        Distances to compare with: between the rows of `X`, along its neighbour graph, or given in `X`.
    graph_neighbors : int
        Neighbours of each row in the graph, with ``reference="geodesic"``.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    StructureTest
        The p-value, what was observed, and the values of the noise.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 5)), rng.normal(8, 1, size=(60, 5))])
    >>> lowdim.trust.structure(X, lowdim.PCA(n_components=2), random_state=0).p_value < 0.05
    True
    """
    owner = "trust.structure"
    params.check(owner, {"null": null, "n_null": n_null}, {"null": params.one_of(*NULLS), "n_null": params.whole(1)})
    rng = generator(random_state)
    compared = Compared(metric, reference, graph_neighbors, n_jobs, owner)
    copy = clone(estimator)
    if "random_state" in copy.get_params(deep=False):
        copy.set_params(random_state=int(rng.integers(2**31)))
    curves = compared.curves(X, {"Z": np.asarray(copy.fit_transform(X))}, rng)["Z"]
    null_curves: list[Array] = []
    examples: list[tuple[Any, Array]] = []
    for rows, placed in null_maps(X, estimator, null, n_null, rng, owner):
        null_curves.append(compared.curves(rows, {"Z": placed}, rng)["Z"].values.mean(axis=0))
        examples = examples or [(rows, placed)]
    values, observed = np.array(null_curves), curves.values.mean(axis=0)
    z, null_z = stand_out(observed, values)
    larger = int((null_z >= z.max()).sum())
    return StructureTest(
        (1 + larger) / (1 + n_null), int(curves.scales[z.argmax()]), observed, curves.scales, values, examples[0]
    )


def stand_out(observed: Array, null: Array) -> tuple[Array, Array]:
    """By how many standard deviations of the noise a curve lies above it, and the largest such number of each null.

    Observed and null curves are treated alike (mean and deviation over all of them), so that under the null the rank of
    the observed one is uniform.
    """
    together = np.vstack([observed, null])
    spread = together.std(axis=0)
    z = (together - together.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return z[0], z[1:].max(axis=1)


def is_clear(value: float, low: float, high: float) -> bool:
    """Whether a value leads the highest of the noise by at least the range of the noise.

    One of 20 maps of noise leads the other 19 so in 1 of 100 cases with exponential tails, and in 1 of 1,000 with those
    of a Gaussian.
    """
    return value > high and value - high >= high - low
