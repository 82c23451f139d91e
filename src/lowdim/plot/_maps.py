"""Maps of embeddings and comparisons, and Shepard diagrams."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.plot._curves import rnx_curves
from lowdim.plot._style import COLORS, GREY, LONGEST_LEGEND, MARKERS, MOST_CLASSES, new_axes, pyplot


def embedding(Z: Any, labels: Any = None, *, ax: Any = None, title: str | None = None, size: float | None = None,
              legend: bool = True, label_name: str | None = None) -> Any:  # fmt: skip
    """Draw an embedding as a map.

    Parameters
    ----------
    Z : array-like of shape (n, r)
        The embedding. The first two components are drawn; a single component is drawn with random heights.
    labels : array-like of shape (n,), optional
        Classes (text, whole numbers) or a quantity (other numbers), shown as colours; rows without a label (NaN,
        None) are grey.
    ax : matplotlib Axes, optional
        The axes to draw on; new ones by default.
    title : str, optional
        The title.
    size : float, optional
        Size of the points. Default: smaller for more rows.
    legend : bool
        Draw a legend or a colour bar.
    label_name : str, optional
        The title of the legend.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> ax = lowdim.plot.embedding(lowdim.PCA(2).fit_transform(roll.X), roll.labels)
    """
    from lowdim.study.labels import labels_of

    Z = np.asarray(Z, dtype=float)
    if Z.ndim != 2 or not Z.shape[1]:
        raise ValueError(f"embedding: Z must be a table with at least one column; got shape {Z.shape}.")
    x, y = (
        Z[:, 0],
        Z[:, 1] if Z.shape[1] > 1 else np.random.default_rng(0).uniform(-1, 1, len(Z)) * _spread(Z) / 8,
    )
    ax = new_axes(ax, figsize=(5, 5), layout="constrained")
    size = size or float(np.clip(6000 / max(len(Z), 1), 2, 30))
    known = None if labels is None else labels_of(labels, len(Z), label_name, "embedding")
    if known is not None and known.missing.any():
        ax.scatter(x[known.missing], y[known.missing], s=size, c=GREY, linewidths=0)
    if known is None:
        ax.scatter(x, y, s=size, c=COLORS[0], linewidths=0, alpha=0.8)
    elif known.codes is None:
        there = ~known.missing
        drawn = ax.scatter(x[there], y[there], s=size, c=known.values[there], cmap="viridis", linewidths=0)
        if legend:
            ax.figure.colorbar(drawn, ax=ax, label=known.name, shrink=0.8)
    else:
        _classes(ax, x, y, known, size, legend)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[], title=title or "")  # the axes of a map have no meaning: it can be rotated
    return ax


def _spread(Z: np.ndarray) -> float:
    return float(np.nanmax(Z[:, 0]) - np.nanmin(Z[:, 0])) or 1.0


def _classes(ax: Any, x: np.ndarray, y: np.ndarray, known: Any, size: float, legend: bool) -> None:
    for code, name in enumerate(known.classes):
        mine = known.codes == code
        look = {"color": COLORS[code % len(COLORS)], "marker": MARKERS[code // len(COLORS) % len(MARKERS)]}
        ax.scatter(x[mine], y[mine], s=size, linewidths=0, alpha=0.85, label=name, **look)
    if legend:
        _legend(ax, known)


def _legend(ax: Any, known: Any) -> None:
    """The legend; of many classes the first ones, and the number of all."""
    count = len(known.classes)
    handles, names = ax.get_legend_handles_labels()
    most = count if count <= LONGEST_LEGEND + 4 else LONGEST_LEGEND
    shown = [name if len(name) <= 30 else f"{name[:29]}…" for name in names[-count:][:most]]
    title = known.name if most == count else f"{known.name}: {most} of {count} classes"
    if count > MOST_CLASSES:
        title += f"\n(several share one of {MOST_CLASSES} symbols)"
    ax.legend(handles[-count:][:most], shown, title=title, fontsize="small", frameon=False, loc="best",
              ncols=1 + most // 12)  # fmt: skip


def comparison(c: Any, *, color: str = "label") -> Any:
    """Draw the maps of a comparison side by side, aligned with the first, and the R_NX curves below.

    Curves of embeddings with different numbers of components are drawn on separate axes: they are not comparable.

    Parameters
    ----------
    c : Comparison
        The result of :func:`lowdim.compare`.
    color : {"label", "quality"}
        Colour rows by their labels, or by how well their neighbourhoods are preserved.

    Returns
    -------
    matplotlib Figure
        The figure.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(150, random_state=0).X
    >>> figure = lowdim.plot.comparison(lowdim.compare(X, methods=["pca"]), color="quality")
    """
    if color not in ("label", "quality"):
        raise ValueError(f"comparison: color must be 'label' or 'quality'; got {color!r}.")
    maps = c.aligned()
    columns = min(4, len(maps))
    lines = -(-len(maps) // columns)
    widths = sorted({Z.shape[1] for Z in c.embeddings.values()})
    figure = pyplot().figure(figsize=(3.4 * columns, 3.6 * lines + 3.4 * len(widths)), layout="constrained")
    grid = figure.add_gridspec(lines + len(widths), columns, height_ratios=[1] * lines + [0.9] * len(widths))
    for i, (name, Z) in enumerate(maps.items()):
        ax = figure.add_subplot(grid[i // columns, i % columns])
        title = f"{name}  {c.scores[name]['auc']:.3f}"
        if color == "quality":
            drawn = ax.scatter(*Z.T, s=10, c=c.per_row[name], cmap="RdYlBu", vmin=0, vmax=1, linewidths=0)
            ax.set_aspect("equal", adjustable="datalim")
            ax.set(xticks=[], yticks=[], title=title)
            figure.colorbar(drawn, ax=ax, shrink=0.6)
        else:
            labels = None if c.labels is None else c.labels.values
            embedding(
                Z, labels, ax=ax, title=title, legend=i == len(maps) - 1, label_name=c.labels.name if c.labels else None
            )
    for i, r in enumerate(widths):
        curves = {name: curve for name, curve in c.curves.items() if c.embeddings[name].shape[1] == r}
        title = f"reference: {c.reference.name}" + (
            f"; {r} component{'' if r == 1 else 's'}" if len(widths) > 1 else ""
        )
        rnx_curves(curves, ax=figure.add_subplot(grid[lines + i, :]), title=title)
    return figure


def shepard(X: Any, Z: Any = None, *, ax: Any = None, title: str | None = None, max_pairs: int = 20_000,
            random_state: Any = 0) -> Any:  # fmt: skip
    """Draw a Shepard diagram: distances in the map over distances in the data, a point for each pair.

    Points on the diagonal: the distance is preserved; below: it is smaller in the map; above: larger.

    Parameters
    ----------
    X, Z : array-like of shape (n, d) and (n, r)
        The rows and their embedding; or X alone, the result of `MDS.shepard`, to draw its disparities too.
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

    if hasattr(X, "disparities"):
        return _diagram(X, ax, title, max_pairs, generator(random_state))
    X, Z = np.asarray(X, dtype=float), np.asarray(Z, dtype=float)
    if len(X) != len(Z):
        raise ValueError(f"shepard: X and Z must have the same number of rows; got {len(X)} and {len(Z)}.")
    rows = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(Z).all(axis=1))
    i, j = _pairs(len(rows), max_pairs, generator(random_state))
    i, j = rows[i], rows[j]
    ax = new_axes(ax, figsize=(5, 5), layout="constrained")
    data, embedded = np.linalg.norm(X[i] - X[j], axis=1), np.linalg.norm(Z[i] - Z[j], axis=1)
    ax.plot(data, embedded, ".", color=COLORS[0], alpha=0.25, markersize=3, markeredgewidth=0)
    far = max(data.max(initial=0.0), embedded.max(initial=0.0))
    ax.plot([0, far], [0, far], color="0.5", linewidth=0.8)
    ax.set_aspect("equal")
    ax.set(
        xlabel="distance in the data",
        ylabel="distance in the map",
        title=title or "",
        xlim=(0, None),
        ylim=(0, None),
    )
    return ax


