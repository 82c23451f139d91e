"""Colours, markers and names of points, and matplotlib, which is imported when the first plot is drawn."""

from __future__ import annotations

from typing import Any

# Okabe and Ito (2008), with a darker yellow that is visible on white.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#a89400", "#5d636b")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MOST_CLASSES = len(COLORS) * len(MARKERS)
LONGEST_LEGEND = 24
GREY = "0.8"  # rows without a label


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


def write_name(ax: Any, text: str, place: Any, color: str, written: list[Any], corners: Any = CORNERS,
          keep: bool = False) -> None:  # fmt: skip
    """Write a name at the first corner of its point where it overlaps no other; if there is none, only with `keep`."""
    for x, y in corners:
        name = ax.annotate(text, place, (3 * x, 3 * y), textcoords="offset points", color=color, fontsize="x-small",
                           ha="left" if x > 0 else "right", va="bottom" if y > 0 else "top")  # fmt: skip
        box = name.get_window_extent()
        if not any(box.overlaps(other) for other in written) or (keep and (x, y) == tuple(corners[-1])):
            written.append(box)
            return
        name.remove()
