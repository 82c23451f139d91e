"""All methods of a comparison with the baselines they must be held against, and what follows for the scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lowdim.study.methods import find
from lowdim.study.running import Entry, Outcome, RandomEmbedding, free_name, run
from lowdim.study.scoring import LEAST_ROWS


def run_all(
    planned: list[Entry], X: np.ndarray, seed: int, n_components: int, report: Callable[[str], None]
) -> list[Outcome]:
    """The methods asked for, then whatever baseline is still missing for each number of columns that came out."""
    outcomes = []
    for entry in planned:
        report(entry.name)
        outcomes.append(run(entry, X))
    for entry in _baselines(outcomes, X, seed, n_components):
        report(entry.name)
        outcomes.append(run(entry, X))
    return outcomes


def _baselines(outcomes: list[Outcome], X: np.ndarray, seed: int, n_components: int) -> list[Entry]:
    """PCA and a random embedding for each number of columns: only embeddings of the same width can be compared."""
    widths = _widths(outcomes) or [n_components]
    there = {_width_of(outcome) for outcome in outcomes if outcome.baseline}
    taken = {o.name for o in outcomes}
    added = []
    for r in widths:
        tail = f"-{r}d" if len(widths) > 1 else ""
        pca = find("pca").estimator(n_components=r, random_state=seed)
        wanted = [("pca", pca)] if r not in there and r <= min(X.shape) else []
        for name, estimator in [*wanted, ("random", RandomEmbedding(r, seed))]:
            free = free_name(f"{name}{tail}", taken)
            taken.add(free)
            added.append(Entry(free, estimator, True))
    return added


def _widths(outcomes: list[Outcome]) -> list[int]:
    return sorted({o.n_components for o in outcomes if o.n_components is not None})


def _width_of(baseline: Outcome) -> int | None:
    """The columns a baseline came out with; those it was asked for when it failed: again it would fail again."""
    asked = getattr(baseline.estimator, "n_components", None)
    return baseline.n_components if baseline.embedding is not None else asked


def notes_on(outcomes: list[Outcome], common: np.ndarray, shape: tuple[int, ...]) -> tuple[str, ...]:
    """What must be known to read the scores; `common` marks the rows every method placed."""
    notes = [_note_on_rows(outcomes, common)] if not common.all() else []
    widths = _widths(outcomes)
    if len(widths) > 1:
        listed = ", ".join(map(str, widths))
        notes.append(
            f"The embeddings have different numbers of columns ({listed}): more columns keep more, so scores can "
            "only be compared between embeddings of the same number, and against the baselines of that number."
        )
    beyond = [str(r) for r in widths if r > min(shape)]
    if beyond:
        notes.append(
            f"No PCA baseline with {' or '.join(beyond)} columns: {shape[0]} rows with {shape[1]} columns have at most "
            f"{min(shape)} principal components."
        )
    unread = {o.estimator.not_shown_: o.name for o in outcomes if hasattr(o.estimator, "not_shown_")}
    return (*notes, *(f"{name}: {sentence}" for sentence, name in unread.items()))


def _note_on_rows(outcomes: list[Outcome], common: np.ndarray) -> str:
    fewer = [o.name for o in outcomes if o.embedded is not None and not o.embedded.all()]
    left = f"Not every method placed every row ({', '.join(fewer)} left some out)"
    if common.sum() < LEAST_ROWS:
        return (
            f"{left}, and only {common.sum()} of {common.size} rows were placed by every method: each is scored on "
            "the rows it placed itself, so the scores of different methods cannot be compared."
        )
    return f"{left}: all scores are over the {common.sum()} of {common.size} rows that every method placed."
