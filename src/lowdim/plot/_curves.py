"""R_NX curves, eigenvalues, and rules for the number of components."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.plot._style import COLORS, new_axes, number, plain_ticks, pyplot, ticker


def rnx_curves(curves: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw R_NX curves on a logarithmic axis of neighbourhood sizes, with the area under each in the legend.

    Parameters
    ----------
    curves : Comparison, dict of str to array, or array
        The result of :func:`lowdim.compare`; or R_NX(K) for K = 1, 2, ..., with the name of each curve.
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
    >>> X = lowdim.datasets.swiss_roll(200, random_state=0).X
    >>> ax = lowdim.plot.rnx_curves({"first two columns": lowdim.quality.rnx_curve(X, X[:, :2])})
    """
    found = getattr(curves, "curves", curves)
    named = found if isinstance(found, dict) else {"R_NX": np.asarray(found)}
    ax = new_axes(ax, figsize=(7, 4.2), layout="constrained")
    return draw_curves(ax, named, at_random(curves), title)


def at_random(c: Any) -> set[str]:
    """The baseline of a comparison that puts rows anywhere: it is drawn as on the page, grey and dotted."""
    return {o.name for o in getattr(c, "outcomes", ()) if o.baseline and o.name.startswith("random")}


def draw_curves(ax: Any, named: dict[str, Any], chance: set[str], title: str | None) -> Any:
    """R_NX curves; those of `chance` are no candidates."""
    turn = 0
    for name, curve in named.items():
        K = np.arange(1, len(curve) + 1)
        area = float(np.sum(curve / K) / np.sum(1 / K))
        style, color = ("-", "--", ":")[turn // len(COLORS) % 3], COLORS[turn % len(COLORS)]
        if name in chance:
            style, color = ":", "0.45"
        else:
            turn += 1
        ax.plot(K, curve, style, color=color, label=f"{name}  {number(area)}")
    ax.set_xscale("log")
    plain_ticks(ax.xaxis)
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.set(xlabel="neighbourhood size K", ylabel="$R_{NX}(K)$", title=title or "", ylim=(None, 1.02))
    ax.legend(title="area under the curve", title_fontsize="small", frameon=False, fontsize="small", loc="upper left",
              bbox_to_anchor=(1.0, 1.0), ncols=1 + len(named) // 20)  # fmt: skip
    return ax


def scree(model: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw the eigenvalues, or the share of variance of each component and their cumulative sum.

    Parameters
    ----------
    model : fitted estimator
        With ``explained_variance_ratio_`` (PCA) or ``eigenvalues_`` (spectral methods).
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
    ax = new_axes(ax, figsize=(6, 3.8), layout="constrained")
    numbers = np.arange(1, len(values) + 1)
    ax.bar(numbers, values, color=COLORS[0], width=0.7, label="each")
    ax.set(
        xlabel="component",
        ylabel="eigenvalue" if shares is None else "share of the variance",
        title=title or "",
    )
    ax.xaxis.set_major_locator(ticker().MaxNLocator(integer=True))
    if shares is not None:
        ax.plot(numbers, np.cumsum(shares), "o-", color=COLORS[4], label="cumulative")
        ax.set_ylim(0, 1.05 * max(1, float(np.sum(shares))) if np.sum(shares) > 0.5 else None)
        ax.legend(frameon=False, fontsize="small", loc="center right")
    return ax


def component_choice(choice: Any, *, title: str | None = None) -> Any:
    """Draw the eigenvalues with the thresholds of the rules, and below the number of components of each rule.

    If cells were missing, there are no eigenvalues: the criteria of the rules are drawn instead, relative to those of
    0 components.

    Parameters
    ----------
    choice : ComponentChoice
        The result of :func:`lowdim.select.n_components`.
    title : str, optional
        The title.

    Returns
    -------
    matplotlib Figure
        The figure.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(150, random_state=0).X
    >>> figure = lowdim.plot.component_choice(lowdim.select.n_components(X, rules=["share", "kaiser", "gcv"]))
    """
    chosen = {name: k for name, k in choice.choices.items() if k is not None}
    height = 3.2 + 0.28 * len(choice.choices)
    figure, (top, below) = pyplot().subplots(
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
    below.xaxis.set_major_locator(ticker().MaxNLocator(integer=True))
    top.set_title(title or "")
    return figure


def _eigenvalues(ax: Any, choice: Any, chosen: dict[str, int]) -> int:
    """Draw the eigenvalues and thresholds; return the number of eigenvalues drawn."""
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
    """Draw the criteria; return the largest number of components."""
    curves = choice.curves
    for color, (name, curve) in zip(COLORS, curves.items(), strict=False):
        ax.plot(range(len(curve)), curve / curve[0], "o-", color=color, label=name, markersize=4)
    if curves:
        ax.legend(frameon=False)
    ax.set(ylabel="criterion")
    return max((len(curve) - 1 for curve in curves.values()), default=1)
