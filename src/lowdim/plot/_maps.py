"""Maps of embeddings and comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.plot._curves import at_random, draw_curves
from lowdim.plot._style import COLORS, GREY, LONGEST_LEGEND, MARKERS, MOST_CLASSES, new_axes, number, pyplot

RINGS = {"misplaced": ("black", 1.1), "unsure": ("0.55", 0.6)}  # colour and width; trusted rows have none


def embedding(Z: Any, labels: Any = None, *, verdict: Any = None, ax: Any = None, title: str | None = None,
              size: float | None = None, legend: bool = True, label_name: str | None = None) -> Any:  # fmt: skip
    """Draw an embedding as a map, with a legend or a colour bar, and rings around rows that are not to be trusted.

    Parameters
    ----------
    Z : array-like of shape (n, r)
        The embedding. The first two components are drawn; a single component is drawn with random heights.
    labels : array-like of shape (n,), optional
        Classes (text, whole numbers) or a quantity (other numbers), shown as colours; rows without a label (NaN,
        None) are grey.
    verdict : RowTrust, or array-like of shape (n,) of str, optional
        The result of :func:`lowdim.trust.rows`, or a verdict for each row, as in ``comparison.verdict.rows``:
        "misplaced" rows get a black ring, "unsure" ones a thin grey one, and "trusted" ones none.
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
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> ax = lowdim.plot.embedding(Z, roll.labels, verdict=lowdim.trust.rows(roll.X, Z, random_state=0))
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
    if verdict is not None:
        _rings(ax, x, y, verdict, size, legend)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[], title=title or "")  # the axes of a map have no meaning: it can be rotated
    return ax


def _rings(ax: Any, x: np.ndarray, y: np.ndarray, verdict: Any, size: float, legend: bool) -> None:
    """Rings around rows by their verdict, and what they mean, below the map."""
    from matplotlib.lines import Line2D

    found = np.asarray(getattr(verdict, "verdict", verdict))
    if found.shape != x.shape or not set(np.unique(found)) <= {"trusted", *RINGS}:
        raise ValueError(
            f"embedding: verdict must be 'trusted', 'unsure' or 'misplaced' for each of the {len(x)} rows; got an "
            f"array of {found.dtype} with shape {found.shape}."
        )
    handles = []
    for name, (color, width) in reversed(RINGS.items()):
        mine = found == name
        if mine.any():
            ax.scatter(x[mine], y[mine], s=2.2 * size + 10, zorder=3, linewidths=width, facecolors="none",
                       edgecolors=color)  # fmt: skip
            label = f"{name} ({mine.sum():,})"
            look: dict[str, Any] = {"markeredgecolor": color, "markeredgewidth": width, "markerfacecolor": "none"}
            handles.append(Line2D([], [], linestyle="", marker="o", markersize=7, label=label, **look))
    if legend and handles:
        before = ax.get_legend()
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": 2}
        ax.legend(handles=handles[::-1], frameon=False, fontsize="small", **where)
        if before is not None:
            ax.add_artist(before)
            before.set_clip_on(False)  # it stands beside the map


def _spread(Z: np.ndarray) -> float:
    return float(np.nanmax(Z[:, 0]) - np.nanmin(Z[:, 0])) or 1.0


def _classes(ax: Any, x: np.ndarray, y: np.ndarray, known: Any, size: float, legend: bool) -> None:
    for code, name in enumerate(known.classes):
        mine = known.codes == code
        look = {"color": COLORS[code % len(COLORS)], "marker": MARKERS[code // len(COLORS) % len(MARKERS)]}
        ax.scatter(x[mine], y[mine], s=size, linewidths=0, alpha=0.85, label=name, **look)
    if legend:
        _legend(ax, known, size)


def _legend(ax: Any, known: Any, size: float) -> None:
    """The legend; of many classes the first ones, and the number of all."""
    count = len(known.classes)
    handles, names = ax.get_legend_handles_labels()
    most = count if count <= LONGEST_LEGEND + 4 else LONGEST_LEGEND
    shown = [name if len(name) <= 30 else f"{name[:29]}…" for name in names[-count:][:most]]
    title = known.name if most == count else f"{known.name}: {most} of {count} classes"
    if count > MOST_CLASSES:
        title += f"\n(several share one of {MOST_CLASSES} symbols)"
    ax.legend(handles[-count:][:most], shown, title=title, fontsize="small", frameon=False, loc="upper left",
              bbox_to_anchor=(1.0, 1.0), ncols=1 + most // 18, markerscale=max(1.0, np.sqrt(24 / size)))  # fmt: skip


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
    figure = pyplot().figure(figsize=(3.4 * columns + 1, 3.6 * lines + 3.4 * len(widths)), layout="constrained")
    grid = figure.add_gridspec(lines + len(widths), columns, height_ratios=[1] * lines + [0.9] * len(widths))
    axes = [figure.add_subplot(grid[i // columns, i % columns]) for i in range(len(maps))]
    for ax, (name, Z) in zip(axes, maps.items(), strict=True):
        _draw_one(ax, c, name, Z, color, legend=ax is axes[columns - 1])
    if color == "quality":
        drawn = axes[0].collections[0]
        figure.colorbar(drawn, ax=axes, label="quality of each row's neighbourhood", shrink=0.6)
    for i, r in enumerate(widths):
        curves = {name: curve for name, curve in c.curves.items() if c.embeddings[name].shape[1] == r}
        title = f"reference: {c.reference.name}" + (
            f"; {r} component{'' if r == 1 else 's'}" if len(widths) > 1 else ""
        )
        draw_curves(figure.add_subplot(grid[lines + i, :]), curves, at_random(c), title)
    return figure


def _draw_one(ax: Any, c: Any, name: str, Z: np.ndarray, color: str, legend: bool) -> None:
    """One map of a comparison, with the area under its curve."""
    title = f"{name}  {number(c.scores[name]['auc'])}"
    if color == "quality":
        ax.scatter(*Z.T, s=10, c=c.per_row[name], cmap="RdYlBu", vmin=0, vmax=1, linewidths=0)
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xticks=[], yticks=[], title=title)
    else:
        labels, label_name = (None, None) if c.labels is None else (c.labels.values, c.labels.name)
        embedding(Z, labels, ax=ax, title=title, legend=legend, label_name=label_name)
