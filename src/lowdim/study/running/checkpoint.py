"""Finished maps of a run in a folder, so that a run that was stopped goes on where it was.

Each map is written as soon as it is there: coordinates as a numpy file, the rest as JSON. Its name is a hash of the
data and of everything that decides the result, so a map is used again only for the same data and settings. A file
appears complete or not at all. Failed methods are not kept: they are tried again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim._core.runtime.files import write_atomically, write_text
from lowdim.study.columns import Table
from lowdim.study.data import Data
from lowdim.study.labels import Labels
from lowdim.study.method_list import Entry
from lowdim.study.running.one_method import Outcome, plain_parameters


def fingerprint(data: Data, labels: Labels | None = None) -> str:
    """A hash of the rows, of the categories beside them, and of the labels."""
    digest = hashlib.sha256(f"{data.rows.shape} {data.rows.dtype}".encode())
    digest.update(np.ascontiguousarray(data.rows).data)
    if data.table is not None:
        digest.update(fingerprint_of(data.table, "map").encode())
    if labels is not None:
        digest.update("\0".join(map(str, labels.values.tolist())).encode())
    return digest.hexdigest()


def fingerprint_of(table: Table, use: str | None = None) -> str:
    """A hash of the columns of a table (those of one use, or all), of their kinds and of their uses."""
    digest = hashlib.sha256()
    for column in table.columns:
        if use in (None, column.use):
            digest.update(f"{column.name}\0{column.kind}\0{column.use}\0".encode())
            digest.update("\0".join(column.levels).encode())
            plain = column.values.dtype.kind != "O"
            digest.update(column.values.tobytes() if plain else "\0".join(column.texts()).encode())
    return digest.hexdigest()


class Checkpoint:
    """The finished maps in one folder; `folder` None keeps nothing."""

    def __init__(self, folder: str | Path | None, data: Data, labels: Labels | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._rows, self._labels = fingerprint(data), fingerprint(data, labels)

    def _path(self, entry: Entry) -> Path | None:
        """Where a map is; None for an estimator whose parameters do not say all about it."""
        parameters = plain_parameters(entry.estimator)
        if self.folder is None or not hasattr(entry.estimator, "get_params") or not parameters:
            return None
        about: dict[str, Any] = {
            "data": self._labels if entry.target else self._rows,
            "name": entry.name,
            "class": f"{type(entry.estimator).__module__}.{type(entry.estimator).__qualname__}",
            "parameters": {k: v for k, v in parameters.items() if k not in ("n_jobs", "verbose", "callback")},
            "lowdim": lowdim.__version__,
        }
        text = json.dumps(about, sort_keys=True, default=str)
        return self.folder / hashlib.sha256(text.encode()).hexdigest()[:32]

    def find(self, entry: Entry) -> Outcome | None:
        """The map of an earlier run; its estimator is not fitted."""
        path = self._path(entry)
        if path is None or not path.with_suffix(".json").exists():
            return None
        try:
            about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            embedding = np.load(path.with_suffix(".npy"), allow_pickle=False)
            about["caution"]
        except (OSError, ValueError, KeyError):  # a file that cannot be read is made again
            return None
        return Outcome(
            entry.name, entry.baseline, entry.estimator, about["parameters"], about["seconds"], embedding, None,
            tuple(about["warnings"]), about["diagnostics"], about["caution"], reused=True,
        )  # fmt: skip

    def keep(self, entry: Entry, outcome: Outcome) -> None:
        """Write a finished map; the JSON file last, as it says that the map is there."""
        path = self._path(replace(entry, estimator=outcome.estimator))
        if path is None or outcome.embedding is None:
            return
        Z = outcome.embedding
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path.with_suffix(".npy"), lambda temporary: _save(temporary, Z))
        about = {
            "method": entry.name,
            "parameters": outcome.parameters,
            "seconds": outcome.seconds,
            "warnings": list(outcome.warnings),
            "diagnostics": outcome.diagnostics,
            "caution": outcome.caution,
        }
        write_text(path.with_suffix(".json"), json.dumps(about, allow_nan=False, default=str))


def _save(path: Path, Z: np.ndarray) -> None:
    with open(path, "wb") as stream:
        np.save(stream, Z, allow_pickle=False)
