"""Scores of all embeddings of a comparison; the distances of the data are ranked once for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim import quality
from lowdim._core.tables.brief import brief
from lowdim.quality.row_curves import RowCurves
from lowdim.study.labels import Labels
from lowdim.study.reference_choice import ReferenceChoice

# Entries of `quality.scores_each` that are not scores, or are in the table under another name.
NOT_SCORES = (
    "rnx",
    "row_auc",
    "row_estimate",
    "row_estimate_from",
    "row_curves",
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
    """Scores of one embedding, its R_NX curve for K = 1, 2, ..., and the R_NX area of each row (NaN: not scored).

    `estimated_from` is what the areas of the rows were estimated from; None if they are exact. `warnings` say what is
    degenerate about the map. `curves` are the R_NX curves of the rows; None unless all of them were ranked.
    """

    scores: dict[str, Any]
    rnx: np.ndarray
    per_row: np.ndarray
    estimated_from: str | None = None
    warnings: tuple[str, ...] = ()
    curves: RowCurves | None = None

    __repr__ = brief


def embedded_by_all(embeddings: Mapping[str, np.ndarray]) -> np.ndarray:
    """The rows that every method embedded: leaving out difficult rows must not improve a score."""
    return np.logical_and.reduce([np.isfinite(Z).all(axis=1) for Z in embeddings.values()])


def score_each(
    embeddings: Mapping[str, np.ndarray], against: ReferenceChoice, **options: Any
) -> tuple[dict[str, Scored], tuple[str, ...]]:
    """Score every embedding on the rows that all of them have; also return the warnings, as notes.

    If they have fewer than three rows in common, each is scored on its own rows. Options: `scale` (method -> whether
    its stress without rescaling is meaningful), `labels`, `anchors`, `n_jobs`, `seed`,
    `device`.
    """
    together = not embeddings or embedded_by_all(embeddings).sum() >= LEAST_ROWS
    groups = [dict(embeddings)] if together else [{name: Z} for name, Z in embeddings.items()]
    scored: dict[str, Scored] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # A disconnected reference graph is joined; the text of the reference says so.
        warnings.filterwarnings("ignore", ".*the neighbour graph has .*; they were joined", UserWarning)
        for group in groups:
            scored |= _scored_together(group, against, **options)
    notes = dict.fromkeys(f"While scoring: {warning.message}" for warning in caught)
    sources = dict.fromkeys(answer.estimated_from for answer in scored.values() if answer.estimated_from)
    return scored, (*notes, *(f"The quality of each row is estimated from {source}." for source in sources))


def _scored_together(
    embeddings: Mapping[str, np.ndarray],
    against: ReferenceChoice,
    *,
    scale: Mapping[str, bool],
    labels: Labels | None = None,
    anchors: Any = "auto",
    n_jobs: int | None = None,
    seed: int = 0,
    device: str = "cpu",
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
        graph_neighbors=against.graph_neighbors,
        anchors=anchors,
        every_row=True,
        random_state=seed,
        n_jobs=n_jobs,
        device=device,
    )
    rows = embedded_by_all(embeddings)
    if incomplete:
        errors = _errors(embeddings, against, np.asarray(classes), rows, n_jobs)
        found = {name: {**answer, **errors[name]} for name, answer in found.items()}
    different = _different_rows(against)
    return {
        name: _scored(
            answer, np.flatnonzero(rows), len(rows), quality.degeneracy(embeddings[name], n_distinct=different)
        )
        for name, answer in found.items()
    }


def _errors(
    embeddings: Mapping[str, np.ndarray],
    against: ReferenceChoice,
    codes: np.ndarray,
    rows: np.ndarray,
    n_jobs: int | None,
) -> dict[str, dict[str, float | None]]:
    """1-nearest-neighbour errors over the rows with a label."""
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


def _different_rows(against: ReferenceChoice) -> int | None:
    """The number of different rows of the data; None if only their distances are known."""
    if against.kind == "precomputed" or not isinstance(against.rows, np.ndarray):
        return None
    rows = np.ascontiguousarray(against.rows)
    return len(np.unique(rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()))


def _scored(answer: Mapping[str, Any], scored: np.ndarray, n: int, warned: tuple[str, ...]) -> Scored:
    """One record from the answer of `quality.scores_each`; values of rows at their row numbers."""
    per_row = np.full(n, np.nan)
    if answer["row_estimate"] is None:
        per_row[scored[answer["ranked"]]] = answer["row_auc"]
    else:
        per_row[scored] = answer["row_estimate"]
    scores = {key: value for key, value in answer.items() if key not in NOT_SCORES}
    curves = answer["row_curves"] if len(scored) == n else None
    return Scored(scores, np.asarray(answer["rnx"]), per_row, answer["row_estimate_from"], warned, curves)
