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
from lowdim.report.column_views import (
    colour_columns,
    column_groups,
    given_colours,
    opening,
    shown_columns,
    verdict_columns,
)
from lowdim.report.curve_chart import curve_charts
from lowdim.report.explained import weighed
from lowdim.report.images import images
from lowdim.report.missing import MOST_LISTED, missing_cells
from lowdim.report.payload import curve_lines, drawn_rows, payload, quality_known
from lowdim.report.record import Compared
from lowdim.report.score_table import score_cells

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
    image_shape: Sequence[int] | None = None,
    imputation: Any = None,
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
    image_shape : (height, width) or (height, width, 3), optional
        Rows of `data` are images of this shape, shown where you point; columns named ``pixel_1_1``, ... need none.
    imputation : Imputation, optional
        What :func:`lowdim.impute` made of the same rows, with several draws: the linear map then shows where incomplete
        rows may be.
    """
    if max_points < 1:
        raise ValueError(f"report: max_points must be at least 1; got {max_points!r}.")
    drawn = drawn_rows(comparison, max_points)
    measures, rows = score_cells(comparison)
    numbers = np.arange(comparison.n_rows) if row_numbers is None else np.asarray(row_numbers)
    charts = curve_charts(comparison)
    names = list(columns or comparison.column_names or [])
    missing = missing_cells(comparison, data, names)
    answers = verdict_columns(comparison, drawn, None if missing is None else missing.per_row)
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
            **payload(comparison, drawn, numbers, imputation),
            "columns": [*columns_seen, *extra, *answers],
            "groups": {"columns": len(columns_seen), "positions": len(extra), "judged": len(answers)},
            "start": start,
            "title": title or "Comparison of maps",
            "shown": shown_columns(comparison, drawn),
            "images": images(comparison, data, names, image_shape, drawn),
            "charts": [curve_lines(one) for one in charts],
        },
        n_drawn=len(drawn),
        missing=missing,
        uncertain=_uncertain(imputation),
        **_about_columns(columns_seen),
        sampled=any("±" in text for row in rows for text in row["values"].values()),
        **_about(comparison),
    )  # fmt: skip


def _about(comparison: Compared) -> dict[str, Any]:
    """What the words of the page need of the comparison alone."""
    return {
        "trusted": _trusted(comparison),
        "weighed": weighed,
        "once": _once,
        "linear": next((o.name for o in comparison.outcomes if o.baseline and not o.name.startswith("random")), None),
        "n_known": int(quality_known(comparison).sum()),
        "column_groups": column_groups(comparison),
        "widths": sorted({o.n_components for o in comparison.outcomes if o.n_components is not None}),
    }


def _once(name: str, message: str) -> str:
    """A warning without the name of its class, where the name of the method says the same."""
    owner, colon, rest = message.partition(": ")
    return rest if colon and owner.lower() == name.replace("-", "").lower() else message


def _about_columns(columns: list[dict[str, Any]]) -> dict[str, Any]:
    """What the words of the page need of the columns that maps can be coloured by."""
    numeric = any(not column["classes"] for column in columns)
    return {"numeric": numeric, "finder": _example(columns), "n_coloured": len(columns), "most_listed": MOST_LISTED}


def _uncertain(imputation: Any) -> str:
    """What the ellipses are, in a sentence; empty without any."""
    if imputation is None:
        return ""
    return (
        f"Ellipses hold 95 % of the places that rows with missing cells have in {len(imputation.tables)} completed "
        "tables (multiple imputation)."
    )


def _example(columns: list[dict[str, Any]]) -> str:
    """Something that can be searched for in this page."""
    found = next((column["name"] for column in columns if not column["classes"] and len(column["name"]) <= 12), None)
    return f"{found} > 1" if found else "number"


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
