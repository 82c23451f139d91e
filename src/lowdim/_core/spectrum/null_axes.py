"""Axes from the small end of a spectrum, and what can be wrong with them.

Local methods take the eigenvectors of the smallest eigenvalues of a matrix M with M 1 = 0, the constant left out. These
eigenvalues are tiny (1e-7 and less), and two things go wrong silently: several of them are equal, so that the axes are
arbitrary mixtures, or the axes describe a few outlying rows while the others collapse to a point or a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import eigenpairs

ZERO = 1e-15  # of the norm: an eigenvalue below it is rounding
GAP = 1.1  # ratio between the last axis and the next one
CROWDED = 1 / 3  # of the rows in a hundredth of the map
FEW = 20  # rows of which a third are soon at one place
# Outlying rows and the variance they pay for. Maps of sheets, clusters, digits and faces were seen to have at most 0.42
# of a direction in 2 % of the rows, maps with outliers that shrink the rest 0.67 and more, mostly over 0.9.
OUTLYING, PAID = 0.02, 0.6


@dataclass(frozen=True, eq=False)
class NullAxes:
    """The eigenvectors next to the null vector (the constant) as axes, with the eigenvalues around them.

    Attributes
    ----------
    values : ndarray of shape (r + 2,)
        The smallest eigenvalues, ascending: that of the constant, those of the axes, and the next one.
    embedding : ndarray of shape (n, r)
        Mean 0 and Z'Z / n = I.
    norm : float
        A bound of the largest eigenvalue.
    """

    values: np.ndarray
    embedding: np.ndarray
    norm: float

    @property
    def of_axes(self) -> np.ndarray:
        """The eigenvalues of the r axes, 0 for axes that are zero."""
        r = self.embedding.shape[1]
        found = self.values[1 : r + 1]
        return np.concatenate([found, np.zeros(r - len(found))])


def null_axes(
    M: sparse.csr_array,
    r: int,
    *,
    counts: np.ndarray | None = None,
    rng: Any = None,
    give_up: bool = False,
    owner: str = "null_axes",
) -> NullAxes:
    """The r smallest nontrivial eigenvectors of M as coordinates with unit covariance.

    Parameters
    ----------
    M : csr_array of shape (n, n)
        Positive semi-definite, M 1 = 0.
    r : int
        Number of axes; n rows have n - 1 at most, and the others are zero, with a warning.
    counts : ndarray of shape (n,), optional
        How many rows each one stands for.
    rng : generator or None
        Start of the solver.
    give_up : bool
        Raise `TooHard` where no solver succeeds; see `eigenpairs`.
    owner : str
        Name of the caller, for messages.

    Returns
    -------
    NullAxes
    """
    n = M.shape[0]
    mass = np.ones(n) if counts is None else counts.astype(np.float64)
    norm = float(abs(M).sum(axis=1).max()) or 1.0
    given = None if counts is None else mass
    settings = {"mass": given, "skip": np.ones((n, 1)), "rng": rng, "give_up": give_up, "owner": owner}
    pairs = eigenpairs(M, min(r + 1, n - 1), which="smallest", **settings)
    Z = pairs.vectors[:, :r]
    Z = Z - mass @ Z / mass.sum()
    if n - 1 < r:
        warn(f"{owner}: {n} rows have {n - 1} axes; the other {r - n + 1} of n_components={r} are zero.")
        Z = np.hstack([Z, np.zeros((n, r - n + 1))])
    first = float(np.ones(n) @ (M @ np.ones(n))) / mass.sum()
    return NullAxes(np.concatenate([[first], pairs.values]), Z * np.sqrt(mass.sum()), norm)


def warn_of_ambiguous_axes(axes: NullAxes, owner: str) -> None:
    """The axes are determined only as far as the next eigenvalue is larger."""
    r, zero = axes.embedding.shape[1], ZERO * axes.norm
    if len(axes.values) < r + 2:
        return
    last, following = axes.values[r], axes.values[r + 1]
    if following <= zero:
        warn(
            f"{owner}: {r + 2} or more eigenvalues are zero to rounding (the next after the axes is {following:.1e}), "
            "so the axes are an arbitrary mixture of more directions than n_components: the graph has too few edges, "
            "or the data are flat in more dimensions. Raise n_neighbors, ridge or n_components."
        )
    elif last > zero and following < GAP * last:
        warn(
            f"{owner}: the gap after the last axis is small (eigenvalues {last:.2e} and {following:.2e}, ratio "
            f"{following / last:.2f}), so the last axes may be mixed with the next ones. Try another n_components or "
            "n_neighbors."
        )


def warn_of_crowding(Z: np.ndarray, owner: str) -> None:
    """Most rows at one point or on one line, and a few far away: the collapse that unit covariance allows."""
    if len(Z) < FEW:
        return
    share, (rows, paid) = crowding(Z), outlying(Z)
    way_out = "Drop these, raise n_neighbors, or use another method."
    if share > CROWDED:
        warn(
            f"{owner}: {share:.0%} of the rows lie within 1 % of the map's diameter of one point: the axes show a few "
            f"outlying rows. {way_out}"
        )
    elif paid > PAID:
        named = ", ".join(str(i) for i in rows[:5]) + (", ..." if len(rows) > 5 else "")
        warn(
            f"{owner}: {len(rows)} of {len(Z)} rows ({named}) make {paid:.0%} of the spread along a direction of the "
            f"map, along which the others have shrunk. {way_out}"
        )


def outlying(Z: np.ndarray) -> tuple[np.ndarray, float]:
    """The 2 % of the rows that lie furthest out, and their largest share of the variance in any direction.

    Z'Z / n = I, so the share along u is |Z_out u|² / n; it does not change when the map is turned.
    """
    size = np.square(Z).sum(axis=1)
    rows = np.argsort(-size, kind="stable")[: int(np.ceil(OUTLYING * len(Z)))]
    return rows, float(np.linalg.norm(Z[rows], 2) ** 2 / len(Z))


def crowding(Z: np.ndarray) -> float:
    """Share of the rows within 1 % of the diameter of the row nearest to the median."""
    middle = _lengths(Z - np.median(Z, axis=0)).argmin()
    from_middle = _lengths(Z - Z[middle])
    diameter = _lengths(Z - Z[from_middle.argmax()]).max()
    return float((from_middle <= 0.01 * diameter).mean()) if diameter > 0 else 1.0


def _lengths(V: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(V).sum(axis=1))
