"""All embeddings scored at once: the distances of the data are ranked once and used for every embedding."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim import quality
from lowdim.study.labels import Labels
from lowdim.study.references import Reference

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
LEAST_ROWS = 3  # ranks need three


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of one embedding, its R_NX curve for K = 1, 2, ..., and the area of each row (NaN: not scored)."""

    scores: dict[str, Any]
    rnx: np.ndarray
    per_row: np.ndarray


def placed_by_all(embeddings: Mapping[str, np.ndarray]) -> np.ndarray:
    """The rows every method placed: a method that drops the hard rows must not gain from it."""
    return np.logical_and.reduce([np.isfinite(Z).all(axis=1) for Z in embeddings.values()])


def score_each(
    embeddings: Mapping[str, np.ndarray], against: Reference, **options: Any
) -> tuple[dict[str, Scored], tuple[str, ...]]:
    """Score every embedding on the rows that all of them placed, and say what was noticed on the way.

    Where they have fewer than three rows in common, each is scored on the rows it placed itself. Options: `scale`
    (whose raw stress has a meaning), `labels`, `anchors`, `n_jobs`, `seed`.
    """
    together = not embeddings or placed_by_all(embeddings).sum() >= LEAST_ROWS
    groups = [dict(embeddings)] if together else [{name: Z} for name, Z in embeddings.items()]
    scored: dict[str, Scored] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # A reference graph in several pieces is joined; the text of the reference says so.
        warnings.filterwarnings("ignore", ".*the neighbour graph has .*; they were joined", UserWarning)
        for group in groups:
            scored |= _scored_together(group, against, **options)
    notes = dict.fromkeys(f"While scoring: {warning.message}" for warning in caught)
    return scored, tuple(notes)


def _scored_together(
    embeddings: Mapping[str, np.ndarray],
    against: Reference,
    *,
    scale: Mapping[str, bool],
    labels: Labels | None = None,
    anchors: Any = "auto",
    n_jobs: int | None = None,
    seed: int = 0,
) -> dict[str, Scored]:
    if not embeddings:
        return {}
    classes = None if labels is None else labels.codes
    incomplete = classes is not None and bool((classes < 0).any())
    found = quality.scores_each(
        against.rows,
        embeddings,
        None if incomplete else classes,
        has_scale=scale,
        metric=against.metric,
        reference=against.kind,
        graph_neighbors=against.n_neighbors,
        anchors=anchors,
        random_state=seed,
        n_jobs=n_jobs,
    )
    rows = placed_by_all(embeddings)
    if incomplete:
        errors = _errors(embeddings, against, np.asarray(classes), rows, n_jobs)
        found = {name: {**answer, **errors[name]} for name, answer in found.items()}
    return {name: _scored(answer, np.flatnonzero(rows), len(rows)) for name, answer in found.items()}


def _errors(
    embeddings: Mapping[str, np.ndarray], against: Reference, codes: np.ndarray, rows: np.ndarray, n_jobs: int | None
) -> dict[str, dict[str, float | None]]:
    """1-nearest-neighbour errors among the rows that have a label."""
    known = np.flatnonzero(rows & (codes >= 0))
    if len(known) < 2:
        return {name: {"knn_error": None, "knn_error_data": None} for name in embeddings}
    y, data = codes[known], np.asarray(against.rows)[known]
    data = data[:, known] if against.kind == "precomputed" else data
    before = float(quality.knn_error(data, y, metric=against.metric, n_jobs=n_jobs))
    return {
        name: {"knn_error": float(quality.knn_error(Z[known], y, n_jobs=n_jobs)), "knn_error_data": before}
        for name, Z in embeddings.items()
    }


def _scored(answer: Mapping[str, Any], scored: np.ndarray, n: int) -> Scored:
    """Parts of quality's answer in their places; per-row values at the rows they belong to."""
    per_row = np.full(n, np.nan)
    per_row[scored[answer["ranked"]]] = answer["row_auc"]
    scores = {key: value for key, value in answer.items() if key not in NOT_SCORES}
    return Scored(scores, np.asarray(answer["rnx"]), per_row)
