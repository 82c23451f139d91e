"""Factor maps: individuals, categories and variables on two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.plot._maps import embedding
from lowdim.plot._style import COLORS, arrow_boxes, new_axes, outward, ticker, write_name

QUALITIES = {"cos2": "cos² of the two axes", "contribution": "contribution to the two axes (%)"}


def factor_map(maps: Any, axes: tuple[int, int] = (0, 1), labels: Any = None, *, names: int = 40, rows: bool = True,
               select: Any = None, ellipses: float | None = None, biplot: bool = False, ax: Any = None,
               title: str | None = None) -> Any:  # fmt: skip
    """Draw individuals and categories on two axes, with the same scale on both.

    Supplementary individuals are hollow; categories are squares, supplementary ones hollow too.

    Parameters
    ----------
    maps : FactorMap
        The factor map.
    axes : tuple of two ints
        The two axes, counted from 0.
    labels : array-like of shape (n,), "cos2" or "contribution", optional
        Classes or a quantity for the active rows, shown as colours; or how well these two axes represent each row, or
        its share in them (in percent).
    names : int
        The largest number of names written, of categories and (if all categories are supplementary) of individuals:
        supplementary ones first, then those farthest from the origin; a name that would overlap another is left out.
    rows : bool
        Draw the individuals.
    select : str or int, optional
        Which individuals get names, as `Points.select`: "cos2 10", "cos2 0.6", "contribution 10" or a number.
    ellipses : float, optional
        Confidence, such as 0.95, of an ellipse around the mean of each class of `labels`.
    biplot : bool
        Also draw the variables as arrows, stretched to the size of the individuals.
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
    >>> answers = [["tea", "milk"], ["tea", "lemon"], ["coffee", "milk"], ["coffee", "black"], ["tea", "lemon"]]
    >>> ax = lowdim.plot.factor_map(lowdim.FactorMap(lowdim.MCA(2).fit(answers), answers))
    """
    i, j = _two_axes(maps, axes)
    ax = new_axes(ax, figsize=(7, 7), layout="constrained")
    individuals, categories = maps.individuals, maps.categories
    if rows:
        active, place = individuals.active, individuals.coordinates[:, [i, j]]
        meaning = QUALITIES.get(labels) if isinstance(labels, str) else None
        labels = _quality(individuals, labels, [i, j])
        size = float(np.clip(4000 / max(len(individuals), 1), 5, 24))
        embedding(place[active], labels, ax=ax, size=size, label_name=meaning)
        ax.scatter(*place[~active].T, s=size, facecolors="none", edgecolors=COLORS[4], linewidths=1)
    if len(categories):
        place, active = categories.coordinates[:, [i, j]], categories.active
        ax.scatter(*place[active].T, s=22, marker="s", c=COLORS[4], linewidths=0, zorder=3)
        ax.scatter(*place[~active].T, s=22, marker="s", facecolors="none", edgecolors=COLORS[4], zorder=3)
    if ellipses is not None:
        _draw_ellipses(ax, individuals.coordinates[individuals.active][:, [i, j]], labels, ellipses)
    arrows = _draw_arrows(ax, maps, i, j) if biplot else []
    _cross(ax, maps, i, j, title)
    ax.set_aspect("equal", adjustable="datalim")
    ax.figure.draw_without_rendering()  # the extent of names is known after drawing
    written: list[Any] = arrow_boxes(ax, [end for _, end in arrows])
    for name, end in arrows:
        write_name(ax, name, end, COLORS[0], written, outward(end), keep=True)
    written = _write(ax, categories, (i, j), names, COLORS[4], written)
    if rows and select is not None:
        for a in individuals.select(select, (i, j)):
            write_name(ax, individuals.names[a], individuals.coordinates[a, [i, j]], "0.25", written)
    elif rows and not categories.active.any():  # active categories are the subject; then rows have no names
        _write(ax, individuals, (i, j), names, "0.25", written)
    return ax


def biplot(maps: Any, axes: tuple[int, int] = (0, 1), labels: Any = None, *, names: int = 0, select: Any = None,
           ax: Any = None, title: str | None = None) -> Any:  # fmt: skip
    """Draw the rows as points and the variables as arrows on the same two axes.

    Rows lie far out in the direction of an arrow if their value of that variable is above the mean. Arrows have the
    directions of the correlation circle, all stretched by one factor to the size of the cloud of rows.

    Parameters
    ----------
    maps : FactorMap
        The factor map.
    axes : tuple of two ints
        The two axes, counted from 0.
    labels : array-like of shape (n,), "cos2" or "contribution", optional
        Colours of the active rows, as in :func:`factor_map`.
    names : int
        The largest number of names of rows written; those farthest from the origin, where they do not overlap.
    select : str or int, optional
        Which rows get names, as `Points.select`: "cos2 10", "cos2 0.6", "contribution 10" or a number.
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
    Gabriel, The biplot graphic display of matrices with application to principal component analysis, 1971.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(100, random_state=0).X
    >>> ax = lowdim.plot.biplot(lowdim.FactorMap(lowdim.PCA(2, scale=True).fit(X), X))
    """
    return factor_map(maps, axes, labels, names=names, select=select, biplot=True, ax=ax, title=title)


def _quality(individuals: Any, labels: Any, axes: list[int]) -> Any:
    """How well two axes represent each active row, or its share in them, where that is what colours show."""
    if not isinstance(labels, str):
        return labels
    if labels not in QUALITIES:
        raise ValueError(f"factor_map: labels must be one per active row, 'cos2' or 'contribution'; got {labels!r}.")
    values = individuals.cos2 if labels == "cos2" else individuals.contributions
    return values[individuals.active][:, axes].sum(axis=1)


def _draw_ellipses(ax: Any, place: np.ndarray, labels: Any, confidence: float) -> None:
    """Confidence ellipses of the mean of each class: (m - mu)'S^-1(m - mu) <= 2 (n - 1) / (n (n - 2)) F(2, n - 2)."""
    from scipy.special import fdtri

    if labels is None or not 0 < confidence < 1:
        raise ValueError(
            f"factor_map: ellipses must be a confidence between 0 and 1, with labels; got {confidence!r} and "
            f"{'no labels' if labels is None else 'labels'}."
        )
    turn = np.linspace(0, 2 * np.pi, 100)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    for c in range(len(classes)):
        own = place[codes == c]
        n = len(own)
        if n < 4:
            continue  # too few rows for a covariance
        size = np.sqrt(2 * (n - 1) / (n * (n - 2)) * fdtri(2, n - 2, confidence))
        root = np.linalg.cholesky(np.cov(own.T) + 1e-12 * np.trace(np.cov(own.T)) * np.eye(2))
        ax.plot(*(own.mean(axis=0) + size * circle @ root.T).T, color=COLORS[c % len(COLORS)], linewidth=1.4, zorder=4)


