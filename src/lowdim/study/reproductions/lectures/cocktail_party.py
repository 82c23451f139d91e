"""Mixed signals separated by ICA, and not by PCA."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "The cocktail party: correlation of separated signals with the speakers'"
SOURCE = "A comparative study and a lecture: two speakers, two microphones, y = Ax with A and x unknown. No numbers."
ROWS = 2000
METHODS = {"ICA": "separated", "PCA": "not separated", "whitening": "-", "microphones": "-"}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Correlations over `repeats` parties."""
    published = {f"{name}: least correlation with a speaker": text for name, text in METHODS.items()}
    return averaged(repeats, rng, advance, _party, published), NOTES


def _party(rng: np.random.Generator) -> dict[str, float]:
    S = _speakers(rng)
    A = rng.uniform(0.3, 1.0, (2, 2)) + np.eye(2)
    Y = S @ A.T
    ica = lowdim.ICA(2, random_state=rng)
    maps = {
        "ICA": ica.fit_transform(Y),
        "PCA": lowdim.PCA(2).fit_transform(Y),
        "whitening": lowdim.Whitening().fit_transform(Y),
        "microphones": Y,
    }
    return {f"{name}: least correlation with a speaker": _matched(Z, S) for name, Z in maps.items()}


def _speakers(rng: np.random.Generator) -> np.ndarray:
    """Two independent signals of mean 0 that are loud at times and silent at others."""
    t = np.arange(ROWS) / ROWS
    loud = 1.0 + np.sin(2 * np.pi * (3.0 + 2.0 * rng.random(2)) * t[:, None] + 2 * np.pi * rng.random(2))
    S = loud**3 * np.sin(2 * np.pi * np.array([97.0, 61.0]) * t[:, None]) + 0.2 * rng.laplace(size=(ROWS, 2))
    return (S - S.mean(axis=0)) / S.std(axis=0)


def _matched(Z: np.ndarray, S: np.ndarray) -> float:
    """The least correlation, without its sign, of a speaker with the signal that was matched to it."""
    C = np.abs(np.corrcoef(Z.T, S.T)[:2, 2:])
    return float(max(min(C[0, 0], C[1, 1]), min(C[0, 1], C[1, 0])))


NOTES = [
    f"{ROWS} time steps of two artificial speakers and a random mixture for each run. Neither document gives signals "
    "or numbers. Order, sign and size of separated signals are not determined, so each is matched to a speaker.",
    "Uncorrelated is not independent: whitened signals are uncorrelated, and still a rotation away from the speakers.",
]
