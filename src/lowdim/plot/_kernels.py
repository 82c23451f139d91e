"""The criterion of kernels over their widths."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.plot._style import COLORS, new_axes


def kernel_choice(choice: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw the criterion of each kernel at every width: mean over the folds, plus and minus a standard deviation.

    A dotted line marks the median rule, a ring the best width; a thin line marks degenerate widths.

    Parameters
    ----------
    choice : KernelChoice
        The result of :func:`lowdim.select.kernel_width`.
    ax : matplotlib Axes, optional
        The axes to draw on; new ones by default.
    title : str, optional
        The title. Default: the numbers of components and rows.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.noisy_circle(60, random_state=0).X
    >>> ax = lowdim.plot.kernel_choice(lowdim.select.kernel_width(X, ["rbf", "linear"], criterion="rnx"))
    """
    ax = new_axes(ax, figsize=(7, 4), layout="constrained")
    for i, (name, curve) in enumerate(choice.curves.items()):
        look = {"color": COLORS[i % len(COLORS)], "linestyle": ("-", "--", "-.")[i // len(COLORS) % 3]}
        if curve.median is None:
            ax.axhline(curve.mean[0], label=f"{name} (as given)", linewidth=1.2, **look)
        else:
            _width_curve(ax, name, curve, look)
    _ends(ax, choice.curve)
    words = {
        "reconstruction": "relative reconstruction error",
        "feature_error": "relative error in feature space",
        "labels": "nearest-neighbour error",
        "rnx": "area under R_NX (higher is better)",
    }
    if any(curve.median is not None for curve in choice.curves.values()):
        ax.set_xscale("log")
        ax.set_xlabel("width")
    else:
        ax.set_xticks([])
    sizes = f"{choice.n_components} components, {choice.n_rows} rows"
    ax.set(ylabel=words[choice.criterion], title=sizes if title is None else title)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _width_curve(ax: Any, name: str, curve: Any, look: dict[str, Any]) -> None:
    """One kernel: a thin line at all widths, a thick one with its standard deviation at those not degenerate."""
    sound = np.array([end == "" for end in curve.degenerate])
    ax.plot(curve.widths, curve.mean, linewidth=0.8, alpha=0.6, **look)
    ax.plot(np.where(sound, curve.widths, np.nan), curve.mean, "o", markersize=4, linewidth=2, label=name, **look)
    ax.fill_between(curve.widths, curve.mean - curve.sd, curve.mean + curve.sd, where=sound, color=look["color"],
                    alpha=0.15, linewidth=0)  # fmt: skip
    ax.plot(curve.widths[curve.best], curve.mean[curve.best], "o", markersize=12, fillstyle="none", color=look["color"])
    ax.axvline(curve.median, color=look["color"], linestyle=":", linewidth=1)


def _ends(ax: Any, curve: Any) -> None:
    """Why the widths at either end are degenerate."""
    for end, side, words in (("narrow", "right", "all rows dissimilar"), ("wide", "left", "nearly linear")):
        there = curve.widths[[found == end for found in curve.degenerate]]
        if len(there):
            place = there.max() if end == "narrow" else there.min()
            ax.annotate(f"{end}:\n{words}", (place, 0.98), xycoords=("data", "axes fraction"), ha=side, va="top",
                        color="0.45", fontsize="x-small")  # fmt: skip
