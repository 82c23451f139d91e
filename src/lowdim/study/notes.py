"""Notes that a reader of a comparison's scores needs, and the rows that the scores are over."""

from __future__ import annotations

import numpy as np

from lowdim.study.running import Outcome
from lowdim.study.scoring import LEAST_ROWS, embedded_by_all


def scored_rows(outcomes: list[Outcome]) -> np.ndarray:
    """The rows behind the scores: those embedded by every method, or by any method if these are too few."""
    common, embeddings = _common(outcomes), _embeddings(outcomes)
    if common.sum() >= LEAST_ROWS:
        return common
    return np.logical_or.reduce([embedded_by_all({name: Z}) for name, Z in embeddings.items()])


def notes_on_scores(outcomes: list[Outcome], shape: tuple[int, ...]) -> tuple[str, ...]:
    """Why some scores may not be comparable, for data of this shape."""
    common = _common(outcomes)
    notes = [] if common.all() else [_note_on_rows(outcomes, common)]
    widths = sorted({o.n_components for o in outcomes if o.n_components is not None})
    if len(widths) > 1:
        listed = ", ".join(map(str, widths))
        notes.append(
            f"The embeddings have different numbers of components ({listed}). More components preserve more: "
            "compare scores only between embeddings with the same number, and with the baselines of that number."
        )
    beyond = [str(r) for r in widths if r > min(shape)]
    if beyond:
        notes.append(
            f"No PCA baseline with {' or '.join(beyond)} components: {shape[0]} rows with {shape[1]} columns have at "
            f"most {min(shape)} principal components."
        )
    unread = {o.estimator.not_shown_: o.name for o in outcomes if hasattr(o.estimator, "not_shown_")}
    return (*notes, *(f"{name}: {sentence}" for sentence, name in unread.items()))


def _embeddings(outcomes: list[Outcome]) -> dict[str, np.ndarray]:
    return {o.name: o.embedding for o in outcomes if o.embedding is not None}


def _common(outcomes: list[Outcome]) -> np.ndarray:
    return embedded_by_all(_embeddings(outcomes))


def _note_on_rows(outcomes: list[Outcome], common: np.ndarray) -> str:
    fewer = [o.name for o in outcomes if o.embedded is not None and not o.embedded.all()]
    left = f"Some methods left rows out ({', '.join(fewer)})"
    if common.sum() < LEAST_ROWS:
        return (
            f"{left}, and only {common.sum()} of {common.size} rows were embedded by every method. Each method is "
            "scored on the rows it embedded, so scores of different methods cannot be compared."
        )
    return f"{left}: all scores are over the {common.sum()} of {common.size} rows that every method embedded."
