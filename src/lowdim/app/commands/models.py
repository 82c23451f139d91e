"""`lowdim fit`, `lowdim transform` and `lowdim inverse`: models in files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import lowdim
from lowdim.app import sources
from lowdim.app.arguments import parameters_of, read_options, scale
from lowdim.app.commands import large_files
from lowdim.app.console import print_json, print_line, print_note, print_notes, print_warnings, progress
from lowdim.app.embedding_files import embedding_frame, read_embedding
from lowdim.app.errors import UserError
from lowdim.app.exports import export
from lowdim.app.file_formats import check_extension
from lowdim.app.input_table import InputTable, read
from lowdim.app.output_paths import check_apart, check_writable
from lowdim.study.columns import Kind
from lowdim.study.methods import Method, find

if TYPE_CHECKING:
    from lowdim.study.data import Data


def fit(arguments: Namespace) -> None:
    """Fit one method; save the model and the embedding."""
    method = find(arguments.method, "fit")
    out = check_writable(arguments.out)
    how = read_options(arguments, missing="keep", min_rows=2, takes_distances=True, unknown_pairs=method.name == "mds")
    parts = large_files.in_parts(arguments.source, how, arguments.cluster)
    embedding = Path(arguments.embedding or out.with_name(f"{out.stem}-embedding.{'parquet' if parts else 'csv'}"))
    check_extension(embedding)
    check_writable(embedding)
    check_apart({"the model": out, "the embedding": embedding}, {"the table that is read": arguments.source})
    if arguments.set:
        parameters_of(arguments.set, method.estimator(), method.name)  # a mistake is said before the table is read
    if parts is not None:
        with print_warnings(method.name):
            estimator = large_files.fit(
                parts, out, embedding, how, arguments, partial(_fitted, method, arguments=arguments)
            )
    else:
        table = sources.load(arguments.source, how, seed=arguments.seed)
        print_notes(table)
        estimator, model, Z = _fitted(method, table, arguments)
        lowdim.save(model, out)
        _write_embedding(embedding, model, Z, table, arguments)
    _print_fit(method, estimator, {"model": str(out), "embedding": str(embedding)}, as_json=arguments.json)


def _fitted(method: Method, table: InputTable, arguments: Namespace) -> tuple[Any, Any, np.ndarray]:
    """The estimator with the user's parameters, fitted; the model of tables like this one; and the embedding."""
    from lowdim.study.columns import Wishes
    from lowdim.study.data import data_of, data_of_distances
    from lowdim.study.labels import labels_of
    from lowdim.study.method_list import Entry
    from lowdim.study.running import fitted
    from lowdim.study.settings import Settings

    if table.distances is None:
        data = data_of(table.table, Wishes(owner="fit"), scale(arguments), least_rows=2)
    else:
        items = table.names or []
        frame = pl.DataFrame(table.distances, schema=items) if len(set(items)) == len(table.distances) else None
        data = data_of_distances(table.distances, "fit", unknown=True, frame=frame)
    labels = None if table.labels is None else labels_of(table.labels, table.n_rows, table.label_name, "fit")
    settings = Settings.for_data(data, labels, arguments.n_components, arguments.seed, arguments.n_jobs)
    estimator = method.estimator(**settings.of(method))
    estimator.set_params(**parameters_of(arguments.set, estimator, method.name))
    if data.distances:
        _check_takes_distances(method, estimator, arguments.source)
    for note in _notes_on(data, table, estimator):
        print_note(note)
    with progress() as advance, print_warnings(method.name), lowdim.config(memory_limit=arguments.limit_memory):
        advance(method.title, 0, 1)
        Z = np.asarray(fitted(Entry(method.name, estimator, target=method.target), data, labels, named=True))
    return estimator, data.model(estimator), Z


def _notes_on(data: Data, table: InputTable, estimator: Any) -> list[str]:
    """What was done to the rows that this method sees, beyond the notes on the file."""
    from lowdim.study.data import DIVIDED
    from lowdim.study.methods import keeps_units

    unscaled = keeps_units(estimator)
    more = [note for note in data.notes if note not in table.notes and not (unscaled and DIVIDED in note)]
    return [*more, *_on_form(estimator, data)]


def _on_form(estimator: Any, data: Data) -> list[str]:
    """What a method sees of a table with categories, in words."""
    from lowdim.study.data import takes_categories
    from lowdim.study.methods import keeps_units

    if data.mixed is None:
        return []
    if keeps_units(estimator) and not takes_categories(estimator):
        return ["the columns of numbers alone are used, in their own units"]
    if not takes_categories(estimator):
        return ["each category is a column of ones and zeros, and numbers are standardised; the model does it too"]
    return ["distances are Gower's"] if getattr(estimator, "metric", None) == "gower" else []


def _check_takes_distances(method: Method, estimator: Any, source: str) -> None:
    from lowdim.study.data import takes_distances
    from lowdim.study.methods import methods
    from lowdim.study.settings import MEASURING

    if not takes_distances(estimator):
        measuring = [one for one in methods().values() if one.group in MEASURING]
        able = [one.name for one in measuring if takes_distances(one.estimator(metric="precomputed"))]
        raise UserError(
            f"{source}: {method.name} needs rows, and the file has distances between items. Use a method on distances "
            f"({', '.join(able)}); --distances no reads the table as rows and columns."
        )


