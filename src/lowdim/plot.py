"""Pictures of embeddings and of how faithful they are.

Every function draws on the Axes it is given, or on new ones, and returns what it drew on. Colours can be told apart
with any kind of colour vision, maps have the same scale on both axes, and nothing is shown or saved by itself.
matplotlib is loaded when the first picture is drawn: ``pip install 'lowdim[app]'`` brings it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "comparison",
    "component_choice",
    "correlation_circle",
    "embedding",
    "factor_map",
    "kernel_choice",
    "rnx_curves",
    "scree",
    "shepard",
]

# Okabe and Ito (2008), yellow darkened so that it can be seen on white.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#a89400", "#5d636b")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MOST_CLASSES = len(COLORS) * len(MARKERS)
LONGEST_LEGEND = 24
GREY = "0.8"  # rows without a label


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot: pictures need matplotlib; install it with: pip install 'lowdim[app]'") from error
    return plt


def _ticker() -> Any:
    from matplotlib import ticker

    return ticker


def _axes(ax: Any, **size: Any) -> Any:
    return _pyplot().subplots(**size)[1] if ax is None else ax


def embedding(Z: Any, labels: Any = None, *, ax: Any = None, title: str | None = None, size: float | None = None,
              legend: bool = True, label_name: str | None = None) -> Any:  # fmt: skip
    """Draw an embedding as a map.

    Parameters
    ----------
    Z : array-like of shape (n, r)
        The embedding. The first two columns are drawn; with one column, rows are spread at random heights.
    labels : array-like of shape (n,), optional
        Classes (text, whole numbers) or a quantity (other numbers), shown as colours; rows without one (NaN, None)
        are grey.
    ax : matplotlib Axes, optional
        Where to draw.
    title : str, optional
        The heading.
    size : float, optional
        Size of the points. Default: smaller the more rows there are.
    legend : bool
        Show what the colours mean.
    label_name : str, optional
        The heading of the legend.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> ax = lowdim.plot.embedding(lowdim.PCA(2).fit_transform(roll.X), roll.labels)
    """
    from lowdim.study.labels import labels_of

    Z = np.asarray(Z, dtype=float)
    if Z.ndim != 2 or not Z.shape[1]:
        raise ValueError(f"embedding: Z must have rows and at least one column; got shape {Z.shape}.")
    x, y = (
        Z[:, 0],
        Z[:, 1] if Z.shape[1] > 1 else np.random.default_rng(0).uniform(-1, 1, len(Z)) * _spread(Z) / 8,
    )
    ax = _axes(ax, figsize=(5, 5), layout="constrained")
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
    ax.set(xticks=[], yticks=[], title=title or "")  # a map has no axes to read: it can be turned freely
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
    """What the marks mean; of many classes the first, and how many more there are."""
    count = len(known.classes)
    handles, names = ax.get_legend_handles_labels()
    most = count if count <= LONGEST_LEGEND + 4 else LONGEST_LEGEND
    shown = [name if len(name) <= 30 else f"{name[:29]}…" for name in names[-count:][:most]]
    title = known.name if most == count else f"{known.name}: {most} of {count} classes"
    if count > MOST_CLASSES:
        title += f"\n(several share one of {MOST_CLASSES} marks)"
    ax.legend(handles[-count:][:most], shown, title=title, fontsize="small", frameon=False, loc="best",
              ncols=1 + most // 12)  # fmt: skip


def rnx_curves(curves: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw R_NX curves on a logarithmic axis of neighbourhood sizes, with the area under each in the legend.

    Parameters
    ----------
    curves : Comparison, dict of str to array, or array
        What :func:`lowdim.compare` returns; or R_NX(K) for K = 1, 2, ..., one curve per name.
    ax : matplotlib Axes, optional
        Where to draw.
    title : str, optional
        The heading.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> X = lowdim.datasets.swiss_roll(200, random_state=0).X
    >>> ax = lowdim.plot.rnx_curves({"first two columns": lowdim.quality.rnx_curve(X, X[:, :2])})
    """
    found = getattr(curves, "curves", curves)
    named = found if isinstance(found, dict) else {"R_NX": np.asarray(found)}
    ax = _axes(ax, figsize=(7, 4.2), layout="constrained")
    for i, (name, curve) in enumerate(named.items()):
        K = np.arange(1, len(curve) + 1)
        area = float(np.sum(curve / K) / np.sum(1 / K))
        style = ("-", "--", ":")[i // len(COLORS) % 3]
        ax.plot(K, curve, style, color=COLORS[i % len(COLORS)], label=f"{name}  {area:.3f}")
    ax.set_xscale("log")
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.set(xlabel="neighbourhood size K", ylabel="$R_{NX}(K)$", title=title or "", ylim=(None, 1.02))
    ax.legend(title="area under the curve", framealpha=0.9, edgecolor="none", fontsize="small", loc="upper right")
    return ax


def comparison(c: Any, *, color: str = "label") -> Any:
    """Draw the maps of a comparison side by side, turned to lie alike, and the R_NX curves below.

    Curves of embeddings with different numbers of columns are drawn on axes of their own: they cannot be compared.

    Parameters
    ----------
    c : Comparison
        What :func:`lowdim.compare` returns.
    color : {"label", "quality"}
        Colour rows by their label, or by the quality of their neighbourhood.

    Returns
    -------
    matplotlib Figure
        The picture.

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
    figure = _pyplot().figure(figsize=(3.4 * columns, 3.6 * lines + 3.4 * len(widths)), layout="constrained")
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
        title = f"reference: {c.reference.name}" + (f"; {r} column{'' if r == 1 else 's'}" if len(widths) > 1 else "")
        rnx_curves(curves, ax=figure.add_subplot(grid[lines + i, :]), title=title)
    return figure


def scree(model: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw what each component carries, and how much they carry together.

    Parameters
    ----------
    model : fitted estimator
        With ``explained_variance_ratio_`` (PCA) or ``eigenvalues_`` (spectral methods).
    ax : matplotlib Axes, optional
        Where to draw.
    title : str, optional
        The heading.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(150, random_state=0).X
    >>> ax = lowdim.plot.scree(lowdim.PCA(3).fit(X))
    """
    shares = getattr(model, "explained_variance_ratio_", None)
    values = getattr(model, "eigenvalues_", None) if shares is None else shares
    if values is None:
        raise ValueError(
            "scree: model must be fitted and have explained_variance_ratio_ or eigenvalues_; "
            f"got {type(model).__name__}."
        )
    ax = _axes(ax, figsize=(6, 3.8), layout="constrained")
    numbers = np.arange(1, len(values) + 1)
    ax.bar(numbers, values, color=COLORS[0], width=0.7)
    ax.set(
        xlabel="component",
        ylabel="eigenvalue" if shares is None else "share of the variance",
        title=title or "",
    )
    ax.xaxis.set_major_locator(_ticker().MaxNLocator(integer=True))
    if shares is not None:
        ax.plot(numbers, np.cumsum(shares), "o-", color=COLORS[4], label="together")
        ax.legend(frameon=False, loc="center right")
    return ax


def component_choice(choice: Any) -> Any:
    """Draw the eigenvalues with what rules compare them to, and below how many components each rule keeps.

    Where cells were missing there are no eigenvalues: the criteria of the rules take their place, as shares of what
    they are without components.

    Parameters
    ----------
    choice : ComponentChoice
        What :func:`lowdim.select.n_components` returns.

    Returns
    -------
    matplotlib Figure
        The picture.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(150, random_state=0).X
    >>> figure = lowdim.plot.component_choice(lowdim.select.n_components(X, rules=["share", "kaiser", "gcv"]))
    """
    chosen = {name: k for name, k in choice.choices.items() if k is not None}
    height = 3.2 + 0.28 * len(choice.choices)
    figure, (top, below) = _pyplot().subplots(
        2, 1, sharex=True, figsize=(7, height), layout="constrained", height_ratios=[3.2, height - 3.2]
    )
    last = _criteria(top, choice) if choice.eigenvalues is None else _eigenvalues(top, choice, chosen)
    names = list(choice.choices)[::-1]
    for y, name in enumerate(names):
        k = choice.choices[name]
        below.axhline(y, color="0.9", linewidth=0.8, zorder=0)
        if k is None:
            below.text(0, y, " no answer", va="center", color="0.45", fontsize="small")
        else:
            below.plot(k, y, "o", color=COLORS[0])
    if choice.median is not None:
        below.axvline(choice.median, color="0.5", linestyle="--", linewidth=1, zorder=0)
    below.set(yticks=range(len(names)), yticklabels=names, xlim=(-0.3, last + 0.6), xlabel="number of components")
    below.set_ylim(-0.6, len(names) - 0.4)
    below.xaxis.set_major_locator(_ticker().MaxNLocator(integer=True))
    return figure


def _eigenvalues(ax: Any, choice: Any, chosen: dict[str, int]) -> int:
    """Bars, and what they have to exceed; how many there are."""
    last = min(len(choice.eigenvalues), max(8, 2 * max(chosen.values(), default=0)))
    numbers = np.arange(1, last + 1)
    ax.bar(numbers, choice.eigenvalues[:last], color=COLORS[0], width=0.7)
    thresholds = [(name, v.curve) for name, v in choice.verdicts.items() if v.kind == "threshold"]
    for i, (name, curve) in enumerate(thresholds):
        ax.plot(numbers, curve[:last], "o-", color=COLORS[(1, 2, 4)[i % 3]], label=name, markersize=4)
    if thresholds:
        ax.legend(frameon=False)
    ax.set(ylabel="eigenvalue")
    return last


def _criteria(ax: Any, choice: Any) -> int:
    """Curves of the rules, and the most components tried."""
    curves = choice.curves
    for color, (name, curve) in zip(COLORS, curves.items(), strict=False):
        ax.plot(range(len(curve)), curve / curve[0], "o-", color=color, label=name, markersize=4)
    if curves:
        ax.legend(frameon=False)
    ax.set(ylabel="criterion")
    return max((len(curve) - 1 for curve in curves.values()), default=1)


def kernel_choice(choice: Any) -> Any:
    """Draw what each kernel is worth at every width: the mean over the folds, and a standard deviation either side.

    A dotted line is the median rule, a ring the width chosen; where the line is thin the kernel is degenerate.

    Parameters
    ----------
    choice : KernelChoice
        What :func:`lowdim.select.kernel_width` returns.

    Returns
    -------
    matplotlib Figure
        The picture.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.noisy_circle(60, random_state=0).X
    >>> figure = lowdim.plot.kernel_choice(lowdim.select.kernel_width(X, ["rbf", "linear"], criterion="rnx"))
    """
    figure, ax = _pyplot().subplots(figsize=(7, 4), layout="constrained")
    for i, (name, curve) in enumerate(choice.curves.items()):
        look = {"color": COLORS[i % len(COLORS)], "linestyle": ("-", "--", "-.")[i // len(COLORS) % 3]}
        if curve.median is None:
            ax.axhline(curve.mean[0], label=f"{name} (as given)", linewidth=1.2, **look)
        else:
            _width_curve(ax, name, curve, look)
    _ends(ax, choice.curve)
    words = {
        "reconstruction": "squared error of rows led back, relative",
        "feature_error": "error in feature space, relative",
        "labels": "nearest-neighbour error",
        "rnx": "area under R_NX (higher is better)",
    }
    if any(curve.median is not None for curve in choice.curves.values()):
        ax.set_xscale("log")
        ax.set_xlabel("width")
    else:
        ax.set_xticks([])
    ax.set(ylabel=words[choice.criterion], title=f"{choice.n_components} components, {choice.n_rows} rows")
    ax.legend(frameon=False, fontsize="small")
    return figure


def _width_curve(ax: Any, name: str, curve: Any, look: dict[str, Any]) -> None:
    """One kernel: a thin line at all widths, a thick one with its spread where they make sense."""
    sound = np.array([end == "" for end in curve.degenerate])
    ax.plot(curve.widths, curve.mean, linewidth=0.8, alpha=0.6, **look)
    ax.plot(np.where(sound, curve.widths, np.nan), curve.mean, "o", markersize=4, linewidth=2, label=name, **look)
    ax.fill_between(curve.widths, curve.mean - curve.sd, curve.mean + curve.sd, where=sound, color=look["color"],
                    alpha=0.15, linewidth=0)  # fmt: skip
    ax.plot(curve.widths[curve.best], curve.mean[curve.best], "o", markersize=12, fillstyle="none", color=look["color"])
    ax.axvline(curve.median, color=look["color"], linestyle=":", linewidth=1)


def _ends(ax: Any, curve: Any) -> None:
    """What is wrong at either end of the widths."""
    for end, side, words in (("narrow", "right", "each row alone"), ("wide", "left", "linear")):
        there = curve.widths[[found == end for found in curve.degenerate]]
        if len(there):
            place = there.max() if end == "narrow" else there.min()
            ax.annotate(f"{end}:\n{words}", (place, 0.98), xycoords=("data", "axes fraction"), ha=side, va="top",
                        color="0.45", fontsize="x-small")  # fmt: skip


def factor_map(maps: Any, axes: tuple[int, int] = (0, 1), labels: Any = None, *, names: int = 40, rows: bool = True,
               ax: Any = None, title: str | None = None) -> Any:  # fmt: skip
    """Draw individuals and categories on two axes, with the same scale on both.

    Supplementary individuals are hollow; categories are squares, supplementary ones hollow too.

    Parameters
    ----------
    maps : FactorMap
        What to draw.
    axes : tuple of two ints
        Which axes, from 0.
    labels : array-like of shape (n,), optional
        Classes or a quantity of the active rows, shown as colours.
    names : int
        The most names written, of categories and (where those are supplementary) of individuals: supplementary ones
        first, then those farthest out, unless they would cover another.
    rows : bool
        Draw the individuals.
    ax : matplotlib Axes, optional
        Where to draw.
    title : str, optional
        The heading.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import lowdim
    >>> answers = [["tea", "milk"], ["tea", "lemon"], ["coffee", "milk"], ["coffee", "black"], ["tea", "lemon"]]
    >>> ax = lowdim.plot.factor_map(lowdim.FactorMap(lowdim.MCA(2).fit(answers), answers))
    """
    i, j = _two_axes(maps, axes)
    ax = _axes(ax, figsize=(7, 7), layout="constrained")
    people, kinds = maps.individuals, maps.categories
    if rows:
        active, place = people.active, people.coordinates[:, [i, j]]
        size = float(np.clip(4000 / max(len(people), 1), 5, 24))
        embedding(place[active], labels, ax=ax, size=size)
        ax.scatter(*place[~active].T, s=size, facecolors="none", edgecolors=COLORS[4], linewidths=1)
    if len(kinds):
        place, active = kinds.coordinates[:, [i, j]], kinds.active
        ax.scatter(*place[active].T, s=22, marker="s", c=COLORS[4], linewidths=0, zorder=3)
        ax.scatter(*place[~active].T, s=22, marker="s", facecolors="none", edgecolors=COLORS[4], zorder=3)
    _cross(ax, maps, i, j, title)
    ax.set_aspect("equal", adjustable="datalim")
    ax.figure.draw_without_rendering()  # names are measured where they will be
    written = _write(ax, kinds, (i, j), names, COLORS[4], [])
    if rows and not kinds.active.any():  # where categories are the subject, rows are the background
        _write(ax, people, (i, j), names, "0.25", written)
    return ax


def correlation_circle(maps: Any, axes: tuple[int, int] = (0, 1), *, ax: Any = None, title: str | None = None) -> Any:
    """Draw the correlations of the variables with two axes inside the unit circle.

    An arrow that reaches the circle is a column these two axes show whole. Supplementary columns are dashed.

    Parameters
    ----------
    maps : FactorMap
        What to draw.
    axes : tuple of two ints
        Which axes, from 0.
    ax : matplotlib Axes, optional
        Where to draw.
    title : str, optional
        The heading.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(100, random_state=0).X
    >>> ax = lowdim.plot.correlation_circle(lowdim.FactorMap(lowdim.PCA(2, scale=True).fit(X), X))
    """
    i, j = _two_axes(maps, axes)
    if not len(maps.variables):
        raise ValueError("correlation_circle: maps has no columns of numbers; draw its categories with factor_map.")
    ax = _axes(ax, figsize=(6, 6), layout="constrained")
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color="0.6", linewidth=0.8)
    _cross(ax, maps, i, j, title)
    ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25))
    ax.set_aspect("equal")
    ax.figure.draw_without_rendering()  # names are measured where they will be
    written: list[Any] = []
    shown = maps.variables
    for name, (x, y), active in zip(shown.names, shown.correlations[:, [i, j]], shown.active, strict=True):
        color, style = (COLORS[0], "-") if active else (COLORS[4], "--")
        arrow = {"arrowstyle": "-|>", "color": color, "linestyle": style, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (x, y), (0, 0), arrowprops=arrow)
        side, up = (1 if x >= 0 else -1), (1 if y >= 0 else -1)
        corners = ((side, up), (side, -up), (side, 4 * up), (side, -4 * up), (side, up))
        _name(ax, name, (x, y), color, written, corners, keep=True)
    return ax


