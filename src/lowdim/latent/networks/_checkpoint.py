"""The state of a training in a file, so that an interrupted training can be resumed: arrays and JSON, no code.

A file is replaced as a whole or not at all. It holds a fingerprint of rows and settings, and is refused for others.
"""

from __future__ import annotations

import json
import math
import os
import time
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lowdim._core.runtime.files import write_atomically

Array = np.ndarray
ARRAYS = ("x", "first", "second", "best")  # of a state
EVERY = 5.0  # seconds between two writes
# Parameters that may differ between the training that was interrupted and the one that resumes it.
FREE = ("callback", "checkpoint", "device", "max_iter", "n_jobs", "verbose")


@dataclass(frozen=True, eq=False)
class Trained:
    """The parameters kept, and how they were found."""

    x: Array
    losses: Array
    held: Array
    restarts: Array
    converged: bool
    train_rows: Array  # of the rows given: those trained on
    held_rows: Array


@dataclass(eq=False)
class State:
    """All that the next epoch depends on, for one start."""

    x: Array
    first: Array
    second: Array
    best: Array
    best_loss: float = math.inf
    steps: int = 0
    epoch: int = 0
    stalled: int = 0
    rate: float = 1.0  # factor on the learning rate, beside its schedule
    retreats: int = 0
    decays: int = 0  # of the rate, at plateaus
    begun: int = 0  # the epoch of the last of them
    losses: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)
    done: bool = False

    @classmethod
    def at(cls, x: Array) -> State:
        return cls(x, np.zeros_like(x), np.zeros_like(x), x.copy())

    @classmethod
    def of(cls, arrays: dict[str, Array], values: dict[str, Any]) -> State:
        """A state as it was written."""
        x, first, second, best = (arrays[name].copy() for name in ARRAYS)
        return cls(x, first, second, best, **values)

    def arrays(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in ARRAYS}

    def values(self) -> dict[str, Any]:
        held = (
            "best_loss",
            "steps",
            "epoch",
            "stalled",
            "rate",
            "retreats",
            "decays",
            "begun",
            "losses",
            "held",
            "done",
        )
        return {name: getattr(self, name) for name in held}


class Checkpoint:
    """Where a training writes its state; with path None nothing is written."""

    def __init__(self, path: str | os.PathLike[str] | None, owner: str, mark: str) -> None:
        self.path, self.owner, self.mark = path, owner, mark
        self._written = -EVERY

    @classmethod
    def of(cls, path: Any, owner: str, parameters: Mapping[str, Any], rows: np.ndarray) -> Checkpoint:
        """For the parameters of an estimator and its scaled rows."""
        if path is None:
            return cls(None, owner, "")
        settings = {name: value for name, value in sorted(parameters.items()) if name not in FREE}
        if not isinstance(settings["random_state"], (int, np.integer)):
            settings["random_state"] = None  # a generator has no name; the seed drawn from it is in the state
        kept = {name: repr(value) for name, value in settings.items()}
        mark = json.dumps([owner, kept, list(rows.shape), zlib.crc32(np.ascontiguousarray(rows).view(np.uint8))])
        return cls(path, owner, mark)

    def read(self) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """Numbers and arrays of the state, if there is a file; it must be of these rows and settings."""
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
                "to train from scratch."
            ) from error
        if mark != self.mark:
            raise ValueError(
                f"{self.owner}: checkpoint {os.fsdecode(self.path)!r} must be of the same rows and settings; it "
                "belongs to another training. Give another path, or delete it to train from scratch."
            )
        return values, arrays

    def write(self, values: dict[str, Any], arrays: dict[str, np.ndarray], *, now: bool = False) -> None:
        """Write the state, if the last write is some seconds ago or with `now`."""
        if self.path is None or (not now and time.monotonic() - self._written < EVERY):
            return
        text = json.dumps({"mark": self.mark, "values": values}).encode()
        members: dict[str, Any] = {**arrays, "document": np.frombuffer(text, dtype=np.uint8)}

        def save(temporary: Any) -> None:
            with open(temporary, "wb") as stream:
                np.savez(stream, **members)

        write_atomically(self.path, save, owner=self.owner)
        self._written = time.monotonic()
