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
cases = CASES[{part}]
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
# Tables that PyTorch shares between threads: OpenMP ends a process in which these cannot start.
LARGE = """
import os, resource, sys, threading, warnings
import numpy as np
import lowdim
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(4000, 60))
def fits(n_jobs):
    for kind in (lowdim.Autoencoder, lowdim.VAE):
        model = kind(2, hidden=64, max_iter=2, random_state=0, n_jobs=n_jobs)
        yield kind.__name__, model.fit_transform(X)
right = dict(fits(1))
"""


def check(part):
    check_code(CODE.format(part=part))


def check_code(code):
    done = python(code, 300)
    if done.stdout.strip() == "skip":
        pytest.skip("threads can be started whatever the limit")
    assert done.stdout.strip() == "[]", done.stdout + done.stderr[-3000:]


def test_methods_of_several_families_without_threads():
    check("slice(0, None, 17)")


def test_networks_on_many_rows_without_threads():
    check_code(LARGE + CODE[CODE.index("if os.geteuid()") :])


@pytest.mark.deep
def test_all_methods_without_threads():
    check("slice(None)")
