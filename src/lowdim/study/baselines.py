"""All methods of a comparison with the baselines they must be held against, and what follows for the scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .methods import find
from .running import Entry, Outcome, RandomEmbedding, free_name, run


def run_all(
    planned: list[Entry], X: np.ndarray, seed: int, n_components: int, report: Callable[[str], None]
) -> list[Outcome]:
    """The methods asked for, then whatever baseline is still missing for each number of columns that came out."""
    outcomes = []
    for entry in planned:
        report(entry.name)
        outcomes.append(run(entry, X))
    for entry in _baselines(outcomes, seed, n_components):
        report(entry.name)
        outcomes.append(run(entry, X))
    return outcomes


def _baselines(outcomes: list[Outcome], seed: int, n_components: int) -> list[Entry]:
    """PCA and a random embedding for each number of columns: only embeddings of the same width can be compared."""
    widths = sorted({o.n_components for o in outcomes if o.n_components is not None}) or [n_components]
    there = {o.n_components for o in outcomes if o.baseline}
    taken = {o.name for o in outcomes}
    added = []
    for r in widths:
        tail = f"-{r}d" if len(widths) > 1 else ""
        if r not in there:
            name = free_name(f"pca{tail}", taken)
            taken.add(name)
            pca = find("pca").estimator(n_components=r, random_state=seed)
            added.append(Entry(name, pca, True))
        name = free_name(f"random{tail}", taken)
        taken.add(name)
        added.append(Entry(name, RandomEmbedding(r, seed), True))
    return added


def embedded_by_all(outcomes: list[Outcome]) -> np.ndarray:
    """The rows every method placed: a method that drops the hard rows must not gain from it."""
    masks = [outcome.embedded for outcome in outcomes if outcome.embedded is not None]
    return np.logical_and.reduce(masks)


def notes_on(outcomes: list[Outcome], mask: np.ndarray) -> tuple[str, ...]:
    notes = []
    if not mask.all():
        fewer = [o.name for o in outcomes if o.embedded is not None and not o.embedded.all()]
        notes.append(
            f"Not every method placed every row ({', '.join(fewer)} left some out): "
            f"all scores are over the {mask.sum()} of {mask.size} rows that every method placed."
        )
    widths = sorted({o.n_components for o in outcomes if o.n_components is not None})
    if len(widths) > 1:
        listed = ", ".join(map(str, widths))
        notes.append(
            f"The embeddings have different numbers of columns ({listed}): more columns keep more, so scores can "
            "only be compared between embeddings of the same number, and against the baselines of that number."
        )
    return tuple(notes)
