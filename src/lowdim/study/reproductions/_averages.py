"""Numbers of independent runs as the lines of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from lowdim.study.reproductions import Line


def averaged(
    repeats: int,
    rng: np.random.Generator,
    advance: Callable[[str, int, int], None],
    one: Callable[[np.random.Generator], Mapping[str, float]],
    published: Mapping[str, str],
) -> list[Line]:
    """Means and standard deviations over runs of `one`, which gives a number for each line; "-" is not published."""
    found: dict[str, list[float]] = {}
    for repeat in range(repeats):
        advance(f"run {repeat + 1}", repeat, repeats)
        for what, value in one(rng).items():
            found.setdefault(what, []).append(float(value))
    return [
        Line(what, published.get(what, "-"), float(np.mean(values)), float(np.std(values)))
        for what, values in found.items()
    ]
