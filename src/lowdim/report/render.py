"""The report: one file that needs nothing else, neither network nor server.

The page is a template; every text in it is escaped, numbers travel as base64 and JSON inside script elements that the
browser does not run, and a policy in the page forbids loading anything from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim._core.runtime.files import write_text
from lowdim._core.runtime.rng import generator
from lowdim.report.curves import curve_chart
from lowdim.report.tables import cells

if TYPE_CHECKING:
    from lowdim.study.comparison import Comparison

PAGE = Path(__file__).parent / "page"
STATIC = Path(__file__).parent / "static"
# Columns that colours can be taken from: so many, and so many numbers in all (four bytes each, a third more as text).
MOST_COLUMNS, MOST_CELLS = 64, 2_000_000


def write(
    comparison: Comparison,
    path: str | Path,
    *,
    title: str | None = None,
    max_points: int = 50_000,
    **about: Any,
) -> Path:
    """Render the page and put it at `path` once it is complete; `about` as for `render`."""
    return write_text(path, render(comparison, title=title, max_points=max_points, **about), owner="report")


def render(
    comparison: Comparison,
    *,
    title: str | None = None,
    max_points: int = 50_000,
    source: str | None = None,
    columns: Sequence[str] | None = None,
    row_numbers: np.ndarray | None = None,
    data: Any = None,
    notes: Sequence[str] = (),
) -> str:
    """The page as text.

    Parameters
    ----------
    comparison : Comparison
        What to show.
    title : str, optional
        The heading.
    max_points : int
        The most rows drawn; beyond that a random sample, which the page states.
    source : str, optional
        Where the rows came from.
    columns : sequence of str, optional
        The columns used.
    row_numbers : ndarray, optional
        The number each row is known by, shown when the pointer is on it. Default: 0, 1, 2, ... as in Python.
    data : array of shape (n_rows, n_columns), optional
        The rows themselves, so that maps can be coloured by a column and a row's values are shown. The first columns
        only where there are many, which the page states.
    notes : sequence of str
        Things the reader should know about the data.
    """
    if max_points < 1:
        raise ValueError(f"report: max_points must be at least 1; got {max_points!r}.")
    drawn = _drawn(comparison, max_points)
    measures, rows = cells(comparison)
    numbers = np.arange(comparison.n_rows) if row_numbers is None else np.asarray(row_numbers)
    chart = curve_chart(comparison)
    names = list(columns or comparison.column_names or [])
    return _environment().get_template("report.html").render(
        **_bundle(),
        c=comparison,
        title=title or "Maps compared",
        source=source,
        columns=names,
        notes=[*notes, *comparison.notes],
        measures=measures,
        rows=rows,
        chart=chart,
        data={
            **_payload(comparison, drawn, numbers),
            "columns": _columns(comparison, data, names, drawn),
            "charts": [_curves(one) for one in chart],
        },
        n_drawn=len(drawn),
        sampled=any("±" in text for row in rows for text in row["values"].values()),
        n_known=int(_quality_known(comparison).sum()),
        widths=sorted({o.n_components for o in comparison.outcomes if o.n_components is not None}),
    )  # fmt: skip


def _environment() -> Any:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("report: the page needs jinja2; install it with: pip install 'lowdim[app]'") from error
    return Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _bundle() -> dict[str, Any]:
    """Script and style, each with the fingerprint by which the page's policy knows them: nothing else may run."""
    from markupsafe import Markup

    parts: dict[str, Any] = {}
    for name, file in (("script", "report.js"), ("style", "report.css")):
        text = (STATIC / file).read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        parts |= {name: Markup(text), f"{name}_hash": Markup(f"sha256-{digest}")}
    return parts


def _drawn(comparison: Comparison, most: int) -> np.ndarray:
    """The rows to draw: all, or a random sample that the same seed repeats, rows of known quality first."""
    n = comparison.n_rows
    if n <= most:
        return np.arange(n)
    shuffled = generator(comparison.seed).permutation(n)
    known = _quality_known(comparison)[shuffled]
    return np.sort(np.concatenate([shuffled[known], shuffled[~known]])[:most])


def _quality_known(comparison: Comparison) -> np.ndarray:
    """Rows that neighbours were counted from: all scored rows, or the anchors of a sample."""
    known = np.zeros(comparison.n_rows, dtype=bool)
    for values in comparison.per_row.values():
        known |= np.isfinite(values)
    return known


def _payload(comparison: Comparison, drawn: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
    """What the script draws from."""
    names = comparison.row_names
    return {
        "rows": _pack(numbers[drawn], np.int32),
        "names": None if names is None else [names[i] for i in drawn],
        "label": _label(comparison, drawn),
        "maps": [_map(comparison, name, drawn, Z) for name, Z in comparison.aligned().items()],
    }


def _pack(values: np.ndarray, kind: Any) -> str:
    """Little-endian bytes as base64: half the size of decimal text, and exact."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<")).tobytes()).decode()


def _columns(comparison: Comparison, data: Any, names: list[str], drawn: np.ndarray) -> list[dict[str, str]]:
    """As many of the first columns as the page has room for."""
    if data is None:
        return []
    if np.ndim(data) != 2 or len(data) != comparison.n_rows:
        raise ValueError(f"report: data must have {comparison.n_rows} rows and two axes; got shape {np.shape(data)}.")
    values = np.asarray(data)
    most = min(values.shape[1], MOST_COLUMNS, max(1, MOST_CELLS // max(1, len(drawn))))
    with np.errstate(over="ignore"):  # a number beyond single precision is shown as one without a value
        return [
            {"name": names[j] if j < len(names) else f"column {j}", "values": _pack(values[drawn, j], np.float32)}
            for j in range(most)
        ]


def _curves(chart: dict[str, Any]) -> dict[str, Any]:
    """The curves of one chart as numbers, for reading them off."""
    lines = [
        {
            "name": line["name"],
            "colour": line["colour"],
            "k": _pack(line["k"], np.int32),
            "r": _pack(line["values"], np.float32),
        }
        for line in chart["lines"]
    ]
    return {"longest": chart["longest"], "low": chart["low"], "lines": lines}


def _label(comparison: Comparison, drawn: np.ndarray) -> dict[str, Any] | None:
    labels = comparison.labels
    if labels is None:
        return None
    if labels.codes is not None:
        return {
            "name": labels.name,
            "classes": labels.classes,
            "values": _pack(labels.codes[drawn], np.int32),
        }
    return {"name": labels.name, "classes": None, "values": _pack(labels.values[drawn], np.float32)}


def _map(comparison: Comparison, name: str, drawn: np.ndarray, Z: np.ndarray) -> dict[str, Any]:
    outcome = next(o for o in comparison.outcomes if o.name == name)
    return {
        "name": name,
        "flat": outcome.n_components == 1,
        "xy": _pack(_unit_box(Z)[drawn], np.float32),
        "quality": _pack(comparison.per_row[name][drawn], np.float32),
    }


def _unit_box(Z: np.ndarray) -> np.ndarray:
    """Centred, and the same factor on both axes, so that the larger extent is 1: distances keep their proportions."""
    seen = Z[np.isfinite(Z).all(axis=1)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    extent = float((high - low).max()) or 1.0
    return (Z - (low + high) / 2) / extent
