"""How often the verdict finds something in noise: python -m benchmarks.verdict_noise [seeds [kind]].

Prints, for noise of several kinds, how often "There is structure" is said (5 in 100 are expected), the share of trusted
rows (5 % of the rows of noise, more where so few columns can be mapped well), and how often a group is claimed.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import lowdim

METHODS = ("pca", "isomap")


def independent_columns(rng: np.random.Generator, n: int = 100) -> pd.DataFrame:
    """Four columns of numbers and three of categories that know nothing of each other."""
    return pd.DataFrame({
        "rent": rng.lognormal(6, 0.4, n).round(), "area": rng.normal(70, 20, n).round(1),
        "rooms": rng.integers(1, 6, n), "age": rng.gamma(2, 20, n).round(),
        "state": rng.choice(["good", "fair", "poor"], n), "heating": rng.choice(["gas", "oil", "wood", "heat pump"], n),
        "balcony": rng.choice(["yes", "no"], n, p=[0.7, 0.3]),
    })  # fmt: skip


KINDS = {
    "Gaussian, 5 columns": lambda rng: rng.normal(size=(100, 5)),
    "Gaussian, 20 columns": lambda rng: rng.normal(size=(100, 20)),
    "uniform, 5 columns": lambda rng: rng.uniform(size=(100, 5)),
    "heavy tails, 5 columns": lambda rng: rng.standard_t(3, size=(100, 5)),
    "numbers and categories": independent_columns,
}


def methods_of(kind: str) -> list[str]:
    """The linear map that takes such tables, and Isomap."""
    return ["famd", "isomap"] if kind == "numbers and categories" else list(METHODS)


def main() -> None:
    """One line for each kind of noise."""
    seeds = int(sys.argv[1]) if sys.argv[1:] else 100
    for name, make in KINDS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        structure, clear, trusted, groups = 0, 0, [], 0
        for seed in range(seeds):
            found = lowdim.compare(make(np.random.default_rng(seed)), methods=methods_of(name), random_state=seed)
            structure += found.evidence.structure.p_value <= 0.05
            clear += found.evidence.structure.clear
            trusted.append(np.mean(found.verdict.rows[found.verdict.recommended] == "trusted"))
            groups += any(sentence.numbers.get("holds together") for sentence in found.verdict.about("groups"))
        sys.stdout.write(
            f"{name}: structure {structure} (clearly {clear}), groups {groups} of {seeds}; {np.mean(trusted):.1%} of "
            "the rows trusted\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
