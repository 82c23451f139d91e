"""Axes from the small end of a spectrum, and what can be wrong with them.

Local methods take the eigenvectors of the smallest eigenvalues of a matrix M with M 1 = 0, the constant left out. These
eigenvalues are tiny (1e-7 and less), and several of them may be equal, so that the axes are arbitrary mixtures.
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
    pairs = eigenpairs(M, min(r + 1, n - 1), which="smallest", semidefinite=True, **settings)
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
