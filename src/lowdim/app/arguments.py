"""What the arguments of a command say: words, kinds of columns, options for reading, parameters of a method."""

from __future__ import annotations

import ast
from argparse import Namespace
from typing import Any

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.study.suggestions import did_you_mean


def words(text: str | None) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()] if text else []


def read_options(arguments: Namespace, **more: Any) -> ReadOptions:
    return ReadOptions(
        label=arguments.label,
        names=arguments.names,
        drop=tuple(word for text in arguments.drop for word in words(text)),
        columns=tuple(words(arguments.columns)),
        kinds=_kinds(arguments.kinds),
        rows=arguments.rows,
        na=tuple(arguments.na),
        header=not arguments.no_header,
        has_header=arguments.header,
        thousands=arguments.thousands,
        sheet=arguments.sheet,
        layer=arguments.layer,
        distances=arguments.distances,
        image_size=arguments.image_size,
        image_colour=arguments.image_colour,
        separator=arguments.separator,
        decimal_comma=arguments.decimal_comma,
        encoding=arguments.encoding,
        array=arguments.array,
        **more,
    )


def _kinds(pairs: list[str]) -> tuple[tuple[str, str], ...]:
    """KIND:COLUMN arguments as (column, kind); several columns of a kind are separated by commas."""
    found = []
    for pair in pairs:
        kind, colon, columns = pair.partition(":")
        if not colon or not words(columns):
            raise UserError(f"--as must be KIND:COLUMN, such as category:island; got {pair!r}.")
        found += [(column, kind.strip().lower()) for column in words(columns)]
    return tuple(found)


def scale(arguments: Namespace) -> bool | str:
    return True if arguments.scale else False if arguments.no_scale else "auto"


def parameters_of(pairs: list[str], estimator: Any, owner: str) -> dict[str, Any]:
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