def _two_axes(maps: Any, axes: tuple[int, int]) -> tuple[int, int]:
    k = len(maps.eigenvalues)
    if len(axes) != 2 or not all(isinstance(a, (int, np.integer)) and 0 <= a < k for a in axes):
        raise ValueError(f"plot: axes must be two of the {k} axes, from 0 to {k - 1}; got {axes!r}.")
    return int(axes[0]), int(axes[1])


def _cross(ax: Any, maps: Any, i: int, j: int, title: str | None) -> None:
    """Lines through the middle, and what each axis carries."""
    ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    ax.axvline(0, color="0.8", linewidth=0.8, zorder=0)
    x, y = (f"axis {a + 1} ({100 * maps.shares[a]:.1f} %)" for a in (i, j))
    ax.set(xlabel=x, ylabel=y, title=title or "")
    for side in (ax.xaxis, ax.yaxis):
        side.set_major_locator(_ticker().AutoLocator())


def _write(ax: Any, points: Any, axes: tuple[int, int], most: int, color: str, written: list[Any]) -> list[Any]:
    """Names of the supplementary points, then of those farthest out; one that would cover another is left out."""
    place = points.coordinates[:, list(axes)]
    out = (place**2 / np.maximum((place**2).mean(axis=0), 1e-300)).sum(axis=1) if len(points) else np.zeros(0)
    for a in np.argsort(-np.where(points.active, out, np.inf), kind="stable")[:most]:
        _name(ax, points.names[a], place[a], color, written)
    return written


