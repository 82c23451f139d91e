"""UMAP: a map of what hangs together, for many rows."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric
from lowdim._core.graph import POLICIES as DISCONNECTED
from lowdim._core.graph import stored_edges
from lowdim._core.manifold.components import beside
from lowdim._core.manifold.neighborhood import Distinct
from lowdim._core.neighbors import SEARCH, nearest
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.neighbor_embedding import _affinity, _densities, _fuzzy, _starts
from lowdim.neighbor_embedding._layout import (
    EXACT,
    SOLVERS,
    Expected,
    Forces,
    Sampled,
    Schedule,
    divergence,
    lay_out,
    place,
)
from lowdim.neighbor_embedding._new_rows import by_stored

START_SIZE = 10.0  # of the map that the descent starts from
NOT_SHOWN = (
    "a UMAP map does not show how large or dense a group is, nor how far it is from groups that it does not touch; "
    "groups can appear in data that have none. Compare several n_neighbors."
)


def _among(W: Any, rows: np.ndarray) -> Any:
    """The edges between some of the rows."""
    return W if len(rows) == W.shape[0] else W[rows][:, rows]


class UMAP(Reducer):
    """UMAP: shows what hangs together, as groups of points in a plane; fast for many rows.

    Row j belongs to row i with strength exp(-(d_ij - rho_i) / sigma_i): the nearest row fully, and all in sum
    log2(n_neighbors + 1), which fixes sigma_i; both directions give one weight w_ij. Points of the map belong together
    with strength q_ij = 1 / (1 + a |z_i - z_j|^2b). In each epoch edges pull as often as they are heavy, and each pull
    is followed by pushes from rows drawn at random: a descent on `kl_divergence_`, from `init`, at a rate that
    goes down to 0.

    What a map does not show: how large or dense a group is, and how far it is from groups that it does not touch.
    Groups can appear in data that have none; look at several `n_neighbors`.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    n_neighbors : int
        Neighbours of a row: few for what is local, many for the whole. The row itself is not counted; umap-learn does.
    min_dist : float
        How far apart neighbours lie in the map, at least about; at most `spread`. Small makes tight groups.
    spread : float
        Scale of the map: strength falls as exp(-(d - min_dist) / spread).
    local_connectivity : float
        How many neighbours belong to a row fully.
    set_op_mix_ratio : float
        1: rows belong together where either says so; 0: where both do; between: a mixture.
    solver : {"auto", "sampled", "exact"}
        Pulls and pushes that are drawn; or the mean of all of them, with nothing random, which takes time
        n_samples² in each epoch. "auto" is exact up to 500 rows.
    init : {"spectral", "pca", "random"} or array of shape (n_samples, n_components)
        Where points start: at the eigenvectors of the graph; at principal coordinates (for distances alone,
        "spectral"); anywhere; or as given, scaled where that is far too wide or narrow for the forces.
    max_iter : int or None
        Epochs. None: 500 up to 10,000 rows, then 200.
    learning_rate : float
        Rate at the start; 1, as in umap-learn, keeps a little less of what is near.
    repulsion : float
        Factor on pushes.
    negative_sample_rate : float
        Pushes for each pull of an edge.
    densities : float
        How much it counts that rows with near neighbours in the data have them near in the map too, and rows with far
        ones far; 0: not at all, 2: the usual weight in densMAP; smaller ones keep more of the rest. Takes draws
        ("sampled") for any number of rows.
    metric : str or callable
        Distance between rows; "precomputed": X holds distances, dense, condensed, or a sparse graph whose stored
        entries are the neighbours, also those of new rows.
    search : {"auto", "exact", "approximate"}
        How neighbours are found: "auto" is exact up to 20,000 rows, then 98 % and more of them are found.
    missing : {"error", "pairwise", "expected"}
        What a missing cell (NaN) means: refused; distances over the columns both rows have, scaled up; or the expected
        distance under a Gaussian model of the rows.
        Under "expected" an incomplete fitted row that is given to `transform` counts as another row with the same cells
        and comes out near its place, not on it.
    disconnected : {"bridge", "separate", "largest", "error"}
        When the graph falls apart: join its parts by their shortest edges, as heavy as the weakest link of a row to its
        nearest; map each and put them side by side; map the largest (other rows are NaN); or refuse.
    callback : callable or None
        callback(n_iter, Z) every 10 epochs, Z being the places of all rows (NaN in parts that are mapped at another
        time); returning True ends the descent.
    random_state : int, generator or None
        For the draws. The same seed gives the same map.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.
    verbose : int
        1 shows progress of long runs.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the fitted rows. Equal rows count as one and share a place.
    kl_divergence_ : float
        Mean over pairs of KL(v_ij || q_ij), in nats, v = w / (w + r) being what pulls (w) and pushes (r) aim at, each
        pair counting w + r; beyond 1,400 rows pairs without an edge are sampled.
    local_radii_ : ndarray of shape (n_samples, 2) or None
        With `densities`: log of the mean squared distance to the neighbours, in the data and in the map.
    not_shown_ : str
        What must not be read from the map, in a sentence; `lowdim.compare` repeats it.
    a_, b_ : float
        Of the map's kernel, fitted to `min_dist` and `spread`.
    n_iter_ : int
        Epochs made.
    converged_ : bool
        Whether the rate went down to 0, that is, no callback ended the descent before.
    n_components_graph_ : int
        Parts of the graph before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The part of each row, 0 being the largest.

    Notes
    -----
    A new row goes to where its weights to fitted rows and the mean push from them balance, alone and with all fitted
    rows fixed; what equals a fitted row comes out on its place. The way back is learned.

    References
    ----------
    McInnes, Healy and Melville, UMAP: uniform manifold approximation and projection for dimension reduction, 2018.
    Damrich and Hamprecht, On UMAP's true loss function, 2021.
    Narayan, Berger and Cho, Assessing single-cell transcriptomic variability through density-preserving data
    visualization, 2021.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> model = lowdim.UMAP(n_neighbors=10).fit(X)
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.whole(1),
        "min_dist": params.real(0),
        "spread": params.real(1e-15, 1e15),
        "local_connectivity": params.real(0),
        "set_op_mix_ratio": params.real(0, 1),
        "solver": params.one_of("auto", *SOLVERS),
        "init": params.one_of("spectral", "pca", "random") | params.Rule("an array", lambda v: np.ndim(v) == 2),
        "max_iter": params.none() | params.whole(1),
        "learning_rate": params.real(0, open_low=True),
        "repulsion": params.real(0),
        "negative_sample_rate": params.real(0),
        "densities": params.real(0),
        "disconnected": params.one_of(*DISCONNECTED),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _ways_out = "Use fewer neighbours: memory grows with n_samples x n_neighbors."

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=15,
        min_dist=0.1,
        spread=1.0,
        local_connectivity=1.0,
        set_op_mix_ratio=1.0,
        solver="auto",
        init="spectral",
        max_iter=None,
        learning_rate=0.5,
        repulsion=1.0,
        negative_sample_rate=5.0,
        densities=0.0,
        metric="euclidean",
        search="auto",
        missing="error",
        disconnected="bridge",
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.min_dist = min_dist
        self.spread = spread
        self.local_connectivity = local_connectivity
        self.set_op_mix_ratio = set_op_mix_ratio
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.repulsion = repulsion
        self.negative_sample_rate = negative_sample_rate
        self.densities = densities
        self.metric = metric
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> np.ndarray:
        check_metric(self.metric, "UMAP")
        if self.densities and self.solver == "exact":
            raise ValueError(
                f"UMAP: densities must be 0 for solver='exact'; got {self.densities:g}. Use solver='sampled'."
            )
        rng, self.not_shown_ = generator(self.random_state), NOT_SHOWN
        self.a_, self.b_ = _fuzzy.curve(self.min_dist, self.spread, "UMAP")
        X = X if sparse.issparse(X) else np.ascontiguousarray(X)  # the same sums for every layout
        same = Distinct.of(X, given=self._precomputed() and sparse.issparse(X))
        rows = same.pick(X, square=self._precomputed())

        graph = self._graph(rows, same)
        W = _fuzzy.union(_fuzzy.memberships(graph, self.local_connectivity, self.n_jobs), self.set_op_mix_ratio)
        radii = _densities.data_radii(graph, W) if self.densities else None
        settings = {"policy": self.disconnected, "metric": self._distance(), "owner": "UMAP", "n_jobs": self.n_jobs}
        W, joined = _fuzzy.joined(W, rows, **settings)
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[same.kind]

        parts = joined.parts(self.disconnected)
        maps = [self._map(rows, W, part, same, None if radii is None else radii[part], rng) for part in parts]
        Z = np.full((len(same.first), self.n_components), np.nan)  # in units of the spread, as all that follows
        for part, found, move in zip(parts, maps, beside([found[:, 0] for found in maps]), strict=True):
            Z[part] = found + (0.0 if len(maps) == 1 else move) * np.eye(1, self.n_components)
        placed = np.isfinite(Z[:, 0])
        self.kl_divergence_ = divergence(_among(W, np.flatnonzero(placed)), Z[placed], self._forces())
        self.local_radii_ = None if radii is None else self._radii(W, Z, placed, radii)[same.kind]
        self._extension = same.first[placed]
        self._rows = None if self._precomputed() else X[self._extension]
        return self.spread * Z[same.kind]

    def _graph(self, rows: Any, same: Distinct) -> Any:
        """Distances of each row to its neighbours."""
        if self._precomputed() and sparse.issparse(rows):
            graph = stored_edges(rows, owner="UMAP")
            _affinity.check_neighbors(graph, "UMAP")
            return graph
        n, k = rows.shape[0], same.n_neighbors(self.n_neighbors, "UMAP")
        if k > n - 1:
            warn(f"UMAP: n_neighbors={k} is more than the {n - 1} other rows; all of them were taken.")
        return _affinity.as_graph(self._nearest(rows, min(k, n - 1)), n)

    def _nearest(self, rows: Any, k: int, queries: Any = None) -> Any:
        settings = {"metric": self._distance(), "n_jobs": self.n_jobs, "owner": "UMAP", "name": "n_neighbors"}
        return nearest(rows, k, queries=queries, approximate=SEARCH[self.search], **settings)

    def _map(
        self, rows: Any, W: Any, part: np.ndarray, same: Distinct, radii: np.ndarray | None, rng: np.random.Generator
    ) -> np.ndarray:
        """A part of the graph on its own; `part` are its rows in the graph."""
        n, W = len(part), _among(W, part)
        start = _starts.apart(self._start(rows, W, part, same.first[part], rng), START_SIZE, rng)
        solver = ("exact" if n <= EXACT and not self.densities else "sampled") if self.solver == "auto" else self.solver
        task = (W, start, self._forces(), Schedule.of(self.max_iter, self.learning_rate, n))
        densities = None if radii is None else _densities.Densities.of(radii, float(self.densities))
        descent = Expected(*task) if solver == "exact" else Sampled(*task, rng, densities)
        callback = None if self.callback is None else partial(self._show, part, same)
        run = lay_out(descent, n_jobs=self.n_jobs, callback=callback, verbose=self.verbose, owner="UMAP")
        self.n_iter_ = max(run.n_iter, self.__dict__.get("n_iter_", 0))
        self.converged_ = not run.stopped and self.__dict__.get("converged_", True)
        return run.Z

    def _show(self, part: np.ndarray, same: Distinct, n_iter: int, places: np.ndarray) -> Any:
        """The callback sees all rows of X, also those that share a place."""
        Z = np.full((len(same.first), self.n_components), np.nan)
        Z[part] = places
        return self.callback(n_iter, self.spread * Z[same.kind])

    def _radii(self, W: Any, Z: np.ndarray, placed: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Of the distinct rows, in the data and in the map."""
        both = np.stack([radii, np.full(len(Z), np.nan)], axis=1)
        inside = _among(W, np.flatnonzero(placed))
        forces, n_threads = self._forces(), threads.n_threads(self.n_jobs)
        found = _densities.map_radii(inside, Z[placed], forces.a, forces.b, n_threads)[0]
        both[placed, 1] = found + 2 * np.log(self.spread)
        return both

    def _forces(self) -> Forces:
        """In units of the spread: steps, starts and the nearness at which forces are held go by it."""
        a = self.a_ * self.spread ** (2.0 * self.b_)
        return Forces(a, self.b_, float(self.repulsion), float(self.negative_sample_rate))

    def _start(self, rows: Any, W: Any, part: np.ndarray, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        k = self.n_components
        if not isinstance(self.init, str):
            Z = _starts.checked_start(self.init, len(self.component_labels_), k, "UMAP")[given]
            return _starts.of_fair_width(Z / self.spread, START_SIZE, "UMAP")
        if self.init == "random" or len(part) < 2:
            return rng.uniform(-START_SIZE, START_SIZE, (len(part), k))
        if self.init == "spectral" or self._precomputed():
            Z = _starts.spectral_start(W, k, rng, "UMAP")
        else:
            inside = rows if self._holes is None else self._holes.rows(rows)
            Z = _starts.principal_start(inside[part], k, "UMAP")
        return Z * (START_SIZE / max(float(np.abs(Z).max()), 1e-300))

    def _extend(self, X: Any) -> np.ndarray:
        k = min(self.n_neighbors, len(self._extension))
        if not self._precomputed():
            return self._placed(X, k)
        X = X[:, self._extension]
        return by_stored(X, k, "UMAP", self._placed) if sparse.issparse(X) else self._placed(X, k)

    def _placed(self, X: Any, k: int) -> np.ndarray:
        """New rows by their k nearest."""
        fitted = self._fitted_places().astype(np.float64) / self.spread
        found = self._nearest(self._rows, k, X)
        W = _fuzzy.memberships(_affinity.as_graph(found, len(fitted)), self.local_connectivity, self.n_jobs)
        weights = W.data.reshape(found.indices.shape)
        return self.spread * place(found, weights, fitted, self._forces(), self.n_jobs)

    def _fitted_places(self) -> np.ndarray:
        return np.ascontiguousarray(self.embedding_[self._extension])

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        return {
            "graph": 120 * n * min(self.n_neighbors, max(1, n - 1)),
            "start": 64 * n * (self.n_components + 20),
            "map": 24 * n * self.n_components,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }
