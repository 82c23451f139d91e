"""What the report needs of a comparison; `lowdim.Comparison` has these attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np


class Method(Protocol):
    """One method of a comparison; `n_components` is None if it failed."""

    @property
    def name(self) -> str: ...
    @property
    def baseline(self) -> bool: ...
    @property
    def n_components(self) -> int | None: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def diagnostics(self) -> dict[str, Any]: ...
    @property
    def linear(self) -> bool: ...


class Label(Protocol):
    """A label for each row: classes with the code of each row (-1: none), or a quantity (NaN: none)."""

    @property
    def name(self) -> str: ...
    @property
    def values(self) -> np.ndarray: ...
    @property
    def missing(self) -> np.ndarray: ...
    @property
    def classes(self) -> list[str] | None: ...
    @property
    def codes(self) -> np.ndarray | None: ...


class ShownColumn(Protocol):
    """A column of the table: its kind, its use ("map", "label", "name", "shown", "left out") and the reason.

    `values` are numbers with NaN for the kind "number", and objects with None for the kinds "category" and "ordinal";
    `levels` are the values of the kind "ordinal" in their order, else empty.
    """

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def use(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def doubt(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def levels(self) -> Sequence[str]: ...
    @property
    def values(self) -> np.ndarray: ...
    @property
    def missing(self) -> np.ndarray: ...
    def texts(self) -> list[str]: ...


class ReferenceText(Protocol):
    """The reference distances: a name, a phrase, and the number of columns they were computed from."""

    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def n_columns(self) -> int | None: ...


class Answers(Protocol):
    """The verdict: sentences with a topic, a text and the section with its evidence; the map to look at first."""

    @property
    def sentences(self) -> Sequence[Any]: ...
    @property
    def recommended(self) -> str | None: ...
    @property
    def rows(self) -> Mapping[str, np.ndarray]: ...  # method -> "trusted", "unsure" or "misplaced" for each row
    @property
    def p_values(self) -> Mapping[str, np.ndarray]: ...


class Compared(Protocol):
    """A comparison of several methods on the same rows."""

    @property
    def outcomes(self) -> Sequence[Method]: ...
    @property
    def table(self) -> list[dict[str, Any]]: ...  # a row for each method: its name, scores, seconds, error
    @property
    def scores(self) -> Mapping[str, dict[str, Any]]: ...  # method -> measure -> value, of methods that succeeded
    @property
    def curves(self) -> Mapping[str, np.ndarray]: ...  # method -> R_NX for K = 1, 2, ...
    @property
    def per_row(self) -> Mapping[str, np.ndarray]: ...  # method -> quality of each row
    def aligned(self) -> Mapping[str, np.ndarray]: ...  # method -> coordinates to draw, two columns
    @property
    def original_error(self) -> float | None: ...
    @property
    def failures(self) -> Mapping[str, str]: ...
    @property
    def warnings(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def labels(self) -> Label | None: ...
    @property
    def opening_colour(self) -> Any: ...  # column, method and why, where maps without labels open with a column
    @property
    def reference(self) -> ReferenceText: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def rows_scored(self) -> np.ndarray: ...
    @property
    def row_names(self) -> list[str] | None: ...
    @property
    def column_names(self) -> list[str] | None: ...
    @property
    def columns(self) -> Sequence[ShownColumn]: ...  # all columns of a table; empty if an array was compared
    @property
    def panel(self) -> Sequence[str]: ...  # why these methods
    @property
    def verdict(self) -> Answers: ...
    @property
    def evidence(self) -> Any: ...  # the numbers behind the verdict; None if there is none
    @property
    def data_copy(self) -> Any: ...  # how far rows are from each other in the data; None if that is not known
    @property
    def copies(self) -> Mapping[str, str]: ...  # method -> an earlier one with the same map
    @property
    def seed(self) -> int: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def seconds(self) -> float: ...
