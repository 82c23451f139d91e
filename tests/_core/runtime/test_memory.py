"""Memory: what an estimate says and what a fit takes, measured in fresh processes."""

import json
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600)]

SCRIPT = """
import json, sys, threading, time
import numpy as np
import lowdim
from lowdim import *
name, n, d, dtype = {name!r}, {n}, {d}, {dtype!r}
model = eval(name)
X = np.random.default_rng(0).normal(size=(n, d)).astype(dtype)
if "precomputed" in name:
    X = lowdim.kernels.RBF(0.1)(X)
target = lambda rows: (rows[:, ::-1].copy(),) if "CCA" in name else ()
start = X[:60, :60] if "precomputed" in name else X[:60]
eval(name).fit(start, *target(start))  # loads what is loaded on first use
given = target(X)

def used():
    line = next(l for l in open("/proc/self/status") if l.startswith("RssAnon"))
    return int(line.split()[1]) * 1024

def watch():
    while True:
        peak[0] = max(peak[0], used())
        time.sleep(0.002)

before = used()
peak = [before]
threading.Thread(target=watch, daemon=True).start()
model.fit(X, *given)
print(json.dumps([model.estimate_memory(X), peak[0] - before]))
"""

CASES = [
    ("PCA(5, solver='covariance')", 6000, 1500, "f8"),
    ("PCA(5, solver='covariance')", 200_000, 50, "f4"),
    ("PCA(5, solver='svd')", 4000, 400, "f8"),
    ("PCA(5, solver='svd')", 20_000, 100, "f8"),
    ("PCA(5, solver='gram')", 1000, 20_000, "f8"),
    ("PCA(5, solver='gram')", 1000, 20_000, "f4"),
    ("PCA(5, solver='randomized', random_state=0)", 4000, 5000, "f8"),
    ("PCA(5, solver='randomized', random_state=0, tol=1e-3)", 4000, 5000, "f4"),
    ("FAMD(2)", 200_000, 50, "f8"),
    ("FAMD(2)", 1000, 4000, "f8"),
    ("ProbabilisticPCA(5)", 200_000, 50, "f4"),
    ("ProbabilisticPCA(5)", 4000, 400, "f8"),
    ("ProbabilisticPCA(5, solver='em', max_iter=3)", 100_000, 100, "f8"),
    ("FactorAnalysis(5, max_iter=20)", 20_000, 300, "f8"),
    ("BayesianPCA(5)", 100_000, 100, "f8"),
    ("ClassicalMDS(2)", 100_000, 50, "f8"),
    ("ClassicalMDS(2, metric='manhattan')", 2500, 5, "f8"),
    ("ClassicalMDS(2, metric='manhattan', correction='lingoes')", 2500, 5, "f8"),
    ("ClassicalMDS(2, metric='manhattan', correction='cailliez')", 1500, 5, "f8"),
    ("ClassicalMDS(2, metric='manhattan')", 4000, 5, "f8"),
    ("LandmarkMDS(2, random_state=0)", 1_000_000, 10, "f8"),
    ("LandmarkMDS(2, metric='manhattan', random_state=0)", 200_000, 10, "f8"),
    ("LandmarkMDS(2, metric='cosine', random_state=0)", 200_000, 50, "f4"),
    ("LandmarkMDS(2, n_landmarks=50, landmarks='farthest', metric='manhattan', random_state=0)", 200_000, 10, "f8"),
    ("LandmarkMDS(2, n_landmarks=2000, metric='manhattan', random_state=0)", 20_000, 10, "f8"),
    ("LandmarkMDS(2, missing='pairwise', random_state=0)", 100_000, 10, "f8"),
    ("MDS(2, max_iter=2)", 10_000, 50, "f8"),
    ("MDS(2, max_iter=2)", 2500, 5, "f4"),
    ("MDS(2, loss='sammon', max_iter=2)", 4000, 5, "f8"),
    ("MDS(2, metric='manhattan', max_iter=2)", 2500, 5, "f8"),
    ("MDS(2, level='interval', max_iter=2)", 3500, 5, "f8"),
    ("MDS(2, level='ordinal', max_iter=2)", 3500, 5, "f8"),
    ("MDS(2, level='spline', max_iter=2)", 3500, 5, "f8"),
    ("MDS(2, solver='stochastic', max_iter=20, random_state=0)", 20_000, 50, "f8"),
    ("KernelPCA(2, gamma=0.1)", 4000, 5, "f8"),
    ("KernelPCA(2, gamma=0.1)", 4000, 5, "f4"),
    ("KernelPCA(2, kernel='poly')", 3000, 5, "f8"),
    ("KernelPCA(2, kernel='sigmoid')", 3000, 5, "f8"),
    ("KernelPCA(2, kernel='precomputed')", 3000, 5, "f8"),
    ("KernelPCA(None, gamma=0.1)", 2000, 5, "f8"),
    ("KernelCCA(2, gamma=0.1)", 2000, 5, "f8"),
    ("KernelCCA(2, gamma=0.1)", 2000, 5, "f4"),
    ("KernelCCA(2, gamma=0.1, ridge='cv')", 800, 5, "f8"),
    ("KernelCCA(2, gamma=0.1, n_landmarks=300)", 40_000, 5, "f8"),
    ("KernelPCA(2, gamma=0.1)", 6000, 5, "f8"),
    ("KernelPCA(2, gamma=0.1)", 13_000, 5, "f8"),
    ("KernelPCA(2, gamma=0.1, solver='operator')", 20_000, 5, "f4"),
    ("KernelPCA(40, gamma=0.1, solver='operator')", 10_000, 5, "f8"),
    ("KernelPCA(5, gamma=0.1, n_landmarks=1000, random_state=0)", 50_000, 20, "f8"),
    ("KernelPCA(5, gamma=0.1, noise=0.1, random_state=0)", 50_000, 20, "f8"),
    ("LaplacianEigenmaps(2)", 50_000, 3, "f8"),
    ("LaplacianEigenmaps(2, n_neighbors=30)", 20_000, 3, "f4"),
    ("DiffusionMaps(2)", 3000, 3, "f8"),
    ("DiffusionMaps(2)", 1500, 3, "f8"),
    ("DiffusionMaps(2, n_neighbors=30)", 20_000, 3, "f8"),
    ("LLE(2, method='ltsa')", 4000, 2, "f8"),
    ("LLE(2)", 40_000, 2, "f4"),
    ("LLE(3, method='modified')", 8000, 3, "f8"),
    ("LLE(5)", 3000, 10, "f8"),
    ("Isomap(2)", 4000, 3, "f8"),
    ("Isomap(2)", 4000, 3, "f4"),
    ("Isomap(2, n_landmarks=200, random_state=0)", 20_000, 3, "f8"),
    ("Isomap(2, n_landmarks=1000, random_state=0)", 20_000, 3, "f8"),
    ("TCIE(2, n_landmarks=500, max_iter=5, random_state=0)", 20_000, 3, "f8"),
    ("TCIE(2, n_landmarks=None, max_iter=5, random_state=0)", 2500, 3, "f8"),
    ("PrincipalCurve(max_iter=3)", 300_000, 10, "f8"),
    ("PrincipalCurve(max_iter=3, smoother='lowess')", 300_000, 10, "f4"),
    ("GPLVM(2, solver='exact', max_iter=2)", 1500, 10, "f8"),
    ("GPLVM(2, solver='variational', n_inducing=30, max_iter=5)", 5000, 10, "f8"),
]


@pytest.mark.parametrize(("name", "n", "d", "dtype"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_the_estimate_holds(name, n, d, dtype):
    """Not below the peak, and not so far above it that it refuses what fits."""
    code = SCRIPT.format(name=name, n=n, d=d, dtype=dtype)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    estimate, peak = json.loads(done.stdout)
    assert estimate > 0.95 * peak - 10e6, f"estimated {estimate / 1e6:.0f} MB, took {peak / 1e6:.0f}"
    assert estimate < 3 * peak + 60e6, f"estimated {estimate / 1e6:.0f} MB, took {peak / 1e6:.0f}"
