"""Description of an axis: correlations and differences of means, each with its p value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc, stdtr

from lowdim._core.runtime.printable import printable


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """What is related to an axis; each list has (name, value, p value), from the largest value down."""

    variables: list[tuple[str, float, float]]
    questions: list[tuple[str, float, float]]
    categories: list[tuple[str, float, float]]

    def __repr__(self) -> str:
        lines = []
        for title, rows in (
            ("correlation", self.variables),
            ("correlation ratio", self.questions),
            ("difference", self.categories),
        ):
            rows = [(printable(name), value, p) for name, value, p in rows]
            width = max((len(name) for name, _, _ in rows), default=0)
            lines += [f"{title}:"] if rows else []
            lines += [f"  {name:<{width}}  {value:9.4f}  p = {p:.2g}" for name, value, p in rows]
        return "\n".join(lines)


def describe(
    scores: np.ndarray, correlations: dict[str, float], questions: dict[str, dict[Any, np.ndarray]]
) -> Description:
    """Correlations of numbers with the scores (t test), and one-way analyses of variance of categories (F test)."""
    n = len(scores)
    numbers = [(name, r, _p_of_correlation(r, n)) for name, r in correlations.items()]
    ratios, differences = [], []
    for question, found in questions.items():
        kept = {category: rows for category, rows in found.items() if rows.any()}
        ratio, p, each = _analysis(scores, list(kept.values()))
        ratios.append((question, ratio, p))
        differences += [(f"{question}={category}", *pair) for category, pair in zip(kept, each, strict=True)]
    return Description(
        sorted(numbers, key=lambda row: -row[1]),
        sorted(ratios, key=lambda row: -row[1]),
        sorted(differences, key=lambda row: -row[1]),
    )


def _p_of_correlation(r: float, n: int) -> float:
    if n < 3:
        return float("nan")
    return float(2 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / max(1 - r * r, 1e-300))))


def _analysis(scores: np.ndarray, groups: list[np.ndarray]) -> tuple[float, float, list[tuple[float, float]]]:
    """Correlation ratio, its p value, and each group's difference from the mean of the groups' means with its own."""
    known = np.any(groups, axis=0)  # rows in which the category is observed
    scores, groups = scores[known], [rows[known] for rows in groups]
    n, k = len(scores), len(groups)
    sizes = np.array([rows.sum() for rows in groups], dtype=float)
    means = np.array([scores[rows].mean() for rows in groups])
    between = float((sizes * (means - scores.mean()) ** 2).sum())
    within = max(float(((scores - scores.mean()) ** 2).sum()) - between, 0.0)
    if k < 2 or n <= k or within + between == 0:
        return 0.0, float("nan"), [(0.0, float("nan"))] * k
    spread = max(within, 1e-300) / (n - k)
    estimates = means - means.mean()
    # Variance of m_k - mean_l(m_l) for independent means of known sizes.
    variance = spread * ((1 - 2 / k) / sizes + (1 / sizes).sum() / k**2)
    each = 2 * stdtr(n - k, -np.abs(estimates) / np.sqrt(variance))
    p = float(fdtrc(k - 1, n - k, between / (k - 1) / spread))
    return between / (within + between), p, list(zip(estimates.tolist(), each.tolist(), strict=True))
