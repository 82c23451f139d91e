"""What the command line prints: results to stdout, progress, notes and warnings to stderr."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table as Grid
from rich.text import Text

from lowdim._core.runtime.printable import printable, printable_json
from lowdim.app.column_names import quoted
from lowdim.app.errors import with_option_names
from lowdim.report.column_views import MOST_LISTED, alike
from lowdim.study.columns.kinds import short

if TYPE_CHECKING:
    from lowdim.app.embedding_files import EmbeddingTable
    from lowdim.app.input_table import InputTable
    from lowdim.study.columns import Column, Table
    from lowdim.study.comparison import Comparison
    from lowdim.study.reference_choice import ReferenceChoice
    from lowdim.study.reproductions import Line, Reproduction

# Measures that fit on a terminal; the report and scores.json have all of them.
BRIEF = ("auc", "trustworthiness", "continuity", "scale_optimal_stress", "knn_error")

FEWEST_ALIKE = 4  # columns with the same kind, use and reason that are one line
LEGEND = {
    "auc": "AUC R_NX: neighbours that the map keeps, averaged over all numbers of neighbours (1 all, 0 by chance)",
    "trustworthiness": "Trust.: neighbours in the map are neighbours in the data (1 best)",
    "continuity": "Cont.: neighbours in the data are neighbours in the map (1 best)",
    "scale_optimal_stress": "Stress: error of the distances (0 best)",
    "knn_error": "1-NN error: share of rows whose nearest row in the map has another label",
}


def console(error: bool = False) -> Console:
    """A console on the current stdout or stderr; 140 characters wide where it is not a terminal."""
    stream = sys.stderr if error else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else 140)


def print_line(text: str, error: bool = False) -> None:
    """Print one line of text: no markup, not wrapped, control characters as escapes."""
    _print(printable(text), error)


def _print(text: str, error: bool = False) -> None:
    console(error).print(text, soft_wrap=True, markup=False, highlight=False)


def print_json(value: Any) -> None:
    """Print a result as JSON on stdout."""
    from lowdim.study.json_values import plain

    _print(printable_json(json.dumps(plain(value), indent=1, allow_nan=False, ensure_ascii=False)))


@contextmanager
def print_warnings(name: str) -> Iterator[None]:
    """Print the warnings issued inside the block, one line each, on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print_line(f"{name} warned: {in_words(text.removeprefix(f'{name}: '))}", error=True)


@contextmanager
def progress() -> Iterator[Callable[[str, float, int], None]]:
    """Progress on stderr: a bar in a terminal, removed at the end; elsewhere one plain line for each step."""
    if not sys.stderr.isatty():
        yield _plain_progress()
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[where]}"), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console(True), transient=True) as bar:
        task = bar.add_task("", total=1, where="")

        def show(step: str, done: float, of: int) -> None:
            bar.update(task, description=step, completed=done, total=of, where=f"{int(done) + 1} of {of}")

        yield show


def _plain_progress() -> Callable[[str, float, int], None]:
    last = ""

    def show(step: str, done: float, of: int) -> None:
        nonlocal last
        if step != last:  # not again for parts of a step
            last = step
            print_line(f"{step} ({int(done) + 1} of {of})", error=True)

    return show


def print_notes(table: InputTable) -> None:
    """Print the number of rows, what was done with each column, and the notes about the file."""
    used, all_columns = len(table.columns), len(table.table.columns)
    of_all = "" if used == all_columns else f" of {all_columns}"
    columns = f"{used}{of_all} column{'s' * (all_columns != 1)}"
    if table.distances is not None:
        print_line(f"{table.name}: distances between {table.n_rows} items", error=True)
    else:
        print_line(f"{table.name}: {table.n_rows} rows, {columns} used", error=True)
        for line in column_lines(table.table):
            print_line(line, error=True)
    for note in table.notes:
        print_note(note)


def print_note(note: str) -> None:
    """Print a note on stderr, in words of the command line."""
    print_line(f"note: {in_words(note)}", error=True)


def in_words(text: str, command: str = "fit", method: str | None = None) -> str:
    """A text of the library as one line, in words of the command line."""
    return " ".join(with_option_names(text, command, method).split())


