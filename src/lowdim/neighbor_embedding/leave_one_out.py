"""The map with one row left out: which loss decides where that row goes, here or after it has moved.

Liu, Ma and Zhong (2025) extend t-SNE and UMAP to a function of a row: its place is the minimum of its own loss, while
all other rows keep theirs. `left_out` makes the losses of all rows of a fitted model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import pairwise
from lowdim._core.manifold.neighborhood import Distinct
from lowdim._core.runtime import threads
from lowdim.neighbor_embedding import _fuzzy, _moved_rows
from lowdim.neighbor_embedding._gradient_descent import Engine
from lowdim.neighbor_embedding._own_loss import (
    ExactField,
    FuzzyKernel,
    Kernel,
    OwnLoss,
    PlaneField,
    Problems,
    StudentKernel,
    minimised,
)
from lowdim.neighbor_embedding._umap_descent import HALVES, divergence
from lowdim.neighbor_embedding.tsne import TSNE
from lowdim.neighbor_embedding.umap import UMAP

Array = np.ndarray

EXACT = 1000  # rows up to which the repulsion is summed pair by pair in the search for a place; beyond, a grid
STARTS = 3  # of that search: the place of the row, and those of its two nearest rows
BLOCK = 256  # rows at once
EDGES = 2**20  # attracting pairs at once
LEAST = 3  # rows of a part of the map in which rows are moved
AGREE = 1e-4  # relative difference of divergences, by which other rows or labels are noticed


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The own losses of the rows of one map.

    Attributes
    ----------
    rows : ndarray of int
        Which rows of X these are; equal rows of UMAP are one.
    X : ndarray or None
        Their cells, or None where they cannot be moved.
    Z : ndarray
        Their places, in units of the kernel.
    near : ndarray
        The nearest rows of each in the data, twice as many as attract it; empty where rows cannot be moved.
    kernel, weights, moved_weights, rate
        Of the loss: the map's kernel, the weights of all rows, a function for those of moved ones, and negative samples
        for each attraction.
    metric, n_jobs
        Distance between rows, and threads.
    unit : float
        What places are multiplied by in the map.
    """

    rows: Array
    X: Array | None
    Z: Array
    near: Array
    kernel: Kernel
    weights: Any
    moved_weights: Callable[..., Any] | None
    metric: Any
    n_jobs: int | None
    rate: float = 0.0
    unit: float = 1.0

    def curvatures(self) -> Array:
        """The smallest eigenvalue of the Hessian of each row's own loss at its place: all pairs, in blocks."""
        loss = OwnLoss(self.kernel, self.Z, ExactField(self.kernel, self.Z))
        level = self.levels(loss)

        def smallest(part: slice) -> Array:
            own = np.arange(part.start, part.stop)
            hessian = loss(self.Z[own], Problems(own, self.weights[own], level[own]))[2]
            return np.linalg.eigvalsh(hessian)[:, 0]

        return np.concatenate(threads.map_rows(smallest, len(self.Z), BLOCK, self.n_jobs))

    def levels(self, loss: OwnLoss) -> Array:
        """The rest of the partition for each row (t-SNE), or its rate of negative samples (UMAP)."""
        n = len(self.Z)
        if not self.kernel.shared:
            return self.rate * np.asarray(self.weights.sum(axis=1)).ravel() / n

        def own_part(part: slice) -> Array:
            own = np.arange(part.start, part.stop)
            return loss.without_own(self.Z[own], own)[0]

        sums = np.concatenate(threads.map_rows(own_part, n, BLOCK, self.n_jobs))
        return np.asarray(sums.sum() - 2 * sums)

    def search_loss(self) -> OwnLoss:
        """The loss that places are searched with: on a grid in the plane for many rows, else pair by pair."""
        grid = self.Z.shape[1] == 2 and len(self.Z) > EXACT
        return OwnLoss(self.kernel, self.Z, (PlaneField if grid else ExactField)(self.kernel, self.Z))

    def jumps(self, moves: Callable[[int], Array]) -> Array:
        """How far each row is from its place after the farthest-reaching of its moves.

        `moves` gives for the number of a row an array (moves, columns) of what is added to it.
        """
        assert self.X is not None
        assert self.moved_weights is not None
        loss = self.search_loss()
        levels = self.levels(loss)
        attracting = max(1, self.weights.nnz // max(1, len(self.Z)))
        block = int(np.clip(EDGES // (6 * STARTS * attracting), 1, BLOCK))
        farthest = partial(self._farthest, loss, levels, moves)
        return np.concatenate(threads.map_rows(farthest, len(self.Z), block, self.n_jobs))

    def _farthest(self, loss: OwnLoss, levels: Array, moves: Callable[[int], Array], part: slice) -> Array:
        own = np.arange(part.start, min(part.stop, len(self.Z)))
        assert self.X is not None
        assert self.moved_weights is not None
        near, reached, copies = [], [], []
        for row in own.tolist():
            steps, candidates = moves(row), self.candidates(row)
            moved = self.X[row].astype(np.float64) + np.vstack([np.zeros_like(steps[:1]), steps])
            others = self.X[candidates].astype(np.float64)
            near.append(candidates)
            reached.append(pairwise(moved, others, self.metric, owner="trust.fractures"))
            copies.append(len(steps))
        who = np.repeat(own, copies)
        W = self.moved_weights(who, near, reached)
        level = levels[who] if self.kernel.shared else self.rate * np.asarray(W.sum(axis=1)).ravel() / len(self.Z)
        places = self._placed(loss, Problems(who, W, level))
        jumped = np.linalg.norm(places - self.Z[who], axis=1)
        return np.maximum.reduceat(jumped, np.concatenate([[0], np.cumsum(copies)[:-1]]))

    def candidates(self, row: int) -> Array:
        """Rows that may attract a row after it has moved: those near it, and those that it attracts."""
        mine = self.weights.indices[self.weights.indptr[row] : self.weights.indptr[row + 1]]
        return np.union1d(self.near[row], mine)

    def _placed(self, loss: OwnLoss, problems: Problems) -> Array:
        """The lowest of the minima that are reached from the own place and from those of the two nearest rows."""
        m = len(problems.own)
        starts = np.concatenate([[problems.own], _strongest(problems.weights, problems.own, STARTS - 1)])
        again = np.tile(np.arange(m), STARTS)
        places, values = minimised(loss, self.Z[starts.ravel()], problems.take(again))
        best = values.reshape(STARTS, m).argmin(axis=0)
        return places.reshape(STARTS, m, -1)[best, np.arange(m)]


def _strongest(W: Any, own: Array, count: int) -> Array:
    """The columns of the largest weights of each row, (count, m); the own row where there are fewer."""
    found = np.tile(own, (count, 1))
    for row in range(W.shape[0]):
        part = slice(W.indptr[row], W.indptr[row + 1])
        order = np.argsort(-W.data[part], kind="stable")[:count]
        found[: len(order), row] = W.indices[part][order]
    return found


def left_out(model: TSNE | UMAP, X: Any, n_jobs: int | None, owner: str) -> list[LeftOut]:
    """The own losses of the rows of a fitted TSNE or UMAP; one for each part of a map that is drawn on its own."""
    rows = model._check_rows(X, fitting=False)[0]
    rows = rows if sparse.issparse(rows) else np.ascontiguousarray(rows)
    n = len(model.embedding_)
    if rows.shape[0] != n:
        raise ValueError(f"{owner}: X must be the {n} rows that the model was fitted to; got {rows.shape[0]} rows.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there was to say was said at fit
        return _of_tsne(model, rows, n_jobs, owner) if isinstance(model, TSNE) else _of_umap(model, rows, n_jobs, owner)


def _can_move(model: TSNE | UMAP, rows: Any) -> bool:
    """Whether the cells of a row are numbers that can be changed a little."""
    return not (model._precomputed() or model._holes is not None or sparse.issparse(rows))


def _of_tsne(model: TSNE, X: Any, n_jobs: int | None, owner: str) -> list[LeftOut]:
    n, Z = X.shape[0], np.asarray(model.embedding_, dtype=np.float64)
    if model._rows is not None and (model._rows != X).sum():
        raise ValueError(f"{owner}: X must be the rows that the model was fitted to; some cells differ.")
    engine = Engine.of(model.solver, n, model.n_components, model.theta, model.dof, model.n_jobs, owner="TSNE")
    P = model._affinities(X, engine)
    P.data *= model.exaggeration
    movable = _can_move(model, X)
    near, moved = np.empty((n, 0), int), None
    if movable:
        k = model._n_near(n, engine.solver)
        found = model._neighborhood(k).nearest(X, min(2 * k, n - 1))
        settings = {"perplexity": model._perplexity(n), "sigma": model.sigma, "kind": model.affinity}
        affinities = _moved_rows.Affinities.of(found.distances[:, :k], settings, float(model.exaggeration))
        near, moved = found.indices, affinities.weights
    return [
        LeftOut(
            rows=np.arange(n),
            X=X if movable else None,
            Z=Z,
            near=near,
            kernel=StudentKernel(float(model.dof)),
            weights=P,
            moved_weights=moved,
            metric=model._distance(),
            n_jobs=n_jobs,
        )
    ]


def _refuse(model: UMAP, owner: str) -> None:
    """ValueError for settings under which no row has a loss of its own, or some rows have no place."""
    if model.densities:
        raise ValueError(
            f"{owner}: densities must be 0, because with densities (densMAP) no row has a loss of its own; got "
            f"{model.densities:g}. Use trust.stability, which takes every estimator."
        )
    if model.disconnection_distance is not None:
        raise ValueError(
            f"{owner}: disconnection_distance must be None, because rows may have been left out; got "
            f"{model.disconnection_distance:g}. Fit again without the rows that have no place."
        )


def _of_umap(model: UMAP, X: Any, n_jobs: int | None, owner: str) -> list[LeftOut]:
    _refuse(model, owner)
    same = Distinct.of(X, given=model._precomputed() and sparse.issparse(X))
    rows = same.pick(X, square=model._precomputed())
    graph = model._graph(rows, same)
    own = _fuzzy.calibrated(graph, model.local_connectivity, model.n_jobs)
    union = _fuzzy.union(own.memberships, model.set_op_mix_ratio)
    settings = {"policy": model.disconnected, "metric": model._distance(), "owner": owner, "n_jobs": n_jobs}
    W, joined = _fuzzy.joined(union, rows, **settings)
    Z = np.asarray(model.embedding_, dtype=np.float64)[same.first] / model.spread
    _check_same(model, W, Z, owner)
    extra = None if W is union else sparse.csr_array(W - union)
    movable, found = _can_move(model, X), []
    for part in joined.parts(model.disconnected):
        inside = (slice(None) if len(part) == len(Z) else np.ix_(part, part), part)
        scale = float(W[inside[0]].data.max(initial=1e-300))
        near, moved = np.empty((len(part), 0), int), None
        if movable and len(part) > LEAST:
            memberships = _memberships(model, graph, own, part, scale, None if extra is None else extra[inside[0]])
            near = model._neighborhood().nearest(rows[part], min(2 * memberships.k, len(part) - 1)).indices
            moved = memberships.weights
        found.append(
            LeftOut(
                rows=same.first[part],
                X=rows[part] if moved is not None else None,
                Z=Z[part],
                near=near,
                kernel=FuzzyKernel(model._forces().a, model._forces().b),
                weights=sparse.csr_array(W[inside[0]] / scale),
                moved_weights=moved,
                metric=model._distance(),
                n_jobs=n_jobs,
                rate=float(model.repulsion) * float(model.negative_sample_rate) / HALVES,
                unit=float(model.spread),
            )
        )
    return found


def _memberships(
    model: UMAP, graph: Any, own: _fuzzy.Calibrated, part: Array, scale: float, extra: Any
) -> _moved_rows.Memberships:
    """What the weights of moved rows of one part need."""
    return _moved_rows.Memberships(
        k=int(np.diff(graph.indptr)[0]),
        calibrated=_fuzzy.Calibrated(own.memberships, own.reaches[part], own.widths[part]),
        last=np.maximum.reduceat(graph.data, graph.indptr[:-1])[part],
        mix=float(model.set_op_mix_ratio),
        connectivity=float(model.local_connectivity),
        scale=scale,
        extra=extra,
    )


def _check_same(model: UMAP, W: Any, Z: Array, owner: str) -> None:
    """The divergence of the map from the weights must be what it was at fit."""
    placed = np.flatnonzero(np.isfinite(Z[:, 0]))
    now = divergence(W if len(placed) == len(Z) else W[placed][:, placed], Z[placed], model._forces())
    if abs(now - model.kl_divergence_) > AGREE * max(abs(now), 1e-3):
        raise ValueError(
            f"{owner}: X must be the rows that the model was fitted to, without labels: its weights do not belong to "
            "the map. For a supervised fit use trust.stability."
        )
