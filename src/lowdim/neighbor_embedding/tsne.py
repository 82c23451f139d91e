"""t-SNE: a map in which neighbours stay neighbours."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric
from lowdim._core.graph import stored_edges
from lowdim._core.neighbors import SEARCH, nearest
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.neighbor_embedding import _affinity, _new_rows, _starts
from lowdim.neighbor_embedding._descent import EXACT, TREE_DIMS, Engine, Phase, descend

EARLY_GAIN, EXACT_GAIN = 1.0, 8.0  # larger ones make the map of few rows depend on rounding; see `_phases`
NOT_SHOWN = (
    "a t-SNE map does not show how large or dense a group is, nor how far it is from other groups; groups can appear "
    "in data that have none. Compare several perplexities."
)
RATE = 50.0  # the least rate of "auto" (maps of few rows hardly move), up to twice the usual: beyond, steps overshoot
WIDE = 10.0  # square roots of n: digits (600 rows, divergence .45) end at .68 from a start of 24 of them
ALL_PAIRS = 3000  # rows up to which the exact solver takes all others as neighbours, as the original method does


def _are_numbers(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and len(values) > 0 and all(params.real(0).accepts(v) for v in values)


def _are_momenta(values: Any) -> bool:
    share = params.real(0, 1, open_high=True)
    return isinstance(values, (list, tuple)) and len(values) == 2 and all(share.accepts(v) for v in values)


def _early_factor(P: Any) -> float:
    """12 where neighbourhoods are many; their number is n² over the effective number of pairs, exp of the entropy of P.

    On digits, MNIST and small tables, 4 instead of 12 lowers the divergence by up to 5 % where they are fewer than 60,
    and changes little up to 100; under 12, maps of 15 or fewer collapse.
    """
    p = P.data[P.data > 0]
    neighborhoods = P.shape[0] ** 2 / np.exp(-(p * np.log(p)).sum())
    return float(np.clip(neighborhoods / 15, 4.0, 12.0))


def _tell_of_width(start: np.ndarray) -> None:
    """Maps are some square roots of n wide; in a far wider one hardly a force acts, and it would pass for settled."""
    width = float(np.ptp(start, axis=0).max())
    if width > 100 + WIDE * np.sqrt(len(start)):
        warn(
            f"TSNE: init is {width:.2g} wide, far more than maps of {len(start)} rows are: points that start apart "
            "will not find together. Scale it, such as init * (1e-4 / init[:, 0].std())."
        )


class TSNE(Reducer):
    """t-SNE: shows which rows are neighbours, as groups of points in a plane.

    Rows are neighbours with probability p_ij, a Gaussian around each row whose width fits `perplexity` neighbours.
    Points z of the map are neighbours with probability q_ij ∝ (1 + |z_i - z_j|² / dof)^(-(dof + 1) / 2), whose tails
    leave room for groups. The map is the descent from `init` on KL(P || Q) = Σ p_ij log(p_ij / q_ij).

    What a map does not show: how large a group is, how far it is from other groups, and how dense. Distances within
    the map have no unit. Groups can appear in data that have none; look at several perplexities.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    perplexity : float or list of float
        Effective number of neighbours of a row. Several are averaged, which keeps more of what is far.
    affinity : {"gaussian", "uniform"}
        How neighbours count; "uniform": the nearest `n_neighbors`, all the same.
    n_neighbors : int or None
        Neighbours that have a p_ij; None: three times the perplexity, or all where the exact solver has few rows.
    sigma : float or None
        One width of the Gaussians for all rows, instead of the perplexity.
    dof : float
        Degrees of freedom of the map's kernel. Below 1 the tails are heavier, and groups fall into finer ones.
    solver : {"auto", "exact", "barnes_hut", "fft"}
        Forces between all pairs; by a tree, in up to three dimensions; or on a grid, in up to two. "auto" is exact up
        to 500 rows, then the grid on a line, and in the plane from 100,000 rows (20,000 if `dof` is not 1); else the
        tree.
    theta : float
        How coarse the tree may be; 0 is exact. At 0.5 forces are within a few parts in a thousand.
    init : {"pca", "spectral", "random"} or array of shape (n_samples, n_components)
        Where points start. "pca" keeps what the data look like from afar, and the same map comes out every time; for
        distances alone it means "spectral", the eigenvectors of the neighbour graph. An array is used as it is.
    early_exaggeration : float or "auto"
        Factor on p_ij at first, by which groups find together. "auto" is 12, and less, down to 4, where a row has more
        than one in 180 of the others as neighbours: stronger attraction would draw all rows into one point or line.
    exaggeration : float
        Factor on p_ij afterwards: above 1, groups are tighter and farther apart.
    early_iter, max_iter : int
        Steps under early exaggeration, and in all.
    learning_rate : float or "auto"
        Of the gradient without its constant factor 4, as in the original code and in openTSNE (scikit-learn's rates
        are a quarter of these). "auto": in each phase n_samples over its exaggeration, at least 50 (but at
        most twice that ratio: under 100 rows, larger steps overshoot, and rounding decides the map).
    momentum : float or pair of float
        Share of the last step that goes on; of a pair, the first under early exaggeration and the second afterwards.
    tol : float
        Stop where the gradient is this small relative to the attraction alone.
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
    warm_start : bool
        Fit again from where the last fit ended, without early exaggeration.
    callback : callable or None
        callback(n_iter, kl, Z) every 50 steps; returning True ends the descent.
    random_state : int, generator or None
        For random starts.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.
    verbose : int
        1 shows progress of long runs.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the fitted rows.
    kl_divergence_ : float
        KL(P || Q) of the map, without exaggeration, in nats; over all pairs up to 5,000 rows, beyond by the solver.
    n_iter_ : int
        Steps made.
    not_shown_ : str
        What must not be read from the map, in a sentence; `lowdim.compare` repeats it.
    converged_ : bool
        Whether the map has settled: the gradient fell below `tol`, or in the last 50 steps, after those under early
        exaggeration, the divergence by less than 5 %.

    Notes
    -----
    A new row moves to where its nearest fitted rows want it (perplexity 5), alone and with all fitted rows fixed, so
    that it comes out the same in any batch. Nearer to a fitted row than a tenth of the distance to its 15th neighbour,
    it is drawn to that row's place, so that `transform` of the fitted rows is `embedding_` to rounding (1e-8 of its
    spread); without that, rows of handwritten digits would come out within 0.2 % of the map's diameter. Equal rows end
    near each other and not always on one place: all of them are placed at the mean. The way back is learned.

    References
    ----------
    van der Maaten and Hinton, Visualizing data using t-SNE, 2008. van der Maaten, Accelerating t-SNE using tree-based
    algorithms, 2014. Linderman et al., Fast interpolation-based t-SNE, 2019. Kobak and Berens, The art of using t-SNE
    for single-cell transcriptomics, 2019.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> model = lowdim.TSNE(perplexity=20).fit(X)
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "perplexity": params.real(0, open_low=True) | params.Rule("a list of such", _are_numbers),
        "affinity": params.one_of(*_affinity.KINDS),
        "n_neighbors": params.none() | params.whole(1),
        "sigma": params.none() | params.real(0, open_low=True),
        "dof": params.real(0, open_low=True),
        "solver": params.one_of("auto", "exact", "barnes_hut", "fft"),
        "theta": params.real(0, 2),
        "init": params.one_of("pca", "spectral", "random") | params.Rule("an array", lambda v: np.ndim(v) == 2),
        "early_exaggeration": params.one_of("auto") | params.real(0, open_low=True),
        "exaggeration": params.real(0, open_low=True),
        "early_iter": params.whole(0),
        "learning_rate": params.one_of("auto") | params.real(0, open_low=True),
        "momentum": params.real(0, 1, open_high=True) | params.Rule("a pair of such", _are_momenta),
        "warm_start": params.flag(),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _ways_out = "Set a smaller perplexity: memory grows with n_samples x perplexity."

    def __init__(
        self,
        n_components=2,
        *,
        perplexity=30.0,
        affinity="gaussian",
        n_neighbors=None,
        sigma=None,
        dof=1.0,
        solver="auto",
        theta=0.5,
        init="pca",
        early_exaggeration="auto",
        exaggeration=1.0,
        early_iter=250,
        max_iter=750,
        learning_rate="auto",
        momentum=0.8,
        tol=1e-5,
        metric="euclidean",
        search="auto",
        missing="error",
        warm_start=False,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.perplexity = perplexity
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.dof = dof
        self.solver = solver
        self.theta = theta
        self.init = init
        self.early_exaggeration = early_exaggeration
        self.exaggeration = exaggeration
        self.early_iter = early_iter
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.tol = tol
        self.metric = metric
        self.search = search
        self.missing = missing
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _forget(self) -> None:
        earlier = self.__dict__.get("embedding_") if self.warm_start else None
        super()._forget()
        if earlier is not None:
            self._earlier = earlier

    def _embed(self, X: Any) -> np.ndarray:
        check_metric(self.metric, "TSNE")
        earlier = self.__dict__.pop("_earlier", None)
        n, dtype = X.shape[0], X.dtype
        X = X if sparse.issparse(X) else np.ascontiguousarray(X)  # the same sums for every layout
        engine = Engine.of(self.solver, n, self.n_components, self.theta, self.dof, self.n_jobs, "TSNE")

        graph = self._graph(X, engine.solver)
        settings = {"perplexity": self.perplexity, "sigma": self.sigma, "kind": self.affinity, "n_jobs": self.n_jobs}
        P = _affinity.joint(_affinity.weights(graph, **settings))

        start = self._start(X, P) if earlier is None else _starts.checked_start(earlier, n, self.n_components, "TSNE")
        run = descend(
            P,
            start,
            engine,
            self._phases(P, early=earlier is None, exact=engine.solver == "exact"),
            tol=self.tol,
            dtype=engine.dtype(dtype, n),
            callback=self.callback,
            verbose=self.verbose,
            owner="TSNE",
        )
        self.kl_divergence_, self.n_iter_, self.converged_ = run.divergence, run.n_iter, run.settled
        self.not_shown_ = NOT_SHOWN
        if run.redone and self.early_exaggeration != "auto":
            warn(
                f"TSNE: early_exaggeration={self.early_exaggeration:g} drew all points into a point or a line, so the "
                "map was made without it. Use 'auto', or a smaller perplexity."
            )
        if not run.settled and not run.stopped and np.isfinite(run.fall):
            told = f"fell by {100 * run.fall:.1f} %" if run.fall > 0 else f"rose by {-100 * run.fall:.1f} %"
            way_out = "Raise max_iter." if run.fall > 0 else "Lower learning_rate, or raise max_iter."
            warn(
                f"TSNE: the map still moves after max_iter={self.max_iter} steps: its divergence {told} in the last "
                f"ones. {way_out}",
                ConvergenceWarning,
            )
        self._rows = self._own_rows(X)
        return run.Z

    def _graph(self, X: Any, solver: str) -> Any:
        """Distances of each row to its neighbours."""
        n = X.shape[0]
        if self._precomputed() and sparse.issparse(X):
            graph = stored_edges(X, owner="TSNE")
            _affinity.check_neighbors(graph, "TSNE")
            return graph
        by_perplexity = self.sigma is None and self.affinity == "gaussian"
        k = _affinity.n_neighbors(self.perplexity if by_perplexity else 1.0, n, "TSNE")
        if self.n_neighbors is not None:
            k = self.n_neighbors
        elif solver == "exact" and n <= ALL_PAIRS and self.affinity == "gaussian":
            k = n - 1
        elif not by_perplexity:
            k = min(n - 1, int(np.ceil(3 * np.max(self.perplexity))))
        return _affinity.as_graph(self._nearest(X, k), n)

    def _nearest(self, rows: Any, k: int, queries: Any = None) -> Any:
        settings = {"metric": self._distance(), "n_jobs": self.n_jobs, "owner": "TSNE", "name": "n_neighbors"}
        return nearest(rows, k, queries=queries, approximate=SEARCH[self.search], **settings)

    def _start(self, X: Any, P: Any) -> np.ndarray:
        rng, k = generator(self.random_state), self.n_components
        if not isinstance(self.init, str):
            start = _starts.checked_start(self.init, X.shape[0], k, "TSNE")
            if not np.ptp(start, axis=0).any():
                raise ValueError("TSNE: init must not put all points on one place: nothing would part them.")
            _tell_of_width(start)
            return start
        if self.init == "random":
            return _starts.random_start(X.shape[0], k, rng)
        if self.init == "spectral" or self._precomputed():
            return _starts.spectral_start(P, k, generator(0), "TSNE")  # the same for every seed
        return _starts.principal_start(X if self._holes is None else self._holes.rows(X), k, "TSNE")

    def _phases(self, P: Any, *, early: bool, exact: bool) -> list[Phase]:
        """Gains raise the rate of a coordinate until it oscillates, and then rounding decides where points go.

        Under exaggeration they gain nothing (measured on MNIST). Afterwards they lower the divergence of large maps by
        1 %; for few rows they are held down, so that a shift of the data or another order of the rows more often leaves
        the map as it is. That is no promise: some data and perplexities still feel rounding.
        """
        n, first = P.shape[0], min(self.early_iter, self.max_iter)
        together = _early_factor(P) if self.early_exaggeration == "auto" else self.early_exaggeration
        rest = self.max_iter - first if early else max(1, self.max_iter - first)
        before, after = self.momentum if isinstance(self.momentum, (list, tuple)) else (self.momentum, self.momentum)
        plan = [
            (first if early else 0, together, before, EARLY_GAIN),
            (rest, self.exaggeration, after, EXACT_GAIN if exact else np.inf),
        ]
        fixed = None if self.learning_rate == "auto" else float(self.learning_rate)
        return [
            Phase(steps, by, fixed or max(n / by, min(RATE, 2 * n / by)), momentum, gain)
            for steps, by, momentum, gain in plan
            if steps
        ]

    def _extend(self, X: Any) -> np.ndarray:
        k = _new_rows.n_near(len(self.embedding_))
        if self._precomputed() and sparse.issparse(X):
            return _new_rows.by_stored(X, k, "TSNE", self._placed)
        return self._placed(X, k)

    def _placed(self, X: Any, k: int) -> np.ndarray:
        """New rows by their k nearest."""
        fitted = np.asarray(self.embedding_, dtype=np.float64)
        found = self._nearest(self._rows, k, X)
        return _new_rows.place(found, fitted, theta=self.theta, dof=self.dof, n_jobs=self.n_jobs)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        exact = self.solver == "exact" or (self.solver == "auto" and (n <= EXACT or self.n_components > TREE_DIMS))
        k = self.n_neighbors or min(n - 1, int(3 * np.max(self.perplexity)))
        edges = n * (n - 1) if exact and n <= ALL_PAIRS and self.n_neighbors is None else 2 * n * k
        return {
            "affinities": 40 * edges,
            "map and forces": 40 * n * self.n_components,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }
