"""Verdicts of `lowdim.trust` and dimensions of `lowdim.select` as charts."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.plot._style import COLORS, SOFT, new_axes, plain_ticks, ticker

# Colours of words on white, and of marks with a shape of their own: nothing is told by colour alone.
GROUP_LOOKS = {
    "holds together": "#00704f",
    "torn": "#b04a00",
    "mixture": "#9a4576",
    "overlaps": "#7a5200",
    "too few rows": SOFT,
}
ABOVE = 24  # points between axes and title where a legend stands between them
RATIOS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.4, 2, 3, 5, 10, 20, 50)
PAIR_LOOKS = {"yes": (COLORS[0], "o"), "order only": (COLORS[1], "s"), "no": (COLORS[4], "X")}


def stability(found: Any, labels: Any = None, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw how much of the neighbourhood of each row comes back when the map is made again.

    Without labels a histogram over the rows; with labels a line for each group: its median, the middle half and the
    middle nine tenths of its rows, the least stable group at the bottom. The vertical line is the mean over all rows,
    its band the 95 % interval over replicates.

    Parameters
    ----------
    found : Stability
        The result of :func:`lowdim.trust.stability`.
    labels : array-like of shape (n,), optional
        Group of each row; None, NaN and -1 mean none.
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
    >>> found = lowdim.trust.stability(X, lowdim.PCA(2), n_resamples=3, random_state=0)
    >>> ax = lowdim.plot.stability(found)
    """
    percent = 100 * found.per_row
    groups = {} if labels is None else _rows_of(labels, percent)
    ax = new_axes(ax, figsize=(6, 1.4 + 0.3 * len(groups) if groups else 3.4), layout="constrained")
    low, high = (100 * each for each in found.interval)
    if np.isfinite(low):
        ax.axvspan(low, high, color="0.5", alpha=0.2, linewidth=0, zorder=0)
    ax.axvline(100 * found.overall, color="0.3", linewidth=1, zorder=1)
    if groups:
        for y, values in enumerate(groups.values()):
            bounds = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
            ax.plot(bounds[[0, 4]], [y, y], color=COLORS[0], linewidth=1)
            ax.plot(bounds[[1, 3]], [y, y], color=COLORS[0], linewidth=4, solid_capstyle="butt")
            ax.plot(bounds[2], y, "o", color="white", markeredgecolor=COLORS[0], markersize=6)
        _group_axis(ax, list(groups))
    else:
        ax.hist(percent, bins=np.linspace(min(0, percent.min()), 100, 41), color=COLORS[0])
        ax.set_ylabel("rows")
    ax.set(xlim=(min(0, percent.min()), 100), xlabel=f"of the {found.n_neighbors} nearest rows that come back (%, "
           "beyond chance)")  # fmt: skip
    ax.set_title(title or "", pad=14)
    ax.annotate(f"all rows: {100 * found.overall:.0f} %", (100 * found.overall, 1), (0, 2),
                xycoords=("data", "axes fraction"), textcoords="offset points", ha="center", va="bottom", color=SOFT,
                fontsize="x-small")  # fmt: skip
    return ax


def _rows_of(labels: Any, values: np.ndarray) -> dict[str, np.ndarray]:
    """Group -> values of its rows, the lowest median first."""
    from lowdim.trust.groups import group_codes

    names, codes = group_codes(labels, len(values), "stability")
    found = {str(name): values[codes == code] for code, name in enumerate(names)}
    return dict(sorted(found.items(), key=lambda item: np.median(item[1])))


def _group_axis(ax: Any, names: list[str]) -> None:
    """Names of groups on the vertical axis, long ones cut."""
    ax.set(yticks=range(len(names)), yticklabels=[name if len(name) <= 30 else f"{name[:29]}…" for name in names])
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.tick_params(axis="y", length=0)


def dimension(found: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw the intrinsic dimension at every scale, with its 95 % interval.

    Small neighbourhoods are sensitive to noise, large ones to curvature and to the edges of the data; where the
    curve is level, the dimension is read. The dashed line is the value that was chosen.

    Parameters
    ----------
    found : IntrinsicDimension
        The result of :func:`lowdim.select.intrinsic_dimension`.
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
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> ax = lowdim.plot.dimension(lowdim.select.intrinsic_dimension(X))
    """
    ax = new_axes(ax, figsize=(6, 3.8), layout="constrained")
    sizes = 2 * np.array(list(found.curve))
    value, low, high = np.array(list(found.curve.values())).T
    ax.fill_between(sizes, low, high, color=COLORS[0], alpha=0.2, linewidth=0)
    ax.plot(sizes, value, "o-", color=COLORS[0], markersize=4, label="Gride (neighbours m and 2 m)")
    ax.axhline(found.value, color="0.3", linestyle="--", linewidth=1, zorder=0, label=f"chosen: {found.value:.1f}")
    others = {"mle": ("maximum likelihood", 0.94), "correlation": ("correlation dimension", 1.06)}
    for (key, (name, shift)), color, marker in zip(others.items(), (COLORS[4], COLORS[2]), "sD", strict=True):
        middle, least, most = found.estimates[key]
        error = np.maximum(0, [[middle - least], [most - middle]])
        ax.errorbar(20 * shift, middle, error, fmt=marker, color=color, markersize=5, capsize=3, label=name)
    top = np.nanmax([*high, *(found.estimates[key][2] for key in others)])
    ax.set(ylim=(0, 1.15 * top), title=title or "")
    return _over_sizes(ax, sizes, "size of the neighbourhood (rows)", "intrinsic dimension", "lower left")


def _over_sizes(ax: Any, sizes: Any, along: str, up: str, legend: str) -> Any:
    """The frame of what is drawn over sizes of neighbourhoods, which double from tick to tick."""
    ax.set_xscale("log", base=2)
    plain_ticks(ax.xaxis)
    ax.set(xticks=sizes, xlabel=along, ylabel=up)
    ax.legend(frameon=False, fontsize="small", loc=legend)
    return ax


def groups(found: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw for each group how many neighbours of its rows are in the group, in the data and in the map.

    Where the map (square) is far right of the data (circle), it shows the group more separate than it is. The tick is
    chance. The verdict stands beside each group.

    Parameters
    ----------
    found : GroupTrust
        The result of :func:`lowdim.trust.groups`.
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
    >>> import numpy as np, lowdim
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 5)), rng.normal(8, 1, size=(60, 5))])
    >>> found = lowdim.trust.groups(X, lowdim.PCA(2).fit_transform(X), np.repeat(["a", "b"], 60), random_state=0)
    >>> ax = lowdim.plot.groups(found)
    """
    table = found.table[::-1]
    ax = new_axes(ax, figsize=(7, 1.5 + 0.3 * len(table)), layout="constrained")
    y = np.arange(len(table))
    inside, shown, chance = (
        100 * np.array([[g.inside, g.inside_map, g.chance] for g in table], dtype=float).reshape(-1, 3)
    ).T
    ax.hlines(y, inside, shown, color="0.7", linewidth=1.5, zorder=1)
    ax.plot(chance, y, "|", color=SOFT, markersize=9, markeredgewidth=1.5, label="chance")
    ax.plot(inside, y, "o", color=COLORS[0], markersize=7, label="in the data")
    ax.plot(shown, y, "s", color=COLORS[1], markersize=5, label="in the map")
    for at, group in zip(y, table, strict=True):
        ax.annotate(group.verdict, (1, at), (6, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                    va="center", color=GROUP_LOOKS[group.verdict], fontsize="small")  # fmt: skip
    _group_axis(ax, [f"{group.name} ({group.size:,})" for group in table])
    ax.set(xlim=(-3, 103), xlabel="neighbours in the own group (%)")
    return _keyed_above(ax, title)


def _keyed_above(ax: Any, title: str | None) -> Any:
    """The legend in one line between the title and the axes."""
    ax.set_title(title or "", pad=ABOVE)
    ax.legend(frameon=False, fontsize="small", ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return ax


def group_distances(found: Any, *, most: int = 30, ax: Any = None, title: str | None = None) -> Any:
    """Draw for pairs of groups their distance in the map relative to that in the data, with 95 % intervals.

    In the grey band the distance is right within 20 %. Left of it the groups are nearer in the map than in the data,
    right of it farther.

    Parameters
    ----------
    found : GroupTrust
        The result of :func:`lowdim.trust.groups`.
    most : int
        The largest number of pairs; of more, those that are farthest from 1.
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
    >>> import numpy as np, lowdim
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(k, 1, size=(40, 5)) for k in (0, 8, 20)])
    >>> found = lowdim.trust.groups(X, lowdim.PCA(2).fit_transform(X), np.repeat(["a", "b", "c"], 40), random_state=0)
    >>> ax = lowdim.plot.group_distances(found)
    """
    pairs = [pair for pair in found.pairs if np.isfinite(pair.ratio) and pair.ratio > 0]
    if not pairs:
        raise ValueError("group_distances: found must have pairs of groups with distances; it has none.")
    worst = sorted(pairs, key=lambda pair: -abs(np.log(pair.ratio)))[:most]
    shown = sorted(worst, key=lambda pair: pair.ratio)
    ax = new_axes(ax, figsize=(6.5, 1.6 + 0.26 * len(shown)), layout="constrained")
    ax.axvspan(0.8, 1.2, color="0.92", linewidth=0, zorder=0)
    ax.axvline(1, color="0.6", linewidth=1, zorder=0)
    for verdict, (color, marker) in PAIR_LOOKS.items():
        mine = [(y, pair) for y, pair in enumerate(shown) if pair.verdict == verdict]
        if not mine:
            continue
        y, ratio = [each[0] for each in mine], np.array([pair.ratio for _, pair in mine])
        ends = np.clip(np.array([pair.interval for _, pair in mine]).T, 1e-6, None)
        error = np.maximum(0, [ratio - ends[0], ends[1] - ratio])
        ax.errorbar(ratio, y, xerr=error, fmt=marker, color=color, markersize=5, linewidth=1, capsize=0,
                    label=f"may be read: {verdict}")  # fmt: skip
    _group_axis(ax, [f"{pair.first} – {pair.second}" for pair in shown])
    low, high = (f([p.interval[k] for p in shown] + [ok]) for f, k, ok in ((min, 0, 0.75), (max, 1, 1.3)))
    ax.set_xscale("log")
    ticks = [tick for tick in RATIOS if max(low, 0.02) / 1.05 <= tick <= high * 1.05]
    ax.set(xlim=(max(low, 0.02) / 1.05, high * 1.05), xlabel="distance in the map over distance in the data",
           xticks=ticks, xticklabels=[f"{tick:g}" for tick in ticks])  # fmt: skip
    ax.xaxis.set_minor_locator(ticker().NullLocator())
    return _keyed_above(ax, title)


def structure(found: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw how well the map keeps neighbourhoods of each size, beside maps of noise by the same method.

    Parameters
    ----------
    found : StructureTest
        The result of :func:`lowdim.trust.structure`.
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
    >>> ax = lowdim.plot.structure(lowdim.trust.structure(X, lowdim.PCA(2), n_null=5, random_state=0))
    """
    ax = new_axes(ax, figsize=(6, 3.8), layout="constrained")
    noise = ax.plot(found.scales, found.null.T, color="0.7", linewidth=0.8)
    noise[0].set_label(f"{len(found.null)} maps of noise")
    ax.plot(found.scales, found.observed, "o-", color=COLORS[0], markersize=4, label="map of the data")
    at = int(np.flatnonzero(found.scales == found.scale)[0])
    ax.plot(found.scale, found.observed[at], "o", markersize=12, fillstyle="none", color=COLORS[4],
            label=f"stands out most; p = {found.p_value:.2g}")  # fmt: skip
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    ax.set_title(title or "")
    ticks = [k for k in found.scales if k == found.scales[0] or 2 ** round(np.log2(k)) == k]  # the last may be odd
    return _over_sizes(ax, ticks, "neighbourhood size K", "$R_{NX}(K)$", "best")
