"""Published experiments repeated: our results beside the published ones, with notes on the differences.

An experiment is a module with a `TITLE`, a `SOURCE`, its number of `REPEATS` if it is not 10, and a function
`run(repeats, rng, advance)` that returns the lines of its table (as an iterator if each takes long) and its notes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from lowdim._core.runtime.rng import generator
from lowdim.study.suggestions import did_you_mean

EXPERIMENTS = {
    "car-prices": "lectures.car_prices",
    "cocktail-party": "lectures.cocktail_party",
    "concentric-spheres": "lectures.concentric_spheres",
    "conic": "lectures.conic",
    "curse-of-dimensionality": "lectures.curse_of_dimensionality",
    "denoising": "lectures.denoising",
    "eigenfaces": "lectures.eigenfaces",
    "helix-missing": "helix_missing",
    "incomplete-swiss-roll": "incomplete_swiss_roll",
    "kernel-functions": "lectures.kernel_functions",
    "kernel-widths": "kernel_widths",
    "kpca-svm": "kpca_svm",
    "lle-weights": "lectures.lle_weights",
    "noisy-circle": "lectures.noisy_circle",
    "pca-and-lda": "lectures.pca_and_lda",
    "pca-of-digits": "lectures.pca_of_digits",
    "rnx-areas": "rnx_areas",
    "scalings": "lectures.scalings",
    "selection": "lectures.selection",
    "spiral": "lectures.spiral",
    "supplementary-rows": "lectures.supplementary_rows",
    "swiss-roll-maps": "swiss_roll_maps",
    "table-4.1": "table_4_1",
    "table-4.2": "table_4_2",
}


@dataclass(frozen=True)
class Line:
    """A published number, and our mean and standard deviation over the repeats (None: not run)."""

    what: str
    published: str
    ours: float | None
    spread: float | None


@dataclass(frozen=True)
class Reproduction:
    """An experiment and its results."""

    name: str
    title: str
    source: str
    repeats: int
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def title_of(name: str) -> str:
    """The title of an experiment."""
    return _module(name).TITLE


def reproduce(
    name: str,
    *,
    repeats: int | None = None,
    random_state: Any = 0,
    advance: Callable[[str, int, int], None] | None = None,
    tell: Callable[[Line], None] | None = None,
) -> Reproduction:
    """Repeat a published experiment.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    repeats : int or None
        Number of independent runs; the table has their mean and standard deviation. None: the number of the
        experiment, usually 10.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    advance : callable or None
        Called as ``advance(step, done, total)`` before each step.
    tell : callable or None
        Called with each line as soon as it is computed, if the experiment returns them one by one.

    Returns
    -------
    Reproduction
        The published numbers and ours.
    """
    if name not in EXPERIMENTS:
        hint = did_you_mean(name, list(EXPERIMENTS))
        raise ValueError(f"reproduce: name must be one of {', '.join(EXPERIMENTS)}; got {name!r}.{hint}")
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
