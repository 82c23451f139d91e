"""Whether `lowdim.impute` chooses the right model: hidden cells of real tables, filled by it, by each model, by peers.

    LOWDIM_DATA=FOLDER python -m benchmarks.imputation_choice [TABLE ...] [--rows N] [--seeds N] [--json FILE]

Data: every table of the folder (`X`, and `kind` "num" or "cat" of each column where there are categories); constant
columns are left out, of large tables N rows are drawn, of wide ones 300 columns. One observed cell in ten is hidden at
random ("mcar") or in blocks of rows and columns ("block"). The number is the root mean squared error of the hidden
numbers in deviations of their columns; of tables with categories also the share of wrong categories. "auto / best" is
the ratio of the two errors, the best being that of the best single model on the hidden cells themselves, which no user
knows. "cover" is the share of hidden numbers inside their 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.datasets import hide_cells

OURS = ("regularized", "soft", "factors", "famd", "ridge", "forest", "neighbors", "mean")
COLUMNS = 300
SHARE = 0.1
Record = dict[str, Any]


def table_of(path: Path, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells (standardised numbers, codes of categories), and which columns are numbers."""
    rng = np.random.default_rng(0)
    with np.load(path, allow_pickle=False) as archive:
        X = archive["X"].astype(np.float64)
        numeric = archive["kind"] == "num" if "kind" in archive.files else np.ones(X.shape[1], dtype=bool)
    X = X[~np.isnan(X).all(axis=1)]
    X = X[np.sort(rng.choice(len(X), min(rows, len(X)), replace=False))]
    varied = np.array([len(np.unique(column[~np.isnan(column)])) > 1 for column in X.T])
    kept = np.flatnonzero(varied)
    kept = np.sort(rng.choice(kept, min(COLUMNS, len(kept)), replace=False))
    X, numeric = X[:, kept], numeric[kept]
    X[:, numeric] = (X[:, numeric] - np.nanmean(X[:, numeric], axis=0)) / np.nanstd(X[:, numeric], axis=0)
    return X, numeric


def given(X: np.ndarray, numeric: np.ndarray) -> np.ndarray:
    """The table as `impute` gets it: categories as text."""
    if numeric.all():
        return X
    cells = X.astype(object)
    for j in np.flatnonzero(~numeric):
        cells[:, j] = [None if np.isnan(value) else f"{value:g}" for value in X[:, j]]
    return cells


def errors(filled: np.ndarray, truth: np.ndarray, hidden: np.ndarray, numeric: np.ndarray) -> tuple[float, float]:
    """Root mean squared error of the numbers, share of wrong categories; NaN where there are none."""
    filled = np.array([[float(value) for value in row] for row in filled]) if filled.dtype == object else filled
    gaps = filled - truth
    numbers, words = hidden & numeric, hidden & ~numeric
    rmse = float(np.sqrt(np.mean(gaps[numbers] ** 2))) if numbers.any() else float("nan")
    return rmse, float(np.mean(gaps[words] != 0)) if words.any() else float("nan")


def peers() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """scikit-learn's imputers, for tables of numbers."""
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer

    return {
        "sklearn bayesian ridge": lambda X: IterativeImputer(random_state=0).fit_transform(X),
        "sklearn forests": lambda X: IterativeImputer(
            ExtraTreesRegressor(50, random_state=0), max_iter=4, random_state=0
        ).fit_transform(X),
        "sklearn neighbours": lambda X: KNNImputer(n_neighbors=10, weights="distance").fit_transform(X),
    }


