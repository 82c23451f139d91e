"""Locally linear embedding and its relatives: what holds in every neighbourhood holds in the map."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric
from lowdim._core.extend import Rebuilt
from lowdim._core.graph import POLICIES as DISCONNECTED
from lowdim._core.graph import has_edges, neighbor_graph
from lowdim._core.graph.local_fits import METHODS, Patches, alignment
from lowdim._core.graph.repair import METHODS as REPAIRS
from lowdim._core.graph.repair import Repair
from lowdim._core.landmarks import policy
from lowdim._core.landmarks.choose import choose
from lowdim._core.landmarks.policy import Route, by_factors, factors_fit, solved
from lowdim._core.manifold.components import side_by_side
from lowdim._core.manifold.neighborhood import Distinct, Neighborhood
from lowdim._core.manifold.reduced import MIXED, mixed, mixture_bytes, reduced_axes, route_of
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks
from lowdim._core.spectrum.null_axes import bottom_axes, warn_of_ambiguous_axes, warn_of_crowding
from lowdim._core.spectrum.solvers import graph_factor_bytes


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
        make, 1,000 of them, with a warning; None: never.
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
        The rows that are landmarks; None where every row has a place of its own.
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
        "n_landmarks": policy.rule(3),
        "disconnected": params.one_of(*DISCONNECTED),
    }
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

    def _embed(self, X: Any) -> np.ndarray:
        self._check_settings()
        same = Distinct.of(X)
        X, k = same.pick(X, square=False), same.n_neighbors(self.n_neighbors, "LLE")
        self._check_size(k)
        around = self._neighborhood(k)
        near = around.nearest(X, k)
        repair = Repair(self.repair, self.n_components, self._holes)
        joined, suspicious = around.joined(X, self.disconnected, repair, first=same.first, graph=neighbor_graph(near))
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[same.kind]
        patches = Patches.of(near.indices, joined.bridges(), self._left(joined.graph, near))

        rows = joined.parts(self.disconnected)
        coordinates = X if self._holes is None else self._holes.rows_among(X, near)
        forms = [self._form(coordinates, patches, part) for part in rows]
        counts = None if same.all else same.counts
        route = route_of(self.n_landmarks, len(X), len(rows[0]), policy=self.disconnected, owner="LLE")
        whole = partial(self._embed_all, X, coordinates, forms, rows, counts)
        through = partial(self._embed_landmarks, X, coordinates, forms[0], same)
        return solved(by_factors(route, forms[0]), whole, through, "LLE")[same.kind]

    def _left(self, graph: Any, near: Any) -> np.ndarray | None:
        """Which neighbours `repair` left (None: all); at least as many as the method needs."""
        if self.repair is None:
            return None
        use, least = has_edges(graph, near.indices), self._least()
        return use | ((use.sum(axis=1, keepdims=True) < least) & (np.arange(use.shape[1]) < least))

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

    def _form(self, X: Any, patches: Patches, rows: np.ndarray) -> sparse.csr_array:
        """The matrix M of one part."""
        inside = patches.of_rows(rows, len(X))
        return alignment(X[rows], inside, self.method, self.n_components, reg=self.reg, n_jobs=self.n_jobs)

    def _embed_all(
        self, X: Any, coordinates: Any, forms: list[Any], rows: list[np.ndarray], counts: Any, give_up: bool
    ) -> np.ndarray:
        """Every row a place of its own, part by part."""
        self.landmarks_, rng, r = None, generator(self.random_state), self.n_components
        counted = [None if counts is None else counts[part] for part in rows]
        settings: dict[str, Any] = {"rng": rng, "give_up": give_up, "owner": "LLE"}
        parts = [bottom_axes(M, r, counts=c, **settings) for M, c in zip(forms, counted, strict=True)]
        for part in parts:
            warn_of_ambiguous_axes(part, "LLE")
            warn_of_crowding(part.places, "LLE")
        self.eigenvalues_ = parts[0].values
        error = sum(part.values[1 : r + 1].sum() * len(part.places) for part in parts)
        self.reconstruction_error_ = float(error) / sum(len(part.places) for part in parts)
        Z, home = side_by_side(rows, [part.places for part in parts], len(X))
        self._rows = X.copy()
        self._extension = Rebuilt(Z, home, None if self._holes is None else coordinates, self.reg, r)
        return Z

    def _embed_landmarks(self, X: Any, coordinates: Any, M: Any, same: Distinct, m: int) -> np.ndarray:
        """Places as mixtures of those of the landmarks."""
        rng, r = generator(self.random_state), self.n_components
        chosen = np.sort(choose(X, m, method="kmeans++", metric=self._distance(), rng=rng, owner="LLE"))
        self.landmarks_ = same.first[chosen]
        completed = None if self._holes is None else coordinates[chosen]
        mixture = mixed(X, chosen, self._around(), r, holes=self._holes, completed=completed, ridge=self.reg)
        self._rows = mixture.rows
        bottom = reduced_axes(M, mixture.weights, r, counts=None if same.all else same.counts, rng=rng, owner="LLE")
        warn_of_ambiguous_axes(bottom, "LLE")
        self.eigenvalues_ = bottom.values
        self.reconstruction_error_ = float(bottom.values[1 : r + 1].sum())
        self._extension = replace(mixture.formula, places=bottom.places)
        Z = np.concatenate([self._extend(X[part]) for part in blocks(len(X), self._block_rows)])
        warn_of_crowding(Z, "LLE")
        return Z

    def _around(self) -> Neighborhood:
        """Which fitted rows a new one is rebuilt from."""
        k = self.n_neighbors
        return self._neighborhood(k if self.landmarks_ is None else min(k, self.n_components + MIXED))

    def _neighborhood(self, k: int) -> Neighborhood:
        return Neighborhood(k, None, self._distance(), self.search, self.n_jobs, "LLE")

    def _extend(self, X: Any) -> np.ndarray:
        known: Rebuilt = self._extension
        return known(*self._around().meeting(self._rows, X, self._holes, known.completed), self.n_jobs)

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
        size = graph_factor_bytes(n, self.n_neighbors + 1, self.n_components)
        one_part = self.disconnected not in ("separate", "largest")
        route = Route.asked(self.n_landmarks, n, one_part)
        m = route.n_landmarks if factors_fit(size) else route.barred("too large").n_landmarks
        return size if m is None else mixture_bytes(n, m)
