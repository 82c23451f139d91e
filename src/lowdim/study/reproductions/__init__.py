"""Published experiments, run again: ours beside the printed number, with what is known about the difference.

An experiment is a module here with a `TITLE`, a `SOURCE`, where 10 are too many its number of `REPEATS`, and a function
`run(repeats, rng, advance)` that gives the lines of its table (one by one, where each takes long) and its notes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from lowdim._core.runtime.rng import generator
from lowdim.study.suggestions import did_you_mean

EXPERIMENTS = {
    "helix-missing": "helix_missing",
    "incomplete-swiss-roll": "incomplete_swiss_roll",
    "kpca-svm": "kpca_svm",
    "table-4.1": "table_4_1",
    "table-4.2": "table_4_2",
}


@dataclass(frozen=True)
class Line:
    """One number of a publication beside ours: mean and standard deviation over the repeats (None: not run)."""

    what: str
    published: str
    ours: float | None
    spread: float | None


@dataclass(frozen=True)
class Reproduction:
    """What was run again, and what came out."""

    name: str
    title: str
    source: str
    repeats: int
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def title_of(name: str) -> str:
    """What an experiment is about."""
    return _module(name).TITLE


def reproduce(
    name: str,
    *,
    repeats: int | None = None,
    random_state: Any = 0,
    advance: Callable[[str, int, int], None] | None = None,
    tell: Callable[[Line], None] | None = None,
) -> Reproduction:
    """Run a published experiment again.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    repeats : int or None
        Independent draws of the data; the table shows their mean and standard deviation. None: as many as the
        experiment's `REPEATS`, or 10.
    random_state : int, generator or None
        Seed of the draws.
    advance : callable or None
        Called with a step's name, the steps done and their number.
    tell : callable or None
        Called with each line as soon as it is known, where the experiment gives them one by one.

    Returns
    -------
    Reproduction
        Published numbers beside ours.
    """
    if name not in EXPERIMENTS:
        hint = did_you_mean(name, list(EXPERIMENTS))
        raise ValueError(f"reproduce: no experiment is called {name!r}.{hint} There are: {', '.join(EXPERIMENTS)}.")
    module = _module(name)
    repeats = getattr(module, "REPEATS", 10) if repeats is None else repeats
    lines, notes = module.run(repeats, generator(random_state), advance or (lambda step, done, of: None))
    kept = []
    for line in lines:
        kept.append(line)
        if tell is not None and not isinstance(lines, list):
            tell(line)
    return Reproduction(name, module.TITLE, module.SOURCE, repeats, tuple(kept), tuple(notes))


def _module(name: str) -> Any:
    return import_module(f"lowdim.study.reproductions.{EXPERIMENTS[name]}")
