"""What the command line prints: tables to the output, progress and notes to the error stream."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid
from rich.text import Text

from lowdim.app.files import in_words_of_options

if TYPE_CHECKING:
    from lowdim.app.tables import Table
    from lowdim.study.comparison import Comparison
    from lowdim.study.references import Reference
    from lowdim.study.reproductions import Line, Reproduction

# The terminal shows what fits; the page and the JSON file hold every measure.
BRIEF = ("auc", "trustworthiness", "continuity", "scale_optimal_stress", "knn_error")


def console(error: bool = False) -> Console:
    """A console on the stream of this moment; wide where no terminal sets the width."""
    stream = sys.stderr if error else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else 140)


def print_line(text: str, error: bool = False) -> None:
    """Text as it is: nothing in it is markup, and no line is broken."""
    console(error).print(text, soft_wrap=True, markup=False, highlight=False)


@contextmanager
def print_warnings(name: str) -> Iterator[None]:
    """What was warned about inside, one line each on the error stream."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print_line(f"{name} warned: {' '.join(text.split())}", error=True)


@contextmanager
def progress(total: int) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on the error stream, gone when the work is done; nothing where there is no terminal."""
    if not sys.stderr.isatty():
        yield lambda step, done, of: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console(True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda step, done, of: bar.update(task, description=step, completed=done, total=of)


def print_notes(table: Table, what: str = "") -> None:
    """The rows and columns used, and what was noticed about the file."""
    names = ", ".join(table.columns[:8]) + (", ..." if len(table.columns) > 8 else "")
    label = f"; label: {table.label_name}" if table.label_name else ""
    line = f"{what or table.name}: {table.frame.height} rows, {table.frame.width} columns used ({names}){label}"
    for text in (line, *(f"note: {note}" for note in table.notes)):
        print_line(" ".join(text.split()), error=True)


def print_comparison(result: Comparison) -> None:
    """The brief table, then failures, warnings and notes."""
    from lowdim.report.tables import cells, heading

    measures, rows = cells(result)
    brief = [m for m in measures if m.key in BRIEF]
    print_line(heading(result))
    grid = Grid(box=None, pad_edge=False)
    grid.add_column("method")
    for name in ("r", "rows", *(m.heading for m in brief), "seconds"):
        grid.add_column(name, justify="right")
    for row in rows:
        method = Text(row["method"] + (" (baseline)" if row["baseline"] else ""))
        width = "–" if row["n_components"] is None else str(row["n_components"])
        grid.add_row(method, width, row["placed"], *(row["values"][m.key] for m in brief), f"{row['seconds']:.2f}")
    console().print(grid)
    lines = [f"{name} failed: {in_words_of_options(message)}" for name, message in result.failures.items()]
    lines += [f"{name} warned: {text}" for name, texts in result.warnings.items() for text in texts]
    for line in (*result.notes, *lines):
        print_line(" ".join(line.split()))


def print_scores(scores: dict[str, Any], against: Reference, placed: Table, *, as_json: bool) -> None:
    """The measures of one embedding, each on its line."""
    from lowdim.report.measures import MEASURES
    from lowdim.study.running import plain

    shape = placed.frame.shape
    about = {"rows": shape[0], "n_components": shape[1], "columns": placed.columns, "reference": against.name}
    if as_json:
        print_line(json.dumps({**about, **plain(scores)}, allow_nan=False, indent=1))
        return
    grid = Grid(box=None, pad_edge=False, show_header=False)
    grid.add_row("rows", str(shape[0]))
    grid.add_row("columns", Text(f"{shape[1]} ({', '.join(placed.columns)})"))
    grid.add_row("reference", Text(against.text))
    for measure in MEASURES:
        if scores.get(measure.key) is not None:
            grid.add_row(measure.heading, measure.show(plain(scores[measure.key])))
    console().print(grid)


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Names and what they stand for, side by side."""
    grid = Grid.grid(padding=(0, 2))
    for name, text in pairs:
        grid.add_row(Text(name), Text(text))
    console().print(grid)


def print_reproduction(found: Reproduction) -> None:
    """The published numbers, ours with their spread, and what is known about the difference."""
    print_line(found.title)
    print_line(f"Published: {found.source}")
    grid = Grid("", "published", "ours", "sd", box=None)
    for line in found.lines:
        grid.add_row(Text(line.what), Text(line.published), _number(line.ours), _number(line.spread))
    console().print(grid)
    print_line(f"Mean and standard deviation over {found.repeats} runs.")
    for note in found.notes:
        print_line(note)


def tell_line(line: Line) -> None:
    """A number of a long table, on the error stream as soon as it is known."""
    if line.ours is not None:
        print_line(f"{line.what}: {_number(line.ours)} (published: {line.published})", error=True)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
