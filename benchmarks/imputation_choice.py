"""Whether `lowdim.impute` chooses the right model: hidden cells of real tables, filled by it, by each model, by peers.

    LOWDIM_DATA=FOLDER python -m benchmarks.imputation_choice [TABLE[:SEEDS] ...] [--rows N] [--first SEED]

Data: tables of the folder (`X`, and `kind` "num" or "cat" of each column where there are categories); constant columns
are left out, of large tables N rows are drawn, of wide ones 200 columns. One observed cell in ten is hidden at random
("mcar") or in blocks of rows and columns ("block"). The number is the root mean squared error of the hidden numbers in
deviations of their columns, of categories the share of wrong cells; mean over the seeds, and the standard error of the
mean. "auto / best" is the ratio of the two errors (mean over the seeds each), the best being the single model or peer
with the lowest mean error on the hidden cells themselves, which no user knows. Its standard error is over the seeds.
"oracle" is the ratio to the best model of each seed; "cover" the share of hidden numbers inside their 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.datasets import hide_cells
from lowdim.imputation.impute import MODELS
from lowdim.imputation.models.model import Effort

COLUMNS = 200
SHARE = 0.1
PEER_COLUMNS = 110  # indicator columns up to which scikit-learn's regressions are run
TREE_COLUMNS = 30  # columns up to which its forests are
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


def indicators(X: np.ndarray, numeric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and one 0/1 column for each category, and the column of the table that each belongs to."""
    parts = []
    for column, number in zip(X.T, numeric, strict=True):
        codes = np.arange(0 if number else int(np.nanmax(column)) + 1)
        one = np.where(np.isnan(column)[:, None], np.nan, column[:, None] == codes)
        parts.append(column[:, None] if number else one)
    return np.hstack(parts), np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])


def gathered(D: np.ndarray, parents: np.ndarray, numeric: np.ndarray) -> np.ndarray:
    """The table of filled indicator columns: the category with the largest value."""
    columns = [D[:, parents == j] for j in range(len(numeric))]
    return np.column_stack(
        [c[:, 0] if number else c.argmax(axis=1) for c, number in zip(columns, numeric, strict=True)]
    )


def by_forests(X: np.ndarray, numeric: np.ndarray, sweeps: int = 3, trees: int = 50) -> np.ndarray:
    """Chained random forests of scikit-learn, as missForest has them."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    holes, filled = np.isnan(X), X.copy()
    for j, hole in enumerate(holes.T):
        known = X[~hole, j]
        filled[hole, j] = known.mean() if numeric[j] else np.bincount(known.astype(int)).argmax()
    for _ in range(sweeps):
        for j in np.argsort(holes.sum(axis=0)):
            hole, others = holes[:, j], np.delete(filled, j, axis=1)
            if hole.any():
                kind = RandomForestRegressor if numeric[j] else RandomForestClassifier
                found = kind(trees, random_state=0).fit(others[~hole], filled[~hole, j])
                filled[hole, j] = found.predict(others[hole])
    return filled


def by_peers(X: np.ndarray, numeric: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """scikit-learn's imputers; categories as indicator columns, or as codes for forests."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer

    D, parents = indicators(X, numeric)
    if X.shape[1] <= TREE_COLUMNS:
        yield "sklearn forests", by_forests(X, numeric)
    if D.shape[1] <= PEER_COLUMNS:
        yield "sklearn ridge", gathered(IterativeImputer(random_state=0).fit_transform(D), parents, numeric)
    for k in (5, 15):
        near = KNNImputer(n_neighbors=k, weights="distance").fit_transform(D)
        yield f"sklearn {k} neighbours", gathered(near, parents, numeric)


def trial(X: np.ndarray, numeric: np.ndarray, mechanism: str, seed: int, options: Any) -> Record:
    """Errors of the automatic choice, of each model by its own best setting, and of peers."""
    holes = hide_cells(X, SHARE, mechanism, random_state=seed)
    hidden, table = holes.mask, given(np.asarray(holes.X), numeric)
    start, spent = time.perf_counter(), time.process_time()
    found = lowdim.impute(table, options.draws, random_state=seed)
    seconds = time.perf_counter() - start, time.process_time() - spent
    low, high = found.intervals()
    inside = ((low <= X) & (high >= X))[hidden & numeric]
    record: Record = {
        "chosen": found.choice.model.name if found.choice.model.name != "blend" else found.choice.model.words,
        "seconds": seconds,
        "cover": float(inside.mean()) if len(inside) else None,
        "errors": {"auto": errors(found.mean, X, hidden, numeric)},
    }
    cells = found.given.cells
    for one in found.choice.candidates:
        if one.method in MODELS and np.isfinite(one.error):
            filled = MODELS[one.method](Effort(seed=seed)).fill(cells, one.setting)
            restored = found.given.restored(np.where(cells.holes, cells.layout.gather(filled), cells.coded))
            record["errors"][one.method] = errors(restored, X, hidden, numeric)
    peers = () if options.alone else by_peers(np.asarray(holes.X), numeric)
    for name, filled in peers:
        record["errors"][name] = errors(filled, X, hidden, numeric)
    return record


