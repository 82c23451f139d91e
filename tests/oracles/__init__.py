"""Frozen results of independent implementations, and the one way to read them.

`inputs/*.csv` are the data sets, `<case>/case.json` says which program computed a case from which of them,
how, and how closely it can be compared; `<case>/*.csv` are its results. Indices inside files count from 1, as
in R.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
_MISSING = {"", "NA", "NaN"}


def load_input(name: str) -> tuple[np.ndarray, list[str]]:
    """A data set and its column names: float64 with NaN for holes, or text where a column is not numeric."""
    header, rows = _read(HERE / "inputs" / f"{name.removesuffix('.csv')}.csv")
    return _table(rows), header


def load_expected(case_id: str, file: str) -> np.ndarray:
    """One stored result of a case, without its column of row names; a single column comes as a vector."""
    name = file.removesuffix(".csv")
    header, rows = _read(HERE / case_id / f"{name}.csv")
    if case(case_id)["files"].get(name, {}).get("first_column_is_name", False):
        header, rows = header[1:], [row[1:] for row in rows]
    table = _table(rows)
    return table[:, 0] if len(header) == 1 else table


def case(case_id: str) -> dict:
    """What `case.json` says: package, call, inputs, tolerances (`rtol`, `atol`), notes, scalars, files."""
    return json.loads((HERE / case_id / "case.json").read_text(encoding="utf-8"))


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as source:
        lines = list(csv.reader(source))
    return lines[0], lines[1:]


def _table(rows: list[list[str]]) -> np.ndarray:
    try:
        return np.array([[np.nan if cell in _MISSING else float(cell) for cell in row] for row in rows])
    except ValueError:
        return np.array(rows, dtype=object)
