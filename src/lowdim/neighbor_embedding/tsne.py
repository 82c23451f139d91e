"""t-SNE: a map in which neighbours stay neighbours."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lowdim._core import streams
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric
from lowdim._core.gpu import devices
from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.devices import Device
from lowdim._core.manifold.neighborhood import Neighborhood
from lowdim._core.maps_blocks import MapsBlocks
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.arrays import extent, is_placed
from lowdim.neighbor_embedding import _affinity, _device_graph, _init, _new_rows
from lowdim.neighbor_embedding._device_descent import DeviceEngine
from lowdim.neighbor_embedding._gradient_descent import EXACT, TREE_DIMS, Engine, gradient_descent
from lowdim.neighbor_embedding._schedule import Plan
from lowdim.neighbor_embedding._settings import TSNE_RULES

NOT_SHOWN = (
    "a t-SNE map does not show how large or dense a group is, nor how far it is from other groups; groups can appear "
    "in data that have none. Compare several perplexities."
)
PERPLEXITY = 30.0
ALL_PAIRS = 3000  # rows up to which the exact solver takes all others as neighbours, as the original method does


class TSNE(_new_rows.PlacesRows, _init.FromEarlier, MapsBlocks, Reducer):  # type: ignore[override]
    """t-SNE: groups similar rows, as groups of points in a plane.

    Rows are neighbours with probability p_ij, a Gaussian around each row whose width fits `perplexity` neighbours.
    Points z of the map are neighbours with probability q_ij ∝ (1 + |z_i - z_j|² / dof)^(-(dof + 1) / 2), whose heavy
    tails leave room between groups. Gradient descent from `init` minimises KL(P || Q) = Σ p_ij log(p_ij / q_ij).

    What a map does not show: how large a group is, how far it is from other groups, and how dense. Distances within
    the map have no unit. Groups can appear in data that have none; look at several perplexities.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    perplexity : float or list of float
        Effective number of neighbours of a row. Several are averaged, which keeps more of the global structure. The
        default 30 becomes a third of the rows, with a warning, where there are 30 rows or fewer.
    affinity : {"gaussian", "uniform", "precomputed"}
        How neighbours are weighted; "uniform": the nearest `n_neighbors`, all the same. "precomputed": X holds the
        p_ij themselves, dense or sparse, of any sum; they are made symmetric. New rows are not transformed then.
    n_neighbors : int or None
        Neighbours that have a p_ij; None: three times the perplexity, or all where the exact solver has few rows.
    sigma : float or None
        One width of the Gaussians for all rows, instead of the perplexity.
    dof : float
        Degrees of freedom of the map's kernel. Below 1 the tails are heavier, and groups split into finer ones.
    solver : {"auto", "exact", "barnes_hut", "fft"}
        Forces between all pairs; by a tree, in up to three dimensions; or on a grid, in up to two. "auto" is exact up
        to 500 rows, then the grid on a line, and in the plane from 100,000 rows (20,000 if `dof` is not 1); else the
        tree.
    theta : float
        Accuracy of the tree; 0 is exact. At 0.5 forces are within a few parts in a thousand.
    early_exaggeration : float or "auto"
        Factor on p_ij at first, by which groups form. "auto" is 12, and less, down to 4, where a row has more than one
        in 180 of the others as neighbours: stronger attraction would collapse the map to a point or a line.
    exaggeration : float
        Factor on p_ij afterwards: above 1, groups are tighter and farther apart.
    early_iter : int
        Steps under early exaggeration.
    learning_rate : float or "auto"
        Of the gradient without its constant factor 4, as in the original code and in openTSNE (scikit-learn's rates
        are a quarter of these). "auto": in each phase n_samples over its exaggeration, at least 50 (but at
        most twice that ratio: under 100 rows, larger steps overshoot, and rounding decides the map).
    momentum : float or pair of float
        Share of the last step that is added to the next; of a pair, the first under early exaggeration and the second
        afterwards.
    warm_start : bool
        Continue the descent of the last fit with `max_iter` more steps: its momentum and gains are kept, and the steps
        under early exaggeration are counted from its beginning, so that 50 and 50 steps are 100; by the tree and on the
        grid to the last bit after a multiple of `callback_every` steps.
    callback_every : int
        Steps between two calls of `callback`, and between two checks of the map.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances. These may be dense, condensed, or a sparse graph whose stored entries are
        the neighbours, also for new rows.
    metric_params : dict or None
        Parameters of `metric` by name, such as ``{"p": 3}`` of "minkowski", or further arguments of a function.
    search : {"auto", "exact", "approximate"}
        Neighbour search. "auto" is exact up to 20,000 rows and wherever a tree is fast, else approximate (with a
        recall of 98 % and more on data with structure).
    missing : {"error", "pairwise", "expected"}
        Missing cells (NaN), at fit and in new rows: an error; distances over the columns both rows have, scaled up; or
        the expected distance under a Gaussian model of the rows. Under "expected" an incomplete fitted row that is
        given to `transform` is another row with the same cells, whose coordinates are near those in `embedding_`, not
        equal.
    init : {"pca", "spectral", "random"}, array of shape (n_samples, n_components) or a fitted model
        Initial coordinates: "pca", the principal components; "spectral", eigenvectors of the neighbour graph;
        "random"; or an array, used as it is. "pca" keeps the global arrangement of the data and needs no seed; for
        distances alone it means "spectral". A fitted model, or a data frame of its map with row names: go on from there
        when rows are added. Rows of the same name (without names: the first rows) begin at their places and stay near
        them, new ones begin among their neighbours, and there is no early exaggeration and a third of `max_iter`: maps
        grow with every step.
    max_iter : int
        Maximum number of iterations, those under early exaggeration included; with `warm_start`, of each fit.
    tol : float
        Convergence tolerance: norm of the gradient relative to that of the attraction alone.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. Every `callback_every` steps; `loss`
        is KL(P || Q) without exaggeration, `state` the embedding so far.
    device : str
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. On a
        GPU: neighbours under Euclidean and cosine distances, affinities and the descent, by "fft" in up to two
        dimensions, where new rows are placed there too, and by "exact" in more. Maps are as good as on the CPU but not
        the same numbers; the same seed on the same GPU gives the same bits.
    random_state : int, generator or None
        Seed; the same int gives the same result. Only ``init="random"`` is random.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    kl_divergence_ : float
        KL(P || Q) of the map, without exaggeration, in nats; over all pairs up to 5,000 rows, beyond by the solver.
    n_iter_ : int
        Number of steps; with `warm_start`, of all fits together.
    not_shown_ : str
        What must not be read from the map, in a sentence; `lowdim.compare` repeats it.
    device_ : str
        Where the descent ran.
    recall_ : float or None
        Share of the true neighbours that a GPU found, on a sample of rows; None on the CPU.
    converged_ : bool
        Whether the gradient fell below `tol`, or the divergence by less than 5 % in the last 50 steps, after those
        under early exaggeration; False where the callback stopped the fit.

    Notes
    -----
    A new row minimises its own divergence with respect to its nearest fitted rows (perplexity 7), with all fitted rows
    fixed, so that its coordinates are the same in any batch. Nearer to a fitted row than a tenth of the distance to its
    15th neighbour, it is drawn to the point of that row, so that `transform` of the fitted rows is `embedding_` to
    rounding (1e-8 of its spread); without that, rows of handwritten digits would come out within 0.2 % of the map's
    diameter. Equal rows have points near each other that may differ; `transform` gives their mean. The inverse
    transform is learned.

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

    _rules: ClassVar = TSNE_RULES
    _sparse_rows = True
    _sparse_graphs = True
    _ways_out = "Set a smaller perplexity: memory grows with n_samples x perplexity."

    def __init__(
        self,
        n_components=2,
        *,
        perplexity=PERPLEXITY,
        affinity="gaussian",
        n_neighbors=None,
        sigma=None,
        dof=1.0,
        solver="auto",
        theta=0.5,
        early_exaggeration="auto",
        exaggeration=1.0,
        early_iter=250,
        learning_rate="auto",
        momentum=0.8,
        warm_start=False,
        callback_every=50,
        metric="euclidean",
        metric_params=None,
        search="auto",
        missing="error",
        init="pca",
        max_iter=750,
        tol=1e-5,
        callback=None,
        device="cpu",
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
        self.early_exaggeration = early_exaggeration
        self.exaggeration = exaggeration
        self.early_iter = early_iter
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.warm_start = warm_start
        self.callback_every = callback_every
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.missing = missing
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _forget(self) -> None:
        names = ("embedding_", "n_iter_", "_parts")
        earlier = {name: self.__dict__[name] for name in names if self.warm_start and name in self.__dict__}
        super()._forget()
        if earlier:
            self._earlier = earlier

    def _embed(self, X: Any) -> np.ndarray:
        X = X if is_placed(X) else np.ascontiguousarray(X)  # the same sums for every layout
        place, earlier = devices.find(self.device, "TSNE"), self.__dict__.pop("_earlier", {})
        self.device_ = "cpu" if place is None else place.title
        self.recall_: float | None = None
        shape = X.shape[0], self.n_components
        if place is None:
            engine = Engine.of(self.solver, *shape, self.theta, self.dof, self.n_jobs, owner="TSNE")
            return self._descended(X, engine, earlier)
        devices.check_memory(place, self._device_memory(*extent(X)), "TSNE", self._ways_out)
        engines = partial(DeviceEngine.of, solver=self.solver, n=shape[0], k=shape[1], dof=self.dof, owner="TSNE")
        return devices.run(place, lambda on: self._descended(X, engines(on), earlier), "TSNE")

    def _descended(self, X: Any, engine: Engine | DeviceEngine, earlier: dict[str, Any]) -> np.ndarray:
        """The map, from affinities and a descent on the CPU or on a GPU."""
        P = self._affinities(X, engine)

        before, kept = earlier.get("n_iter_", 0), earlier.get("_parts")
        start = self._resumed(earlier, X.shape[0]) if earlier else self._initial(X, P)
        plan = self._plan().going_on(self._places is not None)

        run = gradient_descent(
            P,
            start,
            engine,
            plan.phases(P, before, exact=engine.solver == "exact"),
            kept=kept,
            before=before,
            every=self.callback_every,
            tol=self.tol,
            dtype=engine.dtype(X.dtype, X.shape[0]),
            callback=self.callback,
            verbose=self.verbose,
            owner="TSNE",
        )
        plan.warn_of(run)

        self.kl_divergence_, self.n_iter_, self.converged_ = run.divergence, run.n_iter, run.converged
        self.not_shown_ = NOT_SHOWN
        self._rows = self._own_rows(X)
        if self.warm_start:
            state = run.state
            self._parts = {"Z": state.Z, "velocity": state.velocity, "gains": state.gains, "start": start}
        return self._moved_back(run.Z)

    def _plan(self) -> Plan:
        return Plan(
            self.early_exaggeration,
            self.exaggeration,
            self.early_iter,
            self.max_iter,
            self.learning_rate,
            self.momentum,
        )

    @threads.on_one_blas_thread
    def affinities(self, X: Any, among: Any = None) -> sparse.csr_array:
        """The p_ij of rows under the settings of this model, which need not be fitted and does not change.

        They can be looked at, changed, averaged with others, and mapped by a model with ``affinity="precomputed"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``metric="precomputed"`` their distances, with `among` those to the rows there.
        among : array-like of shape (n_others, n_features) or None
            Other rows, to which the affinities of each row of X are computed; None: the rows of X themselves.

        Returns
        -------
        P : csr_array of shape (n_samples, n_samples) or (n_samples, n_others)
            Symmetric, of sum 1; with `among`, each row sums to 1.
        """
        model = clone(self).set_params(device="cpu", init="pca")
        model._check_parameters()
        rows, _ = model._check_rows(X if among is None else among, fitting=True)
        engine = Engine.of(self.solver, rows.shape[0], self.n_components, self.theta, self.dof, self.n_jobs, "TSNE")
        return model._affinities(rows, engine) if among is None else model._affinities_to(rows, X, engine.solver)

    def _affinities_to(self, rows: Any, X: Any, solver: str) -> sparse.csr_array:
        """Of other rows to those that this model has seen."""
        X, _ = self._check_rows(X, fitting=False)
        k = self._n_near(rows.shape[0], solver)
        groups = _new_rows.neighbors_of_new(self._neighborhood(k), None if self._precomputed() else rows, X, k)
        P = [self._weighted(_affinity.as_graph(found, rows.shape[0])) for _, found in groups]
        return sparse.csr_array(sparse.vstack(P)[np.argsort(np.concatenate([new for new, _ in groups]))])

    def _affinities(self, X: Any, engine: Engine | DeviceEngine) -> Any:
        """P: symmetric, of sum 1; a sparse matrix, or on a GPU its graph."""
        if self.affinity == "precomputed":
            return _affinity.given(X, "TSNE")
        if self._precomputed() and sparse.issparse(X):
            graph = _affinity.nearest_first(_affinity.stored_graph(X, "TSNE"))
        else:
            k = self._n_near(X.shape[0], engine.solver)
            if isinstance(engine, DeviceEngine) and self.sigma is None and self.affinity == "gaussian":
                return self._device_affinities(X, k, engine.device)
            graph = _affinity.as_graph(self._neighborhood(k).nearest(X, k), X.shape[0])
        return _affinity.joint(self._weighted(graph))

    def _weighted(self, graph: sparse.csr_array) -> sparse.csr_array:
        """Distributions over neighbours at known distances."""
        how = {"sigma": self.sigma, "kind": self.affinity, "n_jobs": self.n_jobs}
        return _affinity.weights(graph, perplexity=self._perplexity(graph.shape[1]), **how)

    def _device_affinities(self, X: Any, k: int, place: Device) -> Any:
        perplexity = self._perplexity(X.shape[0])
        if check_metric(self._distance(), "TSNE") == "euclidean" and not sparse.issparse(X):
            settings = {"perplexity": perplexity, "search": self.search, "owner": "TSNE"}
            P, self.recall_ = _device_graph.gaussian(place, X, k, **settings)
            return P
        found = self._neighborhood(k, place).nearest(X, k)
        self.recall_ = found.recall
        return _device_graph.of_lists(place, found, perplexity)

    def _n_near(self, n: int, solver: str) -> int:
        """How many neighbours have an affinity."""
        by_perplexity = self.sigma is None and self.affinity == "gaussian"
        k = _affinity.n_neighbors(self._perplexity(n, say=True) if by_perplexity else 1.0, n, "TSNE")
        if self.n_neighbors is not None:
            return self.n_neighbors
        if solver == "exact" and n <= ALL_PAIRS and self.affinity == "gaussian":
            return n - 1
        return k if by_perplexity else min(n - 1, int(np.ceil(3 * np.max(self.perplexity))))

    def _perplexity(self, n: int, *, say: bool = False) -> Any:
        """As given; the default, on too few rows for it, a third of them."""
        return _affinity.fitting(self.perplexity, PERPLEXITY, n, "TSNE", say=say)

    @property
    def _places_rows(self) -> bool:
        return bool(self.affinity != "precomputed")

    def _precomputed(self) -> bool:
        return self.affinity == "precomputed" or super()._precomputed()

    def _neighborhood(self, k: int, place: Device | None = None) -> Neighborhood:
        return Neighborhood(k, None, self._distance(), self.search, self.n_jobs, "TSNE", place)

    def _initial(self, X: Any, P: Any) -> np.ndarray:
        n, k = X.shape[0], self.n_components
        if self._places is not None:
            return _init.separated(_init.filled(self._places, P), 1.0, generator(0))
        if not isinstance(self.init, str):
            return _init.taken(self.init, n, k, "TSNE")
        if self.init == "random":
            return _init.SPREAD * generator(self.random_state).standard_normal((n, k))
        rows = None if self._precomputed() else X if self._holes is None else self._holes.rows(X)
        if isinstance(P, Graph):
            found = _device_graph.principal(P.device, rows, k) if self.init == "pca" and rows is not None else None
            if found is not None:
                return found
            P = P.to_scipy()
        return _init.computed(self.init, rows, P, k, generator(0), "TSNE")  # the same for every seed

    def _resumed(self, earlier: dict[str, Any], n: int) -> np.ndarray:
        """The map to continue from, or what it began from where the descent itself is continued."""
        settings = (n, self.n_components, "TSNE", "the earlier embedding (warm_start=True)")
        last = _init.given(earlier["embedding_"], *settings)
        return earlier["_parts"]["start"] if "_parts" in earlier else last

    @threads.on_one_blas_thread
    def transform(self, X: Any, perplexity: float | list[float] | None = None) -> np.ndarray:
        """Coordinates of new rows. Each row is treated on its own: the result does not depend on the rows beside it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``metric="precomputed"`` their distances to the fitted rows.
        perplexity : float, list of float or None
            Effective number of fitted rows that a new row is attracted to. None is 7: by more, rows end between groups.
            Several are averaged.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Their coordinates in the embedding.
        """
        check_is_fitted(self)
        if not self._places_rows:
            raise ValueError(_new_rows.NO_ROWS)
        wanted = _new_rows.check_perplexity(perplexity, len(self.embedding_), "TSNE")
        if streams.is_lazy(X):
            return streams.placed_lazily(self, "transform", X, self.get_feature_names_out(), {"perplexity": perplexity})
        return self._extended(*self._check_rows(X, fitting=False), perplexity=wanted)

    def _extend(self, X: Any, perplexity: tuple[float, ...] = (_new_rows.PERPLEXITY,)) -> np.ndarray:
        fitted = np.asarray(self._fitted_places(), dtype=np.float64)
        k = _new_rows.n_near(len(fitted), perplexity)
        place = devices.find(self.device, "TSNE")
        groups = _new_rows.neighbors_of_new(self._neighborhood(k, place), self._rows, X, k)
        settings = {"theta": self.theta, "dof": self.dof, "n_jobs": self.n_jobs, "perplexity": perplexity}
        return _new_rows.place_by_affinities(groups, fitted, device=place, **settings)

    def _n_graph(self, n: int) -> int:
        return int(self._n_near(n, "tree"))

    def _start_scale(self, Z: np.ndarray) -> float:
        return float(_init.SPREAD / Z[:, 0].std())

    def _device_memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Bytes on a GPU at the peak, which is where pairs are sorted."""
        k = self.n_neighbors or min(n - 1, int(3 * np.max(self.perplexity)))
        return _device_graph.needs(n, 0 if stored is not None else d, k, itemsize)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        exact = self.solver == "exact" or (self.solver == "auto" and (n <= EXACT or self.n_components > TREE_DIMS))
        k = self.n_neighbors or min(n - 1, int(3 * np.max(self.perplexity)))
        edges = n * (n - 1) if exact and n <= ALL_PAIRS and self.n_neighbors is None else 2 * n * k
        return {
            "affinities": (40 if exact else 30) * edges,
            "map and forces": 40 * n * self.n_components,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }
