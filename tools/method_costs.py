"""Measure every method on one table and write docs/choose/costs.md, with the formulas of the pages of methods.

Usage: OMP_NUM_THREADS=1 python tools/method_costs.py
"""

import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import lowdim

DOCS = Path(__file__).resolve().parent.parent / "docs"
ROWS, COLUMNS = 1000, 20
GENERATIVE = ("ProbabilisticPCA", "FactorAnalysis", "BayesianPCA", "GPLVM", "VAE", "ICA")
HEAD = f"""# What each method costs, and what its map does not show

Time and memory as formulas, with n rows, d columns, k neighbours or components, m landmarks; and measured: one fit
with default settings on a rolled-up sheet of {ROWS:,} rows in {COLUMNS} columns with noise, in **processor seconds of
one thread**, which includes loading what the method needs. The largest tables that were tried are in the
[table of all methods](../methods.md), times beside other packages in the [benchmarks](../benchmarks.md).
A *probabilistic* method has a likelihood: it can say how probable a row is; the others minimise an error or follow a
rule. This page is written by `tools/method_costs.py`.

| method | kind | time | memory | measured (s) | do not read |
|---|---|---|---|---|---|
"""


def facts(name):
    """The page of a method, and the lines of its first table: time, memory, what not to read."""
    for path in sorted((DOCS / "methods").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if f"{{py:class}}`lowdim.{name}` in the reference" in text:
            found = dict(re.findall(r"^\| (time|memory|do not read) \| (.*) \|$", text, flags=re.M))
            return path.name, found
    raise SystemExit(f"no page of {name}")


def table():
    """A rolled-up sheet in many columns, and classes along it."""
    roll = lowdim.datasets.swiss_roll(ROWS, random_state=0)
    rng = np.random.default_rng(0)
    X = roll.X @ np.linalg.qr(rng.normal(size=(COLUMNS, 3)))[0].T + 0.05 * rng.normal(size=(ROWS, COLUMNS))
    return X, np.digitize(roll.coordinates[:, 0], np.quantile(roll.coordinates[:, 0], [0.33, 0.67]))


def seconds(name, X, y):
    """Processor time of one fit."""
    given = {"CA": (np.abs(X),), "MCA": (np.digitize(X[:, :8], [-2, 2]).astype(str),), "LDA": (X, y)}
    given |= {"CCA": (X[:, :10], X[:, 10:]), "KernelCCA": (X[:, :10], X[:, 10:])}
    model = getattr(lowdim, name)()
    if "n_components" in model.get_params() and name != "Whitening":
        model.set_params(n_components=2)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*given.get(name, (X,)))
    return time.process_time() - start


def main():
    """The page, line by line."""
    X, y = table()
    lowdim.PCA(2).fit(X)  # what every method loads
    lines = []
    for name in lowdim._ESTIMATORS:
        page, found = facts(name)
        took = seconds(name, X, y)
        shown = "< 0.01" if took < 0.01 else f"{took:.2g}" if took < 10 else f"{took:.0f}"
        kind = "probabilistic" if name in GENERATIVE else "heuristic"
        cells = [f"[`{name}`](../methods/{page})", kind, found["time"], found["memory"], shown, found["do not read"]]
        lines.append(f"| {' | '.join(cells)} |")
        print(name, shown, file=sys.stderr, flush=True)
    (DOCS / "choose" / "costs.md").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
