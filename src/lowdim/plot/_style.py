"""Colours, markers and names of points, and matplotlib, which is imported when the first plot is drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Okabe and Ito (2008), with an olive for the yellow, which is hardly visible on white, and three more: ten classes are
# common. With any kind of colour vision all of them differ (tests/report/test_palette.py).
COLORS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#605500", "#5d636b", "#5a3ccf", "#7a1236",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MOST_CLASSES = len(COLORS) * len(MARKERS)
LONGEST_LEGEND = 24
GREY = "0.8"  # rows without a label
SOFT = "0.45"  # words that explain


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot: matplotlib is not installed; install it with: pip install 'lowdim[app]'") from error
    return plt


def ticker() -> Any:
    from matplotlib import ticker

    return ticker


def new_axes(ax: Any, **size: Any) -> Any:
    return pyplot().subplots(**size)[1] if ax is None else ax


CORNERS = ((1, 1), (-1, 1), (1, -1), (-1, -1))
NEAR = 3  # points between a mark and its name
REACHES = (12, 18, 26, 36, 48, 62, 80)  # points from a mark to a name that found no room beside it


def write_name(ax: Any, text: str, place: Any, color: str, written: list[Any], corners: Any = CORNERS,
          keep: bool = False) -> None:  # fmt: skip
    """Write a name where it overlaps no other: at a corner of its point; with `keep` farther away, with a line to it.

    Without `keep`, a name that has no room beside its point is left out.
    """
    inside = ax.get_window_extent()
    for x, y, far in _offsets(corners, keep):
        name = _annotate(ax, text, place, (x, y), color, far)
        box = text_extent(name)
        if _within(box, inside) and not any(box.overlaps(other) for other in written):
            written.append(box)
            return
        name.remove()
    if keep:  # nowhere: beside its point, over others
        x, y = corners[0]
        _annotate(ax, text, place, (NEAR * x, NEAR * y), color, False)


def _offsets(corners: Any, keep: bool) -> list[tuple[float, float, bool]]:
    """From a point to its name, and whether that is so far that a line must join them."""
    beside = [(NEAR * x, NEAR * y, False) for x, y in corners]
    first = math.atan2(corners[0][1], corners[0][0])
    turns = sorted((k * math.pi / 8 for k in range(-7, 9)), key=abs)
    away = [(r * math.cos(first + t), r * math.sin(first + t), True) for r in REACHES for t in turns]
    return beside + away if keep else beside


def _annotate(ax: Any, text: str, place: Any, offset: tuple[float, float], color: str, far: bool) -> Any:
    from matplotlib.patheffects import withStroke

    x, y = offset
    line = {"arrowstyle": "-", "color": color, "linewidth": 0.5, "alpha": 0.6, "shrinkA": 0, "shrinkB": 1}
    ha = "center" if abs(x) < 1e-9 else "left" if x > 0 else "right"
    va = "center" if abs(y) < 1e-9 else "bottom" if y > 0 else "top"
    return ax.annotate(
        text, place, offset, textcoords="offset points", color=color, fontsize="x-small", zorder=6, ha=ha, va=va,
        arrowprops=line if far else None, path_effects=[withStroke(linewidth=2, foreground="white")],
    )  # fmt: skip


def text_extent(name: Any) -> Any:
    """The box around the text of an annotation, without the line to its point."""
    from matplotlib.text import Text

    name.get_window_extent()  # puts the text into its place
    return Text.get_window_extent(name)


def outward(place: Any) -> tuple[tuple[int, int], ...]:
    """Where the name of an arrow stands at its end: away from the origin."""
    x, y = place
    side, up = (1 if x >= 0 else -1), (1 if y >= 0 else -1)
    if abs(x) < 0.3 * abs(y):
        return ((0, up), (side, up), (-side, up))
    if abs(y) < 0.3 * abs(x):
        return ((side, 0), (side, up), (side, -up))
    return ((side, up), (side, -up), (-side, up))


def arrow_boxes(ax: Any, ends: Any) -> list[Any]:
    """Boxes along the outer halves of arrows from the origin, which names must not cover."""
    from matplotlib.transforms import Bbox

    parts = np.linspace(0.5, 1, 12)
    places = ax.transData.transform(np.concatenate([np.outer(parts, end) for end in ends] or [np.zeros((0, 2))]))
    return [Bbox.from_bounds(x - 1, y - 1, 2, 2) for x, y in places]


def point_boxes(ax: Any, places: Any, size: float = 4) -> list[Any]:
    """Boxes around points, which names must not cover."""
    from matplotlib.transforms import Bbox

    return [Bbox.from_bounds(x - size / 2, y - size / 2, size, size) for x, y in ax.transData.transform(places)]


def plain_ticks(axis: Any, most: int = 12) -> None:
    """Ticks of a logarithmic axis as people write numbers: 1, 10, 100."""
    axis.set_major_formatter(ticker().FuncFormatter(lambda x, _: f"{x:,.{most}g}"))
    axis.set_minor_formatter(ticker().NullFormatter())


def number(value: float, digits: int = 3) -> str:
    """A number with so many decimals, and no minus before a zero."""
    text = f"{value:.{digits}f}"
    return text[1:] if float(text) == 0 and text.startswith("-") else text


def _within(box: Any, outer: Any) -> bool:
    return outer.x0 <= box.x0 and box.x1 <= outer.x1 and outer.y0 <= box.y0 and box.y1 <= outer.y1
