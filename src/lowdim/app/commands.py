"""What each command does; `cli` parses the arguments.

Methods and measures are imported where they are used, so that an error in a file name comes at once.
"""

from __future__ import annotations

import ast
import json
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import lowdim
from lowdim._core.runtime.files import write_text
from lowdim.app import sources
from lowdim.app.console import (
    print_comparison,
    print_line,
    print_notes,
    print_pairs,
    print_reproduced,
    print_reproduction,
    print_scores,
    print_warnings,
    progress,
)
from lowdim.app.embedding_files import comparison_frame, embedding_frame, matching_rows, read_embedding
from lowdim.app.errors import UserError
from lowdim.app.file_formats import check_extension, write
from lowdim.app.input_table import InputTable, read
from lowdim.app.output_paths import check_apart, check_writable, make_folder
from lowdim.app.read_options import ReadOptions
from lowdim.study.methods import find, usual
from lowdim.study.reference_choice import check_rows_differ
from lowdim.study.suggestions import did_you_mean

if TYPE_CHECKING:
    from lowdim.study.comparison import Comparison


RESULTS = ("embeddings.parquet", "embeddings.csv", "scores.json", "report.html")


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()] if text else []


def _read_options(arguments: Namespace, **more: Any) -> ReadOptions:
    return ReadOptions(
        label=arguments.label,
        names=arguments.names,
        drop=tuple(arguments.drop),
        columns=tuple(_words(arguments.columns)),
        rows=arguments.rows,
        na=tuple(arguments.na),
        header=not arguments.no_header,
        separator=arguments.separator,
        decimal_comma=arguments.decimal_comma,
        encoding=arguments.encoding,
        array=arguments.array,
        **more,
    )


def compare(arguments: Namespace) -> None:
    """Embed a table by several methods; write embeddings, scores and a report into one folder."""
    chosen = [find(name).name for name in _words(arguments.methods)] or None
    table = sources.load(arguments.source, _read_options(arguments, missing="keep"), seed=arguments.seed)
    if arguments.max_rows is not None:
        table = _sample(table, arguments.max_rows, arguments.seed)
    check_rows_differ(table.X, arguments.source, "the table")
    folder = Path(arguments.out or f"lowdim-report-{table.name}")
    check_apart({f"{name} in --out": folder / name for name in RESULTS}, {"the table that is read": arguments.source})
    make_folder(folder)
    print_notes(table)
    with progress(len(chosen or usual()) + 4) as advance:
        result = lowdim.compare(
            table.frame,
            table.labels,
            chosen,
            n_components=arguments.n_components,
            reference=arguments.reference,
            graph_neighbors=arguments.graph_neighbors,
            scale=arguments.scale,
            label_name=table.label_name,
            row_names=table.names,
            random_state=arguments.seed,
            n_jobs=arguments.n_jobs,
            memory_limit=arguments.memory_limit,
            progress=advance,
        )
    print_comparison(result)
    page = _write_results(result, table, folder, arguments.title)
    print_line(f"report: {page.resolve()}")


def _sample(table: InputTable, most: int, seed: int) -> InputTable:
    from lowdim._core.runtime.rng import generator

    n = table.frame.height
    if most >= n:
        return table
    rows = np.sort(generator(seed).choice(n, most, replace=False))
    return table.take(
        rows, f"a random sample of {most} of {n} rows is used (--max-rows); all results are about the sample"
    )


def _write_results(result: Comparison, table: InputTable, folder: Path, title: str | None) -> Path:
    """Write all files, the report last: where it exists, the other files do too."""
    from lowdim.report import render

    frame = comparison_frame(result, table)
    for name in RESULTS[:2]:
        write(folder / name, frame)
    about = {"source": table.name, "column_names": table.columns, "notes_on_data": list(table.notes)}
    text = json.dumps({**about, **result.to_dict()}, indent=1, allow_nan=False, ensure_ascii=False)
    write_text(folder / "scores.json", text + "\n")
    maps = len(result.embeddings)
    return render.write(
        result,
        folder / "report.html",
        title=title or f"{table.name}: {maps} map{'' if maps == 1 else 's'} compared",
        source=table.name,
        columns=table.columns,
        row_numbers=table.numbers,
        data=table.X,
        notes=table.notes,
    )


def fit(arguments: Namespace) -> None:
    """Fit one method; save the model and the embedding."""
    method = find(arguments.method, "fit")
    estimator = method.estimator(
        n_components=arguments.n_components, random_state=arguments.seed, n_jobs=arguments.n_jobs
    )
    estimator.set_params(**_settings(arguments.set, estimator, method.name))
    out = check_writable(arguments.out)
    embedding = Path(arguments.embedding or out.with_name(f"{out.stem}-embedding.csv"))
    check_extension(embedding)
    check_writable(embedding)
    check_apart({"the model": out, "the embedding": embedding}, {"the table that is read": arguments.source})
    table = sources.load(arguments.source, _read_options(arguments, missing="keep", min_rows=2), seed=arguments.seed)
    print_notes(table)
    with progress(1) as advance, print_warnings(method.name), lowdim.config(memory_limit=arguments.memory_limit):
        advance(method.title, 0, 1)
        Z = np.asarray(estimator.fit_transform(table.frame))
    lowdim.save(estimator, out)
    _write_embedding(embedding, estimator, Z, table)
    print_line(f"model: {out}\nembedding: {embedding}")