def column_lines(table: Table) -> list[str]:
    """One line for each column: name, kind, use and reason; many columns of one kind and use in one line."""
    rows: list[tuple[str, str, str, str]] = []
    for columns in alike(table.columns):
        kind, use = columns[0].kind, columns[0].use
        lines = [line for same in _same_reason(columns) for line in _lines(same, kind, use)]
        if len(lines) > MOST_LISTED:
            name = f"{columns[0].name} ... {columns[-1].name}"
            lines = [(name, kind, use, f"{len(columns)} columns; first: {_reason(columns[0])}")]
        rows += lines
    widths = [min(28, max((len(row[j]) for row in rows), default=0)) for j in range(3)]
    return [
        "  " + "  ".join([*(cell[:28].ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]


def _same_reason(columns: Sequence[Column]) -> list[list[Column]]:
    """The columns, those together that have the same to be said about them, such as the items of a questionnaire."""
    groups: dict[tuple[str, str], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.reason, column.doubt), []).append(column)
    return list(groups.values())


def _lines(columns: Sequence[Column], kind: str, use: str) -> list[tuple[str, str, str, str]]:
    if len(columns) < FEWEST_ALIKE:
        return [(column.name, kind, use, _reason(column)) for column in columns]
    listed = f"{len(columns)} columns alike: {_reason(replace(columns[0], about=''))}"
    return [(f"{columns[0].name} ... {columns[-1].name}", kind, use, listed)]


def _reason(column: Column) -> str:
    reason = f"{short(column.about, 60)}: {column.reason}" if column.about else column.reason
    if not column.doubt:
        return reason
    name = quoted(column.name)
    way = f"--label {name}" if column.other == "label" else f"--as {column.other}:{name}"
    return f"{reason}; {column.doubt}: {way}" if column.other else f"{reason}; {column.doubt}"


def print_comparison(result: Comparison, told: Sequence[str] = ()) -> None:
    """Print the verdict, a short table of scores, then notes that were not told before, failures and warnings."""
    from lowdim.report.score_table import heading, score_cells
    from lowdim.study.running import STOPPED

    for sentence in result.verdict.sentences:
        print_line(f"- {in_words(sentence.text, 'compare')}")
    if result.verdict.sentences:
        print_line("")
    measures, rows = score_cells(result)
    brief = [m for m in measures if m.key in BRIEF]
    print_line(heading(result))
    grid = Grid(box=None, pad_edge=False)
    grid.add_column("method")
    for name in ("r", "rows", *(m.heading for m in brief), "seconds"):
        grid.add_column(name, justify="right")
    for row in rows:
        method = Text(printable(row["method"]) + (" (baseline)" if row["baseline"] else ""))
        width = "–" if row["n_components"] is None else str(row["n_components"])
        grid.add_row(method, width, row["embedded"], *(row["values"][m.key] for m in brief), f"{row['seconds']:.2f}")
    console().print(grid)
    print_line(f"r: columns of the map. {'. '.join(LEGEND[m.key] for m in brief)}.")
    chosen = [f"methods: {'; '.join(result.panel)}"] if result.panel else []
    for line in (*chosen, *(note for note in result.notes if note not in told)):
        print_line(in_words(line, "compare"))
    for name, message in result.failures.items():
        failed = "" if message == STOPPED else " failed"
        print_line(f"{name}{failed}: {in_words(message, 'compare', name)}")
    for name, texts in result.warnings.items():
        for text in texts:
            print_line(f"{name} warned: {in_words(text, 'compare', name)}")


def print_scores(scores: dict[str, Any], against: ReferenceChoice, placed: EmbeddingTable, *, as_json: bool) -> None:
    """Print the measures of one embedding, one per line."""
    from lowdim.report.measures import MEASURES
    from lowdim.study.json_values import plain

    shape = placed.Z.shape
    about = {"rows": shape[0], "n_components": shape[1], "columns": list(placed.columns), "reference": against.name}
    if as_json:
        print_json({**about, **scores})
        return
    grid = Grid(box=None, pad_edge=False, show_header=False)
    grid.add_row("rows", str(shape[0]))
    grid.add_row("columns", Text(printable(f"{shape[1]} ({', '.join(placed.columns)})")))
    grid.add_row("reference", Text(against.text))
    for measure in MEASURES:
        if scores.get(measure.key) is not None:
            grid.add_row(measure.heading, measure.show(plain(scores[measure.key])))
    console().print(grid)


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names and their descriptions in two columns."""
    grid = Grid.grid(padding=(0, 2))
    for name, text in pairs:
        grid.add_row(Text(name), Text(text))
    console().print(grid)


def print_reproduction(found: Reproduction) -> None:
    """Print the published numbers, ours with their standard deviation, and notes on the differences."""
    print_line(found.title)
    print_line(f"Published: {found.source}")
    grid = Grid("", "published", "ours", "sd", box=None)
    for line in found.lines:
        grid.add_row(Text(line.what), Text(line.published), _number(line.ours), _number(line.spread))
    console().print(grid)
    print_line(f"Mean and standard deviation over {found.repeats} runs.")
    for note in found.notes:
        print_line(note)


def print_reproduced(line: Line) -> None:
    """Print one result of a long experiment on stderr as soon as it is computed."""
    if line.ours is not None:
        print_line(f"{line.what}: {_number(line.ours)} (published: {line.published})", error=True)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