_CORNERS = ((1, 1), (-1, 1), (1, -1), (-1, -1))


def _name(ax: Any, text: str, place: Any, color: str, written: list[Any], corners: Any = _CORNERS,
          keep: bool = False) -> None:  # fmt: skip
    """Write a name at the first corner of its point where it covers no other; nowhere if there is none, unless kept."""
    for x, y in corners:
        name = ax.annotate(text, place, (3 * x, 3 * y), textcoords="offset points", color=color, fontsize="x-small",
                           ha="left" if x > 0 else "right", va="bottom" if y > 0 else "top")  # fmt: skip
        box = name.get_window_extent()
        if not any(box.overlaps(other) for other in written) or (keep and (x, y) == tuple(corners[-1])):
            written.append(box)
            return
        name.remove()


def shepard(X: Any, Z: Any = None, *, ax: Any = None, title: str | None = None, max_pairs: int = 20_000,
            random_state: Any = 0) -> Any:  # fmt: skip
    """Draw distances in the map against distances in the data, pair by pair.

    Points on a rising line: the map keeps distances. A cloud below: pairs were drawn together; above: torn apart.

    Parameters
    ----------
    X, Z : array-like of shape (n, d) and (n, r)
        The rows and their embedding; or for X alone what `MDS.shepard` returns, with the line of its disparities.
    ax : matplotlib Axes, optional
        Where to draw.
    title : str, optional
        The heading.
    max_pairs : int
        The most pairs drawn, chosen at random.
    random_state : int, Generator or None
        Chooses the pairs.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(150, random_state=0).X
    >>> ax = lowdim.plot.shepard(X, lowdim.PCA(2).fit_transform(X))
    """
    from lowdim._core.rng import generator

    if hasattr(X, "disparities"):
        return _diagram(X, ax, title, max_pairs, generator(random_state))
    X, Z = np.asarray(X, dtype=float), np.asarray(Z, dtype=float)
    if len(X) != len(Z):
        raise ValueError(f"shepard: X and Z must have the same number of rows; got {len(X)} and {len(Z)}.")
    rows = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(Z).all(axis=1))
    i, j = _pairs(len(rows), max_pairs, generator(random_state))
    i, j = rows[i], rows[j]
    ax = _axes(ax, figsize=(5, 5), layout="constrained")
    data, placed = np.linalg.norm(X[i] - X[j], axis=1), np.linalg.norm(Z[i] - Z[j], axis=1)
    ax.plot(data, placed, ".", color=COLORS[0], alpha=0.25, markersize=3, markeredgewidth=0)
    far = max(data.max(initial=0.0), placed.max(initial=0.0))
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
    """Distances and disparities of a Shepard diagram against dissimilarities."""
    n = len(pairs.distances)
    shown = np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])
    ax = _axes(ax, figsize=(5, 5), layout="constrained")
    delta, d, dhat = (values[shown] for values in (pairs.dissimilarities, pairs.distances, pairs.disparities))
    ax.plot(delta, d, ".", color=COLORS[0], alpha=0.4, markersize=4, markeredgewidth=0)
    ax.plot(delta, dhat, color=COLORS[1], linewidth=1.2)
    labels = {"xlabel": "dissimilarity", "ylabel": "distance in the map (line: disparity)"}
    ax.set(title=title or "", xlim=(0, None), ylim=(min(0.0, float(dhat.min(initial=0.0))), None), **labels)
    return ax


def _pairs(n: int, most: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """All pairs i < j, or that many drawn at random."""
    if n < 2:
        raise ValueError(f"shepard: at least 2 complete rows are needed; got {n}.")
    if n * (n - 1) // 2 <= most:
        i, j = np.triu_indices(n, 1)
        return i, j
    i = rng.integers(0, n, most)
    return i, (i + rng.integers(1, n, most)) % n
