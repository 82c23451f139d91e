"""How often structure is found, in columns and in principal components: python -m benchmarks.structure_power [seeds]

Each line: a kind of table, the share of seeds with p up to 0.05 by maps alone and by maps and distances together
(`trust.structure`, PCA, 19 tables of shuffled columns), and by maps beside Gaussian rows with the same covariance. Of
noise 5 in 100 are expected by the second.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import numpy as np

import lowdim

ROWS, COLUMNS, KEPT = 100, 200, 20


def groups(rng: np.random.Generator, count: int, apart: float) -> np.ndarray:
    """Groups whose centres are drawn at random, in many columns."""
    centres = apart * rng.standard_normal((count, COLUMNS))
    return centres[np.arange(ROWS) % count] + rng.standard_normal((ROWS, COLUMNS))


def components(make: Callable[[np.random.Generator], np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """The principal components of a table."""
    return np.asarray(lowdim.PCA(n_components=KEPT).fit_transform(make(rng)))


def columns_of_noise(rng: np.random.Generator) -> np.ndarray:
    """Gaussian noise in many columns."""
    return rng.standard_normal((ROWS, COLUMNS))


def peaks(rng: np.random.Generator) -> np.ndarray:
    """Columns of two peaks each that know nothing of each other: a grid of groups."""
    return 8.0 * rng.integers(0, 2, (ROWS, 4)) + rng.standard_normal((ROWS, 4))


def tails(rng: np.random.Generator) -> np.ndarray:
    """Heavy tails."""
    return rng.standard_t(2, (ROWS, 5))


def counts(rng: np.random.Generator) -> np.ndarray:
    """Counts, most of them 0."""
    return rng.poisson(rng.gamma(0.3, 2.0, 10), (ROWS, 10)).astype(float)


SAME = {f"{count} groups, {apart} apart": partial(groups, count=count, apart=apart)
        for count, apart in ((2, 1.0), (3, 1.0), (3, 3.0), (5, 0.3), (5, 1.0), (20, 0.5))}  # fmt: skip
KINDS = {
    **SAME,
    **{f"{name}, components": partial(components, make) for name, make in SAME.items()},
    "noise: Gaussian": lambda rng: rng.standard_normal((ROWS, 5)),
    "noise: components of Gaussian noise": partial(components, columns_of_noise),
    "noise: two peaks": peaks,
    "noise: heavy tails": tails,
    "noise: counts": counts,
}


def main() -> None:
    """One line for each kind."""
    seeds = int(sys.argv[1]) if sys.argv[1:] else 100
    for name, make in KINDS.items():
        found = []
        for seed in range(seeds):
            X, model = make(np.random.default_rng(seed)), lowdim.PCA(n_components=2)
            test = lowdim.trust.structure(X, model, n_null=19, random_state=seed)
            beside = lowdim.trust.structure(X, model, n_null=19, null="gaussian", random_state=seed)
            found.append([test.map_p_value, test.p_value, beside.map_p_value])
        shares = (np.array(found) <= 0.05 + 1e-9).mean(axis=0)
        sys.stdout.write(f"| {name} | " + " | ".join(f"{share:.2f}" for share in shares) + " |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
