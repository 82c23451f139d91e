"""Neighbours under every metric beside pynndescent and scikit-learn, as the table of docs/metrics.md.

    python -m benchmarks.metric_table --json FILE [METRIC ...]     # measure; results are added to the file
    python -m benchmarks.metric_table --write docs/metrics.md --json FILE

Everything runs on one thread in one process, and times are processor times. pynndescent is measured warm: its second
call. Exact searches answer 100 rows, and the time for all rows is in proportion. Recall is that of 300 rows: the share
of neighbours that are no farther than the last true one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data as sets
from benchmarks.internal import core

K, N, JUDGED, ASKED = 15, 20_000, 300, 100
BITS = ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
OF_COUNTS = (
    *("euclidean", "cosine", "correlation", "manhattan", "chebyshev", "minkowski", "canberra", "braycurtis", "ruzicka"),
    *("jensenshannon", "hellinger"),
)
TASKS = (
    *(("counts", metric) for metric in OF_COUNTS),
    *(("codes", metric) for metric in ("hamming",)),
    *(("bits", metric) for metric in BITS),
    *(("places", metric) for metric in ("haversine",)),
    *(("sparse", metric) for metric in OF_COUNTS),
    *(("mixed", metric) for metric in ("gower",)),
)
ROWS = {
    "counts": "20,000 x 200 counts of species",
    "codes": "20,000 x 60 codes of four values",
    "bits": "20,000 x 2,048 bits, about fifty of them set",
    "places": "20,000 latitudes and longitudes",
    "sparse": "20,000 x 50,000 sparse tf-idf, 60 words each",
    "mixed": "20,000 x 12 numbers and categories, some missing",
}
_PYNNDESCENT = {"jensenshannon": "jensen-shannon"}
_NOT_IN_SKLEARN = ("ruzicka", "jensenshannon", "hellinger", "gower")


@cache
def rows_of(kind: str) -> Any:
    rng = np.random.default_rng(0)
    if kind == "counts":
        X = sets.abundances(N, 200)
        return X + (X.sum(axis=1, keepdims=True) == 0)  # every place has something
    if kind == "codes":
        centres = rng.integers(4, size=(300, 60))
        return (
            np.where(rng.random((N, 60)) < 0.7, centres[rng.integers(300, size=N)], rng.integers(4, size=(N, 60))) * 1.0
        )
    if kind == "bits":
        return sets.fingerprints(N)
    if kind == "places":
        return rng.uniform([-1.5, -3.1], [1.5, 3.1], (N, 2))
    return sets.tf_idf(N, 50_000)


@cache
def mixed() -> Any:
    """Numbers and categories of some families, one cell in twenty missing, as Gower's distance sees them."""
    from lowdim._core.distances import comparable

    rng = np.random.default_rng(0)
    family = rng.integers(300, size=N)
    table = np.empty((N, 12), dtype=object)
    numbers = rng.normal(size=(300, 6))[family] + 0.3 * rng.normal(size=(N, 6))
    numbers[rng.random((N, 6)) < 0.05] = np.nan
    table[:, :6] = numbers
    for j in range(6, 12):
        codes = np.where(rng.random(N) < 0.8, rng.integers(8, size=300)[family], rng.integers(8, size=N))
        table[:, j] = np.array([f"kind {code}" for code in range(8)], dtype=object)[codes]
    return comparable(table, "gower", "benchmark")


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def measured(kind: str, metric: str) -> dict[str, Any]:
    """One line of the table."""
    from lowdim._core.distances import with_params

    nearest = core("nearest")
    X, named = mixed() if kind == "mixed" else (rows_of(kind), metric)
    named = with_params(named, {"p": 3} if metric == "minkowski" else None, "benchmark")
    timed(lambda: nearest(X[:2000], K, metric=named, approximate=True, n_jobs=1))
    line: dict[str, Any] = {"rows": kind, "metric": metric}
    line["lowdim"], found = timed(lambda: nearest(X, K, metric=named, approximate=True, n_jobs=1))
    judged = np.random.default_rng(1).choice(N, JUDGED, replace=False)
    some = np.random.default_rng(2).choice(N, ASKED, replace=False)
    part, _ = timed(lambda: nearest(X, K + 1, metric=named, queries=X[some], n_jobs=1))
    line["lowdim exact"] = part * N / ASKED
    truth = nearest(X, K + 1, metric=named, queries=X[judged], n_jobs=1).distances[:, -1]
    line["recall"] = recall(X, named, judged, found.indices[judged], truth)
    line |= beside_pynndescent(kind, metric, X, named, judged, truth)
    line["scikit-learn"] = scikit_learn(kind, metric, X, some)
    return line


