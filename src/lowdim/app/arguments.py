"""What the arguments of a command say: words, kinds of columns, options for reading, parameters of a method."""

from __future__ import annotations

import ast
from argparse import Namespace
from typing import Any

from lowdim.app.column_names import check_asked
from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.study.methods import find
from lowdim.study.parameters import check_known


def words(text: str | None) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()] if text else []


def read_options(arguments: Namespace, **more: Any) -> ReadOptions:
    """The options for reading; the columns they name are looked up when the file is known."""
    check_asked(arguments.kinds)
    return ReadOptions(
        label=arguments.label,
        label_file=getattr(arguments, "label_file", None),
        names=arguments.names,
        drop=tuple(arguments.drop),
        columns=tuple(arguments.columns),
        asked=tuple(arguments.kinds),
        rows=arguments.rows,
        drop_rows=tuple(arguments.drop_rows),
        keep_totals=arguments.keep_totals,
        na=tuple(arguments.na),
        header=not arguments.no_header,
        has_header=arguments.header,
        thousands=arguments.thousands,
        sheet=arguments.sheet,
        layer=arguments.layer,
        distances=arguments.distances,
        transpose=arguments.transpose,
        image_size=arguments.image_size,
        image_colour=arguments.image_colour,
        separator=arguments.separator,
        decimal_comma=arguments.decimal_comma,
        encoding=arguments.encoding,
        array=arguments.array,
        **more,
    )


def scale(arguments: Namespace) -> bool | str:
    return True if arguments.scale else False if arguments.no_scale else "auto"


def parameters_of(pairs: list[str], estimator: Any, owner: str) -> dict[str, Any]:
    """KEY=VALUE arguments as parameters; a value that is not a Python literal is text."""
    known, settings = estimator.get_params(deep=False), {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise UserError(f"--set must be KEY=VALUE; got {pair!r}.")
        check_known([key], known, owner)
        settings[key] = _literal(text)
    return settings


def method_parameters(pairs: list[str]) -> dict[str, dict[str, Any]]:
    """METHOD.KEY=VALUE arguments as parameters of each method; a mistake is an error before the table is read."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        before, equals, _ = pair.partition("=")
        name, dot, _ = before.partition(".")
        if not equals or not dot:
            raise UserError(f"--set must be METHOD.KEY=VALUE, such as umap.n_neighbors=30; got {pair!r}.")
        found.setdefault(find(name).name, []).append(pair[len(name) + 1 :])
    return {name: parameters_of(own, find(name).estimator(), name) for name, own in found.items()}


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
