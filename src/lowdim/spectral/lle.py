"""Locally linear embedding and its relatives: what holds in every neighbourhood holds in the map."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import memory, params
from lowdim._core.base import Reducer
from lowdim._core.bottom import Bottom, bottom_axes, warn_of_ambiguous_axes, warn_of_crowding
from lowdim._core.distances import check_metric
from lowdim._core.extend import Rebuilt
from lowdim._core.graph import connect, has_edges, neighbor_graph
from lowdim._core.incomplete import METRICS, POLICIES
from lowdim._core.landmark_spectrum import LARGEST_FACTORS, MIXED, USUAL, landmarks_for, reduced_axes
from lowdim._core.local import METHODS, Patches, alignment
from lowdim._core.neighbor_methods import Neighborhood
from lowdim._core.neighbors import SEARCH, nearest
from lowdim._core.notices import warn
from lowdim._core.parts import beside
from lowdim._core.repair import METHODS as REPAIRS
from lowdim._core.repair import NOT_ASKED
from lowdim._core.rng import generator
from lowdim._core.threads import blocks


class LLE(Reducer):
    """Locally linear embedding: the map keeps what is linear in each neighbourhood.

    Standard LLE rebuilds each row from its neighbours, x_i = sum_j w_ij x_j with weights of sum 1, and looks for places
    that the same weights rebuild: the smallest eigenvectors of M = (I - W)'(I - W), the constant left out, with mean 0
    and Z'Z / n = I. The relatives ask more of a neighbourhood and recover a sheet better, up to a linear map: several
    weight vectors (modified), vanishing second derivatives (Hessian; sheets with holes too), or affine functions of
    tangent coordinates (LTSA).

    Parameters
    ----------
    n_components : int
        Dimension of the embedding.
    n_neighbors : int
        Neighbours of each row, itself not counted. Hessian needs more than n_components (n_components + 3) / 2, LTSA
        more than n_components, modified as many at least.
    method : {"standard", "modified", "hessian", "ltsa"}
        What is asked of a neighbourhood.
    reg : float or "auto"
        Ridge of the weights as a share of the trace of the local Gram matrix. Large, the map follows the graph and not
        the sheet; too small, it is a linear projection of the rows. "auto" takes in each neighbourhood the mean
        variance off its `n_components` leading directions, the part that the sheet does not explain.
    repair : {None, "flow", "linearity", "stability"}
        Leave out of a neighbourhood the rows to which an edge short-circuits the sheet: edges of rows through which
        many paths run and around which the way is long; that leave the tangent plane (of dimension `n_components`); or
        whose ends are far apart in sparser graphs. See `Isomap`.
    n_landmarks : int, "auto" or None
        Every row a mixture of this many landmarks, in which the eigenproblem is solved: many rows in little memory, at
        some loss of detail. "auto": only where the factors of M would not fit into memory or take very long to
        make, 1,000 of them, with a word; None: never.
    metric : str or callable
        Distance that chooses neighbours. Inside a neighbourhood coordinates count, so there is no "precomputed".
    search : {"auto", "exact", "approximate"}
        How neighbours are found. "auto" is exact up to 20,000 rows and wherever a tree is fast; beyond, it takes the
        approximate search, which finds 98 % and more of them in data with structure.
    missing : {"error", "pairwise", "expected"}
        What a missing cell (NaN) means: refused; neighbours by distances over the columns both rows have, the mean of
        theirs standing for the cell; or neighbours by the expected distance under a Gaussian model of the rows, and
        the model's conditional mean. Under "expected" an incomplete fitted row given to `transform` comes out near its
        place, not always at it.
    disconnected : {"bridge", "separate", "largest", "error"}
        When the graph falls apart: join its parts by their shortest edges (the neighbourhoods at both ends become one;
        the joint is weak), embed each and tile them, embed the largest (other rows are NaN), or refuse.
    random_state : int, generator or None
        For the start of the eigensolver and the model of missing cells.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.
    verbose : int
        Taken like everywhere; a fit is one eigenproblem and shows no progress.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the fitted rows. Equal rows have one place.
    eigenvalues_ : ndarray of shape (n_components + 2,)
        The smallest eigenvalues of M (of the largest part): the constant's, those of the axes, and the next one. A
        small gap before that one means that the last axes could as well be others, and is warned of.
    reconstruction_error_ : float
        trace(Z'M Z) / n: for standard LLE the mean squared distance between a row's place and what its neighbours'
        places make of it.
    landmarks_ : ndarray of int or None
        The rows that are landmarks.
    n_components_graph_ : int
        Parts the neighbour graph fell into before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The part of each row, 0 being the largest.
    suspicious_edges_, suspicious_scores_, suspicious_removed_ : ndarray
        With `repair` (else None): the edges found as pairs of rows, the most suspicious first, their scores, and
        whether each was taken out (False where it holds the graph together).

    References
    ----------
    Roweis and Saul, Nonlinear dimensionality reduction by locally linear embedding, 2000. Saul and Roweis, Think
    globally, fit locally, 2003 (new rows). De Ridder and Duin, Locally linear embedding for classification, 2002 (the
    ridge). Zhang and Wang, MLLE, 2007. Donoho and Grimes, Hessian eigenmaps, 2003. Zhang and Zha, Principal manifolds
    and nonlinear dimension reduction via local tangent space alignment, 2004. Vladymyrov and Carreira-Perpinan, Locally
    linear landmarks for large-scale manifold learning, 2013.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(500, random_state=0).X
    >>> model = lowdim.LLE(n_components=2, method="ltsa").fit(X)
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.whole(1),
        "method": params.one_of(*METHODS),
        "reg": params.one_of("auto") | params.real(0, open_low=True),
        "repair": params.none() | params.one_of(*REPAIRS),
        "n_landmarks": params.none() | params.one_of("auto") | params.whole(3),
        "metric": params.text() | params.function(),
        "search": params.one_of(*SEARCH),
        "missing": params.one_of(*POLICIES),
        "disconnected": params.one_of("bridge", "separate", "largest", "error"),
        "random_state": params.seed(),
        "n_jobs": params.jobs(),
        "verbose": params.whole(0) | params.flag(),
    }
    _hole_policies = tuple(METRICS)
    _extension: Any
    _ways_out = "Use fewer neighbours, or fit on a sample and place the other rows with transform."

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=12,
        method="standard",
        reg="auto",
        repair=None,
        n_landmarks="auto",
        metric="euclidean",
        search="auto",
        missing="error",
        disconnected="bridge",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.method = method
        self.reg = reg
        self.repair = repair
        self.n_landmarks = n_landmarks
        self.metric = metric
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _takes_nan(self) -> bool:
        return self.missing != "error"

    def _embed(self, X: Any) -> np.ndarray:
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = NOT_ASKED
        self._check_settings()
        rng = generator(self.random_state)
        near = self._nearest(X, self.n_neighbors)
        X, copy_of, counts = _distinct(X, near)
        if counts is not None:
            near = self._nearest(X, self._fewer_neighbors(len(X)))

        settings = {"policy": self.disconnected, "metric": self._distance(), "owner": "LLE", "n_jobs": self.n_jobs}
        graph, use = self._repaired(neighbor_graph(near), near, X, copy_of)
        joined = connect(graph, X, **settings)
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[copy_of]
        patches = Patches.of(near.indices, joined.bridges(), use)

        rows = joined.parts(self.disconnected)
        coordinates = X if self._holes is None else self._holes.rows_among(X, near)
        forms = [self._form(coordinates, patches, part) for part in rows]
        chosen = self._landmarks(X, forms, rng)
        self.landmarks_ = None if chosen is None else np.unique(copy_of, return_index=True)[1][chosen]
        if chosen is not None:
            return self._embed_landmarks(X, coordinates, chosen, forms[0], counts, rng)[copy_of]
        parts = [self._embed_part(M, part, counts, rng) for M, part in zip(forms, rows, strict=True)]
        self.eigenvalues_ = parts[0].values
        self.reconstruction_error_ = float(
            sum(p.values[1 : self.n_components + 1].sum() * len(p.places) for p in parts)
        )
        self.reconstruction_error_ /= sum(len(p.places) for p in parts)
        Z, home = self._tiled(rows, parts, X.shape[0])
        self._rows = X.copy()
        self._extension = Rebuilt(Z, home, None if self._holes is None else coordinates, self.reg, self.n_components)
        return Z[copy_of]

    def _repaired(self, G: Any, near: Any, X: Any, copy_of: np.ndarray) -> tuple[Any, np.ndarray | None]:
        """The graph without short circuits, and which neighbours are left; at least as many as the method needs."""
        if self.repair is None:
            return G, None
        around = Neighborhood(near.indices.shape[1], None, self._distance(), None, self.n_jobs, "LLE")
        found = around.repaired(G, X, self.repair, self.n_components, self._holes)
        first = np.unique(copy_of, return_index=True)[1]
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = found.named(first)
        use = has_edges(found.graph, near.indices)
        use |= (use.sum(axis=1, keepdims=True) < self._least()) & (np.arange(use.shape[1]) < self._least())
        return found.graph, use

    def _least(self) -> int:
        """How many neighbours the local fits need."""
        r = self.n_components
        return {"standard": 1, "modified": r, "ltsa": r + 1, "hessian": r * (r + 3) // 2 + 1}[self.method]

    def _check_settings(self) -> None:
        self._check_size(self.n_neighbors)
        check_metric(self.metric, "LLE")
        if self._precomputed():
            raise ValueError(
                "LLE: metric must compare rows, whose coordinates the local fits need; got 'precomputed'. "
                "ClassicalMDS(metric='precomputed') turns distances into coordinates."
            )

    def _check_size(self, k: int) -> None:
        """A neighbourhood must hold more rows than there are unknowns."""
        r, least = self.n_components, self._least()
        if k < least:
            raise ValueError(
                f"LLE: n_neighbors must be at least {least} for method={self.method!r} and n_components={r}; got {k}. "
                "A neighbourhood must hold more rows than there are unknowns."
            )

    def _nearest(self, rows: Any, k: int, queries: Any = None) -> Any:
        settings = {"metric": self._distance(), "n_jobs": self.n_jobs, "owner": "LLE", "name": "n_neighbors"}
        return nearest(rows, k, queries=queries, approximate=SEARCH[self.search], **settings)

    def _fewer_neighbors(self, distinct: int) -> int:
        if distinct < 2:
            raise ValueError("LLE: X must have at least 2 different rows; got 1, many times.")
        k = min(self.n_neighbors, distinct - 1)
        if k < self.n_neighbors:
            warn(f"LLE: X has only {distinct} different rows; n_neighbors={self.n_neighbors} was lowered to {k}.")
            self._check_size(k)
        return k

    def _form(self, X: Any, patches: Patches, rows: np.ndarray) -> sparse.csr_array:
        """The matrix M of one part."""
        inside = patches.of_rows(rows, len(X))
        return alignment(X[rows], inside, self.method, self.n_components, reg=self.reg, n_jobs=self.n_jobs)

    def _embed_part(self, M: sparse.csr_array, rows: np.ndarray, counts: Any, rng: np.random.Generator) -> Bottom:
        counted = None if counts is None else counts[rows]
        bottom = bottom_axes(M, self.n_components, counts=counted, rng=rng, owner="LLE")
        warn_of_ambiguous_axes(bottom, "LLE")
        warn_of_crowding(bottom.places, "LLE")
        return bottom

    def _landmarks(self, X: Any, forms: list[Any], rng: np.random.Generator) -> np.ndarray | None:
        """Which rows are landmarks; None where every row has a place of its own."""
        return landmarks_for(
            self.n_landmarks, X, forms, policy=self.disconnected, metric=self._distance(), rng=rng, owner="LLE"
        )

    def _embed_landmarks(self, X: Any, coordinates: Any, chosen: Any, M: Any, counts: Any, rng: Any) -> np.ndarray:
        """Places as mixtures of those of the landmarks."""
        self._rows, home = X[chosen].copy(), np.zeros(len(chosen), dtype=int)
        known = None if self._holes is None else coordinates[chosen]
        blank = Rebuilt(np.zeros((len(chosen), self.n_components)), home, known, self.reg, self.n_components)
        W = blank.mixture(*self._meeting(X, known), self.n_jobs)
        bottom = reduced_axes(M, W, self.n_components, counts=counts, rng=rng, owner="LLE")
        warn_of_ambiguous_axes(bottom, "LLE")
        self.eigenvalues_ = bottom.values
        self.reconstruction_error_ = float(bottom.values[1 : self.n_components + 1].sum())
        self._extension = replace(blank, places=bottom.places)
        Z = np.concatenate([self._extend(X[part]) for part in blocks(len(X), self._block_rows)])
        warn_of_crowding(Z, "LLE")
        return Z

    def _meeting(self, X: Any, completed: Any) -> tuple[Any, Any, Any]:
        """Rows, the fitted ones they are rebuilt from, and which of these are near; holes filled on both sides."""
        k = self.n_neighbors if self.landmarks_ is None else min(self.n_neighbors, self.n_components + MIXED)
        near = self._nearest(self._rows, min(k, len(self._rows)), X)
        if self._holes is None or completed is None:
            return X, self._rows, near
        return self._holes.rows_among(X, near, completed), completed, near

    def _tiled(self, rows: list[np.ndarray], parts: list[Bottom], n: int) -> tuple[np.ndarray, np.ndarray]:
        """Places of all rows, and the part of each; NaN and -1 where a row has none."""
        Z, home = np.full((n, self.n_components), np.nan), np.full(n, -1)
        moves = beside([part.places[:, 0] for part in parts]) if len(parts) > 1 else [0.0]
        for number, (mine, part, move) in enumerate(zip(rows, parts, moves, strict=True)):
            Z[mine], home[mine] = part.places, number
            Z[mine, 0] += move
        return Z, home

    def _extend(self, X: Any) -> np.ndarray:
        return self._extension(*self._meeting(X, self._extension.completed), self.n_jobs)

    def _fitted_places(self) -> np.ndarray:
        return self._extension.places

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        p = self.n_neighbors + 1
        return {
            "local forms": 4 * n * p * (p + 1),
            "alignment matrix": 50 * n * 4 * p,
            "sparse factors": self._factors(n),
            "search": 2 * n * 64 * 8,
            "neighbour graph": 100 * n * p,
            "rows": 2 * n * d * itemsize,
        }

    def _factors(self, n: int) -> int:
        """Bytes of the sparse factors, or of what stands for them: with landmarks there are none."""
        most = 32 * n * 256 + 40 * min(n, USUAL if isinstance(self.n_landmarks, str) else self.n_landmarks or n) ** 2
        direct = int(36 * n * self._fill(n))
        if self.n_landmarks is None or self.disconnected in ("separate", "largest"):
            return direct
        return direct if self.n_landmarks == "auto" and direct <= min(memory.limit(), LARGEST_FACTORS) else most

    def _fill(self, n: int) -> float:
        """Entries in a row of the factors of a graph of as many dimensions as the map, as measured up to 50,000 rows.

        Rows that fill more dimensions need more: the solver looks at the graph and refuses before it factorises.
        """
        p, r = self.n_neighbors + 1, self.n_components
        guess = {1: 4.0 * p, 2: 0.95 * p * np.log2(max(n, 2)), 3: 0.23 * p * n**0.65}.get(r, n / 2)
        return min(n / 2, guess)


def _distinct(X: Any, near: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """The different rows, which of them each row is, and how many each stands for (None: all differ).

    Copies of a row would fill its neighbourhood and say nothing about the sheet.
    """
    if near.distances[:, 0].min() > 0:
        return X, np.arange(len(X)), None
    _, first, copy_of, counts = np.unique(X, axis=0, return_index=True, return_inverse=True, return_counts=True)
    if len(first) == len(X):
        return X, np.arange(len(X)), None
    order = np.argsort(first)
    place = np.empty(len(first), dtype=np.intp)
    place[order] = np.arange(len(first))
    return X[first[order]], place[np.ravel(copy_of)], counts[order]
