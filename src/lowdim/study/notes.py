"""Notes that a reader of a comparison's scores needs, and the rows that the scores are over."""

from __future__ import annotations

import numpy as np

from lowdim._core.gpu.devices import Device
from lowdim.study.data import Data, takes_categories
from lowdim.study.method_list import Entry
from lowdim.study.methods import keeps_units
from lowdim.study.outside import ReadyMade
from lowdim.study.running.baselines import RandomEmbedding
from lowdim.study.running.one_method import Outcome
from lowdim.study.scoring import LEAST_ROWS, embedded_by_all

SAME = 1e-8  # two maps whose overlap is this close to 1 are the same


def scored_rows(outcomes: list[Outcome]) -> np.ndarray:
    """The rows behind the scores: those embedded by every method, or by any method if these are too few."""
    common, embeddings = _common(outcomes), _embeddings(outcomes)
    if common.sum() >= LEAST_ROWS:
        return common
    return np.logical_or.reduce([embedded_by_all({name: Z}) for name, Z in embeddings.items()])


def note_on_device(outcomes: list[Outcome], device: str | None, place: Device | None) -> str | None:
    """What ran on a GPU, and what did not, where a device was asked for."""
    if device is None:
        return None
    if place is None:
        why = "PyTorch finds no GPU here" if device == "auto" else "as asked"
        return f"Everything was computed on the CPU ({why})."
    there = ", ".join(o.name for o in outcomes if "device_" in o.diagnostics)
    return (
        f"Computed on {place.title}: {there + ', and ' if there else ''}the ranks of the scores. All else: on the CPU."
    )


def notes_on_scores(outcomes: list[Outcome], data: Data, planned: list[Entry]) -> tuple[str, ...]:
    """Why some scores may not be comparable, and which maps are the same."""
    shape = data.rows.shape
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
            f"No {data.baseline.upper()} baseline with {' or '.join(beyond)} components: {shape[0]} rows with "
            f"{shape[1]} columns have at most {min(shape)} principal components."
        )
    return (*notes, *_notes_on_columns(outcomes, data, planned), *_notes_on_maps(outcomes))


def _notes_on_columns(outcomes: list[Outcome], data: Data, planned: list[Entry]) -> list[str]:
    """Which methods saw the labels, and which saw categories as numbers."""
    notes = []
    there = {o.name for o in outcomes if o.embedding is not None}
    saw = ", ".join(entry.name for entry in planned if entry.target and entry.name in there)
    if saw:
        notes.append(
            f"{saw} saw the labels: how well the classes are separated there, and the 1-NN error, say nothing about "
            "new rows."
        )
    numbers = data.n_columns - (0 if data.table is None else len(data.table.categories))
    if numbers and any(entry.name in there and type(entry.estimator).__name__ == "MCA" for entry in planned):
        notes.append(f"mca takes each value of the {numbers} columns of numbers for a category; famd measures numbers.")
    coded = ", ".join(_coded(outcomes, data))
    if coded:
        notes.append(
            f"{coded} saw the numbers standardised and each category as a column of its own, as FAMD weights them, for "
            "want of a way to take categories."
        )
    if plain := ", ".join(_of_numbers(outcomes, data)):
        notes.append(f"{plain} saw the columns of numbers alone, in their own units.")
    return notes


def _notes_on_maps(outcomes: list[Outcome]) -> list[str]:
    """Maps that are the same, and what must not be read from a map."""
    alike = "but for rotation, reflection and scale"
    notes = [f"{name} is the same map as {first}, {alike}." for name, first in copies(outcomes).items()]
    unread = {o.caution: o.name for o in outcomes if o.caution}
    return [*notes, *(f"{name}: {sentence}" for sentence, name in unread.items())]


def copies(outcomes: list[Outcome]) -> dict[str, str]:
    """Method -> an earlier one with the same map up to rotation, reflection and scale; random maps are never equal."""
    found: dict[str, str] = {}
    shapes: dict[str, np.ndarray] = {}
    for name, Z in _embeddings(outcomes).items():
        if np.isnan(Z).any():
            continue
        largest = float(np.abs(Z).max())
        centred = Z / (largest or 1.0) - (Z / (largest or 1.0)).mean(axis=0)
        size = float(np.linalg.norm(centred))
        if not size:
            continue
        shape = centred / size
        same = next((first for first, other in shapes.items() if _overlap(shape, other) > 1 - SAME), None)
        if same is None:
            shapes[name] = shape
        else:
            found[name] = same
    return found


def _overlap(A: np.ndarray, B: np.ndarray) -> float:
    """1 if two centred maps of unit size are equal after the best rotation; less otherwise."""
    return float(np.linalg.svd(A.T @ B, compute_uv=False).sum()) if A.shape == B.shape else 0.0


def _coded(outcomes: list[Outcome], data: Data) -> list[str]:
    """Methods for numbers that were fitted to a table with categories."""
    if data.mixed is None:
        return []
    there = [
        o for o in outcomes if o.embedding is not None and not isinstance(o.estimator, (RandomEmbedding, ReadyMade))
    ]
    return [o.name for o in there if not takes_categories(o.estimator) and not keeps_units(o.estimator)]


def _of_numbers(outcomes: list[Outcome], data: Data) -> list[str]:
    """Methods that need the units of the columns, fitted to the numbers of a table with categories."""
    if data.mixed is None:
        return []
    there = [o for o in outcomes if o.embedding is not None and keeps_units(o.estimator)]
    return [o.name for o in there if not takes_categories(o.estimator)]


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