def _print_fit(method: Method, estimator: Any, files: dict[str, str], *, as_json: bool) -> None:
    from lowdim.study.running import diagnostics, plain_parameters

    if as_json:
        about = {"parameters": plain_parameters(estimator), "diagnostics": diagnostics(estimator)}
        print_json({"method": method.name, **files, **about})
        return
    for what, path in files.items():
        print_line(f"{what}: {path}")
    for name, value in diagnostics(estimator).items():
        print_line(f"{name.rstrip('_')}: {_shown(value)}")


def _shown(value: Any) -> str:
    """A diagnostic in one line, with four digits."""
    if isinstance(value, list):
        return ", ".join(_shown(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _write_embedding(path: str | Path, estimator: Any, Z: np.ndarray, table: InputTable, arguments: Namespace) -> Path:
    names = [str(name) for name in estimator.get_feature_names_out()]
    return export(path, embedding_frame(names, Z, table), names, keep_formulas=arguments.keep_formulas)


def transform(arguments: Namespace) -> None:
    """Embed new rows with a saved model; columns are matched by name if the model was fitted with names."""
    model = _load(arguments.model)
    check_extension(arguments.out)
    check_writable(arguments.out)
    inputs = {"the table that is read": arguments.source, "the model": arguments.model}
    check_apart({"--out": arguments.out}, inputs)
    from lowdim.study.data import takes_distances  # after the checks, which are quick

    if takes_distances(model):  # of new items, in rows, to the fitted ones: no matter what the table looks like
        arguments.distances = arguments.distances or "no"
    how = read_options(arguments, missing="keep", min_rows=1, **needed_of(model))
    parts = large_files.in_parts(arguments.source, how, arguments.cluster)
    if parts is not None:
        with print_warnings("transform"), lowdim.config(memory_limit=arguments.limit_memory):
            large_files.transform(parts, model, how, arguments)
        return
    table = read(arguments.source, how)
    width = getattr(model, "n_features_in_", len(table.columns))
    if len(table.columns) != width:
        raise UserError(
            f"{arguments.source}: must have {width} columns, as the model was fitted with; got {len(table.columns)}."
        )
    print_notes(table)
    with print_warnings("transform"), lowdim.config(memory_limit=arguments.limit_memory):
        Z = np.asarray(model.transform(seen_by(model, table)))
    path = _write_embedding(arguments.out, model, Z, table, arguments)
    if arguments.json:
        print_json({"embedding": str(path), "rows": len(Z), "n_components": Z.shape[1]})
    else:
        print_line(f"embedding: {path}")


def seen_by(model: Any, table: InputTable) -> Any:
    """What a model places: the table where it treats the columns itself, else their values."""
    from lowdim.study.columns.table_model import TableModel

    if isinstance(model, TableModel):
        return table.table
    return table.table.frame() if hasattr(model, "feature_names_in_") else table.X


def _are_numbers(categories: Iterable[Any]) -> bool:
    """Whether categories are numbers: of columns of numbers in MCA."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in categories)


def inverse(arguments: Namespace) -> None:
    """Rows from coordinates, with a saved model."""
    check_extension(arguments.out)
    check_writable(arguments.out)
    check_apart({"--out": arguments.out}, {"the coordinates": arguments.embedding, "the model": arguments.model})
    model = _load(arguments.model)
    if not hasattr(model, "inverse_transform"):
        raise UserError(f"{arguments.model}: {type(model).__name__} has no inverse.")
    given = read_embedding(arguments.embedding, arguments.map, tuple(arguments.embedding_columns))
    if np.isnan(given.Z).any():
        raise UserError(f"{arguments.embedding}: {int(np.isnan(given.Z).sum())} coordinates are missing.")
    with print_warnings("inverse"), lowdim.config(memory_limit=arguments.limit_memory):
        rows = np.asarray(model.inverse_transform(given.Z))
    names = getattr(model, "feature_names_in_", [str(j + 1) for j in range(rows.shape[1])])
    columns = {str(name): rows[:, j].tolist() for j, name in enumerate(names)}
    path = export(arguments.out, pl.DataFrame(columns, strict=False), keep_formulas=arguments.keep_formulas)
    if arguments.json:
        print_json({"rows": str(path), "n_rows": len(rows), "n_columns": rows.shape[1]})
    else:
        print_line(f"rows: {path}")


def _load(path: str) -> Any:
    if not Path(path).is_file():
        raise UserError(f"no such model file: {path}")
    return lowdim.load(path)


def needed_of(model: Any) -> dict[str, Any]:
    """The columns that a model was fitted with, and what they held."""
    names = tuple(str(name) for name in getattr(model, "feature_names_in_", []))
    from lowdim._core.distances import fitted_categories, fitted_orders
    from lowdim.study.columns.table_model import TableModel

    if isinstance(model, TableModel):
        wishes = model.wishes()
        known = {"kinds": wishes.kinds, "values": wishes.fitted, "conversions": wishes.conversions}
        return {"needed": names, **{f"needed_{key}": tuple(value.items()) for key, value in known.items()}}
    categories = fitted_categories(model) or [None] * len(names)
    orders = fitted_orders(model) or [False] * len(names)
    kinds: list[Kind] = []
    for found, ordered in zip(categories, orders, strict=True):
        number = found is None or _are_numbers(found)
        kinds.append(tuple(found or ()) if ordered else "number" if number else "category")
    values = tuple((name, tuple(found)) for name, found in zip(names, categories, strict=True) if found is not None)
    return {"needed": names, "needed_kinds": tuple(zip(names, kinds, strict=True)), "needed_values": values}
