"""What a case is made of, and where cases are found.

A case file has a docstring (a title, an empty line, and what the columns of its tables mean) and these names:

``sizes``
    ``{"quick": [...], "full": [...]}``: dictionaries of plain values, one for each task.
``data(size)``
    The arrays of a task, by name. Made once in a process of its own, then read by every contender.
``ours``, ``peers``
    ``{name: Contender}``. The first of `ours` that ran is what ratios refer to.
``quality(data, size, results)``
    ``{name: {measure: number}}`` from what the contenders returned.
``kept(result, data, size)``, where answers are large
    The part of an answer that `quality` needs.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).resolve().parent / "cases"

Size = Mapping[str, Any]
Arrays = Mapping[str, Any]
Run = Callable[[], Arrays]


class Skip(Exception):
    """Raised by a case where something cannot be measured; the text says why."""


@dataclass(frozen=True)
class Contender:
    """One way to do the task.

    Attributes
    ----------
    prepare : callable
        ``prepare(data, size, threads)`` imports and sets up what is not measured, and returns the function without
        arguments that is. Its answer is a dictionary of arrays.
    needs : str
        Module without which the contender is skipped.
    clock : {"call", "warm", "process"}
        Measure the call; the second call, where the first one compiles; or everything from the start of the process
        until the answer is there.
    """

    prepare: Callable[[Arrays, Size, int], Run]
    needs: str
    clock: str = "call"

    def __post_init__(self) -> None:
        """Refuse a clock that does not exist."""
        if self.clock not in ("call", "warm", "process"):
            raise ValueError(f"Contender: clock must be 'call', 'warm' or 'process'; got {self.clock!r}.")


@dataclass(frozen=True)
class Case:
    """A case file that has been read."""

    name: str
    path: Path
    module: ModuleType

    @property
    def title(self) -> str:
        """First line of the file's docstring."""
        return (self.module.__doc__ or self.name).strip().splitlines()[0]

    @property
    def about(self) -> str:
        """The rest of the docstring."""
        return "\n".join((self.module.__doc__ or "").strip().splitlines()[2:])

    @property
    def contenders(self) -> dict[str, Contender]:
        """Ours, then the peers."""
        return {**self.module.ours, **self.module.peers}

    def is_ours(self, name: str) -> bool:
        """Whether a contender is ours."""
        return name in self.module.ours

    def sizes(self, *, quick: bool) -> list[dict[str, Any]]:
        """The tasks of one tier."""
        return [dict(size) for size in self.module.sizes["quick" if quick else "full"]]


def read(path: Path) -> Case:
    """The case in one file."""
    spec = importlib.util.spec_from_file_location(f"benchmark_case_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"benchmarks: no case in {path}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Case(path.stem.replace("_", "-"), path, module)


def find(names: list[str], folder: Path = FOLDER) -> list[Case]:
    """The named cases of a folder; all of them where none is named."""
    known = {path.stem.replace("_", "-"): path for path in sorted(folder.glob("[!_]*.py"))}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise KeyError(f"benchmarks: no case {unknown[0]!r}. There are: {', '.join(known)}.")
    return [read(known[name]) for name in names or known]


def label(size: Size) -> str:
    """A task in words: ``n 10,000, k 15``."""
    return ", ".join(
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in size.items()
    )
