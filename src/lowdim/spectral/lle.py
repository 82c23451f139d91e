"""Locally linear embedding and its variants: local linear fits of the rows that the embedding must satisfy too."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.extend import NeighborWeights
from lowdim._core.gpu import devices
from lowdim._core.graph import has_edges, neighbor_graph
from lowdim._core.graph.local_fits import LLE_METHODS, Patches, alignment
from lowdim._core.graph.repair import REPAIR_METHODS, Repair
from lowdim._core.landmarks import policy
from lowdim._core.landmarks.choose import choose
from lowdim._core.landmarks.policy import LandmarkChoice, by_factors, factors_fit, solved
from lowdim._core.manifold.components import side_by_side
from lowdim._core.manifold.crowding import JudgedMap
from lowdim._core.manifold.dimension import neighbor_dimension
from lowdim._core.manifold.neighborhood import Distinct, Neighborhood, enough_neighbors
from lowdim._core.manifold.reduced import SPARE, landmark_choice, landmark_weights, reduced_axes, reduced_bytes
from lowdim._core.renamed import renamed_parameters
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks
from lowdim._core.spectrum.null_axes import null_axes, warn_of_ambiguous_axes
from lowdim._core.spectrum.solvers import graph_factor_bytes
from lowdim._core.tables.arrays import extent


class LLE(JudgedMap, Reducer):
    """Locally linear embedding: keeps the linear relations between each row and its neighbours.

    Standard LLE reconstructs each row from its neighbours, x_i = sum_j w_ij x_j with weights of sum 1, and looks for
    coordinates Z that the same weights reconstruct: the smallest eigenvectors of M = (I - W)'(I - W), the constant left
    out, with mean 0 and Z'Z / n = I. The variants ask more of a neighbourhood and recover a surface better, up to a
    linear map: several weight vectors (modified), vanishing second derivatives (Hessian; also surfaces with holes), or
    affine functions of tangent coordinates (LTSA).

    A new row is the mean of its neighbours' coordinates with the weights that reconstruct it from them. That is also
    what the Nystrom formula of the kernel mu I - M gives for large mu.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding.
    n_neighbors : int
        Neighbours of each row, itself not counted. Hessian needs more than n_components (n_components + 3) / 2, LTSA
        more than n_components, modified at least n_components.
    method : {"standard", "modified", "hessian", "ltsa"}
        The local fit.
    ridge : float or "auto"
        Ridge of the weights as a share of the trace of the local Gram matrix. If it is large, the map depends on the
        graph alone; if it is too small, the map is a linear projection of the rows. "auto" takes in each neighbourhood
        the mean variance outside its `n_components` leading directions.
    repair : {None, "detour", "flow", "linearity", "stability"}
        Remove short circuits, edges between two folds of the data: edges without which the path between their ends is a
        long detour (the one to try first); edges of rows through which many paths run and around which paths are long;
        edges that leave the tangent plane (of dimension `n_components`) of their neighbourhood; or edges whose ends are
        far apart in sparser graphs. See `Isomap`. Where short circuits are left, a warning says so.
        Rows at the other end of such an edge are left out of the neighbourhood.
    n_landmarks : int, "auto" or None
        Number of landmarks of which the coordinates of every row are a weighted mean, so that the eigenproblem is that
        of the landmarks: many rows in little memory, at some loss of detail. "auto": all rows, but 1,000 landmarks with
        a warning where the sparse factors of M would not fit into memory or take very long; None: all rows.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances. It chooses the neighbours; the local fits need coordinates, so that
        "precomputed" is an error here. Under "gower" these are numbers over their range and one column per category.
    metric_params : dict or None
        Parameters of `metric` by name, such as ``{"p": 3}`` of "minkowski", or further arguments of a function.
    search : {"auto", "exact", "approximate"}
        Neighbour search. "auto" is exact up to 20,000 rows and wherever a tree is fast, else approximate (with a
        recall of 98 % and more on data with structure).
    missing : {"error", "pairwise", "expected"}
        Missing cells (NaN), at fit and in new rows: an error; neighbours by distances over the columns that both rows
        have, and the mean of the neighbours for the cell; or neighbours by the expected distance under a Gaussian model
        of the rows, and its conditional mean for the cell. Under "expected", `transform` of an incomplete fitted row is
        near its coordinates, not always equal to them.
    disconnected : {"bridge", "separate", "largest", "error"}
        If the neighbour graph is not connected: join its components by their shortest edges; embed each and tile
        them; embed the largest (other rows are NaN); or raise an error. All but the last warn.
        At an edge that joins two components, the neighbourhoods of both ends are merged; the connection is weak.
    device : str
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. A GPU
        is used for neighbours (Euclidean and cosine distances of complete rows) and for the placing of new rows; the
        local fits and the eigenvectors are found on the CPU.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the start of the eigensolver and the model of missing cells.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr. Here there is none: a fit is one eigenproblem.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the fitted rows. Equal rows have the same coordinates.
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalues of M of the axes, ascending, without that of the constant (of the largest component). A warning
        is issued where the next eigenvalue is not clearly larger than the last: the axes are then ambiguous.
    embedding_error_ : float
        trace(Z'M Z) / n: for standard LLE the mean squared distance between the coordinates of a row and those that the
        weights reconstruct from its neighbours.
    reconstruction_error_ : float
        The same number under the name that scikit-learn and the literature use. It is an error in the embedding, not
        of the cells of X as in other estimators.
    landmarks_ : ndarray of int or None
        Row numbers of the landmarks; None where all rows are used.
    n_components_graph_ : int
        Number of connected components of the neighbour graph, before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The component of each row, 0 being the largest.
    device_ : str
        Where neighbours were searched.
    suspicious_edges_, suspicious_scores_, suspicious_removed_ : ndarray
        With `repair` (else None): the edges found as pairs of rows, the most suspicious first, their scores, and
        whether each was removed (False where the graph would be disconnected without it).

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
    >>> X = lowdim.datasets.swiss_roll(1500, random_state=0).X
    >>> model = lowdim.LLE(n_components=2, method="ltsa").fit(X)
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.whole(1),
        "method": params.one_of(*LLE_METHODS),
        "ridge": params.one_of("auto") | params.real(0, open_low=True),
        "repair": params.none() | params.one_of(*REPAIR_METHODS),
        "n_landmarks": policy.rule(3),
    }
    _extension: Any
    _stays = ("transform",)
    _unit_axes = True
    _crowding_advice = "Drop these, raise n_neighbors, or use another method."
    _ways_out = "Use fewer neighbours, or fit on a sample and transform the other rows."

    @renamed_parameters(reg="ridge")
    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=12,
        method="standard",
        ridge="auto",
        repair=None,
        n_landmarks="auto",
        metric="euclidean",
        metric_params=None,
        search="auto",
        missing="error",
        disconnected="bridge",
        device="cpu",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.method = method
        self.ridge = ridge
        self.repair = repair
        self.n_landmarks = n_landmarks
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> np.ndarray:
        """Neighbourhoods -> local fits -> the matrix M of each connected component -> its smallest eigenvectors."""
        self._check_settings()
        same = Distinct.of(X)
        X, k = (
            same.pick(X, square=False),
            same.n_neighbors(enough_neighbors(type(self), self.n_neighbors, len(X)), "LLE"),
        )
        self._check_size(k)
        around = self._neighborhood(k)
        self.device_ = "cpu" if around.device is None else around.device.title
        near = around.nearest(X, k)
        repair, graph = Repair(self.repair, self.n_components, self._holes), neighbor_graph(near)
        joined, suspicious = around.connected(X, self.disconnected, repair, first=same.first, graph=graph)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[same.kind]

        components = joined.parts(self.disconnected)
        coordinates = X if self._holes is None else self._holes.rows_among(X, near)
        patches = Patches.of(near.indices, joined.bridges(), self._left(joined.graph, near))
        forms = [self._form(coordinates, patches, rows) for rows in components]

        choice = landmark_choice(self.n_landmarks, len(X), len(components[0]), policy=self.disconnected, owner="LLE")
        counts = None if same.all else same.counts
        with_all = partial(self._embed_all, X, coordinates, forms, components, counts)
        with_landmarks = partial(self._embed_landmarks, X, coordinates, forms[0], same)
        return solved(by_factors(choice, forms[0]), with_all, with_landmarks, "LLE")[same.kind]

    def _left(self, graph: Any, near: Any) -> np.ndarray | None:
        """Which neighbours are left after `repair` (None: all); at least as many as the method needs."""
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
        if self._precomputed():
            raise ValueError(
                "LLE: metric must compare rows, whose coordinates the local fits need; got 'precomputed'. "
                "ClassicalMDS(metric='precomputed') turns distances into coordinates."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False  # distances are refused
        return tags

    def _check_size(self, k: int) -> None:
        """A neighbourhood must have more rows than the local fit has unknowns."""
        r, least = self.n_components, self._least()
        if k < least:
            raise ValueError(
                f"LLE: n_neighbors must be at least {least} for method={self.method!r} and n_components={r}; got {k}. "
                "A neighbourhood must have more rows than the local fit has unknowns."
            )

    def _form(self, X: Any, patches: Patches, rows: np.ndarray) -> sparse.csr_array:
        """The matrix M of one connected component."""
        inside = patches.of_rows(rows, len(X))
        return alignment(X[rows], inside, self.method, self.n_components, ridge=self.ridge, n_jobs=self.n_jobs)

    def _embed_all(
        self, X: Any, coordinates: Any, forms: list[Any], components: list[np.ndarray], counts: Any, give_up: bool
    ) -> np.ndarray:
        """The smallest eigenvectors of M in each component."""
        self.landmarks_, rng, r = None, generator(self.random_state), self.n_components
        settings: dict[str, Any] = {"rng": rng, "give_up": give_up, "owner": "LLE"}
        counted = [None if counts is None else counts[rows] for rows in components]
        found = [null_axes(M, r, counts=c, **settings) for M, c in zip(forms, counted, strict=True)]
        for axes in found:
            warn_of_ambiguous_axes(axes, "LLE")
        self.eigenvalues_ = found[0].of_axes
        error = sum(axes.values[1 : r + 1].sum() * len(axes.embedding) for axes in found)
        self.embedding_error_ = float(error) / sum(len(axes.embedding) for axes in found)

        Z, component_of = side_by_side(components, [axes.embedding for axes in found], len(X))
        self._rows = X.copy()
        completed = None if self._holes is None else coordinates
        self._extension = NeighborWeights(Z, component_of, completed, self.ridge, r)
        return Z

    def _embed_landmarks(self, X: Any, coordinates: Any, M: Any, same: Distinct, m: int) -> np.ndarray:
        """The eigenproblem of m landmarks; the coordinates of the other rows are weighted means of theirs."""
        rng, r = generator(self.random_state), self.n_components
        chosen = np.sort(choose(X, m, method="kmeans++", metric=self._distance(), rng=rng, owner="LLE"))
        self.landmarks_ = same.first[chosen]
        completed = None if self._holes is None else coordinates[chosen]
        reduced = landmark_weights(
            X, chosen, self._around(), r, holes=self._holes, completed=completed, ridge=self.ridge
        )
        self._rows = reduced.rows
        axes = reduced_axes(M, reduced.weights, r, counts=None if same.all else same.counts, rng=rng, owner="LLE")
        warn_of_ambiguous_axes(axes, "LLE")
        self.eigenvalues_ = axes.of_axes
        self.embedding_error_ = float(axes.values[1 : r + 1].sum())
        self._extension = replace(reduced.extension, embedding=axes.embedding)
        return np.concatenate([self._extend(X[rows]) for rows in blocks(len(X), self._block_rows)])

    @property
    def reconstruction_error_(self) -> float:
        return self.embedding_error_

    def _around(self) -> Neighborhood:
        """The neighbourhood from which a new row is reconstructed."""
        k = self.n_neighbors
        return self._neighborhood(k if self.landmarks_ is None else min(k, self.n_components + SPARE))

    def _neighborhood(self, k: int) -> Neighborhood:
        settings = k, None, self._distance(), self.search, self.n_jobs, "LLE"
        return Neighborhood(*settings, devices.find(self.device, "LLE") if self._holes is None else None)

    @property
    def _block_rows(self) -> int:  # type: ignore[override]
        return 2048 if self.device == "cpu" else 2**18

    def _extend(self, X: Any) -> np.ndarray:
        known: NeighborWeights = self._extension
        around = self._around()
        if around.device is not None:
            near = around.nearest(self._rows, min(around.n_neighbors, len(self._rows)), X)
            return known.there(around.device, X, self._rows, near)
        return known(*around.for_weights(self._rows, X, self._holes, known.completed), self.n_jobs)

    def _fitted_places(self) -> np.ndarray:
        return self._extension.embedding

    def _needs(self, X: Any) -> dict[str, int]:
        """Rows that fill more dimensions than the map has make larger factors."""
        n, d, itemsize, _ = extent(X)
        return self._tables(n, d, itemsize, max(self.n_components, neighbor_dimension(X, self.n_neighbors)))

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """For rows on a sheet of the map's dimension; a shape alone does not say more."""
        return self._tables(n, d, itemsize, self.n_components)

    def _tables(self, n: int, d: int, itemsize: int, dimension: int) -> dict[str, int]:
        p = self.n_neighbors + 1
        return {
            "local forms": 4 * n * p * (p + 1),
            "alignment matrix": 50 * n * 4 * p,
            "sparse factors": self._factors(n, dimension),
            "search": 2 * n * 64 * 8,
            "neighbour graph": 100 * n * p,
            "rows": 2 * n * d * itemsize,
        }

    def _factors(self, n: int, dimension: int) -> int:
        """Bytes of the sparse factors, or of the reduced problem of landmarks, which has none."""
        size = graph_factor_bytes(n, self.n_neighbors + 1, dimension)
        one_component = self.disconnected not in ("separate", "largest")
        choice = LandmarkChoice.of(self.n_landmarks, n, one_component)
        m = choice.n_landmarks if factors_fit(size) else choice.not_all_rows("too large").n_landmarks
        return size if m is None else reduced_bytes(n, m)
