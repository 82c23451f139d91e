"""Which points of a factor map a rule chooses."""

from __future__ import annotations

from typing import Any

import numpy as np


def selected(points: Any, rule: str | int, axes: tuple[int, ...]) -> np.ndarray:
    """Numbers of the points by "cos2 10", "cos2 0.6", "contribution 10" or a number alone; best first."""
    chosen = list(axes)
    if isinstance(rule, (int, np.integer)) and not isinstance(rule, bool) and rule >= 1:
        values, limit = (points.coordinates[:, chosen] ** 2).sum(axis=1), float(rule)
    else:
        name, _, number = str(rule).partition(" ")
        quality = {"cos2": points.cos2, "contribution": points.contributions, "contrib": points.contributions}
        if name not in quality or not _is_positive(number):
            raise ValueError(
                f"FactorMap: select must be a whole number, 'cos2 10', 'cos2 0.6' or 'contribution 10'; got {rule!r}."
            )
        values, limit = np.nansum(quality[name][:, chosen], axis=1), float(number)
        values = np.where(points.active, values, -1.0) if name != "cos2" else values
    order = np.argsort(-values, kind="stable")
    if limit < 1:
        return order[values[order] >= limit]
    return order[: int(limit)][values[order[: int(limit)]] >= 0]


def _is_positive(number: str) -> bool:
    try:
        return float(number) > 0
    except ValueError:
        return False
