"""The neighbour graph by itself, once for all methods that need it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lowdim._core import params, validate
from lowdim._core.distances import check_metric, with_params
from lowdim._core.distances.domains import is_of_bits
from lowdim._core.gpu import devices
from lowdim._core.gpu.device_rows import DeviceRows, on_host
from lowdim._core.neighbors import SEARCH, Neighbors, nearest
from lowdim._core.neighbors.sharded import nearest_in_shards, nearest_of_new
from lowdim._core.runtime import memory
from lowdim._core.streams import blocks_of, is_lazy
from lowdim._core.tables.arrays import FLOATS, native
from lowdim._core.tables.form import canonical
from lowdim._core.tables.kinds import naming_text
from lowdim._core.tables.tensors import take_foreign
from lowdim._core.validate import Accepts
from lowdim._core.vocabulary import rules_of


class NeighborGraph(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The distances of each row to its nearest rows, as a sparse graph.

    The graph is found once, and every method on neighbour graphs takes it in place of the rows, with
    ``metric="precomputed"``: `Isomap`, `LaplacianEigenmaps`, `DiffusionMaps`, `MVU`, `TCIE`, `TSNE` and `UMAP`. It
    keeps the contract of scikit-learn's `KNeighborsTransformer` with ``mode="distance"``, so it also goes where that
    goes: pipelines, and ``scanpy.pp.neighbors(adata, transformer=lowdim.NeighborGraph())``.

    Parameters
    ----------
    n_neighbors : int
        Number of nearest neighbours of each row, itself not counted.
    metric : str or callable
        Distance between two rows: "euclidean", "cosine", "manhattan" and the other names of `scipy.spatial.distance`,
        "hellinger", "ruzicka" (Tanimoto's of counts), "haversine", or a function of two rows. Rows may be sparse under
        most of them.
    metric_params : dict or None
        Further arguments of the metric, such as ``{"p": 3}`` of "minkowski".
    search : {"auto", "exact", "approximate"}
        How neighbours are found. "approximate": by nearest-neighbour descent, which finds 98 % and more of them in data
        with structure, under every named metric. "auto": where that pays, from 20,000 rows of many columns.
    device : str
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. A GPU
        is used for dense rows under "euclidean" and "cosine".
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of rows that were fitted.
    n_features_in_ : int
        Number of columns.
    recall_ : float or None
        Of rows of Dask: the share of the true neighbours that was found, measured on 300 rows. None for rows in memory.

    References
    ----------
    Dong, Moses and Li, Efficient k-nearest neighbor graph construction for generic similarity measures, 2011.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(200, random_state=0).X
    >>> graph = lowdim.NeighborGraph(n_neighbors=8).fit_transform(X)
    >>> graph.shape, graph[[0]].nnz
    ((200, 200), 9)
    >>> lowdim.Isomap(2, n_neighbors=8, metric="precomputed").fit_transform(graph).shape
    (200, 2)
    """

    _rules: ClassVar[dict[str, params.Rule]] = {}  # all of its parameters are in the vocabulary

    def __init__(
        self, n_neighbors=15, *, metric="euclidean", metric_params=None, search="auto", device="cpu", n_jobs=None
    ):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.device = device
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> NeighborGraph:
        """Keep the rows that neighbours are looked for among.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; a Dask array or data frame is searched where its blocks are.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self : NeighborGraph
            The fitted transformer.
        """
        params.check("NeighborGraph", vars(self), rules_of(type(self)))
        self.recall_: float | None = None
        if is_lazy(X):
            self._rows = self._counted(X)
            self.n_samples_fit_ = self._n_features_out = self._rows.n_rows()
            return self
        self._rows = self._checked(X, fitting=True)
        self.n_samples_fit_ = self._n_features_out = self._rows.shape[0]
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sparse.csr_matrix:
        """The graph of the rows of X among themselves.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        graph : csr_matrix of shape (n_samples, n_samples)
            Row i holds the distances of row i to itself (a stored 0) and to its `n_neighbors` nearest rows.
        """
        self.fit(X)
        found = self._nearest(None)
        self.recall_ = found.recall
        own = np.arange(self.n_samples_fit_, dtype=found.indices.dtype)[:, None]
        zero = np.zeros((self.n_samples_fit_, 1), found.distances.dtype)
        return self._graph(np.hstack([own, found.indices]), np.hstack([zero, found.distances]))

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Distances of new rows to the fitted rows that are nearest.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_samples_fit_)
            `n_neighbors` + 1 distances in each row, as in scikit-learn: of a fitted row, the first is that to itself.
        """
        check_is_fitted(self, "n_samples_fit_")
        found = self._nearest(self._checked(X, fitting=False))
        return self._graph(found.indices, found.distances)

    def _takes_tensors(self, step: str) -> bool:
        """Whether rows in a tensor on a GPU stay there."""
        return validate.stays_on_device(self)

    def _nearest(self, queries: Any) -> Neighbors:
        metric = with_params(self.metric, self.metric_params, "NeighborGraph")
        if hasattr(self._rows, "gather"):
            return self._nearest_in_blocks(queries, metric)
        k = self.n_neighbors if queries is None else min(self.n_neighbors + 1, self.n_samples_fit_)
        settings: dict[str, Any] = {"metric": metric, "n_jobs": self.n_jobs, "owner": "NeighborGraph"}
        settings["device"] = devices.find(self.device, "NeighborGraph")
        return nearest(self._rows, k, queries=queries, approximate=SEARCH[self.search], name="n_neighbors", **settings)

    def _counted(self, X: Any) -> Any:
        """The blocks of a collection of Dask, or all of its rows where these are few."""
        blocks = blocks_of(X, "NeighborGraph").counted()
        self.n_features_in_ = blocks.width
        few = blocks.n_rows() <= memory.sample_rows()
        return self._checked(blocks.at(None)[0], fitting=True) if few else blocks

    def _nearest_in_blocks(self, queries: Any, metric: Any) -> Neighbors:
        settings: dict[str, Any] = {"metric": check_metric(metric, "NeighborGraph"), "owner": "NeighborGraph"}
        k = self.n_neighbors
        if queries is None:
            return nearest_in_shards(self._rows, k, n_jobs=self.n_jobs, name="n_neighbors", **settings)
        found = nearest_of_new(self._rows, queries, min(k + 1, self.n_samples_fit_), **settings)
        return Neighbors(found.numbers, found.distances)

    def _graph(self, indices: np.ndarray, distances: np.ndarray) -> sparse.csr_matrix:
        n, k = indices.shape
        pointers = np.arange(0, n * k + 1, k)
        return sparse.csr_matrix((distances.ravel(), indices.ravel(), pointers), shape=(n, self.n_samples_fit_))

    def _checked(self, X: Any, *, fitting: bool) -> Any:
        metric = check_metric(with_params(self.metric, self.metric_params, "NeighborGraph"), "NeighborGraph")
        if isinstance(metric, str) and metric == "precomputed":
            raise ValueError("NeighborGraph: metric must measure rows; got 'precomputed', which is a graph already.")
        least = 2 if fitting else 1
        accepts = Accepts("NeighborGraph", by_function=callable(metric), sparse_rows=True, min_rows=least)
        if isinstance(X, DeviceRows):
            checked = validate.check_there(X, accepts)
            if checked is not None:
                validate_data(self, X, reset=fitting, skip_check_array=True)
                return checked.rows
        X = _stored(validate.refuse_foreign(on_host(X), accepts), metric)
        with naming_text(X, accepts.owner):
            X = validate_data(
                self,
                native(X),
                reset=fitting,
                accept_sparse="csr",
                dtype=FLOATS,
                ensure_all_finite=False,
                ensure_min_samples=least,
            )
        X = validate.alike(canonical(X), None if fitting or hasattr(self._rows, "gather") else self._rows)
        validate.check_measurable(X, metric, accepts, fitting=fitting)
        return validate.check_cells(X, accepts, fitting=fitting).rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _stored(X: Any, metric: Any) -> Any:
    """Rows of bits that take a byte each as a sparse table: as floats they would take eight times the memory."""
    bytes_each = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.itemsize == 1 and X.dtype.kind in "bui"
    return sparse.csr_matrix(X) if bytes_each and min(X.shape) > 0 and is_of_bits(metric) else X


take_foreign(NeighborGraph)
