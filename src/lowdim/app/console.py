"""What the command line prints: results to stdout, progress, notes and warnings to stderr."""

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

from lowdim.app.errors import with_option_names

if TYPE_CHECKING:
    from lowdim.app.input_table import InputTable
    from lowdim.study.comparison import Comparison
    from lowdim.study.reference_choice import ReferenceChoice
    from lowdim.study.reproductions import Line, Reproduction

# Measures that fit on a terminal; the report and scores.json have all of them.
BRIEF = ("auc", "trustworthiness", "continuity", "scale_optimal_stress", "knn_error")


def console(error: bool = False) -> Console:
    """A console on the current stdout or stderr; 140 characters wide where it is not a terminal."""
    stream = sys.stderr if error else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else 140)


def print_line(text: str, error: bool = False) -> None:
    """Print text as it is: no markup, no wrapped lines."""
    console(error).print(text, soft_wrap=True, markup=False, highlight=False)


@contextmanager
def print_warnings(name: str) -> Iterator[None]:
    """Print the warnings issued inside the block, one line each, on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print_line(f"{name} warned: {' '.join(text.split())}", error=True)


@contextmanager
def progress(total: int) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on stderr, removed at the end; nothing where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda step, done, of: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console(True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda step, done, of: bar.update(task, description=step, completed=done, total=of)


def print_notes(table: InputTable, what: str = "") -> None:
    """Print the number of rows and columns used, and the notes about the file."""
    names = ", ".join(table.columns[:8]) + (", ..." if len(table.columns) > 8 else "")
    label = f"; label: {table.label_name}" if table.label_name else ""
    line = f"{what or table.name}: {table.frame.height} rows, {table.frame.width} columns used ({names}){label}"
    for text in (line, *(f"note: {note}" for note in table.notes)):
        print_line(" ".join(text.split()), error=True)


def print_comparison(result: Comparison) -> None:
    """Print a short table of scores, then notes, failures and warnings."""
    from lowdim.report.score_table import heading, score_cells

    measures, rows = score_cells(result)
    brief = [m for m in measures if m.key in BRIEF]
    print_line(heading(result))
    grid = Grid(box=None, pad_edge=False)
    grid.add_column("method")
    for name in ("r", "rows", *(m.heading for m in brief), "seconds"):
        grid.add_column(name, justify="right")
    for row in rows:
        method = Text(row["method"] + (" (baseline)" if row["baseline"] else ""))
        width = "–" if row["n_components"] is None else str(row["n_components"])
        grid.add_row(method, width, row["embedded"], *(row["values"][m.key] for m in brief), f"{row['seconds']:.2f}")
    console().print(grid)
    lines = [f"{name} failed: {with_option_names(message)}" for name, message in result.failures.items()]
    lines += [f"{name} warned: {text}" for name, texts in result.warnings.items() for text in texts]
    for line in (*result.notes, *lines):
        print_line(" ".join(line.split()))


def print_scores(scores: dict[str, Any], against: ReferenceChoice, placed: InputTable, *, as_json: bool) -> None:
    """Print the measures of one embedding, one per line."""
    from lowdim.report.measures import MEASURES
    from lowdim.study.json_values import plain

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
