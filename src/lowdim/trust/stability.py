"""Would I see it again?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from lowdim._core import params
from lowdim._core.neighbors import nearest
from lowdim._core.runtime.rng import generator
from lowdim._core.streams import refuse_streams
from lowdim._core.tables.align import procrustes
from lowdim._core.tables.columns import is_frame
from lowdim._core.tables.form import refuse_no_table
from lowdim.trust.cost import Announcer, expected_seconds
from lowdim.trust.groups import group_codes
from lowdim.trust.null import taken

Array = NDArray[Any]

VARIED = ("rows", "seed", "settings")
LEAST = 4  # rows: some are left out, and a neighbour of a row is one of several
SHARE = 0.8  # of the rows that each replicate is fitted to
STEP = 1.25  # factor by which a number of neighbours, a perplexity or a width is changed
SETTINGS = ("n_neighbors", "perplexity", "width", "gamma")


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How much of a map comes back when it is made again.

    Attributes
    ----------
    overall : float
        Share of the nearest neighbours in a map that are nearest neighbours in another replicate too, beyond chance:
        1 if all come back, 0 if none does more often than by chance.
    interval : tuple of two floats
        95 % interval of it over replicates.
    per_row : ndarray
        The same for each row.
    spread : ndarray
        Deviation of the place of each row over replicates, after the best rotation and scale, relative to the radius
        of the map.
    n_neighbors : int
        How many nearest neighbours.
    replicates : list of str
        What was changed in each of them.
    """

    overall: float
    interval: tuple[float, float]
    per_row: Array
    spread: Array
    n_neighbors: int
    replicates: list[str]

    def by_group(self, labels: Any) -> dict[Any, float]:
        """The mean over the rows of each group.

        Parameters
        ----------
        labels : array of n labels
            Group of each row; None, NaN and -1 mean none.
        """
        names, codes = group_codes(labels, len(self.per_row), "Stability.by_group")
        return {name: float(self.per_row[codes == code].mean()) for code, name in enumerate(names)}

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Stability: {self.overall:.0%} of the {self.n_neighbors} nearest neighbours come back ({low:.0%} to "
            f"{high:.0%}) over {len(self.replicates)} replicates; places vary by {np.median(self.spread):.0%} of the "
            "radius of the map"
        )