def recall(X: Any, metric: Any, judged: np.ndarray, indices: np.ndarray, truth: np.ndarray) -> float:
    """The share of neighbours no farther than the K-th other row, which a row's own duplicate counts among."""
    pairwise, right = core("pairwise"), 0
    for row, listed, limit in zip(judged, indices, truth, strict=True):
        D = pairwise(X[[row]], X[listed], metric)[0]
        right += int((limit * (1 + 1e-6) + 1e-9 >= D).sum())
    return right / indices.size


def beside_pynndescent(
    kind: str, metric: str, X: Any, named: Any, judged: np.ndarray, truth: np.ndarray
) -> dict[str, Any]:
    """Times and recall of its defaults, and of lists twice as long, cut to the nearest, where these find less."""
    if metric in ("ruzicka", "gower") or find_spec("pynndescent") is None:
        return {}
    from pynndescent import NNDescent

    name, given = _PYNNDESCENT.get(metric, metric), {"p": 3} if metric == "minkowski" else {}
    X = X.astype(np.float32) if kind != "sparse" else X.tocsr()
    out: dict[str, Any] = {}
    for label, k in (("pynndescent", K + 1), ("pynndescent, twice the neighbours", 2 * K + 1)):

        def search(k: int = k) -> np.ndarray:
            index = NNDescent(X, n_neighbors=k, metric=name, metric_kwds=given, n_jobs=1, random_state=0)
            return without_self(index.neighbor_graph[0])[:, :K]

        try:
            search()
            out[label], indices = timed(search)
        except Exception as error:  # noqa: BLE001 (what it cannot do is a line of the table)
            return {**out, "pynndescent refuses": f"{type(error).__name__}: {error}"[:200]}
        out[f"{label}: recall"] = recall(X, named, judged, indices[judged], truth)
        if out[f"{label}: recall"] > 0.99:
            break
    return out


def without_self(indices: np.ndarray) -> np.ndarray:
    """The list of each row without the row; where it is not there, without the last entry."""
    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    return indices[~own].reshape(len(indices), -1)


def scikit_learn(kind: str, metric: str, X: Any, some: np.ndarray) -> float | None:
    """Seconds for all rows, all pairs; None where it has no such metric for such rows."""
    if metric in _NOT_IN_SKLEARN or (kind == "sparse" and metric not in ("euclidean", "cosine", "manhattan")):
        return None
    from sklearn.neighbors import NearestNeighbors

    given = {"p": 3} if metric == "minkowski" else None
    index = NearestNeighbors(n_neighbors=K + 1, algorithm="brute", metric=metric, metric_params=given, n_jobs=1)
    X = X.astype(bool) if kind == "bits" else X
    index.fit(X)
    index.kneighbors(X[some[:2]])
    return timed(lambda: index.kneighbors(X[some]))[0] * N / ASKED


# ---- the page ----------------------------------------------------------------------------------------------


def table(lines: list[dict[str, Any]]) -> str:
    """Markdown, one table for each kind of rows."""
    parts = []
    for kind, title in ROWS.items():
        mine = [line for line in lines if line["rows"] == kind]
        if not mine:
            continue
        parts += [f"**{title}**", ""]
        parts += [
            "| metric | lowdim (s) | recall | pynndescent (s) | recall | lowdim exact (s) | scikit-learn exact (s) |"
        ]
        parts += ["|---|--:|--:|--:|--:|--:|--:|"]
        parts += [_row(line) for line in mine] + [""]
    return "\n".join(parts)


def _row(line: dict[str, Any]) -> str:
    peers = [label for label in ("pynndescent", "pynndescent, twice the neighbours") if label in line]
    times = " / ".join(f"{line[label]:.2f}" for label in peers) or "-"
    recalls = " / ".join(f"{line[f'{label}: recall']:.3f}" for label in peers) or "-"
    exact = ["-" if value is None else f"{value:.1f}" for value in (line["lowdim exact"], line["scikit-learn"])]
    ours = [f"`{line['metric']}`", f"{line['lowdim']:.2f}", f"{line['recall']:.3f}"]
    return f"| {' | '.join([*ours, times, recalls, *exact])} |"


BEGIN, END = "<!-- measured by benchmarks.metric_table -->", "<!-- end -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metrics", nargs="*", help="names, or kind:name (default: all)")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--write", type=Path, help="put the table into this page; measure nothing")
    options = parser.parse_args()
    lines = json.loads(options.json.read_text()) if options.json.exists() else []
    if options.write:
        text = options.write.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN)
        order = [list(task) for task in TASKS]
        lines.sort(key=lambda line: order.index([line["rows"], line["metric"]]))
        options.write.write_text(f"{head}{BEGIN}\n\n{table(lines)}\n{END}{rest.split(END)[1]}", encoding="utf-8")
        return
    for kind, metric in TASKS:
        if options.metrics and not {metric, f"{kind}:{metric}", kind} & set(options.metrics):
            continue
        line = measured(kind, metric)
        lines = [known for known in lines if (known["rows"], known["metric"]) != (kind, metric)] + [line]
        options.json.write_text(json.dumps(lines, indent=1))
        print(_row(line), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