def _diagram(pairs: Any, ax: Any, title: str | None, most: int, rng: np.random.Generator) -> Any:
    """Distances and disparities over dissimilarities."""
    n = len(pairs.distances)
    shown = np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])
    ax = new_axes(ax, figsize=(5, 5), layout="constrained")
    delta, d, dhat = (values[shown] for values in (pairs.dissimilarities, pairs.distances, pairs.disparities))
    ax.plot(delta, d, ".", color=COLORS[0], alpha=0.4, markersize=4, markeredgewidth=0)
    ax.plot(delta, dhat, color=COLORS[1], linewidth=1.2)
    labels = {"xlabel": "dissimilarity", "ylabel": "distance in the map (line: disparity)"}
    ax.set(title=title or "", xlim=(0, None), ylim=(min(0.0, float(dhat.min(initial=0.0))), None), **labels)
    return ax


def _pairs(n: int, most: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """All pairs i < j, or a random sample of `most` pairs."""
    if n < 2:
        raise ValueError(f"shepard: X and Z must have at least 2 complete rows; got {n}.")
    if n * (n - 1) // 2 <= most:
        i, j = np.triu_indices(n, 1)
        return i, j
    i = rng.integers(0, n, most)
    return i, (i + rng.integers(1, n, most)) % n