def _write_embedding(path: str | Path, estimator: Any, Z: np.ndarray, table: InputTable) -> Path:
    names = [str(name) for name in estimator.get_feature_names_out()]
    return write(path, embedding_frame(names, Z, table), names)


def _settings(pairs: list[str], estimator: Any, owner: str) -> dict[str, Any]:
    """KEY=VALUE arguments as parameters; a value that is not a Python literal is text."""
    known, settings = estimator.get_params(deep=False), {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise UserError(f"--set must be KEY=VALUE; got {pair!r}.")
        if key not in known:
            hint = did_you_mean(key, known)
            raise UserError(f"{owner} has no parameter {key!r}.{hint} It has: {', '.join(known)}.")
        settings[key] = _literal(text)
    return settings


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def transform(arguments: Namespace) -> None:
    """Embed new rows with a saved model; columns are matched by name if the model was fitted with names."""
    if not Path(arguments.model).is_file():
        raise UserError(f"no such model file: {arguments.model}")
    check_extension(arguments.out)
    check_writable(arguments.out)
    inputs = {"the table that is read": arguments.source, "the model": arguments.model}
    check_apart({"--out": arguments.out}, inputs)
    model = lowdim.load(arguments.model)
    names = tuple(str(name) for name in getattr(model, "feature_names_in_", []))
    table = read(arguments.source, _read_options(arguments, missing="keep", min_rows=1, needed=names))
    rows = table.frame if names else table.X
    width = getattr(model, "n_features_in_", table.frame.width)
    if table.frame.width != width:
        raise UserError(
            f"{arguments.source}: must have {width} columns, as the model was fitted with; got {table.frame.width}."
        )
    print_notes(table)
    with print_warnings("transform"), lowdim.config(memory_limit=arguments.memory_limit):
        Z = np.asarray(model.transform(rows))
    print_line(f"embedding: {_write_embedding(arguments.out, model, Z, table)}")


def score(arguments: Namespace) -> None:
    """Score one embedding."""
    from lowdim.study.column_scales import scaled
    from lowdim.study.labels import labels_of
    from lowdim.study.reference_choice import choose_reference
    from lowdim.study.scoring import score_each

    table = sources.load(arguments.source, _read_options(arguments), seed=arguments.seed)
    embedding = read_embedding(arguments.embedding, arguments.map, tuple(_words(arguments.embedding_columns)))
    table = matching_rows(embedding, table, arguments.embedding)
    print_notes(table)
    print_notes(embedding.table, "embedding")
    X, Z, name = table.X, embedding.table.X, embedding.table.name
    check_rows_differ(X, arguments.source, "the table")
    X = scaled(X) if arguments.scale else X
    against = choose_reference(
        arguments.reference, X, graph_neighbors=arguments.graph_neighbors, n_jobs=arguments.n_jobs, owner="score"
    )
    labels = None if table.labels is None else labels_of(table.labels, len(X), table.label_name, "score")
    with lowdim.config(memory_limit=arguments.memory_limit):
        scored, notes = score_each(
            {name: Z}, against, scale={name: arguments.has_scale}, labels=labels, n_jobs=arguments.n_jobs,
            seed=arguments.seed,
        )  # fmt: skip
    for note in (*notes, *([labels.note] if labels is not None and labels.note else [])):
        print_line(f"note: {note}", error=True)
    print_scores(scored[name].scores, against, embedding.table, as_json=arguments.json)


def datasets(arguments: Namespace) -> None:
    """List the built-in data sets, or write one to a file."""
    if arguments.name is None:
        if arguments.out:
            raise UserError("--out needs the name of a data set: lowdim datasets NAME --out FILE.")
        sources.print_list()
        return
    data = sources.generate(arguments.name, n_samples=arguments.n_samples, noise=arguments.noise, seed=arguments.seed)
    if arguments.out is None:
        print_line(str(data))
        return
    check_extension(arguments.out)
    check_writable(arguments.out)
    path = write(arguments.out, sources.frame_of(data, coordinates=arguments.coordinates))
    print_line(f"data: {path}")


def reproduce(arguments: Namespace) -> None:
    """Repeat a published experiment and print our results beside the published ones."""
    from lowdim.study import reproductions

    if arguments.name is None:
        print_pairs((name, reproductions.title_of(name)) for name in reproductions.EXPERIMENTS)
        return
    with progress(arguments.repeats or 1) as advance:
        settings = {"repeats": arguments.repeats, "random_state": arguments.seed}
        found = reproductions.reproduce(arguments.name, **settings, advance=advance, tell=print_reproduced)
    if arguments.json:
        print_line(json.dumps(asdict(found), indent=2))
    else:
        print_reproduction(found)
