"""`lowdim compare`: maps of a table by several methods, scores, and a report."""

from __future__ import annotations

import hashlib
import json
import shlex
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import lowdim
from lowdim._core.runtime.files import write_text, written_together
from lowdim.app import sources
from lowdim.app.arguments import method_parameters, read_options, scale, words
from lowdim.app.commands import large_files
from lowdim.app.console import (
    print_comparison,
    print_json,
    print_line,
    print_note,
    print_notes,
    print_warnings,
    progress,
)
from lowdim.app.embedding_files import comparison_frame
from lowdim.app.errors import UserError, with_option_names
from lowdim.app.exports import export
from lowdim.app.input_table import InputTable
from lowdim.app.output_paths import MAPS, check_apart, report_folder
from lowdim.app.serving.scatter_files import TILES
from lowdim.report.render import MOST_POINTS
from lowdim.study.methods import find

if TYPE_CHECKING:
    from lowdim.imputation.result import Imputation
    from lowdim.study.comparison import Comparison

RESULTS = ("embeddings.parquet", "embeddings.csv", "scores.json", "report.html", TILES)


def compare(arguments: Namespace) -> int:
    """Embed a table by several methods; write embeddings, scores and a report into one folder."""
    started, chosen = time.time(), _chosen(arguments.methods)
    parameters = method_parameters(arguments.set)
    table, parts = _table(arguments)
    run = _run_id(table, arguments)
    _check_draws(table, arguments)
    with report_folder(arguments.out, table.name, run, started) as (folder, said):
        check_apart({f"{n} in --out": folder / n for n in RESULTS}, {"the table that is read": arguments.source})
        print_notes(table)
        if said:
            print_note(said)
        with print_warnings("compare"), progress() as advance:
            result = lowdim.compare(
                table.table if table.distances is None else table.distances,
                methods=chosen,
                parameters=parameters,
                checkpoint=None if arguments.fresh or parts is not None else folder / MAPS,
                on_interrupt="score",
                progress=advance,
                **_given_distances(table),
                **_settings(arguments),
            )
        _say_what_was_kept(result)
        placing = parts is not None and result.drawn is not None and arguments.max_rows is None
        result = _told(large_files.told_of_places(result, placing), table, arguments)
        page = _write_results(result, table, folder, arguments, run)
        if placing:
            large_files.place_rest(result, table, parts, folder / large_files.PLACES, arguments)
    if arguments.json:
        print_json({"report": str(page.resolve()), **result.to_dict()})
    else:
        print_line(f"report: {page.resolve()}")
        if placing:
            print_line(f"all {parts.n_rows:,} rows: {folder / large_files.PLACES}")
        if result.n_rows > MOST_POINTS:
            print_line(f"all {result.n_rows:,} rows: lowdim view {shlex.quote(str(page.parent))}")
    return _say_if_stopped(result)


def _table(arguments: Namespace) -> tuple[InputTable, Any]:
    """The rows to compare; of a large file a sample, and the parts that hold all of them."""
    found = large_files.sampled(arguments)
    if found is not None:
        return found
    how = read_options(arguments, missing="keep", takes_distances=True)
    table = sources.load(arguments.source, how, seed=arguments.seed)
    return table if arguments.max_rows is None else _sample(table, arguments.max_rows, arguments.seed), None


def _settings(arguments: Namespace) -> dict[str, Any]:
    """What `lowdim.compare` takes as the command line has it."""
    same = ("n_components", "reference", "graph_neighbors", "device", "n_jobs", "own_process", "stability", "fractures")
    given = {name: getattr(arguments, name) for name in (*same, "limit_time", "limit_memory")}
    return given | {"scale": scale(arguments), "random_state": arguments.seed, "verdict": not arguments.no_verdict}


def _given_distances(table: InputTable) -> dict[str, Any]:
    """What `lowdim.compare` must know about distances instead of rows."""
    if table.distances is None:
        return {}
    return {"metric": "precomputed", "row_names": table.names, "y": table.labels, "label_name": table.label_name}


def _told(result: Comparison, table: InputTable, arguments: Namespace) -> Comparison:
    """Print the result, whose rows are called as in the file, the page and the exported table: from 1."""
    from lowdim.study.verdict import verdict_of

    if result.evidence is not None:
        evidence = replace(result.evidence, row_numbers=table.numbers)
        result = replace(result, evidence=evidence, verdict=verdict_of(evidence))
    if not arguments.json:
        print_comparison(result, told=table.notes)
    return result


def _say_what_was_kept(result: Comparison) -> None:
    """Which maps an earlier run had finished: their times are of that run."""
    kept = [outcome.name for outcome in result.outcomes if outcome.reused]
    if kept:
        print_note(
            f"finished by an earlier run with the same data and settings, with the times of that run: "
            f"{', '.join(kept)}; --fresh makes all maps again"
        )


