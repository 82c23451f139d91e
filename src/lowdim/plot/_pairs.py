"""Pairs of rows in the data and in the map: Shepard diagrams, co-ranking, and the share of each row in the stress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim._core.params import checked
from lowdim.plot._style import COLORS, SOFT, new_axes, point_boxes, write_name


@checked("shepard")
def shepard(X: Any, Z: Any = None, *, ax: Any = None, title: str | None = None, max_pairs: int = 20_000,
            random_state: Any = 0) -> Any:  # fmt: skip
    """Draw a Shepard diagram: distances in the map over distances in the data, a point for each pair.

    Points on the diagonal: the distance is preserved; below: it is smaller in the map; above: larger.

    Parameters
    ----------
    X, Z : array-like of shape (n, d) and (n, r)
        The rows and their embedding; or X alone: the result of :func:`lowdim.quality.shepard`, or that of
        `MDS.shepard`, to draw its disparities too.
    ax : matplotlib Axes, optional
        The axes to draw on; new ones by default.
    title : str, optional
        The title.
    max_pairs : int
        The largest number of pairs; of more pairs a random sample.
    random_state : int, generator or None
        Seed; the same int gives the same result.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(150, random_state=0).X
    >>> ax = lowdim.plot.shepard(X, lowdim.PCA(2).fit_transform(X))
    """
    from lowdim._core.runtime.rng import generator

    rng = generator(random_state)
    if hasattr(X, "disparities"):
        return _diagram(X, ax, title, max_pairs, rng)
    if hasattr(X, "embedded"):
        shown = _some(len(X.distances), max_pairs, rng)
        name = "" if X.reference == "ambient" else f" ({X.reference})"
        return _distances(X.distances[shown], X.embedded[shown], ax, title, name)
    if Z is None:
        raise ValueError("shepard: Z must be the embedding of the rows in X, or X a Shepard diagram; got no Z.")
    X, Z = np.asarray(X, dtype=float), np.asarray(Z, dtype=float)
    if len(X) != len(Z):
        raise ValueError(f"shepard: X and Z must have the same number of rows; got {len(X)} and {len(Z)}.")
    rows = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(Z).all(axis=1))
    i, j = _pairs(len(rows), max_pairs, rng)
    i, j = rows[i], rows[j]
    return _distances(np.linalg.norm(X[i] - X[j], axis=1), np.linalg.norm(Z[i] - Z[j], axis=1), ax, title)


def _distances(data: np.ndarray, embedded: np.ndarray, ax: Any, title: str | None, name: str = "") -> Any:
    """Distances in the map over those in the data, and the diagonal."""
    ax = new_axes(ax, figsize=(5, 5), layout="constrained")
    ax.plot(data, embedded, ".", color=COLORS[0], alpha=0.25, markersize=3, markeredgewidth=0, rasterized=True)
    far = max(data.max(initial=0.0), embedded.max(initial=0.0))
    ax.plot([0, far], [0, far], color="0.5", linewidth=0.8)
    wide, tall = (1.04 * float(values.max(initial=0.0)) or 1.0 for values in (data, embedded))
    ax.set_aspect("equal" if 0.4 < tall / wide < 2.5 else "auto")  # one scale, unless the units are too different
    labels = {"xlabel": f"distance in the data{name}", "ylabel": "distance in the map"}
    ax.set(title=title or "", xlim=(0, wide), ylim=(0, tall), **labels)
    return ax


def _diagram(pairs: Any, ax: Any, title: str | None, most: int, rng: np.random.Generator) -> Any:
    """Distances and disparities over dissimilarities."""
    shown = _some(len(pairs.distances), most, rng)
    ax = new_axes(ax, figsize=(5, 5), layout="constrained")
    delta, d, dhat = (values[shown] for values in (pairs.dissimilarities, pairs.distances, pairs.disparities))
    ax.plot(delta, d, ".", color=COLORS[0], alpha=0.4, markersize=4, markeredgewidth=0, rasterized=True)
    ax.plot(delta, dhat, color=COLORS[4], linewidth=1.4)
    labels = {"xlabel": "dissimilarity", "ylabel": "distance in the map (line: disparity)"}
    ax.set(title=title or "", xlim=(0, None), ylim=(min(0.0, float(dhat.min(initial=0.0))), None), **labels)
    return ax


def _some(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """All of n pairs, or a random sample in their order."""
    return np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])


def _pairs(n: int, most: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """All pairs i < j, or a random sample of `most` pairs."""
    if n < 2:
        raise ValueError(f"shepard: X and Z must have at least 2 complete rows; got {n}.")
    if n * (n - 1) // 2 <= most:
        i, j = np.triu_indices(n, 1)
        return i, j
    i = rng.integers(0, n, most)
    return i, (i + rng.integers(1, n, most)) % n


def coranking(X: Any, Z: Any = None, *, reference: str = "ambient", max_cells: int = 120, ax: Any = None,
              title: str | None = None, metric: Any = "euclidean") -> Any:  # fmt: skip
    """Draw the co-ranking matrix: how often the row that is k-th nearest in the data is l-th nearest in the map.

    On the diagonal ranks are kept. Below it rows are nearer in the map than in the data (false neighbours), above it
    they are farther (torn apart). Colours say how many pairs there are, relative to a map at random: 1 is chance.

    Parameters
    ----------
    X, Z : array-like of shape (n, d) and (n, r)
        The rows and their embedding; or X alone, the result of :func:`lowdim.quality.coranking_matrix`.
    reference : {"ambient", "geodesic", "precomputed"}
        Distances to compare with: between the rows of `X`, along its neighbour graph, or given in `X`.
    max_cells : int
        Cells in each direction; of more ranks several share a cell.
    ax : matplotlib Axes, optional
        The axes to draw on; new ones by default.
    title : str, optional
        The title.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.

    Returns
    -------
    matplotlib Axes
        The axes.

    References
    ----------
    Lee and Verleysen, Quality assessment of dimensionality reduction: rank-based criteria, 2009.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(150, random_state=0).X
    >>> ax = lowdim.plot.coranking(X, lowdim.PCA(2).fit_transform(X))
    """
    from matplotlib.colors import LogNorm

    from lowdim.quality import coranking_matrix

    q = np.asarray(X) if Z is None else coranking_matrix(X, Z, reference=reference, metric=metric)
    if q.ndim != 2 or q.shape[0] != q.shape[1] or not len(q):
        raise ValueError(f"coranking: X must be a square co-ranking matrix, or rows with Z; got shape {q.shape}.")
    edges = np.unique(np.round(np.linspace(0, len(q), min(max_cells, len(q)) + 1)).astype(int))
    widths = np.diff(edges)
    sums = np.add.reduceat(np.add.reduceat(q, edges[:-1], axis=0), edges[:-1], axis=1)
    relative = sums * len(q) / (np.outer(widths, widths) * max(q.sum() / len(q), 1))
    ax = new_axes(ax, figsize=(5.6, 4.8), layout="constrained")
    high = max(10.0, float(relative.max()))
    drawn = ax.pcolormesh(edges + 0.5, edges + 0.5, np.maximum(relative, 0.1), cmap="viridis",
                          norm=LogNorm(0.1, high), rasterized=True)  # fmt: skip
    ax.set(xlim=(0.5, len(q) + 0.5), ylim=(len(q) + 0.5, 0.5), xlabel="rank in the map", ylabel="rank in the data",
           title=title or "")  # fmt: skip
    ax.set_aspect("equal")
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    for x, y, text, side in ((0.03, 0.03, "nearer in the map", "left"), (0.97, 0.97, "farther in the map", "right")):
        ax.text(x, y, text, transform=ax.transAxes, ha=side, va="bottom" if y < 0.5 else "top", fontsize="small",
                bbox=box)  # fmt: skip
    ax.figure.colorbar(drawn, ax=ax, label="pairs, relative to chance", extend="min", shrink=0.9, format="%g")
    return ax


def stress_per_point(found: Any, *, names: Sequence[str] | None = None, most: int = 8, ax: Any = None,
                     title: str | None = None) -> Any:  # fmt: skip
    """Draw the share of each row in the stress of a map, largest first: few rows may cause most of it.

    The dashed line is where all rows have the same share. The rows with the largest shares are named.

    Parameters
    ----------
    found : MDS, dict or array of shape (n,)
        A fitted `MDS`, the result of :func:`lowdim.quality.per_row`, or shares of the rows.
    names : sequence of str, optional
        Names of the rows; their numbers by default.
    most : int
        How many rows are named, at most.
    ax : matplotlib Axes, optional
        The axes to draw on; new ones by default.
    title : str, optional
        The title.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(60, random_state=0).X
    >>> ax = lowdim.plot.stress_per_point(lowdim.MDS(2, random_state=0).fit(X))
    """
    rows = found["rows"] if isinstance(found, dict) else None
    shares = found["stress_share"] if isinstance(found, dict) else getattr(found, "stress_per_point_", found)
    try:
        shares = np.asarray(shares, dtype=float)
    except TypeError:
        raise TypeError(
            "stress_per_point: found must be a fitted MDS, the result of quality.per_row, or one share for each row; "
            f"got {type(found).__name__}."
        ) from None
    if shares.ndim != 1 or not len(shares) or not np.isfinite(shares).all() or (shares < 0).any():
        raise ValueError("stress_per_point: found must have one share for each row, not negative.")
    rows = np.arange(len(shares)) if rows is None else rows
    if names is not None and len(names) <= rows.max():
        raise ValueError(f"stress_per_point: names must have a name for each of the rows; got {len(names)}.")
    percent = 100 * shares / (shares.sum() or 1.0)
    order = np.argsort(-percent, kind="stable")
    ax = new_axes(ax, figsize=(6, 3.8), layout="constrained")
    places = np.arange(1, len(percent) + 1)
    ax.plot(places, percent[order], ".-", color=COLORS[0], markersize=float(np.clip(600 / len(percent), 2, 8)),
            linewidth=0.8)  # fmt: skip
    ax.axhline(100 / len(percent), color="0.5", linestyle="--", linewidth=1)
    ax.annotate("equal shares", (1, 100 / len(percent)), (-2, 2), xycoords=("axes fraction", "data"),
                textcoords="offset points", ha="right", va="bottom", color=SOFT, fontsize="x-small")  # fmt: skip
    ax.set(xlabel="rows, by their share", ylabel="share of the stress (%)", title=title or "",
           ylim=(0, 1.15 * percent.max()))  # fmt: skip
    ax.figure.draw_without_rendering()  # the extent of names is known after drawing
    written = point_boxes(ax, np.column_stack([places, percent[order]]))
    for k, row in enumerate(order[:most]):
        name = str(rows[row]) if names is None else str(names[rows[row]])
        write_name(ax, name, (places[k], percent[row]), "0.25", written, ((1, 1), (1, -1)), keep=True)
    return ax
