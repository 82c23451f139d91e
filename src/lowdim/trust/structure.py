"""Is there structure at all?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim._core import params
from lowdim._core.runtime.rng import generator
from lowdim._core.streams import refuse_streams
from lowdim.trust.agreement import Compared
from lowdim.trust.nearness import sampled_nearness
from lowdim.trust.null import NULLS, null_maps

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class StructureTest:
    """Is there structure: does a map keep more of the data than the same method keeps of noise, or are rows nearer?

    Two signs are tested together. A map of noise that has many groups, as shuffled principal components have, is as
    good as a map of few groups; but rows of data are nearer to each other than rows of either noise.

    Attributes
    ----------
    p_value : float
        Share of the tables of noise that stand out at least as much by either sign, at the neighbourhood size where
        each stands out most; at least 1 / (n_null + 1).
    map_p_value : float
        The same by the maps alone. Where it is large and `p_value` is small, there is structure, but this noise is
        mapped as well: try ``null="gaussian"``.
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
    nearness : ndarray or None
        Minus the mean log distance to the 4th, 8th, 16th, ... nearest of 400 rows drawn at random. None where distances
        are given or cells are missing, so that only the maps count.
    null_nearness : ndarray of shape (n_null, number of sizes) or None
        The same for each table of noise.
    """

    p_value: float
    map_p_value: float
    scale: int
    observed: Array
    scales: Array
    null: Array
    example: tuple[Any, Array]
    nearness: Array | None = None
    null_nearness: Array | None = None

    @property
    def clear(self) -> bool:
        """Whether the data lead all tables of noise, by either sign, by more than the tables of noise differ.

        A p-value cannot tell a narrow lead from a wide one: of 19 maps of noise the least is 0.05 for both. On a narrow
        lead, set a larger `n_null`.
        """
        first = self.p_value * (1 + len(self.null)) < 1.5
        return first and (is_clear(*self._at_scale()) or self._clearly_nearer)

    @property
    def _clearly_nearer(self) -> bool:
        if self.nearness is None or self.null_nearness is None:
            return False
        at = int(stand_out(self.nearness, self.null_nearness)[0].argmax())
        return is_clear(float(self.nearness[at]), float(self.null_nearness[:, at].min()),
                        float(self.null_nearness[:, at].max()))  # fmt: skip

    def _at_scale(self) -> tuple[float, float, float]:
        """The map of the data, the lowest and the highest map of noise."""
        at = int(np.flatnonzero(self.scales == self.scale)[0])
        return float(self.observed[at]), float(self.null[:, at].min()), float(self.null[:, at].max())

    def __repr__(self) -> str:
        value, low, high = self._at_scale()
        lead = "a clear lead" if self.clear else "no clear lead"
        of_map = f"R_NX({self.scale}) {value:.3f}, of noise {low:.3f} to {high:.3f} ({len(self.null)} tables)"
        return f"StructureTest: {of_map}, p = {self.map_p_value:.2g}; with distances p = {self.p_value:.2g}, {lead}"


@params.checked("trust.structure", estimator=params.estimator())
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
    """Compare the map of the data with maps of noise by the same method, and the rows with those of noise.

    Parameters
    ----------
    X : array (n, d)
        Data.
    estimator : estimator
        The method with its settings, fitted or not; copies of it are fitted.
    null : {"permuted", "gaussian"}
        The noise: columns shuffled one by one (any relation between columns counts as structure), or Gaussian rows
        with the same covariance (only what is beyond linear structure counts; so do several peaks in single columns).
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
    refuse_streams(X, f"{owner}: X")
    params.check(owner, {"null": null, "n_null": n_null}, {"null": params.one_of(*NULLS), "n_null": params.whole(1)})
    rng = generator(random_state)
    compared = Compared(metric, reference, graph_neighbors, n_jobs, owner)
    copy = clone(estimator)
    if "random_state" in copy.get_params(deep=False):
        copy.set_params(random_state=int(rng.integers(2**31)))
    curves = compared.curves(X, {"Z": np.asarray(copy.fit_transform(X))}, rng)["Z"]
    drawn = rng.spawn(1)[0]  # the sample of rows does not change what else is drawn
    near = sampled_nearness(X, compared, drawn)
    null_curves: list[Array] = []
    null_near: list[Array | None] = []
    examples: list[tuple[Any, Array]] = []
    for rows, placed in null_maps(X, estimator, null, n_null, rng, owner):
        null_curves.append(compared.curves(rows, {"Z": placed}, rng)["Z"].values.mean(axis=0))
        null_near.append(None if near is None else sampled_nearness(rows, compared, drawn))
        examples = examples or [(rows, placed)]
    values, observed = np.array(null_curves), curves.values.mean(axis=0)
    nearer = None if near is None else np.array(null_near, float)
    signs = (observed, values)
    if near is not None and nearer is not None:
        signs = (np.concatenate([observed, near]), np.hstack([values, nearer]))
    at = int(stand_out(observed, values)[0].argmax())
    return StructureTest(
        share_that_stands_out(*signs), share_that_stands_out(observed, values), int(curves.scales[at]), observed,
        curves.scales, values, examples[0], near, nearer,
    )  # fmt: skip


def share_that_stands_out(observed: Array, null: Array) -> float:
    """Share of all tables, the observed one among them, that stand out at least as much where each does most."""
    z, null_z = stand_out(observed, null)
    return (1 + int((null_z >= z.max()).sum())) / (1 + len(null))


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
