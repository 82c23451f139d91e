"""The table of scores as text for the terminal and as HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

from lowdim.report.measures import Measure, measures_in
from lowdim.report.record import Compared


def score_cells(comparison: Compared) -> tuple[list[Measure], list[dict[str, Any]]]:
    """The measures to show, and for each method the text of every cell."""
    table = comparison.table
    there = {key for row in table for key, value in row.items() if value is not None}
    measures = measures_in(there)
    rows = []
    for row in table:
        values = {m.key: m.show(row.get(m.key), row.get(f"{m.key}_interval")) for m in measures}
        rows.append({**row, "values": values, "embedded": f"{row['rows_embedded']}/{row['rows']}"})
    return measures, rows


def heading(comparison: Compared) -> str:
    """One line: methods, shape of the data, reference and seed."""
    c = comparison
    sizes = sorted({o.n_components for o in c.outcomes if o.n_components is not None})
    width = "/".join(map(str, sizes)) or "?"
    return (
        f"{len(c.outcomes)} methods, {c.n_rows} rows x {c.n_columns} column{'s' * (c.n_columns != 1)} -> {width}, "
        f"reference: {c.reference.name}, seed {c.seed}"
    )


def as_text(comparison: Compared) -> str:
    """The table as plain text."""
    measures, rows = score_cells(comparison)
    head = ["method", "r", "rows", *(m.heading for m in measures), "seconds"]
    body = []
    for row in rows:
        name = row["method"] + ("*" if row["baseline"] else "")
        width = "–" if row["n_components"] is None else str(row["n_components"])
        values = [row["values"][m.key] for m in measures]
        body.append([name, width, row["embedded"], *values, f"{row['seconds']:.2f}"])
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    lines = ["  ".join(t.ljust(w) if i == 0 else t.rjust(w) for i, (t, w) in enumerate(zip(line, widths, strict=True)))
             for line in [head, *body]]  # fmt: skip
    failures = [f"{name} failed: {message}" for name, message in comparison.failures.items()]
    warned = [f"{name} warned: {text}" for name, texts in comparison.warnings.items() for text in texts]
    tail = ["* baseline", *comparison.notes, *failures, *warned]
    return "\n".join([f"<Comparison: {heading(comparison)}>", *(line.rstrip() for line in lines), *tail])


def as_html(comparison: Compared) -> str:
    """The same table for notebooks; all texts are escaped."""
    measures, rows = score_cells(comparison)
    head = "".join(f'<th title="{escape(m.sentence)}">{escape(m.heading)}</th>' for m in measures)
    body = []
    for row in rows:
        name = escape(row["method"]) + (" <small>(baseline)</small>" if row["baseline"] else "")
        if row["error"]:
            body.append(
                f'<tr><th>{name}</th><td colspan="{len(measures) + 3}">failed: {escape(row["error"])}</td></tr>'
            )
            continue
        values = "".join(f"<td>{escape(row['values'][m.key])}</td>" for m in measures)
        body.append(
            f"<tr><th>{name}</th><td>{row['n_components']}</td><td>{row['embedded']}</td>{values}"
            f"<td>{row['seconds']:.2f}</td></tr>"
        )
    notes = "".join(f"<p>{escape(note)}</p>" for note in comparison.notes)
    warned = "".join(
        f"<li>{escape(name)}: {escape(text)}</li>" for name, texts in comparison.warnings.items() for text in texts
    )
    return (
        f"<div><p>{escape(heading(comparison))}</p><table><thead><tr><th>method</th><th>r</th><th>rows</th>{head}"
        f"<th>seconds</th></tr></thead><tbody>{''.join(body)}</tbody></table>{notes}"
        f"{f'<p>Warnings</p><ul>{warned}</ul>' if warned else ''}</div>"
    )
