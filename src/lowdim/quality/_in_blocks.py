"""Measures of rows of Dask and their embedding: what is known from some rows to all of them.

Rank measures come from `lowdim._core.ranks.in_blocks`. Here are distances of drawn pairs and the neighbours of some
rows, each found where the blocks are, in one pass. Collections of few rows are brought into memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lowdim._core import params, streams
from lowdim._core.distances import check_metric
from lowdim._core.ranks import choose_rows, mean_interval
from lowdim._core.ranks.in_blocks import Anchors, Nearest, Space, ranks_in_blocks
from lowdim._core.ranks.reference import Reference, embedded_rows, rows_of
from lowdim._core.runtime import memory

Array = np.ndarray


def spaces_in_blocks(X: Any, Z: Any, metric: Any, reference: str, owner: str) -> tuple[Any, Any]:
    """Both tables in memory where they are small, else references that measure drawn pairs where the blocks are."""
    refuse_paths(reference, owner)
    metric = check_metric(metric, owner)
    if isinstance(metric, str) and metric in ("precomputed", "gower"):
        raise ValueError(f"{owner}: metric must measure rows of a collection of Dask one by one; got {metric!r}.")
    blocks = streams.blocks_of(X, owner, Z).counted()
    if blocks.n_rows() <= memory.sample_rows():
        return blocks.at(None)
    return _measured(blocks, 0, metric, "ambient", owner), _measured(blocks, 1, "euclidean", "embedding", owner)


def refuse_paths(reference: str, owner: str) -> None:
    """An error for reference distances that need all rows in one memory."""
    if reference != "ambient":
        raise ValueError(
            f"{owner}: reference must be 'ambient' for a collection of Dask; got {reference!r}. Paths need all rows in "
            "memory: compute a sample, and place its rows."
        )


def _measured(blocks: Any, side: int, metric: Any, name: str, owner: str) -> Reference:
    named = metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")

    def refuse(rows: Array, order: bool) -> Array:
        raise ValueError(f"{owner}: pairs must be a number for so many rows of a collection of Dask, such as 200_000.")

    def listed(drawn: list[tuple[Array, Array]]) -> Array:
        starts, others = (np.concatenate(column) for column in zip(*drawn, strict=True))
        what = f"{owner}: {'XZ'[side]}"
        found = blocks.at(starts)[side]
        rows = rows_of(found, what, "Fill the holes in first") if side == 0 else embedded_rows(found, None, what)
        space = Space.of(rows, metric, what, owner)
        return blocks.gather(partial(_of_pairs, space=space, side=side, others=others), numbered=True).ravel()

    return Reference(blocks.n_rows(), name, named, refuse, listed=listed)


def _of_pairs(given: Any, start: int, *, space: Space, side: int, others: Array) -> Array:
    """Distances of each row of the space to the rows of a block among its `others`; 0 to those of other blocks."""
    rows, found = space.rows(given[side]), np.zeros(others.shape)
    inside = (others >= start) & (others < start + rows.shape[0])
    for i in np.flatnonzero(inside.any(axis=1)):
        there = others[i, inside[i]] - start
        ordered = space.to(rows[there], slice(i, i + 1))[0].astype(np.float64)
        found[i, inside[i]] = space.lengths(ordered)
    return found


@dataclass(frozen=True, eq=False)
class Labelled:
    """The nearest rows of each anchor with their labels."""

    near: Nearest
    labels: Array

    @classmethod
    def of(cls, given: Any, start: int, *, anchors: Anchors) -> Labelled:
        """Of a block of rows and labels whose first row has the number `start`."""
        rows, labels = given[0], np.asarray(given[1]).ravel()
        near = Nearest.of((rows, np.zeros((len(labels), 1))), start, anchors=anchors)
        here = np.clip(near.numbers[0] - start, 0, len(labels) - 1)
        return cls(near, labels[here].astype(object))

    def __add__(self, later: Labelled) -> Labelled:
        near = self.near + later.near
        both = np.concatenate([self.near.numbers[0], later.near.numbers[0]], axis=1)
        labels = np.concatenate([self.labels, later.labels], axis=1)
        order = np.argsort(both, axis=1, kind="stable")
        at = np.array([np.searchsorted(row[o], k) for row, o, k in zip(both, order, near.numbers[0], strict=True)])
        return Labelled(near, np.take_along_axis(labels, np.take_along_axis(order, at, axis=1), axis=1))


def labels_near(Z: Any, y: Any, k: int, metric: Any, owner: str) -> tuple[Any, ...]:
    """Rows and labels in memory where they are few; else labels of some rows, those of their neighbours, and more.

    These are: how many rows have another one at distance 0 among these, and the number of all rows.
    """
    metric = check_metric(metric, owner)
    blocks = streams.blocks_of(Z, owner, y).counted()
    n = blocks.n_rows()
    if n <= memory.sample_rows():
        return blocks.at(None)
    params.check(owner, {"n_neighbors": k}, {"n_neighbors": params.whole(1, n - 1)})
    chosen = choose_rows(n, "auto", 0, 0)
    rows, own = blocks.at(chosen)
    spaces = (
        Space.of(rows_of(rows, f"{owner}: Z", "Fill the holes in first"), metric, f"{owner}: rows", owner),
        Space.of(np.zeros((len(chosen), 1)), "euclidean", "zeros", owner),
    )
    anchors = Anchors(chosen, spaces, np.empty((len(chosen), 0), np.int64), k)
    found = blocks.gather(partial(Labelled.of, anchors=anchors), numbered=True)
    duplicates = int(np.count_nonzero(found.near.own[0, :, 0] == 0))
    return np.asarray(own).ravel(), found.labels, duplicates, n


def share_wrong(wrong: Array, n: int) -> tuple[float, tuple[float, float]]:
    """The share of the rows that are misclassified, and its interval, from those of some rows."""
    low, high = mean_interval(wrong.astype(float), n)
    return float(wrong.mean()), (max(0.0, low), min(1.0, high))


def ranks_of_each(X: Any, embeddings: Mapping[str, Any], metric: Any, anchors: Any, k: int, seed: int) -> Any:
    """Records of several embeddings, each from the same anchors."""
    settings = {"metric": metric, "anchors": anchors, "ks": (k,), "random_state": seed, "owner": "scores"}
    return {name: ranks_in_blocks(X, Z, **settings) for name, Z in embeddings.items()}