def trial(X: np.ndarray, numeric: np.ndarray, mechanism: str, seed: int) -> Record:
    """Errors of the automatic choice, of each model, and of peers."""
    holes = hide_cells(X, SHARE, mechanism, random_state=seed)
    hidden, table = holes.mask, given(np.asarray(holes.X), numeric)
    start = time.perf_counter()
    found = lowdim.impute(table, 10, random_state=seed)
    low, high = found.intervals()
    inside = ((low <= X) & (high >= X))[hidden & numeric]
    record: Record = {
        "chosen": found.method,
        "why": found.choice.why,
        "seconds": time.perf_counter() - start,
        "cover": float(inside.mean()) if len(inside) else None,
        "errors": {"auto": errors(found.mean, X, hidden, numeric)},
    }
    tried = [one.method for one in found.choice.candidates if np.isfinite(one.error) and one.method in OURS]
    for method in tried:
        filled = lowdim.impute(table, 1, method=method, random_state=seed).mean
        record["errors"][method] = errors(filled, X, hidden, numeric)
    for name, fill in (peers() if numeric.all() and X.shape[1] <= 60 else {}).items():
        record["errors"][name] = errors(fill(table), X, hidden, numeric)
    return record


def loss(pair: tuple[float, float], numeric: np.ndarray) -> float:
    """One number to compare by: both kinds weighed by their columns."""
    share = float(numeric.mean())
    rmse, wrong = np.nan_to_num(pair)
    return float(share * rmse**2 + (1 - share) * wrong)


def study(paths: list[Path], rows: int, seeds: int, mechanisms: tuple[str, ...]) -> Iterator[Record]:
    """One record for each table and mechanism: means over the seeds."""
    for path in paths:
        X, numeric = table_of(path, rows)
        for mechanism in mechanisms:
            found = [trial(X, numeric, mechanism, seed) for seed in range(seeds)]
            names = [name for name in found[0]["errors"] if all(name in one["errors"] for one in found)]
            mean = {name: tuple(np.mean([one["errors"][name] for one in found], axis=0).tolist()) for name in names}
            single = [name for name in names if name != "auto"]
            best = min(single, key=lambda name: loss(mean[name], numeric))
            covers = [one["cover"] for one in found if one["cover"] is not None]
            yield {
                "table": path.stem, "shape": list(X.shape), "mechanism": mechanism, "errors": mean, "best": best,
                "ratio": float(np.sqrt(loss(mean["auto"], numeric) / loss(mean[best], numeric))),
                "chosen": [one["chosen"] for one in found], "cover": float(np.mean(covers)) if covers else None,
                "seconds": float(np.mean([one["seconds"] for one in found])),
            }  # fmt: skip


def line(record: Record) -> str:
    """A row of a Markdown table."""

    def said(pair: tuple[float, float]) -> str:
        return " ".join(f"{value:.3f}" for value in pair if np.isfinite(value))

    others = ", ".join(f"{name} {said(pair)}" for name, pair in record["errors"].items() if name != "auto")
    cover = "" if record["cover"] is None else f"{record['cover']:.2f}"
    cells = [f"{record['table']} {record['shape'][0]} x {record['shape'][1]}", record["mechanism"],
             said(record["errors"]["auto"]), "/".join(record["chosen"]), record["best"],
             f"{record['ratio']:.3f}", cover, f"{record['seconds']:.0f}", others]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def main(arguments: list[str] | None = None) -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imputation_choice", description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", help="names of files without extension (default: all na_*)")
    parser.add_argument("--rows", type=int, default=500, help="rows that are drawn of larger tables")
    parser.add_argument("--seeds", type=int, default=3, help="how often cells are hidden")
    parser.add_argument("--mechanisms", default="mcar,block", help="how cells are hidden")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the records to this file")
    options = parser.parse_args(arguments)
    folder = Path(os.environ.get("LOWDIM_DATA", ""))
    paths = [folder / f"{name}.npz" for name in options.tables] or sorted(folder.glob("na_*.npz"))
    if not paths or not all(path.exists() for path in paths):
        parser.error("needs tables; name the folder that has them in LOWDIM_DATA.")
    warnings.simplefilter("ignore")
    head = "| table | hidden | auto | chosen | best single | auto / best | cover | s | all |"
    sys.stdout.write(f"{head}\n{'|---' * 9}|\n")
    records = []
    for record in study(paths, options.rows, options.seeds, tuple(options.mechanisms.split(","))):
        records.append(record)
        sys.stdout.write(line(record) + "\n")
        sys.stdout.flush()
        if options.json:
            options.json.write_text(json.dumps(records, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
