"""The part of t-SNE and UMAP that maps all rows of a collection of Dask, by their neighbour graph.

The graph is found where the blocks are (`lowdim._core.neighbors.sharded`), and comes to the client with the map: some
hundred bytes a row. The rows stay where they are, but for a sample, by which the model places new rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from lowdim._core import streams
from lowdim._core.distances import with_params
from lowdim._core.distances.rows import as_rows
from lowdim._core.graph import components
from lowdim._core.graph.connectivity import bridged
from lowdim._core.neighbors.sharded import nearest_in_shards
from lowdim._core.runtime import memory, threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import Moments, eigenpairs

MOST_COLUMNS = 5000  # whose covariances are summed


def principal_scores(blocks: Any, k: int, owner: str) -> np.ndarray | None:
    """Of all rows, in two passes; None where the rows have fewer axes, or too many columns."""
    if not k <= blocks.width <= MOST_COLUMNS:
        return None
    moments = blocks.gather(partial(_moments, owner=owner))
    found = eigenpairs(moments.about(moments.mean), k, owner=owner)
    if not found.values[-1] > 1e-14 * found.values[0]:
        return None
    place = partial(_scores, axes=found.vectors, center=moments.mean, owner=owner)
    return np.concatenate(blocks.gather(place))


def _moments(block: Any, owner: str) -> Moments:
    return Moments.of(_dense(block, owner), n_jobs=1)


def _scores(block: Any, axes: np.ndarray, center: np.ndarray, owner: str) -> tuple[np.ndarray]:
    with threads.single_blas():
        return ((_dense(block, owner) - center) @ axes,)


def _dense(block: Any, owner: str) -> np.ndarray:
    return as_rows(block.toarray() if sparse.issparse(block) else block, owner)


class MapsBlocks:
    """A part of `Reducer`: `_fit_graph` is called for rows of Dask that are more than a sample.

    The fit to the graph is that of the method with ``metric="precomputed"``. A method says how many neighbours it takes
    (`_n_graph`) and how wide a start in principal components is to be (`_start_scale`).
    """

    _sampled: Any = None  # numbers of the rows that new ones are compared with, where these are not all
    _sparse_graphs: ClassVar[bool]
    embedding_: Any
    recall_: Any
    sample_indices_: Any
    _check_rows: Any
    _memory: Any
    _fit_table: Any
    _precomputed: Any

    _n_graph: Any
    _start_scale: Any

    def _fit_graph(self, X: Any, blocks: Any, target: Any) -> Any:
        """The map of all rows, lazily; None where a sample has to do."""
        blocks = blocks.counted()
        n = blocks.n_rows()
        plain = target is None and not self._precomputed() and getattr(self, "missing", "error") == "error"
        if n <= memory.sample_rows() or not plain or not self._has_named_metric() or self._is_too_large(n):
            return None
        graph, recall = self._graph_of(blocks, self._n_graph(n))
        graph = self._joined(graph, blocks, self._graph_settings())
        model = clone(self).set_params(metric="precomputed", metric_params=None, **self._start(blocks))
        model._fit_table(graph)
        kept = {key for key in vars(model) if key not in model.get_params(deep=False)} - {"n_features_in_"}
        self.__dict__.update({key: vars(model)[key] for key in kept})
        self.recall_ = recall
        self._keep_sample(blocks)
        if (names := streams.column_names(X)) is not None:
            self.feature_names_in_ = names
        return blocks.in_rows(self.embedding_)

    def _graph_settings(self) -> dict[str, Any]:
        name = type(self).__name__
        return {"metric": self._measured_by(), "n_jobs": self.n_jobs, "owner": name, "name": "n_neighbors"}  # type: ignore[attr-defined]

    def _graph_of(self, blocks: Any, k: int) -> tuple[Any, float | None]:
        """Lengths of the edges from each row to k others, and the share of the true neighbours among these."""
        near, n = nearest_in_shards(blocks, k, **self._graph_settings()), blocks.n_rows()
        ends = np.arange(0, n * k + 1, k)
        return sparse.csr_array((near.distances.ravel(), near.indices.ravel(), ends), (n, n)), near.recall

    def _joined(self, graph: Any, blocks: Any, settings: dict[str, Any]) -> Any:
        """The graph, its components joined by the shortest edges among some rows of each, where these are asked for."""
        if getattr(self, "disconnected", None) != "bridge":
            return graph
        count, labels = components(graph)
        if count == 1:
            return graph
        drawn = generator(0).permutation(len(labels))
        order = drawn[np.argsort(labels[drawn], kind="stable")]
        place = np.arange(len(order)) - np.searchsorted(labels[order], labels[order])
        some = np.sort(order[place < max(1, memory.sample_rows() // count)])
        warn(f"{type(self).__name__}: the neighbour graph has {count} components; they were joined by short edges.")
        options = {key: settings[key] for key in ("metric", "owner", "n_jobs")}
        return bridged(graph, some, as_rows(blocks.at(some)[0], settings["owner"]), labels[some], **options)

    def _start(self, blocks: Any) -> dict[str, Any]:
        """Principal components as `init`, where these are asked for; "spectral" of many columns or of low rank."""
        if not (isinstance(self.init, str) and self.init == "pca"):  # type: ignore[attr-defined]
            return {}
        Z = principal_scores(blocks, self.n_components, type(self).__name__)  # type: ignore[attr-defined]
        if Z is None:
            return {"init": "spectral"}
        return {"init": Z * self._start_scale(Z)}

    def _keep_sample(self, blocks: Any) -> None:
        """Rows that new ones are compared with: as many as one memory may take, among those that have a place."""
        drawn = generator(0).permutation(len(self.embedding_))[: memory.sample_rows()]
        placed = np.isfinite(self.embedding_[drawn]).all(axis=1)
        self.sample_indices_ = self._sampled = np.sort(drawn[placed])
        if hasattr(self, "_extension"):
            self._extension = self._sampled
        self._rows, _ = self._check_rows(blocks.at(self._sampled)[0], fitting=True)

    def _measured_by(self) -> Any:
        return with_params(self.metric, self.metric_params, type(self).__name__)  # type: ignore[attr-defined]

    def _has_named_metric(self) -> bool:
        return isinstance(self.metric, str) and self.metric != "gower"  # type: ignore[attr-defined]

    def _is_too_large(self, n: int) -> bool:
        """Whether graph and map of all rows need more memory than there is; then a warning says so."""
        k = self._n_graph(n)
        needed = 48 * n * k + sum(self._memory(n, 1, 8, n * k).values())
        if needed <= memory.limit():
            return False
        warn(
            f"{type(self).__name__}: the neighbour graph and the map of {n} rows need about {memory.show(needed)} "
            f"here, and the limit is {memory.show(memory.limit())}: fewer neighbours need less."
        )
        return True