def _run_id(table: InputTable, arguments: Namespace) -> str:
    """Identifies data and settings: the same command on the same data has the same one."""
    from lowdim.study.running.checkpoint import fingerprint_of

    ignored = ("command", "traceback", "source", "out", "title", "n_jobs", "fresh", "json", "own_process", "cluster")
    settings = {key: value for key, value in vars(arguments).items() if key not in ignored}
    text = json.dumps(settings, sort_keys=True, default=str)
    distances = b"" if table.distances is None else table.distances.tobytes()
    return hashlib.sha256(f"{fingerprint_of(table.table)} {text}".encode() + distances).hexdigest()[:32]


def _say_if_stopped(result: Comparison) -> int:
    """After Ctrl-C: what is in the report, and how to go on."""
    from lowdim.study.running import NO_VERDICT, STOPPED

    left = [name for name, text in result.failures.items() if text == STOPPED]
    left += ["the verdict"] if NO_VERDICT in result.notes else []
    if not left:
        return 0
    print_line(
        f"stopped: without {', '.join(left)}. The same command goes on where it was: finished maps are kept.",
        error=True,
    )
    return 130


def _chosen(text: str | None) -> Any:
    """The methods named on the command line: a list, "all", or None for the default selection."""
    named = words(text)
    return "all" if named == ["all"] else [find(name).name for name in named] or None


def _sample(table: InputTable, most: int, seed: int) -> InputTable:
    from lowdim._core.runtime.rng import generator

    n = table.n_rows
    if most >= n:
        return table
    rows = np.sort(generator(seed).choice(n, most, replace=False))
    return replace(table, table=replace(table.table, drawn_from=n)).take(
        rows, f"a random sample of {most} of {n} rows is used (--max-rows); all results are about the sample"
    )


def _true_places(table: InputTable) -> dict[str, np.ndarray]:
    """Where the rows of a built-in set lie: what a map should unroll."""
    if table.frame is None:
        return {}
    return {
        f"{name.removeprefix('true_')}, the true position": table.frame[name].to_numpy()[table.table.rows]
        for name in table.positions
    }


def _write_results(result: Comparison, table: InputTable, folder: Path, arguments: Namespace, run: str) -> Path:
    """Write all files, the report last; they take the places of earlier ones together, when all are written."""
    from lowdim.report import render

    frame = comparison_frame(result, table)
    about = {"source": table.name, "run": run, "column_names": table.columns, "notes_on_data": list(table.notes)}
    text = json.dumps({**about, **result.to_dict()}, indent=1, allow_nan=False, ensure_ascii=False)
    maps = len(result.embeddings)
    title = arguments.title or f"{table.name}: {maps} map{'' if maps == 1 else 's'} compared"
    with written_together(folder) as parts:
        for name in RESULTS[:2]:
            export(parts / name, frame, keep_formulas=arguments.keep_formulas, shown=folder / name)
        write_text(parts / "scores.json", text + "\n")
        if maps and result.n_rows > MOST_POINTS:
            _write_tiles(result, table, parts / TILES, title, run)
        render.write(
            result,
            parts / "report.html",
            title=title,
            max_points=MOST_POINTS,
            source=table.name,
            columns=table.columns,
            row_numbers=table.numbers,
            notes=table.notes,
            colours=_true_places(table),
            imputation=_draws(result, table, arguments),
        )
    if not (maps and result.n_rows > MOST_POINTS):
        (folder / TILES).unlink(missing_ok=True)  # of an earlier comparison
    return folder / "report.html"


def _check_draws(table: InputTable, arguments: Namespace) -> None:
    """An error before the maps are made, where --draws could not be shown."""
    if arguments.draws and (table.distances is not None or arguments.n_components != 2):
        needs = "rows; the file has distances" if table.distances is not None else "--n-components 2"
        raise UserError(f"--draws needs {needs}.")


def _draws(result: Comparison, table: InputTable, arguments: Namespace) -> Imputation | None:
    """Completed tables, for the ellipses of incomplete rows; where there can be none, a note says why."""
    if not arguments.draws:
        return None
    from lowdim.report.missing import plane_of
    from lowdim.study.completion import draws_of

    scaled = result.treatment is not None and result.treatment.scaled
    try:
        found = draws_of(table.table, arguments.draws, scale=scaled, seed=arguments.seed, n_jobs=arguments.n_jobs)
        if found is None:
            print_note("no cell is missing, so that --draws has nothing to draw")
            return None
        plane_of(result, result.aligned(), found)
    except (ValueError, MemoryError) as problem:
        print_note(f"no ellipses of incomplete rows: {with_option_names(str(problem), 'compare')}")
        return None
    return found


def _write_tiles(result: Comparison, table: InputTable, path: Path, title: str, run: str) -> None:
    """All rows of all maps, for `lowdim view`: the report has a sample of them."""
    from lowdim.report.tiles import write
    from lowdim.report.tiles.compared import scatter_of

    numbers, colours = table.numbers, _true_places(table)
    made = scatter_of(result, title=title, row_numbers=numbers, colours=colours, notes=table.notes)
    write(made, path, seed=result.seed, run=run)
