"""The rules that turn numbers into sentences, in one table: its order is that of the verdict.

Each rule reads the evidence alone and gives at most a few sentences. Every sentence states its number, and names the
reference distance where it depends on it. Measures of the same question are not counted twice: one measure answers one
question. The words of a rule stand in one place: on structure in `of_structure`, on whole maps in `of_maps`, on their
rows and groups in `of_parts`; `words` holds what they share.
"""

from __future__ import annotations

from collections.abc import Callable

from lowdim.study.verdict.evidence import LEAST_ROWS, Evidence
from lowdim.study.verdict.rules.of_maps import (
    along,
    dimension,
    distances,
    labels,
    linear,
    neighbours,
    not_to_be_read,
    stability,
)
from lowdim.study.verdict.rules.of_parts import apart, between, gaps, groups, rows
from lowdim.study.verdict.rules.of_rows import drawn
from lowdim.study.verdict.rules.of_structure import order, structure
from lowdim.study.verdict.sentence import Sentence, Verdict


def few_rows(found: Evidence) -> list[Sentence]:
    """What can be read from maps of rows that are too few for a verdict."""
    if not found.maps or found.n_rows >= LEAST_ROWS:
        return []
    text = (
        f"Read from the {found.maps[0]} map which rows are near each other, and which are far from all others. Groups, "
        "gaps, and which map scores best can be chance."
    )
    if found.n_columns > found.n_rows:
        text += (
            f" With {found.n_columns:,} columns for {found.n_rows} rows, some columns tell any groups apart: a group "
            "needs other rows to confirm it."
        )
    numbers = {"rows": found.n_rows, "columns": found.n_columns or None}
    return [Sentence("few rows", text, numbers)]


def not_judged(found: Evidence) -> list[Sentence]:
    """What this verdict leaves open."""
    if "all" in found.skipped:
        return [Sentence("not judged", f"No verdict: {found.skipped['all']}."), *few_rows(found)]
    return [Sentence("not judged", f"Not judged: {name} ({reason}).") for name, reason in found.skipped.items()]


RULES: tuple[Callable[[Evidence], list[Sentence]], ...] = (
    drawn,  # of which rows does it speak?
    structure,  # is there any at all?
    order,  # do rows follow each other as in a series?
    neighbours,  # which map for neighbours?
    distances,  # which map for distances?
    not_to_be_read,  # what must not be read from the recommended map?
    along,  # are the data curved, and which map unrolls them?
    labels,  # which map keeps the classes together?
    rows,  # are its rows where they belong?
    apart,  # which rows does it show amid others that are apart from them?
    groups,  # which groups are real?
    between,  # may distances between groups be read?
    dimension,  # are so many columns enough?
    linear,  # would a linear map do?
    stability,  # would I see it again?
    gaps,  # which gaps does a map draw by itself?
    not_judged,  # what is left open?
)


def verdict_of(found: Evidence) -> Verdict:
    """The sentences that hold for this evidence."""
    sentences = [sentence for rule in RULES for sentence in rule(found)]
    return Verdict(tuple(sentences), found.recommended, found.verdicts, found.p_values)