@params.checked("trust.stability", estimator=params.estimator(), progress=params.function() | params.none())
def stability(
    X: Any,
    estimator: Any,
    *,
    n_resamples: int = 20,
    n_neighbors: int = 15,
    vary: Iterable[str] = VARIED,
    progress: Callable[[int, int], None] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Stability:
    """Make a map again and again, and count which neighbourhoods come back.

    Each replicate is fitted from scratch, without the map before it: to a random 80 % of the rows, with another seed,
    and with numbers of neighbours, perplexities or widths one step (25 %) up or down. Rows that were left out are
    placed by `transform`. Every two consecutive replicates are compared by the nearest neighbours of each row, which
    rotations and reflections do not change.

    Parameters
    ----------
    X : array (n, d) or data frame
        Data.
    estimator : estimator
        The method with its settings; copies of it are fitted.
    n_resamples : int
        Replicates.
    n_neighbors : int
        Nearest neighbours that are compared.
    vary : iterable of {"rows", "seed", "settings"}
        What is changed. With "seed" alone, only the chance in the method itself is measured.
    progress : callable or None
        Called with the number of replicates done and their total.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr. From 8,000 rows on it begins with how long all of it is
        expected to take, from maps of two small parts of the rows. Without it, and without `progress`, more than two
        minutes are warned of before they begin.

    Returns
    -------
    Stability
        Shares that come back, overall, for each row and for groups.

    References
    ----------
    Sun, Ma, Landrum, et al. (2023), Dynamic visualization of high-dimensional data.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(150, random_state=0).X
    >>> found = lowdim.trust.stability(X, lowdim.PCA(n_components=2), n_resamples=4, random_state=0)
    >>> found.overall > 0.5
    True
    """
    owner = "trust.stability"
    refuse_streams(X, f"{owner}: X")
    varied = () if isinstance(vary, str) or not np.iterable(vary) else tuple(vary)
    params.check(
        owner,
        {"n_resamples": n_resamples, "n_neighbors": n_neighbors, "verbose": verbose},
        {"n_resamples": params.whole(2), "n_neighbors": params.whole(1), "verbose": params.whole(0) | params.flag()},
    )
    if not varied or any(not isinstance(each, str) or each not in VARIED for each in varied):
        raise ValueError(f"{owner}: vary must hold some of {', '.join(map(repr, VARIED))}; got {vary!r}.")
    rng = generator(random_state)
    X = _table(X, owner)
    n = X.shape[0]
    k = min(n_neighbors, n - 2)
    sampled = "rows" in varied
    announcer = Announcer(owner, n_resamples, verbose, progress)
    announcer.begin(
        f"{n_resamples} maps of {n} rows by {type(estimator).__name__}",
        lambda: expected_seconds(lambda rows: _tried(X, rows, estimator, sampled, k, n_jobs), n),
    )
    places, overlaps, told = _Places(n), [], []
    before: Array | None = None
    for turn in range(n_resamples):
        copy, changed = _changed(estimator, turn, varied, rng)
        Z = _map_of(X, n, copy, rng if sampled else None, owner)
        places.add(Z)
        near = nearest(Z, k, n_jobs=n_jobs, approximate=None, owner=owner).indices
        overlaps += [] if before is None else [_agreement(before, near)]
        before = near
        told.append(changed)
        announcer.done(turn + 1)
    means = np.mean(overlaps, axis=1)
    half = 1.96 * float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else np.nan
    overall = float(means.mean())
    return Stability(overall, (overall - half, overall + half), np.mean(overlaps, axis=0), places.spread(), k, told)


def _tried(X: Any, rows: Array, estimator: Any, sampled: bool, k: int, n_jobs: int | None) -> None:
    """One replicate of some rows, whose time is measured; its random numbers are its own."""
    rng = np.random.default_rng(0) if sampled else None
    Z = _map_of(taken(X, rows), len(rows), clone(estimator), rng, "trust.stability")
    nearest(Z, min(k, len(rows) - 2), n_jobs=n_jobs, approximate=None, owner="trust.stability")


def _changed(estimator: Any, turn: int, varied: tuple[str, ...], rng: np.random.Generator) -> tuple[Any, str]:
    """A copy of the estimator for one replicate, and what is different about it."""
    copy, told = clone(estimator), ["80 % of the rows"] if "rows" in varied else []
    given = copy.get_params(deep=False)
    if "seed" in varied and "random_state" in given:
        copy.set_params(random_state=int(rng.integers(2**31)))
        told.append("another seed")
    step = (1.0, STEP, 1 / STEP)[turn % 3]
    if "settings" in varied and step != 1.0:
        for name in SETTINGS:
            value = given.get(name)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
                changed = max(1, round(value * step)) if isinstance(value, int) else value * step
                copy.set_params(**{name: changed})
                told.append(f"{name}={changed:g}")
    return copy, ", ".join(told) or "nothing"


def _table(X: Any, owner: str) -> Any:
    """X in a form whose rows can be taken by their numbers; the estimator says what it thinks of the cells."""
    refuse_no_table(X, owner)
    if sparse.issparse(X):
        X = X.tocsr()
    elif not (isinstance(X, np.ndarray) or is_frame(X)):
        X = np.asarray(X)
    if len(X.shape) != 2 or X.shape[0] < LEAST:
        raise ValueError(f"{owner}: X must be a table of at least {LEAST} rows; got shape {tuple(X.shape)}.")
    return X


def _map_of(X: Any, n: int, estimator: Any, rng: np.random.Generator | None, owner: str) -> Array:
    """The map of all rows, fitted to some of them where `rng` draws them; warnings of replicates are not repeated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rng is None:
            return np.asarray(estimator.fit_transform(X), float)
        chosen = np.sort(rng.choice(n, size=max(3, round(SHARE * n)), replace=False))
        left = np.setdiff1d(np.arange(n), chosen)
        placed = np.asarray(estimator.fit_transform(taken(X, chosen)), float)
        if not hasattr(estimator, "transform"):
            raise TypeError(
                f"{owner}: {type(estimator).__name__} cannot place rows that were left out (it has no transform). Use "
                "vary=('seed', 'settings')."
            )
        Z = np.empty((n, placed.shape[1]))
        Z[chosen], Z[left] = placed, np.asarray(estimator.transform(taken(X, left)), float)
    if not np.isfinite(Z).all():
        raise ValueError(
            f"{owner}: {type(estimator).__name__} must place all rows; {int((~np.isfinite(Z)).any(axis=1).sum())} of "
            f"{n} have no place. With a disconnected graph use disconnected='bridge'."
        )
    return Z


def _agreement(one: Array, other: Array) -> Array:
    """Share of the neighbours of each row that are in both lists, beyond chance."""
    n, k = one.shape
    keys = [np.sort(near + np.arange(n)[:, None] * n, axis=1).ravel() for near in (one.astype(np.int64), other)]
    common = np.isin(keys[0], keys[1], assume_unique=True).reshape(n, k).sum(axis=1)
    return ((n - 1) * common / k - k) / (n - 1 - k)


class _Places:
    """Mean and variance of the place of each row, every map turned onto the first; one map at a time."""

    def __init__(self, n: int):
        self.first: Array | None = None
        self.count, self.size = 0, 0.0
        self.total: Any = 0.0
        self.squares = np.zeros(n)

    def add(self, Z: Array) -> None:
        self.first = Z - Z.mean(axis=0) if self.first is None else self.first
        aligned = procrustes(self.first, Z).apply(Z)
        self.count += 1
        self.total = self.total + aligned
        self.squares += np.square(aligned).sum(axis=1)
        self.size += float(np.square(aligned).sum() / len(aligned))

    def spread(self) -> Array:
        """Deviation of each row relative to the radius of the map."""
        mean = self.total / self.count
        variance = np.maximum(0, self.squares / self.count - np.square(mean).sum(axis=1))
        return np.sqrt(variance) / max(np.sqrt(self.size / self.count), np.finfo(float).tiny)