def loss(pair: tuple[float, float], numeric: np.ndarray) -> float:
    """One number to compare by: squared errors and shares of wrong cells, weighed by their columns."""
    share = float(numeric.mean())
    rmse, wrong = np.nan_to_num(pair)
    return float(np.sqrt(share * rmse**2 + (1 - share) * wrong))


def summed(found: list[Record], numeric: np.ndarray) -> Record:
    """Means over the seeds, and how the choice compares with the best."""
    names = [name for name in found[0]["errors"] if all(name in one["errors"] for one in found)]
    pairs = {name: np.array([one["errors"][name] for one in found]) for name in names}
    losses = {name: np.array([loss(tuple(pair), numeric) for pair in pairs[name]]) for name in names}
    single = [name for name in names if name != "auto"]
    best = min(single, key=lambda name: losses[name].mean())
    auto, other = losses["auto"], losses[best]
    covers = [one["cover"] for one in found if one["cover"] is not None]
    spread = (auto - other).std(ddof=1) / np.sqrt(len(found)) / other.mean() if len(found) > 1 else float("nan")
    return {
        "errors": {name: np.mean(pairs[name], axis=0).tolist() for name in names},
        "spread": {name: (np.std(pairs[name], axis=0) / np.sqrt(max(1, len(found) - 1))).tolist() for name in names},
        "best": best,
        "ratio": float(auto.mean() / other.mean()),
        "ratio_error": float(spread),
        "oracle": float(auto.mean() / np.mean([min(losses[name][s] for name in single) for s in range(len(found))])),
        "chosen": [one["chosen"] for one in found],
        "cover": float(np.mean(covers)) if covers else None,
        "seconds": np.mean([one["seconds"] for one in found], axis=0).tolist(),
        "seeds": len(found),
    }


def study(names: list[tuple[Path, int]], options: Any) -> Iterator[Record]:
    """One record for each table and mechanism."""
    for path, seeds in names:
        X, numeric = table_of(path, options.rows)
        for mechanism in options.mechanisms.split(","):
            first = options.first
            found = [trial(X, numeric, mechanism, first + seed, options) for seed in range(seeds)]
            yield {"table": path.stem, "shape": list(X.shape), "mechanism": mechanism, **summed(found, numeric)}


def line(record: Record) -> str:
    """A row of a Markdown table."""

    def said(name: str) -> str:
        pairs = zip(record["errors"][name], record["spread"][name], strict=True)
        return " ".join(f"{mean:.3f}±{spread:.3f}" for mean, spread in pairs if np.isfinite(mean))

    others = ", ".join(f"{name} {said(name)}" for name in record["errors"] if name not in ("auto", record["best"]))
    cover = "" if record["cover"] is None else f"{record['cover']:.2f}"
    cells = [f"{record['table'].removeprefix('na_')} {record['shape'][0]} x {record['shape'][1]}",
             record["mechanism"], str(record["seeds"]), said("auto"), f"{record['best']} {said(record['best'])}",
             f"{record['ratio']:.3f}±{record['ratio_error']:.3f}", f"{record['oracle']:.3f}", cover,
             f"{record['seconds'][1]:.1f}", others]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def main(arguments: list[str] | None = None) -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imputation_choice", description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", help="files without extension, NAME or NAME:SEEDS (default: all na_*)")
    parser.add_argument("--rows", type=int, default=500, help="rows that are drawn of larger tables")
    parser.add_argument("--seeds", type=int, default=3, help="how often cells are hidden")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--mechanisms", default="mcar", help="how cells are hidden: mcar, block")
    parser.add_argument("--draws", type=int, default=1, help="tables that `impute` draws")
    parser.add_argument("--alone", action="store_true", help="without the imputers of scikit-learn, which take longest")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the records to this file")
    options = parser.parse_args(arguments)
    folder = Path(os.environ.get("LOWDIM_DATA", ""))
    wanted = options.tables or sorted(path.stem for path in folder.glob("na_*.npz"))
    names = [(folder / f"{name.split(':')[0]}.npz", int(name.partition(":")[2] or options.seeds)) for name in wanted]
    if not names or not all(path.exists() for path, _ in names):
        parser.error("needs tables; name the folder that has them in LOWDIM_DATA.")
    warnings.simplefilter("ignore")
    head = "| table | hidden | seeds | auto | best single | auto / best | oracle | cover | cpu s | others |"
    sys.stdout.write(f"{head}\n{'|---' * 10}|\n")
    records = []
    for record in study(names, options):
        records.append(record)
        sys.stdout.write(line(record) + "\n")
        sys.stdout.flush()
        if options.json:
            options.json.write_text(json.dumps(records, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
