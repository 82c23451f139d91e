"""Where no thread can be started, every method finds the same bits in the one there is."""

import pytest

from tests._core.runtime.children import python

CODE = """
import os, resource, sys, threading, warnings
import numpy as np
from sklearn.base import clone
from tests.estimators import CASES
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(60, 4))
cases = [case for case in CASES if case.name not in {left_out!r}][{part}]
def fits(n_jobs):
    for case in cases:
        model = clone(case.estimator)
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=n_jobs)
        yield case.name, case.fit_transform(model, X)
right = dict(fits(2))
if os.geteuid() == 0:  # the limit does not hold for root
    os.setgid(65534)
    os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
try:
    threading.Thread(target=int).start()
    print("skip")
    sys.exit()
except RuntimeError:
    pass
bad = [(name, n_jobs) for n_jobs in (1, 2) for name, Z in fits(n_jobs) if not np.array_equal(right[name], Z)]
print(bad)
"""
NETWORKS = ["Autoencoder", "VAE"]  # OpenMP ends a process in which its threads cannot start


def check(part):
    done = python(CODE.format(left_out=NETWORKS, part=part), 300)
    if done.stdout.strip() == "skip":
        pytest.skip("threads can be started whatever the limit")
    assert done.stdout.strip() == "[]", done.stdout + done.stderr[-3000:]


def test_methods_of_several_families_without_threads():
    check("slice(0, None, 17)")


@pytest.mark.deep
def test_all_methods_without_threads():
    check("slice(None)")
