"""How well the methods for incomplete tables impute cells whose values are known.

    LOWDIM_DATA=FOLDER python -m benchmarks.incomplete_tables [--quick] [--json FILE]

Data: real tables with missing cells (``na_*.npz``: X, and kind "num" or "cat" of each column); their numeric columns,
standardised. A share of the observed cells is hidden by each mechanism of `lowdim.datasets.hide_cells`, and every
method imputes them. The number is the root mean squared error over the hidden cells, divided by that of imputation by
column means: the mean over the seeds with its standard error. Below 1 is better than column means. A method is called
better or worse where a one-sided t test over the seeds says so at 1 %. The rank is chosen by generalised
cross-validation; a table for which it chooses 0 is marked with *: nothing predicts a cell better than the mean of its
column. There PCA chooses for itself, and probabilistic PCA, which needs a component, gets one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

import lowdim
from lowdim.datasets import hide_cells

MECHANISMS = ("mcar", "mar", "nmar", "block")
SHARES = {"quick": (0.1, 0.3), "full": (0.05, 0.1, 0.2, 0.3, 0.5)}
LEAST_COLUMNS = 4
ROWS = {"quick": 200, "full": 1000}  # of larger tables so many are drawn
SEEDS = {"quick": 3, "full": 10}
BOUND = 10.0  # times the error of the means: what is worse has run away
LEVEL = 0.99

Record = dict[str, Any]
Complete = Callable[[np.ndarray, int], np.ndarray]


def _pca(missing: str) -> Complete:
    return lambda X, r: lowdim.PCA(r or None, missing=missing, tol=1e-7, n_jobs=1).fit(X).completed_


def _regularized(X: np.ndarray, r: int) -> np.ndarray:
    """Left to choose for itself: the same rank, and the ridge for it."""
    return np.asarray(lowdim.PCA(tol=1e-7, n_jobs=1).fit(X).completed_)


def _bayes(prior: str, tol: float) -> Complete:
    return lambda X, r: lowdim.BayesianPCA(prior=prior, tol=tol, random_state=0, n_jobs=1).fit(X).completed_


METHODS: dict[str, Complete] = {
    "regression": lambda X, r: lowdim.impute(X, 1, method="regression").mean,
    "em": _pca("em"),
    "regularized": _regularized,
    "nipals": _pca("nipals"),
    "ppca": lambda X, r: lowdim.ProbabilisticPCA(max(1, r), tol=1e-7, random_state=0, n_jobs=1).fit(X).completed_,
    "bayes ard": _bayes("ard", 1e-7),
    "bayes oba": _bayes("oba", 1e-4),
}


def tables(folder: Path, most_rows: int) -> Iterator[tuple[str, np.ndarray]]:
    """Names and standardised numeric columns."""
    for path in sorted(folder.glob("na_*.npz")):
        with np.load(path, allow_pickle=False) as archive:
            X = archive["X"][:, archive["kind"] == "num"].astype(np.float64)
        X = X[~np.isnan(X).all(axis=1)]
        if len(X) > most_rows:
            X = X[np.sort(np.random.default_rng(0).choice(len(X), most_rows, replace=False))]
        if X.shape[1] >= LEAST_COLUMNS:
            X = X[:, np.nanstd(X, axis=0) > 0]
            yield path.stem.removeprefix("na_"), (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)


def trial(truth: np.ndarray, share: float, mechanism: str, seed: int) -> tuple[int, dict[str, float]] | None:
    """Rank by cross-validation, and the error of each method relative to the means; None where it cannot be hidden."""
    try:
        holes = hide_cells(truth, share, mechanism, random_state=seed)
    except ValueError:
        return None
    X, hidden = np.asarray(holes.X), holes.mask
    rank = lowdim.select.n_components(X, rules=["gcv"]).verdicts["gcv"].choice
    plain = _error(lowdim.impute(X, 1, method="mean").mean, truth, hidden)
    return rank, {name: _error(_filled(fill, X, rank), truth, hidden) / plain for name, fill in METHODS.items()}


def _filled(fill: Complete, X: np.ndarray, rank: int) -> np.ndarray:
    """What a method gives; nothing (NaN) where it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(fill(X, rank))
        except ValueError:
            return np.full(X.shape, np.nan)


def _error(filled: np.ndarray, truth: np.ndarray, hidden: np.ndarray) -> float:
    return float(np.sqrt(np.mean((filled - truth)[hidden] ** 2)))