def _draw_arrows(ax: Any, maps: Any, i: int, j: int) -> list[tuple[str, np.ndarray]]:
    """The variables, stretched so that the longest arrow reaches as far as the individuals; their names and ends."""
    ends = maps.variables.coordinates[:, [i, j]]
    if not len(ends):
        raise ValueError("factor_map: biplot must have numeric variables; maps has none.")
    reach = np.abs(maps.individuals.coordinates[:, [i, j]]).max()
    ends = ends * (0.9 * reach / max(float(np.linalg.norm(ends, axis=1).max()), 1e-300))
    for end, active in zip(ends, maps.variables.active, strict=True):
        style = {"arrowstyle": "-|>", "color": COLORS[0], "linestyle": "-" if active else "--", "shrinkA": 0}
        ax.annotate("", end, (0, 0), arrowprops={**style, "shrinkB": 0})
    return list(zip(maps.variables.names, ends, strict=True))


def correlation_circle(maps: Any, axes: tuple[int, int] = (0, 1), *, select: Any = None, ax: Any = None,
                       title: str | None = None) -> Any:  # fmt: skip
    """Draw the correlations of the variables with two axes inside the unit circle.

    A variable whose arrow reaches the circle is fully represented by these two axes. Supplementary ones are dashed.

    Parameters
    ----------
    maps : FactorMap
        The factor map.
    axes : tuple of two ints
        The two axes, counted from 0.
    select : str or int, optional
        Which variables are drawn, as `Points.select`: "cos2 10", "cos2 0.6", "contribution 10" or a number.
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
    >>> X = lowdim.datasets.swiss_roll(100, random_state=0).X
    >>> ax = lowdim.plot.correlation_circle(lowdim.FactorMap(lowdim.PCA(2, scale=True).fit(X), X))
    """
    i, j = _two_axes(maps, axes)
    if not len(maps.variables):
        raise ValueError(
            "correlation_circle: maps must have numeric variables; it has none. Draw its categories with factor_map."
        )
    ax = new_axes(ax, figsize=(6, 6), layout="constrained")
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color="0.6", linewidth=0.8)
    _cross(ax, maps, i, j, title)
    ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25))
    ax.set_aspect("equal")
    ax.figure.draw_without_rendering()  # the extent of names is known after drawing
    shown = maps.variables
    chosen = range(len(shown)) if select is None else shown.select(select, (i, j))
    written = arrow_boxes(ax, [shown.correlations[a, [i, j]] for a in chosen])
    for a in chosen:
        name, (x, y), active = shown.names[a], shown.correlations[a, [i, j]], shown.active[a]
        color, style = (COLORS[0], "-") if active else (COLORS[4], "--")
        arrow = {"arrowstyle": "-|>", "color": color, "linestyle": style, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (x, y), (0, 0), arrowprops=arrow)
        write_name(ax, name, (x, y), color, written, outward((x, y)), keep=True)
    return ax


def _two_axes(maps: Any, axes: tuple[int, int]) -> tuple[int, int]:
    k = len(maps.eigenvalues)
    if len(axes) != 2 or not all(isinstance(a, (int, np.integer)) and 0 <= a < k for a in axes):
        raise ValueError(f"plot: axes must be two numbers from 0 to {k - 1}; got {axes!r}.")
    return int(axes[0]), int(axes[1])


def _cross(ax: Any, maps: Any, i: int, j: int, title: str | None) -> None:
    """Lines through the origin, and the share of inertia of each axis."""
    ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    ax.axvline(0, color="0.8", linewidth=0.8, zorder=0)
    x, y = (f"axis {a + 1} ({100 * maps.shares[a]:.1f} %)" for a in (i, j))
    ax.set(xlabel=x, ylabel=y, title=title or "")
    for side in (ax.xaxis, ax.yaxis):
        side.set_major_locator(ticker().AutoLocator())


def _write(ax: Any, points: Any, axes: tuple[int, int], most: int, color: str, written: list[Any]) -> list[Any]:
    """Names of the supplementary points, then of those farthest from the origin; overlapping ones are left out."""
    place = points.coordinates[:, list(axes)]
    out = (place**2 / np.maximum((place**2).mean(axis=0), 1e-300)).sum(axis=1) if len(points) else np.zeros(0)
    for a in np.argsort(-np.where(points.active, out, np.inf), kind="stable")[:most]:
        write_name(ax, points.names[a], place[a], color, written)
    return written
