"""Connected components that are embedded one by one, and their embeddings side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np


def tile(components: list[Any]) -> list[Any]:
    """The components side by side along the first axis; each is a record with a `shift` and an `embedding()`."""
    if len(components) == 1:
        return components
    moves = beside([component.embedding()[:, 0] for component in components])
    first = np.eye(1, len(components[0].shift))[0]
    pairs = zip(components, moves, strict=True)
    return [replace(component, shift=component.shift + move * first) for component, move in pairs]


def beside(firsts: list[np.ndarray]) -> list[float]:
    """How far to move each component along the first axis (its coordinates there are given) so that none overlap.

    The gap between two is a tenth of their total width.
    """
    boxes = [(float(first.min()), float(first.max())) for first in firsts]
    gap = 0.1 * sum(high - low for low, high in boxes) or 1.0
    moves, edge = [], 0.0
    for low, high in boxes:
        moves.append(edge - low)
        edge += high - low + gap
    return moves


def gathered(rows: list[np.ndarray], values: list[np.ndarray], n: int) -> np.ndarray:
    """One number for each of n rows from those of each component; 0 for rows in none."""
    out = np.zeros(n, dtype=values[0].dtype)
    for mine, numbers in zip(rows, values, strict=True):
        out[mine] = numbers
    return out


def side_by_side(rows: list[np.ndarray], embeddings: list[np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """The embedding of n rows from those of each component, tiled, and the component of each row.

    Rows in no component are NaN, their component is -1.
    """
    Z, component_of = np.full((n, embeddings[0].shape[1]), np.nan), np.full(n, -1)
    moves = beside([embedding[:, 0] for embedding in embeddings]) if len(embeddings) > 1 else [0.0]
    for number, (mine, embedding, move) in enumerate(zip(rows, embeddings, moves, strict=True)):
        Z[mine], component_of[mine] = embedding, number
        Z[mine, 0] += move
    return Z, component_of