def study(folder: Path, tier: str, seeds: int) -> Iterator[Record]:
    """One record for each table, mechanism and share."""
    for name, truth in tables(folder, ROWS[tier]):
        for mechanism in MECHANISMS:
            for share in SHARES[tier]:
                start = time.perf_counter()
                found = [one for seed in range(seeds) if (one := trial(truth, share, mechanism, seed)) is not None]
                if len(found) > 1:
                    where = {"table": name, "shape": list(truth.shape), "mechanism": mechanism, "share": share}
                    yield where | _summed(found) | {"seconds": time.perf_counter() - start}


def _summed(found: list[tuple[int, dict[str, float]]]) -> Record:
    ratios = {name: np.array([errors[name] for _, errors in found]) for name in METHODS}
    return {
        "seeds": len(found),
        "ranks": [rank for rank, _ in found],
        "methods": {name: _compared(values) for name, values in ratios.items()},
    }


def _compared(ratios: np.ndarray) -> Record:
    mean, error = float(ratios.mean()), float(ratios.std(ddof=1) / np.sqrt(len(ratios)))
    reach = error * float(student.ppf(LEVEL, len(ratios) - 1))
    verdict = "better" if mean + reach < 1 else "worse" if mean - reach > 1 else "even"
    return {"ratio": mean, "error": error, "worst": float(ratios.max()), "verdict": verdict}


def by_mechanism(records: list[Record], mechanism: str) -> str:
    """A line for each table and share."""
    head = ["table", "share", "rank", *METHODS]
    rows = []
    for record in (r for r in records if r["mechanism"] == mechanism):
        rank = f"{np.median(record['ranks']):g}" + ("*" if min(record["ranks"]) == 0 else "")
        cells = [f"{m['ratio']:.3f}±{m['error']:.3f}{_MARK[m['verdict']]}" for m in record["methods"].values()]
        rows.append([record["table"], f"{record['share']:.0%}", rank, *cells])
    return _aligned(f"{mechanism}: error relative to column means (+ worse)", [head, *rows])


_MARK = {"better": " ", "even": "~", "worse": "+"}


def summary(records: list[Record]) -> str:
    """For each method: how often it is better, and how bad it gets; with and without a component to be found."""
    rows = [["method", "median", "worst", "better", "even", "worse", "where a rank is found: worse", "ran away"]]
    for name in METHODS:
        all_of = [record["methods"][name] for record in records]
        found = [record["methods"][name] for record in records if min(record["ranks"]) > 0]
        counts = [str(sum(m["verdict"] == v for m in all_of)) for v in ("better", "even", "worse")]
        away = sum(not m["worst"] < BOUND for m in all_of)
        ratios = [m["ratio"] for m in all_of]
        numbers = [f"{np.nanmedian(ratios):.3f}", f"{np.nanmax([m['worst'] for m in all_of]):.3g}"]
        rows.append([name, *numbers, *counts, str(sum(m["verdict"] == "worse" for m in found)), str(away)])
    return _aligned(f"{len(records)} settings", rows)


def _aligned(title: str, rows: list[list[str]]) -> str:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) if j == 0 else c.rjust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True)))
             for row in rows]  # fmt: skip
    return "\n".join([title, *("  " + line for line in lines)])


def _say(parts: Iterable[str]) -> None:
    sys.stdout.write("\n\n".join(parts) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the study; 1 where the regularised or the Bayesian completion ran away."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.incomplete_tables", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows, shares and seeds")
    parser.add_argument("--seeds", type=int, help="how often cells are hidden (default: 10, quick: 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the records to this file")
    options = parser.parse_args(arguments)
    folder, tier = os.environ.get("LOWDIM_DATA"), "quick" if options.quick else "full"
    if not folder or not any(Path(folder).glob("na_*.npz")):
        parser.error("needs na_*.npz; name the folder that has them in LOWDIM_DATA.")
    records = list(study(Path(folder), tier, options.seeds or SEEDS[tier]))
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n")
    _say([*(by_mechanism(records, mechanism) for mechanism in MECHANISMS), summary(records)])
    safe = ("regularized", "bayes ard", "bayes oba")
    return int(any(not record["methods"][name]["worst"] < BOUND for record in records for name in safe))


if __name__ == "__main__":
    sys.exit(main())
