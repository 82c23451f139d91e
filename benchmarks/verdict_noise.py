"""How often the verdict finds something in noise: python -m benchmarks.verdict_noise [seeds].

Prints, for noise of several kinds, how often "There is structure" is said (5 in 100 are expected), the share of trusted
rows (5 % of the rows of noise, more where so few columns can be mapped well), and how often a group is claimed.
"""

from __future__ import annotations

import sys

import numpy as np

import lowdim

METHODS = ("pca", "isomap")
KINDS = {
    "Gaussian, 5 columns": lambda rng: rng.normal(size=(100, 5)),
    "Gaussian, 20 columns": lambda rng: rng.normal(size=(100, 20)),
    "uniform, 5 columns": lambda rng: rng.uniform(size=(100, 5)),
    "heavy tails, 5 columns": lambda rng: rng.standard_t(3, size=(100, 5)),
}


def main() -> None:
    """One line for each kind of noise."""
    seeds = int(sys.argv[1]) if sys.argv[1:] else 100
    for name, make in KINDS.items():
        structure, trusted, groups = 0, [], 0
        for seed in range(seeds):
            found = lowdim.compare(make(np.random.default_rng(seed)), methods=list(METHODS), random_state=seed)
            structure += found.evidence.structure.p_value <= 0.05
            trusted.append(np.mean(found.verdict.rows[found.verdict.recommended] == "trusted"))
            groups += any(sentence.numbers.get("holds together") for sentence in found.verdict.about("groups"))
        sys.stdout.write(
            f"{name}: structure {structure}, groups {groups} of {seeds}; {np.mean(trusted):.1%} of the rows trusted\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
