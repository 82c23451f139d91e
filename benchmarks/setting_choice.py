"""Does the cheap choice of a setting come near the best of the whole grid? ``python -m benchmarks.setting_choice``

For each table and method, ``lowdim.select.n_neighbors`` chooses from a fifth of the rows of the grid, and the whole
grid is fitted to all rows. Printed are the shortfall (by how much the score of the chosen setting is below that of the
best, both on all rows), and the share of processor time. The tables lie in the folder that LOWDIM_DATA names; of each
5,000 rows are used, and of many columns 50 principal components.

    python -m benchmarks.setting_choice umap,tsne optdigits letter
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

import lowdim
from benchmarks.data import principal, real

TABLES = ("optdigits", "letter", "usps", "fashion_mnist", "shuttle", "mammoth50k")
METHODS = ("umap", "tsne", "isomap")
ROWS, COLUMNS = 5000, 50


def timed(X: np.ndarray, method: str, budget: float) -> tuple[lowdim.select.SettingChoice, float]:
    """The choice and its processor time."""
    start = time.process_time()
    found = lowdim.select.n_neighbors(X, method, budget=budget, n_jobs=1)
    return found, time.process_time() - start


def main() -> None:
    """Print one line for each table and method."""
    methods = sys.argv[1].split(",") if len(sys.argv) > 1 else METHODS
    sys.stdout.write(
        "| table | method | chosen | best of all | shortfall | share of time |\n|---|---|---|---|---|---|\n"
    )
    for name in sys.argv[2:] or TABLES:
        X = real(name, ROWS).astype(float)
        X = X if X.shape[1] <= COLUMNS else principal(X, COLUMNS)
        for method in methods:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (found, short), (full, long) = timed(X, method, 0.2), timed(X, method, 1.0)
            score = full.score[np.flatnonzero(full.grid == found.chosen)[0]]
            best, at = np.nanmax(full.score), full.grid[np.nanargmax(full.score)]
            line = f"{found.chosen:g} | {at:g} | {1 - score / best:.1%} | {short / long:.0%}"
            sys.stdout.write(f"| {name} | {method} | {line} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
