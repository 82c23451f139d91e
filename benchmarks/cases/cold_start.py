"""First result from a new process

Input: a CSV file of n rows. Output: the map by one method and its quality scores. lowdim also writes its report page.
*by hand* is a script that reads the table, runs PCA of scikit-learn, computes the trustworthiness and writes the
coordinates. *written MB*: size of the output.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender

sizes = {"quick": [{"n": 200, "d": 5}], "full": [{"n": 500, "d": 10}]}

SCRIPT = """
import sys, numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
X = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
Z = PCA(2).fit_transform(X)
print(trustworthiness(X, Z, n_neighbors=12))
np.savetxt(sys.argv[2] + "/Z.csv", Z, delimiter=",")
"""


def data(size):
    return {"X": sets.clusters(size["n"], size["d"])}


def table(data):
    """A folder with the table in it."""
    folder = Path(tempfile.mkdtemp(dir="."))
    names = ",".join(f"x{j}" for j in range(data["X"].shape[1]))
    np.savetxt(folder / "rows.csv", data["X"], delimiter=",", header=names, comments="")
    return folder


def started(command, folder):
    """Run a process to its end; what it wrote, in bytes."""
    out = Path(tempfile.mkdtemp(dir=folder))
    subprocess.run([*command, str(out)], check=True, capture_output=True)
    return {"written": sum(path.stat().st_size for path in out.rglob("*") if path.is_file())}


def lowdim(data, size, threads):
    folder = table(data)
    command = [sys.executable, "-m", "lowdim.app", "compare", str(folder / "rows.csv"), "--methods", "pca"]
    return lambda: started([*command, "--n-jobs", str(threads), "--out"], folder)


def by_hand(data, size, threads):
    folder = table(data)
    return lambda: started([sys.executable, "-c", SCRIPT, str(folder / "rows.csv")], folder)


ours = {"lowdim compare": Contender(lowdim, "polars")}
peers = {"by hand": Contender(by_hand, "sklearn")}


def quality(data, size, results):
    return {name: {"written MB": found["written"] / 1e6} for name, found in results.items()}
