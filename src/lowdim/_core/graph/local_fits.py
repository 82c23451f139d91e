"""Local fits of LLE and its variants: reconstruction weights and one quadratic form for each neighbourhood.

A patch is a list of rows: a row, then its neighbours. Each method has a quadratic form F on the values of a function on
a patch that measures how far the function is from what the method allows there. The alignment matrix is the sum of the
forms, M = sum_i S_i F_i S_i', with S_i selecting the rows of patch i. M is positive semi-definite and M 1 = 0.

standard   F = v v', v = (1, -w): a row is reconstructed from its neighbours by weights w (Roweis and Saul 2000)
modified   several such v, from all directions in which the neighbourhood has little variance (Zhang and Wang 2007)
hessian    second derivatives in tangent coordinates vanish (Donoho and Grimes 2003)
ltsa       F = I - G G', G = (1, tangent coordinates): the function is affine there (Zhang and Zha 2004)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.runtime.threads import n_threads

LLE_METHODS = ("standard", "modified", "hessian", "ltsa")
_AUTO = -1.0  # what the compiled code takes for ridge="auto"


@dataclass(frozen=True, eq=False)
class Patches:
    """Lists of row numbers, one after the other.

    Attributes
    ----------
    starts : ndarray of shape (m + 1,), int64
        Patch i is ``members[starts[i]:starts[i + 1]]``.
    members : ndarray, int32
        Row numbers.
    """

    starts: np.ndarray
    members: np.ndarray

    @classmethod
    def of(
        cls,
        indices: np.ndarray,
        bridges: tuple[np.ndarray, np.ndarray] | None = None,
        use: np.ndarray | None = None,
    ) -> Patches:
        """Each row with its neighbours, those marked in `use` where given.

        At an edge that bridges two components, the neighbourhoods of its two ends are merged for all of their rows:
        a single edge would leave the second component free to rotate about the first.
        """
        n = len(indices)
        table = np.column_stack([np.arange(n), indices]).astype(np.int32)
        used = np.column_stack([np.ones(n, dtype=bool), np.ones(indices.shape, dtype=bool) if use is None else use])
        more: dict[int, list[np.ndarray]] = {}
        for i, j in zip(*(bridges or ((), ())), strict=True):
            both = np.concatenate([table[i][used[i]], table[j][used[j]]])
            for row in both:
                more.setdefault(int(row), []).append(both)
        if not more:
            return cls.chosen(table, used)
        own = [row[mine] for row, mine in zip(table, used, strict=True)]
        return cls._listed([_joined(own[i], more[i]) if i in more else own[i] for i in range(n)])

    @classmethod
    def chosen(cls, indices: np.ndarray, use: np.ndarray) -> Patches:
        """Of each row of neighbours those marked in `use`."""
        starts = np.concatenate([[0], np.cumsum(use.sum(axis=1))]).astype(np.int64)
        return cls(starts, np.ascontiguousarray(indices[use], dtype=np.int32))

    @classmethod
    def _listed(cls, lists: list[np.ndarray]) -> Patches:
        starts = np.concatenate([[0], np.cumsum([len(rows) for rows in lists])]).astype(np.int64)
        return cls(starts, np.concatenate(lists).astype(np.int32))

    def of_rows(self, rows: np.ndarray, n: int) -> Patches:
        """The patches of some rows that refer to no others, numbered within them."""
        if len(rows) == n:
            return self
        place = np.full(n, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        return self._listed([place[self.members[self.starts[i] : self.starts[i + 1]]] for i in rows])


def _joined(own: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
    """Without repetition, in the order of first appearance: the row itself stays first."""
    every = np.concatenate([own, *others])
    _, first = np.unique(every, return_index=True)
    return every[np.sort(first)]


def weights(
    X: np.ndarray, Q: np.ndarray, patches: Patches, *, ridge: float | str, rank: int, n_jobs: int | None = None
) -> np.ndarray:
    """Weights with sum 1 that reconstruct each row of Q from its patch of rows of X.

    Minimises |q - sum_j w_j x_j|² + sum_j c_j w_j², with c_j in proportion to |q - x_j|² and with the ridge as their
    mean: a row that equals a neighbour has weight 1 on it, and close to it the weights change continuously.

    Parameters
    ----------
    X, Q : ndarray of shape (n, d) and (m, d)
        Of one precision.
    patches : Patches
        m lists of rows of X.
    ridge : float or "auto"
        As a share of the trace of the local Gram matrix; "auto" is the mean variance outside the `rank` leading
        directions (de Ridder and Duin 2002).
    rank : int
        Dimension of the embedding.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray
        One weight for each member of the patches.
    """
    W = np.empty(len(patches.members))
    X, Q = (np.ascontiguousarray(rows) for rows in (X, Q))
    _native.local_weights(X, Q, patches.starts, patches.members, _ridge_number(ridge), rank, True, W, n_threads(n_jobs))
    return W


def _ridge_number(ridge: float | str) -> float:
    """The ridge as the compiled code takes it."""
    return _AUTO if isinstance(ridge, str) else float(ridge)


def alignment(
    X: np.ndarray, patches: Patches, method: str, r: int, *, ridge: float | str = "auto", n_jobs: int | None = None
) -> sparse.csr_array:
    """The matrix M whose smallest eigenvectors are the axes of a local method.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    patches : Patches
        One for each row, itself first.
    method : {"standard", "modified", "hessian", "ltsa"}
        Which form.
    r : int
        Dimension of the embedding.
    ridge : float or "auto"
        Of the weights, as in `weights`; for "standard" and "modified".
    n_jobs : int or None
        Threads. The result does not depend on it.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric to the last bit, sorted.
    """
    X, threads = np.ascontiguousarray(X), n_threads(n_jobs)
    sizes = np.diff(patches.starts)
    offsets = np.concatenate([[0], np.cumsum(sizes * (sizes + 1) // 2)]).astype(np.int64)
    eta = _usual_ratio(X, patches, r, threads) if method == "modified" else 0.0
    F = np.empty(offsets[-1])
    which = LLE_METHODS.index(method)
    known = (patches.starts, patches.members, offsets, which, r, _ridge_number(ridge), eta)
    _native.local_forms(X, *known, F, threads)
    return _sum(patches, offsets, F, len(X), threads)


def _usual_ratio(X: np.ndarray, patches: Patches, r: int, threads: int) -> float:
    """The median over patches of the variance outside the r leading directions over that along them."""
    ratios = np.empty(len(patches.starts) - 1)
    _native.local_ratios(X, patches.starts, patches.members, r, ratios, threads)
    return float(np.median(ratios))


def _sum(patches: Patches, offsets: np.ndarray, F: np.ndarray, n: int, threads: int) -> sparse.csr_array:
    count = len(patches.members)
    patch_of = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(patches.starts))
    named = sparse.csr_array((np.arange(count), patches.members, patches.starts), shape=(len(offsets) - 1, n)).tocsc()
    first, where = named.indptr.astype(np.int64), named.data.astype(np.int64)
    borders = np.zeros(n + 1, dtype=np.int64)
    known = (patches.starts, patches.members, offsets, F, patch_of, first, where, borders)
    _native.sum_forms(*known, np.empty(0, np.int32), np.empty(0), threads)
    np.cumsum(borders, out=borders)
    columns, values = np.empty(borders[-1], np.int32), np.empty(borders[-1])
    _native.sum_forms(*known, columns, values, threads)
    return sparse.csr_array((values, columns, borders), shape=(n, n))
