"""All embeddings scored at once: the distances of the data are ranked once and used for every embedding."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim import quality
from lowdim._core import neighbors

from .labels import Labels
from .references import Reference

# Entries of quality's answer that are not scores, or stand in the table under another name already.
NOT_SCORES = (
    "rnx",
    "row_auc",
    "ranked",
    "own",
    "rows",
    "n_given",
    "n_embedded",
    "n_components",
    "reference",
    "metric",
)


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of one embedding, its R_NX curve for K = 1, 2, ..., and the area of each row (NaN: not scored)."""

    scores: dict[str, Any]
    rnx: np.ndarray
    per_row: np.ndarray


def sharing(X: Any) -> AbstractContextManager[Any]:
    """Methods that run inside look for the neighbours of `X` once and share what was found.

    Where the neighbour search offers no sharing, each method searches for itself and finds the same.
    """
    shared = getattr(neighbors, "shared", None)
    return nullcontext() if shared is None else shared(X)


def score_each(
    embeddings: Mapping[str, np.ndarray],
    against: Reference,
    *,
    scale: Mapping[str, bool],
    labels: Labels | None = None,
    anchors: Any = "auto",
    n_jobs: int | None = None,
    seed: int = 0,
) -> dict[str, Scored]:
    """Score every embedding on the rows that all of them placed; `scale` says whose raw stress has a meaning."""
    with warnings.catch_warnings():
        # A reference graph in several pieces is joined; the text of the reference says so.
        warnings.filterwarnings("ignore", category=UserWarning)
        found = quality.scores_each(
            against.rows,
            embeddings,
            None if labels is None else labels.codes,
            has_scale=scale,
            metric=against.metric,
            reference=against.kind,
            graph_neighbors=against.n_neighbors,
            anchors=anchors,
            random_state=seed,
            n_jobs=n_jobs,
        )
    scored = np.logical_and.reduce([np.isfinite(Z).all(axis=1) for Z in embeddings.values()])
    return {name: _scored(answer, np.flatnonzero(scored), len(scored)) for name, answer in found.items()}


def _scored(answer: Mapping[str, Any], scored: np.ndarray, n: int) -> Scored:
    """Parts of quality's answer in their places; per-row values at the rows they belong to."""
    per_row = np.full(n, np.nan)
    per_row[scored[answer["ranked"]]] = answer["row_auc"]
    scores = {key: value for key, value in answer.items() if key not in NOT_SCORES}
    return Scored(scores, np.asarray(answer["rnx"]), per_row)
