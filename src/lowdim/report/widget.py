"""The page as a widget of a notebook; the only importer of anywidget."""

from __future__ import annotations

from typing import Any

import anywidget
import numpy as np
import traitlets

from lowdim._core.runtime.notices import warn
from lowdim.report.frame import frame
from lowdim.report.payload import drawn_rows
from lowdim.report.record import Compared
from lowdim.report.render import STATIC, render


class Rows(traitlets.TraitType):
    """Positions of rows: an array of different whole numbers in ascending order, which cannot be written to."""

    info_text = "positions of rows, or a mask with one value for each row"

    def validate(self, obj: Any, value: Any) -> np.ndarray:
        """Positions, from positions or from a mask."""
        n = obj._n_rows
        given = np.asarray(value)
        if given.dtype == bool and given.shape == (n,):
            found = np.flatnonzero(given)
        elif given.ndim == 1 and (given.size == 0 or np.issubdtype(given.dtype, np.integer)):
            found = np.unique(given).astype(np.int64)
        else:
            raise ValueError(
                f"show: {self.name} must be whole numbers, or {n} booleans; got {given.dtype} of shape {given.shape}."
            )
        if found.size and not 0 <= found[0] <= found[-1] < n:
            wrong = found[0] if found[0] < 0 else found[-1]
            raise ValueError(f"show: {self.name} must be rows from 0 to {n - 1}; got {wrong}.")
        found.setflags(write=False)
        return found

    def set(self, obj: Any, value: Any) -> None:
        """Nothing changes, and nobody is told, where the rows are the same."""
        before: Any = self.get(obj)
        if not np.array_equal(self.validate(obj, value), before):
            super().set(obj, value)


class ComparisonWidget(anywidget.AnyWidget):
    """The page of a comparison in a notebook, with the marked rows and the row pointed at as arrays.

    Made by :meth:`lowdim.Comparison.show`. ``widget.observe(function, "selection")`` calls a function whenever other
    rows are marked.

    Attributes
    ----------
    selection : ndarray of int
        Positions of the marked rows, in ascending order. Set it, to positions or to a mask, to mark rows in the page.
    hovered : ndarray of int
        The row pointed at: one position, or none.
    html : str
        The page itself.
    """

    _esm = (STATIC / "widget.js").read_text(encoding="utf-8")
    _page = traitlets.Unicode().tag(sync=True)
    _title = traitlets.Unicode().tag(sync=True)
    _height = traitlets.Int(800).tag(sync=True)
    # By their place in the page, which shows a sample of many rows; 32 bits each, little-endian.
    _marked = traitlets.Any(b"").tag(sync=True)
    _hovered = traitlets.Int(-1).tag(sync=True)
    selection = Rows(np.empty(0, np.int64))
    hovered = Rows(np.empty(0, np.int64), read_only=True)

    def __init__(self, comparison: Compared, *, title: str, max_points: int, height: int, **about: Any) -> None:
        self._n_rows = comparison.n_rows
        self._drawn = drawn_rows(comparison, max_points)
        page = render(comparison, title=title, max_points=max_points, **about)
        super().__init__(_page=page, _title=title, _height=height)

    @property
    def html(self) -> str:
        """The page itself."""
        return str(self._page)

    @traitlets.observe("_marked")
    def _hear_marked(self, change: Any) -> None:
        places = np.frombuffer(bytes(change["new"]), "<u4")
        drawn = np.isin(self.selection, self._drawn)
        if not np.array_equal(places, np.searchsorted(self._drawn, self.selection[drawn])):
            self.selection = self._drawn[places]

    @traitlets.observe("_hovered")
    def _hear_hovered(self, change: Any) -> None:
        row = change["new"]
        self.set_trait("hovered", self._drawn[row : row + 1] if row >= 0 else self._drawn[:0])

    @traitlets.observe("selection")
    def _tell_marked(self, change: Any) -> None:
        rows = change["new"]
        drawn = rows[np.isin(rows, self._drawn)]
        self._marked = np.searchsorted(self._drawn, drawn).astype("<u4").tobytes()
        if len(drawn) < len(rows):
            warn(
                f"show: {len(rows) - len(drawn):,} of the {len(rows):,} rows are not in the sample that the page "
                "shows; with a larger max_points it shows more."
            )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and the page alone for who shows or exports the notebook without its kernel."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        found, about = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**found, "text/html": frame(self.html, self._title, self._height)}, about

    def __repr__(self) -> str:
        return f"<page of {self._n_rows:,} rows, {len(self.selection):,} of them marked>"
