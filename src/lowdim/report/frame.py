"""The page where there is no server: in a frame of another page, or in a file that the browser opens."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import Any

from lowdim._core import params
from lowdim._core.runtime.files import write_text
from lowdim._core.runtime.notices import warn
from lowdim.report.record import Compared
from lowdim.report.render import render

EXTRA = "pip install 'lowdim[notebook]'"
RULES = {
    "where": params.one_of("auto", "notebook", "browser"),
    "max_points": params.whole(1),
    "height": params.whole(100),
}


class Page:
    """The page of a comparison as it is, without a kernel that hears what is marked in it.

    Attributes
    ----------
    html : str
        The page.
    path : Path or None
        The file that the browser was asked to open.
    """

    def __init__(self, html: str, title: str, height: int, path: Path | None = None) -> None:
        self.html, self.path = html, path
        self._title, self._height = title, height

    def _repr_html_(self) -> str:
        return frame(self.html, self._title, self._height)

    def __repr__(self) -> str:
        return "<page of a comparison>" if self.path is None else f"<page of a comparison, in {self.path}>"

    def __getattr__(self, name: str) -> Any:
        if name in ("selection", "hovered"):
            raise AttributeError(
                f"show: {name} is known in a notebook only, with anywidget; install it with: {EXTRA}. In the page, "
                "marked rows can be saved as a CSV file."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def frame(html: str, title: str, height: int) -> str:
    """An element that holds the whole page; it may run its script, and nothing else."""
    return (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts allow-downloads" srcdoc="{escape(html)}" '
        f'style="width: 100%; height: {height}px; border: 0; display: block"></iframe>'
    )


def show(comparison: Compared, *, where: str, title: str | None, max_points: int, height: int, data: Any = None) -> Any:
    """The page in a notebook if this is one, else in the browser; see `lowdim.Comparison.show`."""
    params.check("show", {"where": where, "max_points": max_points, "height": height}, RULES)
    title = title or "Comparison of maps"
    if where == "browser" or (where == "auto" and not in_notebook()):
        return _in_browser(render(comparison, title=title, max_points=max_points, data=data), title, height)
    try:
        from lowdim.report.widget import ComparisonWidget
    except ImportError as missing:
        if (missing.name or "").partition(".")[0] not in ("anywidget", "ipywidgets", "traitlets"):
            raise
        warn(
            f"show: the page is not joined to Python, since anywidget is not installed; install it with: {EXTRA}. "
            "Then selection and hovered hold the marked rows and the row pointed at."
        )
        return Page(render(comparison, title=title, max_points=max_points, data=data), title, height)
    return ComparisonWidget(comparison, title=title, max_points=max_points, height=height, data=data)


def in_notebook() -> bool:
    """Whether what a cell returns is shown by a notebook: a kernel of Jupyter, or marimo."""
    ipython, marimo = sys.modules.get("IPython"), sys.modules.get("marimo")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel") or (marimo is not None and marimo.running_in_notebook())


def _in_browser(html: str, title: str, height: int) -> Page:
    path = Path(tempfile.mkdtemp(prefix="lowdim-")) / "comparison.html"
    write_text(path, html, owner="show")
    if not webbrowser.open(path.as_uri()):
        warn(f"show: no browser was found; open {path} in one.")
    return Page(html, title, height, path)
