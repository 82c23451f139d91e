"""The rule on the rows that a verdict speaks of, where they were drawn from more."""

from __future__ import annotations

from lowdim.study.verdict.evidence import Evidence
from lowdim.study.verdict.rules.words import listed
from lowdim.study.verdict.sentence import Sentence


def drawn(found: Evidence) -> list[Sentence]:
    """Of which rows does the verdict speak, and where are the others?"""
    rows = found.drawn
    if rows is None:
        return []
    text = (
        f"The maps and all that is said about them are of {rows.n:,} rows, drawn at random from {rows.n_all:,}; a "
        f"group of fewer than {rows.least:,} rows hardly shows among them."
    )
    if rows.placed:
        one = len(rows.placed) == 1
        text += f" {listed(list(rows.placed))} place{'s' if one else ''} the other rows: {rows.where}."
    if rows.left:
        reasons = "; ".join(f"{name}: {why}" for name, why in rows.left.items())
        text += f" They have no places in the maps of {listed(list(rows.left))} ({reasons})."
    return [Sentence("rows compared", text, {"rows": rows.n, "of": rows.n_all, "least": rows.least})]
