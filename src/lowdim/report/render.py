"""The report: one HTML file that needs neither network nor server.

All texts in the template are escaped; numbers are base64 inside a JSON script element that the browser does not
execute; a content security policy forbids loading anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lowdim._core.runtime.files import write_text
from lowdim._core.runtime.rng import generator
from lowdim.report.column_views import (
    colour_columns,
    column_groups,
    given_colours,
    opening,
    pack,
    shown_columns,
    verdict_columns,
)
from lowdim.report.curve_chart import curve_charts
from lowdim.report.explained import explained
from lowdim.report.record import Compared
from lowdim.report.score_table import score_cells
from lowdim.report.truth import truth

PAGE = Path(__file__).parent / "page"
STATIC = Path(__file__).parent / "static"
MOST_POINTS = 100_000  # rows of a page that is one file; `tiles` are for more


def write(
    comparison: Compared,
    path: str | Path,
    *,
    title: str | None = None,
    max_points: int = MOST_POINTS,
    **about: Any,
) -> Path:
    """Write the page atomically; `about` are further arguments of `render`."""
    return write_text(path, render(comparison, title=title, max_points=max_points, **about), owner="report")


def render(
    comparison: Compared,
    *,
    title: str | None = None,
    max_points: int = MOST_POINTS,
    source: str | None = None,
    columns: Sequence[str] | None = None,
    row_numbers: np.ndarray | None = None,
    data: Any = None,
    notes: Sequence[str] = (),
    colours: Mapping[str, Any] | None = None,
) -> str:
    """The page as text.

    Parameters
    ----------
    comparison : Compared
        The comparison to show.
    title : str, optional
        The heading.
    max_points : int
        The largest number of rows drawn; of more rows a random sample, as the page states.
    source : str, optional
        Name of the data.
    columns : sequence of str, optional
        Names of the columns used.
    row_numbers : ndarray, optional
        The number shown for each row. Default: 0, 1, 2, ...
    data : array of shape (n_rows, n_columns), optional
        The data, so that maps can be coloured by a column and the values of a row are shown; of a comparison of a
        table they are known. Of many columns the first ones, as the page states.
    notes : sequence of str
        Notes about the data.
    colours : mapping of str to array, optional
        Further quantities to colour the maps by, one value for each row; the first is what the page opens with.
    """
    if max_points < 1:
        raise ValueError(f"report: max_points must be at least 1; got {max_points!r}.")
    drawn = _drawn(comparison, max_points)
    measures, rows = score_cells(comparison)
    numbers = np.arange(comparison.n_rows) if row_numbers is None else np.asarray(row_numbers)
    charts = curve_charts(comparison)
    answers = verdict_columns(comparison, drawn)
    names = list(columns or comparison.column_names or [])
    columns_seen = colour_columns(comparison, data, names, drawn)
    extra = given_colours(colours, comparison.n_rows, drawn)
    start, why = opening(comparison, columns_seen, extra, answers)
    return environment().get_template("report.html").render(
        **bundle(),
        c=comparison,
        title=title or "Comparison of maps",
        source=source,
        columns=names,
        notes=[*notes, *comparison.notes, *why],
        measures=measures,
        rows=rows,
        charts=charts,
        data={
            **_payload(comparison, drawn, numbers),
            "columns": [*columns_seen, *extra, *answers],
            "groups": {"columns": len(columns_seen), "positions": len(extra), "judged": len(answers)},
            "start": start,
            "title": title or "Comparison of maps",
            "shown": shown_columns(comparison, drawn),
            "charts": [_curves(one) for one in charts],
        },
        n_drawn=len(drawn),
        n_coloured=len(columns_seen),
        trusted=_trusted(comparison),
        explained=explained,
        sampled=any("±" in text for row in rows for text in row["values"].values()),
        n_known=int(_quality_known(comparison).sum()),
        column_groups=column_groups(comparison),
        widths=sorted({o.n_components for o in comparison.outcomes if o.n_components is not None}),
    )  # fmt: skip


def _questions(comparison: Compared) -> list[dict[str, Any]]:
    """For each question the maps that were ranked, best first, with those that are not behind beyond chance."""
    rankings = {} if comparison.evidence is None else comparison.evidence.rankings
    return [
        {
            "name": r.question, "measure": r.measure, "ties": list(r.ties),
            "values": [[name, round(float(value), 4)] for name, value in r.values.items()],
        }
        for r in rankings.values()
    ]  # fmt: skip


def _trusted(comparison: Compared) -> dict[str, Counter[str]]:
    """Method -> how many rows have each verdict."""
    return {name: Counter(found.tolist()) for name, found in comparison.verdict.rows.items()}


def environment() -> Any:
    """Where the templates are; all that is put into them is escaped."""
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


def bundle(page: str = "report") -> dict[str, Any]:
    """Script and style of a page, each with the hash that its content security policy allows."""
    from markupsafe import Markup

    parts: dict[str, Any] = {}
    for name, file in (("script", f"{page}.js"), ("style", f"{page}.css")):
        text = (STATIC / file).read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        parts |= {name: Markup(text), f"{name}_hash": Markup(f"sha256-{digest}")}
    return parts


def _drawn(comparison: Compared, most: int) -> np.ndarray:
    """The rows to draw: all, or a random sample (repeatable by the seed), rows of known quality first."""
    n = comparison.n_rows
    if n <= most:
        return np.arange(n)
    shuffled = generator(comparison.seed).permutation(n)
    known = _quality_known(comparison)[shuffled]
    return np.sort(np.concatenate([shuffled[known], shuffled[~known]])[:most])


def _quality_known(comparison: Compared) -> np.ndarray:
    """Rows that were ranked from: all scored rows, or a sample of them."""
    known = np.zeros(comparison.n_rows, dtype=bool)
    for values in comparison.per_row.values():
        known |= np.isfinite(values)
    return known


def _payload(comparison: Compared, drawn: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
    """The data that the script draws."""
    names = comparison.row_names
    return {
        "rows": pack(numbers[drawn], np.int32),
        "names": None if names is None else [names[i] for i in drawn],
        "label": _label(comparison, drawn),
        "questions": _questions(comparison),
        "recommended": comparison.verdict.recommended,
        "truth": truth(comparison, drawn),
        "maps": [
            _map(comparison, name, drawn, Z)
            for name, Z in comparison.aligned().items()
            if name not in comparison.copies
        ],
    }


def _curves(chart: dict[str, Any]) -> dict[str, Any]:
    """The curves of one chart as numbers, for the values shown under the pointer."""
    lines = [
        {
            "name": line["name"],
            "colour": line["colour"],
            "k": pack(line["k"], np.int32),
            "r": pack(line["values"], np.float32),
        }
        for line in chart["lines"]
    ]
    return {"longest": chart["longest"], "low": chart["low"], "lines": lines}


def _label(comparison: Compared, drawn: np.ndarray) -> dict[str, Any] | None:
    labels = comparison.labels
    if labels is None:
        return None
    if labels.codes is not None:
        return {
            "name": labels.name,
            "classes": labels.classes,
            "values": pack(labels.codes[drawn], np.int32),
        }
    return {"name": labels.name, "classes": None, "values": pack(labels.values[drawn], np.float32)}


def _map(comparison: Compared, name: str, drawn: np.ndarray, Z: np.ndarray) -> dict[str, Any]:
    outcome = next(o for o in comparison.outcomes if o.name == name)
    return {
        "name": name,
        "flat": outcome.n_components == 1,
        "xy": pack(_unit_box(Z)[drawn], np.float32),
        "quality": pack(comparison.per_row[name][drawn], np.float32),
    }


def _unit_box(Z: np.ndarray) -> np.ndarray:
    """Centred and scaled by one factor, so that the larger extent is 1."""
    seen = Z[np.isfinite(Z).all(axis=1)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    extent = float((high - low).max()) or 1.0
    return (Z - (low + high) / 2) / extent
