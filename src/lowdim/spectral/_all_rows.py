"""Landmark Isomap of all rows of a collection of Dask, where their graph fits here.

The neighbour graph is found where the blocks are, and comes here; paths run from the landmarks through all rows. The
model keeps a sample of the rows, with their paths, by which it places new ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from lowdim._core import streams
from lowdim._core.graph import components
from lowdim._core.landmarks.in_stream import Cover, Marked
from lowdim._core.manifold.geodesic_component import GeodesicComponent
from lowdim._core.maps_blocks import MapsBlocks
from lowdim._core.runtime import memory

Array = np.ndarray


class JoinsAllRows(MapsBlocks):
    """A part of `Isomap`."""

    landmarks_: Any
    n_components_graph_: int
    component_labels_: Array

    def _fit_graph(self: Any, X: Any, blocks: Any, target: Any) -> Any:
        """The map of all rows, lazily; None where a sample between the landmarks has to do."""
        pick, k = self._pick(), self.n_neighbors
        simple = self.radius is None and self.repair is None and self.device == "cpu"
        if pick is None or target is not None or not simple or not self._has_named_metric():
            return None
        blocks = blocks.counted()
        n = blocks.n_rows()
        if n <= memory.sample_rows() or self._needed_here(n, pick.n_landmarks) > memory.limit():
            return None
        marked = Marked.of(blocks.gather(partial(Cover.of, pick=pick), numbered=True), None)
        graph, recall = self._graph_of(blocks, k)
        found = components(graph)
        model = clone(self).set_params(metric="precomputed", metric_params=None)
        model._marked = replace(marked, positions=marked.numbers[marked.positions])
        model._fit_table(self._joined(graph, blocks, self._graph_settings()))
        del model._marked
        kept = {key for key in vars(model) if key not in model.get_params(deep=False)} - {"n_features_in_"}
        self.__dict__.update({key: vars(model)[key] for key in kept})
        self.recall_, (self.n_components_graph_, self.component_labels_) = recall, found
        self._keep_paths_of(marked.numbers, blocks)
        if (names := streams.column_names(X)) is not None:
            self.feature_names_in_ = names
        return blocks.in_rows(self.embedding_)

    def _needed_here(self: Any, n: int, m: int) -> int:
        """Bytes of the graph of all rows and of the paths from m landmarks."""
        return int(48 * n * self.n_neighbors + sum(self._tables(m, n, 1, 8, n * self.n_neighbors).values()))

    def _keep_paths_of(self: Any, numbers: Array, blocks: Any) -> None:
        """The rows that new ones are compared with, and their paths alone."""
        sources = np.concatenate([component.sources for component in self._components])
        self._sampled = self.sample_indices_ = np.union1d(numbers, sources)
        self._components = [_of_some(component, self._sampled) for component in self._components]
        self._rows, _ = self._check_rows(blocks.at(self._sampled)[0], fitting=True)


def _of_some(component: GeodesicComponent, kept: Array) -> GeodesicComponent:
    """The component with those of its rows that are kept, numbered among these."""
    inside = np.isin(component.rows, kept)
    rows, sources = (np.searchsorted(kept, part) for part in (component.rows[inside], component.sources))
    return replace(
        component, rows=rows, sources=sources, geodesics=np.ascontiguousarray(component.geodesics[:, inside])
    )
