"""UMAP: a map of the fuzzy graph of neighbours, for many rows."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric
from lowdim._core.gpu import devices
from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.devices import Device
from lowdim._core.graph import Connected
from lowdim._core.manifold.components import beside
from lowdim._core.manifold.neighborhood import Distinct, Neighborhood
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.arrays import extent, is_placed
from lowdim.neighbor_embedding import (
    _affinity,
    _densities,
    _device_descent,
    _device_graph,
    _fuzzy,
    _init,
    _targets,
)
from lowdim.neighbor_embedding._gradient_descent import centred
from lowdim.neighbor_embedding._out_of_reach import within_reach
from lowdim.neighbor_embedding._settings import UMAP_RULES, check_curve, check_densities, refuse_with_weights
from lowdim.neighbor_embedding._umap_descent import Forces, Optimised, run_epochs

NOT_SHOWN = (
    "a UMAP map does not show how large or dense a group is, nor how far it is from groups that it does not touch; "
    "groups can appear in data that have none. Compare several n_neighbors."
)


def _among(W: Any, rows: np.ndarray) -> Any:
    """The edges between some of the rows."""
    return W if len(rows) == W.shape[0] else W[rows][:, rows]


class UMAP(_fuzzy.WithGraph, _init.FromEarlier, Reducer):  # type: ignore[override]
    """UMAP: groups similar rows, as groups of points in a plane; fast for many rows.

    Row j is a neighbour of row i with membership exp(-(d_ij - rho_i) / sigma_i): 1 for the nearest row, and in sum
    log2(n_neighbors + 1), which fixes sigma_i; both directions give one weight w_ij. Points of the map are neighbours
    with strength q_ij = 1 / (1 + a |z_i - z_j|^2b). In each epoch edges are sampled in proportion to their weights and
    attract their ends, and rows drawn at random (negative samples) repel: a stochastic gradient descent on
    `kl_divergence_`, UMAP's cross-entropy, from `init`, at a learning rate that decreases to 0.

    What a map does not show: how large or dense a group is, and how far it is from groups that it does not touch.
    Groups can appear in data that have none; look at several `n_neighbors`.

    With labels or numbers ``fit(X, y)`` is supervised: w_ij is intersected with the graph of the target, so that rows
    of one class come together. Such a map does not show how well the rows alone separate the classes; new rows do.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    n_neighbors : int
        Neighbours of a row: few for local structure, many for global. The row itself is not counted; umap-learn counts
        it.
    affinity : {"fuzzy", "precomputed"}
        "precomputed": X holds the weights w_ij themselves, from 0 to 1, dense or sparse, such as the connectivities of
        scanpy; both directions are combined where they differ. New rows are not transformed then.
    min_dist : float
        Approximate least distance of neighbours in the map; at most `spread`. Small makes tight groups.
    spread : float
        Scale of the map: strength falls as exp(-(d - min_dist) / spread).
    a, b : float or None
        Of the map's kernel 1 / (1 + a d^2b), both given, instead of `min_dist` and `spread`.
    local_connectivity : float
        How many neighbours have membership 1.
    set_op_mix_ratio : float
        Both directions of an edge are combined by the fuzzy union (1), the intersection (0), or a mixture.
    disconnection_distance : float or None
        Neighbours at this distance or farther do not count, at fit and in new rows; a row that has no others is left
        out of the map (NaN). None: all count. `disconnected` says what happens to groups that nothing joins any more.
    solver : {"auto", "sampled", "exact"}
        "sampled": edges and repelling rows are drawn. "exact": their expectation, with nothing random, which takes time
        n_samples² in each epoch; it keeps what `init` tears apart. "auto" samples, and up to 500 rows lets the map
        settle under the expected forces in the second half of the epochs.
    learning_rate : float
        Of the first epoch; 1, as in umap-learn, keeps a little less of the local structure.
    repulsion : float
        Factor on the repulsion.
    negative_sample_rate : float
        Negative samples for each edge sampled, up to 1,000.
    densities : float
        Weight of the correlation between local densities in the data and in the map (densMAP); 0: none, 2: the usual
        weight in densMAP; smaller ones keep more of the rest. Uses "sampled" for any number of rows.
    target_weight : float
        Of the target `y` of a supervised fit, from 0 (the map of the rows alone) to 1. At 0.5 a neighbour of another
        class has exp(-5) of its weight; one without label exp(-1).
    target_metric : str or callable
        "categorical": `y` holds labels. Otherwise it holds numbers, and this is the distance between them, such as
        "euclidean".
    target_n_neighbors : int or None
        Neighbours of a number in `y`. None: `n_neighbors`.
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
    disconnected : {"bridge", "separate", "largest", "error"}
        If the neighbour graph is not connected: join its connected components by their shortest edges, with the weight
        of the weakest link of a row to its nearest; map each and put the maps side by side; map the largest (other rows
        are NaN); or an error.
    init : {"pca", "spectral", "random"}, array of shape (n_samples, n_components) or a fitted model
        Initial coordinates: "pca", the principal components; "spectral", eigenvectors of the neighbour graph;
        "random"; or an array, rescaled where it is far too wide or narrow for the forces. For distances alone "pca"
        means "spectral". A fitted model, or a data frame of its map with row names: go on from there when rows are
        added. Rows of the same name (without names: the first rows) begin at their places and stay near them, new ones
        begin among their neighbours, and steps are a tenth as long.
    max_iter : int or None
        Number of epochs. None: 500 up to 10,000 rows, then 200; 800 where the map settles ("auto", up to 500 rows).
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. Every 10 epochs, of all connected
        components in turn with "separate"; `loss` is the `kl_divergence_` of the map so far (exact up to 1,400 rows,
        beyond an estimate from all edges and the pairs of sampled rows, always the same), `state` the embedding so far
        (NaN for the rows of other components).
    device : str
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. On a
        GPU: neighbours under Euclidean and cosine distances, the sampled descent and new rows, for unsupervised fits of
        dense rows under the Euclidean distance also the graph and the initialisation. ``solver="exact"``, its half of
        up to 500 rows, and `densities` descend on the CPU. Maps are as good as on the CPU but not the same numbers; the
        same seed on the same GPU gives the same bits.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map. Equal rows count as one and have one point.
    kl_divergence_ : float
        UMAP's cross-entropy less its minimum: the mean over pairs of KL(v_ij || q_ij), in nats, with v = w / (w + r),
        where w is the rate at which a pair attracts and r that at which it repels, each pair weighted by w + r. Beyond
        1,400 rows estimated, see `callback`.
    graph_ : sparse array of shape (n_samples, n_samples)
        The weights w_ij, after the target of a supervised fit and before connected components are joined. A row that
        equals an earlier one has its edges, and one of weight 1 to it. In the memory of the machine, after a fit on a
        GPU too.
    local_radii_ : ndarray of shape (n_samples, 2) or None
        With `densities`: log of the mean squared distance to the neighbours, in the data and in the map.
    not_shown_ : str
        What must not be read from the map, in a sentence; `lowdim.compare` repeats it.
    a_, b_ : float
        Of the map's kernel: as given, or fitted to `min_dist` and `spread`.
    device_ : str
        Where the descent ran.
    recall_ : float or None
        Share of the true neighbours that a GPU found, on a sample of rows; None on the CPU.
    n_iter_ : int
        Number of epochs, the largest one of all connected components.
    converged_ : bool
        Whether the learning rate decreased to 0; False where the callback stopped the fit.
    row_names_ : ndarray of str or None
        The index of X where it is a data frame with names, by which another fit finds rows (`init`).
    n_components_graph_ : int
        Connected components of the graph before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The connected component of each row, 0 being the largest; -1 for rows left out by `disconnection_distance`.

    Notes
    -----
    The coordinates of a new row are those at which the attraction to its neighbours and the mean repulsion balance,
    with all fitted rows fixed; a row that equals a fitted one has its point. The inverse transform is learned.

    Models of the same rows can be combined, such as those of two tables about the same people: ``one * two`` maps what
    both hold for near (the intersection of their graphs), ``one + two`` what either does (the union), ``one - two``
    what the first does and the second does not. The result is a fitted model with the settings of the first one; it
    has no rows of its own, so that it takes no new ones.

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

    _rules: ClassVar = UMAP_RULES
    _sparse_rows = True
    _sparse_graphs = True
    _ways_out = "Use fewer neighbours: memory grows with n_samples x n_neighbors."

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=15,
        affinity="fuzzy",
        min_dist=0.1,
        spread=1.0,
        a=None,
        b=None,
        local_connectivity=1.0,
        set_op_mix_ratio=1.0,
        disconnection_distance=None,
        solver="auto",
        learning_rate=0.5,
        repulsion=1.0,
        negative_sample_rate=5.0,
        densities=0.0,
        target_weight=0.5,
        target_metric="categorical",
        target_n_neighbors=None,
        metric="euclidean",
        metric_params=None,
        search="auto",
        missing="error",
        disconnected="bridge",
        init="spectral",
        max_iter=None,
        callback=None,
        device="cpu",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.min_dist = min_dist
        self.spread = spread
        self.a = a
        self.b = b
        self.local_connectivity = local_connectivity
        self.set_op_mix_ratio = set_op_mix_ratio
        self.disconnection_distance = disconnection_distance
        self.solver = solver
        self.learning_rate = learning_rate
        self.repulsion = repulsion
        self.negative_sample_rate = negative_sample_rate
        self.densities = densities
        self.target_weight = target_weight
        self.target_metric = target_metric
        self.target_n_neighbors = target_n_neighbors
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.init = init
        self.max_iter = max_iter
        self.callback = callback
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> UMAP:
        """Fit to the rows of X, and to their labels or numbers where these are given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows: numpy, pandas, polars, lists.
        y : array-like of shape (n_samples,) or None
            Labels (numbers or text), by which neighbours of the same class attract more than others. None, NaN and the
            number -1 are rows without label. With another `target_metric` numbers, one or several for each row, NaN
            where they are not known. New rows are transformed without them.

        Returns
        -------
        self : UMAP
            The fitted model.
        """
        self._fit_rows(X, y=y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit to the rows of X, and to their labels or numbers where these are given; return the map.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or None
            Labels or numbers, see `fit`.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The embedding.
        """
        self._refuse_stream(X)
        return self._fit_rows(X, y=y)

    def _embed(self, X: Any, y: Any = None) -> np.ndarray:
        check_curve(self.a, self.b)
        check_densities(self.densities, self.solver, with_target=y is not None and self.target_weight > 0)
        refuse_with_weights(self.affinity, densities=self.densities, disconnection_distance=self.disconnection_distance)
        place = devices.find(self.device, "UMAP")
        self.device_, self.not_shown_ = "cpu", NOT_SHOWN
        self.recall_: float | None = None
        if place is None:
            return self._embedded(X, y, None)
        devices.check_memory(place, self._device_memory(*extent(X)), "UMAP", self._ways_out)
        return devices.run(place, lambda on: self._embedded(X, y, on), "UMAP")

    def _embedded(self, X: Any, y: Any, place: Device | None) -> np.ndarray:
        """The map; `place` is the GPU, or None."""
        target = None if y is None else _targets.read(y, X.shape[0], self.target_metric)
        rng = generator(self.random_state)
        given = None if self.a is None else (float(self.a), float(self.b))
        self.a_, self.b_ = given or _fuzzy.curve(self.min_dist, self.spread, "UMAP")
        X = X if is_placed(X) else np.ascontiguousarray(X)  # the same sums for every layout
        same = Distinct.of(X, given=self._precomputed() and (sparse.issparse(X) or not self._places_rows), device=place)
        rows, radii = same.pick(X, square=self._precomputed()), None
        target = target if self.target_weight > 0 else None

        W = self._device_weights(rows, same, place) if place is not None and target is None else None
        if W is not None:
            self.graph_: Any = _fuzzy.of_all_rows(W.to_scipy(), same)
        else:
            graph, W = self._weights(rows, same, place)
            if target is not None:
                W = _targets.supervised(W, target.picked(same), self._target_settings())
            self.graph_ = _fuzzy.of_all_rows(W, same)
            radii = _densities.data_radii(graph, W) if self.densities else None
            if (kept := within_reach(W, same, self.disconnection_distance, "UMAP")) is not None:
                same, W, radii = same.among(kept), _among(W, kept), None if radii is None else radii[kept]
                rows = _among(rows, kept) if self._precomputed() else rows[kept]
        metric = "precomputed" if self._precomputed() else self._distance()
        Z = self._moved_back(self._laid_out(W, rows, same, radii, rng, place, metric))
        self._rows = None if self._precomputed() else X[self._extension]
        return Z

    def _laid_out(
        self, W: Any, rows: Any, same: Distinct, radii: Any, rng: Any, place: Device | None, metric: Any
    ) -> np.ndarray:
        """The map of a fuzzy graph; `rows` under `metric` say what joins connected components."""
        settings = {"policy": self.disconnected, "metric": metric, "owner": "UMAP", "n_jobs": self.n_jobs}
        W, joined = _device_graph.joined(W, rows, place, keep=bool(self.densities), **settings)
        self.n_components_graph_, self.component_labels_ = joined.n_components, same.spread(joined.labels, -1)

        Z = self._maps(rows, W, joined, same, radii, rng, place)  # in units of the spread, as all that follows
        placed = np.isfinite(Z[:, 0])
        inside, forces = _among(W, np.flatnonzero(placed)), self._forces()
        self.kl_divergence_ = _device_descent.loss_of(inside, forces, Z[placed])
        both = None if radii is None else _densities.both_radii(inside, Z, placed, radii, forces, self.n_jobs)
        self.local_radii_ = None if both is None else same.spread(both + np.array([0.0, 2 * np.log(self.spread)]))
        self._extension = same.first[placed]
        return self.spread * same.spread(Z)

    def _device_weights(self, rows: Any, same: Distinct, place: Device) -> Graph | None:
        """The fuzzy graph on a GPU; None for what is built on the CPU."""
        plain = (
            not (self.densities or self._precomputed() or sparse.issparse(rows)) and self.disconnection_distance is None
        )
        if not plain or check_metric(self._distance(), "UMAP") != "euclidean":
            return None
        how = {"search": self.search, "connectivity": self.local_connectivity, "mix": self.set_op_mix_ratio}
        W, self.recall_ = _device_graph.fuzzy_graph(place, rows, self._n_near(rows.shape[0], same), **how)
        return W

    def _graph(self, rows: Any, same: Distinct, place: Device | None = None) -> Any:
        """Distances of each row to its neighbours."""
        if self._precomputed() and sparse.issparse(rows):
            return _affinity.stored_graph(rows, "UMAP")
        found = self._neighborhood(place).nearest(rows, self._n_near(rows.shape[0], same))
        self.recall_ = getattr(self, "recall_", None) if place is None else found.recall
        return _affinity.as_graph(found, rows.shape[0])

    def _n_near(self, n: int, same: Distinct) -> int:
        k = same.n_neighbors(self.n_neighbors, "UMAP")
        if k > n - 1:
            warn(f"UMAP: n_neighbors={k} is more than the {n - 1} other rows; all of them were taken.")
        return min(k, n - 1)

    def _target_settings(self) -> _targets.Settings:
        k = self.n_neighbors if self.target_n_neighbors is None else self.target_n_neighbors
        return _targets.Settings(float(self.target_weight), self.target_metric, k, self.n_jobs)

    def _neighborhood(self, place: Device | None = None) -> Neighborhood:
        return Neighborhood(self.n_neighbors, None, self._distance(), self.search, self.n_jobs, "UMAP", place)

    def _maps(
        self, rows: Any, W: Any, joined: Connected, same: Distinct, radii: Any, rng: Any, place: Device | None
    ) -> np.ndarray:
        """The map of the distinct rows; connected components that are mapped on their own are put side by side."""
        components, epochs = joined.parts(self.disconnected), 0
        runs: list[Optimised] = []
        for component in components:
            edges = _among(W, component)
            if place is not None and not isinstance(edges, Graph):
                edges = Graph.of(place, edges)
            start = self._initial(rows, edges, component, same.first[component], rng)
            if any(run.stopped for run in runs):  # the others stay at their initial coordinates
                runs.append(Optimised(centred(start), 0, True))
                continue
            show = None if self.callback is None else partial(self._show, component, same, epochs)
            own = None if radii is None else radii[component]
            runs.append(self._optimised(edges, start, own, show, rng))
            epochs += runs[-1].n_iter
        self.n_iter_ = max(run.n_iter for run in runs)
        self.converged_ = not any(run.stopped for run in runs)

        Z = np.full((len(same.first), self.n_components), np.nan)
        moves = beside([run.Z[:, 0] for run in runs])
        for component, run, move in zip(components, runs, moves, strict=True):
            Z[component] = run.Z + (0.0 if len(runs) == 1 else move) * np.eye(1, self.n_components)
        return Z

    def _optimised(self, W: Any, start: np.ndarray, radii: Any, show: Any, rng: np.random.Generator) -> Optimised:
        """The map of one connected component (or of all rows), by sampled or by expected forces."""
        plan = _device_descent.Plan(self.solver, self.max_iter, self.learning_rate * self._pace, float(self.densities))
        descent, self.device_ = plan.descent_of(W, start, self._forces(), radii, rng)
        settings = {"n_jobs": self.n_jobs, "verbose": self.verbose, "owner": "UMAP"}
        return run_epochs(descent, loss=partial(_device_descent.loss_of, W, self._forces()), callback=show, **settings)

    def _show(self, component: np.ndarray, same: Distinct, before: int, n_iter: int, loss: float, Z: Any) -> Any:
        """The callback sees all rows of X, equal ones too."""
        whole = np.full((len(same.first), self.n_components), np.nan)
        whole[component] = Z
        return self.callback(before + n_iter, loss, self.spread * same.spread(whole))

    def _forces(self) -> Forces:
        """In units of the spread, on which steps, initial coordinates and the limit of forces depend."""
        a = self.a_ * self.spread ** (2.0 * self.b_)
        return Forces(a, self.b_, float(self.repulsion), float(self.negative_sample_rate))

    def _initial(
        self, rows: Any, W: Any, component: np.ndarray, given: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Initial coordinates of a component; `given` are the numbers of its rows in X."""
        k, init = self.n_components, self.init if isinstance(self.init, str) else "spectral"
        Z = self._started(W, given, len(self.component_labels_), self.spread, _fuzzy.START_SIZE)
        if Z is not None:
            return _init.separated(Z, _fuzzy.START_SIZE, rng)
        if init == "random" or len(component) < 2:
            Z = rng.uniform(-_fuzzy.START_SIZE, _fuzzy.START_SIZE, (len(component), k))
        else:
            Z = _device_graph.computed(init, self._complete(rows, component), W, k, rng, "UMAP")
            Z = Z * (_fuzzy.START_SIZE / max(float(np.abs(Z).max()), 1e-300))
        return _init.separated(Z, _fuzzy.START_SIZE, rng)

    def _complete(self, rows: Any, component: np.ndarray) -> Any:
        """The rows of a component without missing cells, where "pca" needs them."""
        if self.init != "pca" or self._precomputed():
            return None
        return (rows if self._holes is None else self._holes.rows(rows))[component]

    def _device_memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Bytes on a GPU at the peak."""
        k, spectral = min(self.n_neighbors, max(1, n - 1)), isinstance(self.init, str) and self.init == "spectral"
        return _device_graph.fuzzy_needs(n, 0 if stored is not None else d, k, itemsize, spectral=spectral)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        of_target = 0 if self.target_metric == "categorical" else self._target_settings().n_neighbors
        return {
            "graph": 120 * n * sum(min(k, max(1, n - 1)) for k in (self.n_neighbors, of_target)),
            "start": 64 * n * (self.n_components + 20),
            "map": 24 * n * self.n_components,
            "rows": n * d * itemsize if stored is None else 24 * stored,
        }
