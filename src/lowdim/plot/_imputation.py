"""Uncertainty from missing cells, drawn as confidence ellipses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.plot._style import COLORS, GREY, new_axes, ticker, write_name


def imputation(found: Any, of: str = "rows", *, confidence: float = 0.95, names: Sequence[str] | None = None,
               ax: Any = None, title: str | None = None) -> Any:  # fmt: skip
    """Draw confidence ellipses of rows, or columns, in the plane of the first two components, given the missing cells.

    Each imputed table gives an embedding, which is aligned with that of the mean table; the ellipses hold the given
    share of the points. Incomplete rows are blue, complete ones grey; complete rows vary too, with the components. If
    ellipses are large relative to the distances between points, the map is not reliable.

    Parameters
    ----------
    found : Imputation
        The result of :func:`lowdim.impute`, with at least three tables.
    of : {"rows", "columns"}
        Scores of the rows, or loadings of the columns (correlations with the components if columns are scaled).
    confidence : float
        Share of the points in an ellipse, under a normal distribution.
    names : sequence of str, optional
        Names of the points; of rows a name that would overlap another is left out. Columns are numbered by default.
    ax : matplotlib Axes, optional
        The axes to draw on; new ones by default.
    title : str, optional
        The title.

    Returns
    -------
    matplotlib Axes
        The axes.

    References
    ----------
    Josse, Pagès and Husson, Multiple imputation in principal component analysis, 2011.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.hide_cells(lowdim.datasets.swiss_roll(60, random_state=0).X, 0.1, random_state=0).X
    >>> ax = lowdim.plot.imputation(lowdim.impute(X, 10, n_components=1, random_state=0))
    """
    if of not in ("rows", "columns"):
        raise ValueError(f"imputation: of must be 'rows' or 'columns'; got {of!r}.")
    ellipses = found.row_ellipses(confidence) if of == "rows" else found.axis_ellipses(confidence)
    count = len(ellipses.centers)
    if names is not None and len(names) != count:
        raise ValueError(f"imputation: names must have one name for each of the {count} {of}; got {len(names)}.")
    ax = new_axes(ax, figsize=(6.5, 6.5), layout="constrained")
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    if of == "rows":
        incomplete = ~found.observed.all(axis=1)
        _draw(ax, ellipses, ~incomplete, "0.6")
        _draw(ax, ellipses, incomplete, COLORS[0])
    else:
        _arrows(ax, ellipses, found.scale)
    ax.set(xlabel="component 1", ylabel="component 2", title=title or "")
    ax.set_aspect("equal", adjustable="datalim")
    for side in (ax.xaxis, ax.yaxis):
        side.set_major_locator(ticker().AutoLocator())
    _write_names(ax, ellipses.centers, [f"x{j}" for j in range(count)] if names is None else names, of, names is None)
    return ax


def _draw(ax: Any, ellipses: Any, which: np.ndarray, color: str) -> None:
    """Draw points and their ellipses."""
    from matplotlib.collections import PolyCollection

    centers, axes = ellipses.centers[which], ellipses.axes[which]
    if not len(centers):
        return
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    rims = np.column_stack([np.cos(turn), np.sin(turn)]) @ axes + centers[:, None]
    opacity = float(np.clip(20 / len(ellipses.centers), 0.04, 0.25))  # many ellipses must not hide each other
    look: dict[str, Any] = {"edgecolors": (color, 0.5), "facecolors": (color, opacity), "linewidths": 0.6}
    ax.add_collection(PolyCollection(list(rims), **look))
    ax.scatter(*centers.T, s=float(np.clip(3000 / len(ellipses.centers), 3, 16)), c=color, linewidths=0, zorder=3)
    ax.autoscale_view()


def _arrows(ax: Any, ellipses: Any, scaled: bool) -> None:
    """Arrows from the origin to the mean loadings; with scaled columns they are inside the unit circle."""
    if scaled:
        turn = np.linspace(0, 2 * np.pi, 200)
        ax.plot(np.cos(turn), np.sin(turn), color="0.6", linewidth=0.8)
    _draw(ax, ellipses, np.ones(len(ellipses.centers), dtype=bool), COLORS[0])
    arrow = {"arrowstyle": "-|>", "color": COLORS[0], "shrinkA": 0, "shrinkB": 0, "linewidth": 0.8}
    for center in ellipses.centers:
        ax.annotate("", center, (0, 0), arrowprops=arrow)


def _write_names(ax: Any, centers: np.ndarray, names: Sequence[str], of: str, made_up: bool) -> None:
    if of == "rows" and made_up:
        return
    ax.figure.draw_without_rendering()  # the extent of names is known after drawing
    written: list[Any] = []
    for j in np.argsort(-(centers**2).sum(axis=1), kind="stable"):
        write_name(ax, str(names[j]), centers[j], "0.25", written, keep=of == "columns")
