"""Tables that are too large to be read at once: fitted, placed and compared part by part, here or on a cluster.

What the columns are is found out from a random sample, as if it was the table.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import lowdim
from lowdim.app.arguments import read_options
from lowdim.app.console import print_json, print_line, print_note, progress
from lowdim.app.errors import UserError
from lowdim.app.input_table import InputTable
from lowdim.app.large import parts as sizes
from lowdim.app.large.parts import Here, Parts, Runner, parts_of
from lowdim.app.large.placing import Placed, Seen, called, check_parquet, place, sample_of, seen_part, write_map
from lowdim.app.read_options import ReadOptions

if TYPE_CHECKING:
    from lowdim.study.comparison import Comparison

BY_SUMS = ("PCA", "Whitening")  # fitted to all rows in this process, batch after batch
PLACES = "places.parquet"


@contextmanager
def runner_of(address: str | None, parts: Parts) -> Iterator[Runner]:
    """This process, or the cluster at an address, whose workers must see the file."""
    if address is None:
        yield Here()
        return
    try:
        from lowdim._core.streams.dask_cluster import connected
    except ModuleNotFoundError as lost:
        raise UserError(f"--cluster needs {lost.name}; install it with: pip install 'lowdim[dask]'") from lost
    try:
        with connected(address) as cluster:
            if blind := cluster.see(parts.path):
                raise UserError(
                    f"{parts.path} is not seen by {len(blind)} workers of the cluster (first: {blind[0]}). Put it "
                    "where all of them see it, under the same path."
                )
            yield cluster
    except ConnectionError as problem:
        raise UserError(f"--cluster: {problem}") from problem


def in_parts(source: str, how: ReadOptions, address: str | None) -> Parts | None:
    """The parts of a large table; of any table that has parts where a cluster is to read it."""
    found = parts_of(source, how, least=None if address is None else 0)
    if found is None and address is not None:
        raise UserError(
            f"{source}: --cluster is for .npy, Parquet and text files, which are read in parts; this one is read at "
            "once. Leave --cluster away."
        )
    return found


def fit(parts: Parts, out: Path, embedding: Path, how: ReadOptions, arguments: Namespace, fitted: Any) -> Any:
    """Fit one method; `fitted(table)` gives estimator and model of a table in memory. The estimator."""
    check_parquet(embedding, "--embedding")
    with runner_of(arguments.cluster, parts) as runner:
        table = sample_of(parts, how, arguments.seed, runner)
        estimator, model, _ = fitted(table)
        seen = Seen(parts, model, replace(how, label=None, names=None))
        if parts.n_rows > table.n_rows and _reads_all(estimator, runner):
            estimator, model = _on_all_rows(seen, estimator, runner)
        elif parts.n_rows > table.n_rows:
            print_note(
                f"fitted to a random sample of {table.n_rows} of {parts.n_rows} rows; the others are placed by it"
            )
        lowdim.save(model, out)
        if getattr(estimator, "embedding_", np.empty(0)).shape[0] == parts.n_rows:
            write_map(estimator.embedding_, [str(name) for name in model.get_feature_names_out()], embedding)
        else:
            place(Placed(parts, (("", model),), called(table, how)), embedding, runner)
    return estimator


def _reads_all(estimator: Any, runner: Any) -> bool:
    """Whether a method is fitted to every row: any on a cluster; here those that add sums, or choose landmarks."""
    from lowdim._core.marks_blocks import chooses_landmarks

    by_sums = type(estimator).__name__ in BY_SUMS and getattr(estimator, "solver", "auto") in ("auto", "covariance")
    return hasattr(runner, "table") or by_sums or chooses_landmarks(estimator)


def _on_all_rows(seen: Seen, estimator: Any, runner: Any) -> tuple[Any, Any]:
    """The estimator and the model of tables, fitted to every row: by sums here, by blocks on a cluster."""
    from sklearn.base import clone  # when it is needed: errors come before scikit-learn is there

    from lowdim._core.marks_blocks import chooses_landmarks

    borders, found = seen.parts.borders(), clone(estimator)
    if hasattr(runner, "table"):
        print_note(f"all {seen.parts.n_rows} rows are read by the cluster, in {len(borders)} blocks")
        counts = [stop - start for start, stop in borders]
        found.fit(runner.table(seen_part, seen, borders, counts, seen.rows(borders[0])))
    else:
        print_note(f"all {seen.parts.n_rows} rows are read, {borders[0][1]} at a time")
        with progress() as advance, lowdim.config(sample_rows=sizes.SAMPLE):
            if chooses_landmarks(estimator):
                found.fit(_each(seen, borders, advance))
            else:
                for rows in _each(seen, borders, advance):
                    found.partial_fit(rows)
    return found, found if seen.model is estimator else replace(seen.model, estimator=found)


def _each(seen: Seen, borders: list[tuple[int, int]], advance: Any) -> Iterator[Any]:
    for at, border in enumerate(borders):
        advance("reading rows", at, len(borders))
        yield seen.rows(border)


def transform(parts: Parts, model: Any, how: ReadOptions, arguments: Namespace) -> None:
    """Place all rows, and write them as they come."""
    check_parquet(arguments.out, "--out")
    with runner_of(arguments.cluster, parts) as runner:
        place(Placed(parts, (("", model),), how), Path(arguments.out), runner)
    if arguments.json:
        print_json({"embedding": str(arguments.out), "rows": parts.n_rows})
    else:
        print_line(f"embedding: {arguments.out}")


def sampled(arguments: Namespace) -> tuple[InputTable, Parts] | None:
    """Random rows of a large table to compare, and its parts; None for all other tables."""
    how = read_options(arguments, missing="keep")
    parts = in_parts(arguments.source, how, arguments.cluster)
    if parts is None:
        return None
    with runner_of(arguments.cluster, parts) as runner:
        table = sample_of(parts, how, arguments.seed, runner, arguments.max_rows)
    note = f"a random sample of {table.n_rows} of {parts.n_rows} rows is compared"
    if arguments.max_rows is not None:
        note += " (--max-rows); no others are placed"
    return replace(table, notes=(*table.notes, note) if table.n_rows < parts.n_rows else table.notes), parts


def place_rest(result: Comparison, table: InputTable, parts: Parts, out: Path, arguments: Namespace) -> None:
    """The places of all rows, in the maps of the methods that place rows."""
    assert result.drawn is not None
    models = tuple((name, result.model(name)) for name in result.drawn.placed)
    how = replace(called(table, read_options(arguments, missing="keep")), columns=(), drop=(), asked=())
    with runner_of(arguments.cluster, parts) as runner:
        place(Placed(parts, models, how), out, runner)


def told_of_places(result: Comparison, placed: bool) -> Comparison:
    """The comparison, which says where the other rows are."""
    from lowdim.study.verdict import verdict_of

    if result.drawn is None:
        return result
    drawn = replace(result.drawn, where=PLACES) if placed else replace(result.drawn, placed=(), left={})
    result = replace(result, drawn=drawn)
    if result.evidence is None:
        return result
    evidence = replace(result.evidence, drawn=drawn)
    return replace(result, evidence=evidence, verdict=verdict_of(evidence))
