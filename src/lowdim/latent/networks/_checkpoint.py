"""The state of a training in a file, so that a killed one goes on where it was: arrays and JSON, nothing that can run.

A file is replaced as a whole or not at all. It knows the rows and settings it belongs to, and is refused for others.
"""

from __future__ import annotations

import json
import os
import time
import zipfile
import zlib
from typing import Any

import numpy as np

from lowdim._core.runtime.files import write_atomically

EVERY = 5.0  # seconds between two writes
# What may differ between the training that was stopped and the one that goes on.
FREE = ("checkpoint", "device", "max_iter", "n_jobs", "verbose")


class Checkpoint:
    """Where a training writes its state; with path None it keeps nothing."""

    def __init__(self, path: str | os.PathLike[str] | None, owner: str, mark: str) -> None:
        self.path, self.owner, self.mark = path, owner, mark
        self._written = -EVERY

    @classmethod
    def of(cls, model: Any, rows: np.ndarray) -> Checkpoint:
        """For an estimator and its scaled rows."""
        owner, settings = type(model).__name__, model.get_params(deep=False)
        if model.checkpoint is None:
            return cls(None, owner, "")
        if not isinstance(settings["random_state"], (int, np.integer)):
            settings["random_state"] = None  # a generator has no name; the seed drawn from it is in the state
        kept = {name: repr(value) for name, value in sorted(settings.items()) if name not in FREE}
        mark = json.dumps([owner, kept, list(rows.shape), zlib.crc32(np.ascontiguousarray(rows).view(np.uint8))])
        return cls(model.checkpoint, owner, mark)

    def read(self) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """Numbers and arrays of the state, if a training of these rows with these settings left one."""
        if self.path is None or not os.path.exists(self.path):
            return None
        try:
            with open(self.path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            document = json.loads(arrays.pop("document").tobytes())
            mark, values = document["mark"], document["values"]
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{self.owner}: checkpoint {os.fsdecode(self.path)!r} is damaged or no checkpoint ({error}). Delete it "
                "to train from the start."
            ) from error
        if mark != self.mark:
            raise ValueError(
                f"{self.owner}: checkpoint {os.fsdecode(self.path)!r} must be of the same rows and settings; it "
                "belongs to another training. Give another path, or delete it to train from the start."
            )
        return values, arrays

    def write(self, values: dict[str, Any], arrays: dict[str, np.ndarray], *, now: bool = False) -> None:
        """Put the state on disk, if the last time is some seconds ago or it must be now."""
        if self.path is None or (not now and time.monotonic() - self._written < EVERY):
            return
        text = json.dumps({"mark": self.mark, "values": values}).encode()
        members: dict[str, Any] = {**arrays, "document": np.frombuffer(text, dtype=np.uint8)}

        def save(temporary: Any) -> None:
            with open(temporary, "wb") as stream:
                np.savez(stream, **members)

        write_atomically(self.path, save, owner=self.owner)
        self._written = time.monotonic()
