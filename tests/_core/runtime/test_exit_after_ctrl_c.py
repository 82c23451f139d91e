"""Ctrl-C in a fit of every estimator: the exception and the end of the process, both within a second."""

import signal
import subprocess
import sys
import time

import pytest

from tests._core.runtime.children import hear_ctrl_c
from tests.estimators import CASES

NAMES = [case.name for case in CASES]
CODE = """
import signal, sys, time, warnings
import numpy as np
from sklearn.base import clone
from tests.estimators import CASES
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)
case = next(case for case in CASES if case.name == sys.argv[1])
X = np.random.default_rng(0).normal(size=(1500, 10))
case.fit(clone(case.estimator), X[:50])  # loads what is loaded on first use
print("go", flush=True)
try:
    while True:
        case.fit(clone(case.estimator), X) if sys.argv[2] == "fit" else time.sleep(1)
except KeyboardInterrupt:
    print("heard", flush=True)
    sys.exit(130)
"""


def interrupted(name, work, delay):
    """Seconds from the signal to the exception, and to the end of the process."""
    command = [sys.executable, "-c", CODE, name, work]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "preexec_fn": hear_ctrl_c}
    with subprocess.Popen(command, **pipes) as child:
        assert child.stdout.readline() == "go\n", child.stderr.read()
        time.sleep(delay)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        said, heard = child.stdout.readline(), time.monotonic() - start
        assert child.wait(60) == 130, child.stderr.read()
        assert said == "heard\n", child.stderr.read()
        return heard, time.monotonic() - start


def check_end(name, delays):
    """The best of some trials: a busy machine delays one of them, a fit that does not stop delays all.

    The interpreter takes down its modules meanwhile: a process that sleeps shows how long that takes by itself.
    """
    heard, ended = (min(times) for times in zip(*(interrupted(name, "fit", delay) for delay in delays), strict=True))
    if ended >= 1:
        ended -= min(interrupted(name, "sleep", 0.1)[1] for _ in delays)
    assert heard < 1
    assert ended < 1


@pytest.mark.parametrize("name", ["MDS", "Isomap"])
def test_the_process_ends_after_ctrl_c(name):
    check_end(name, [0.3, 0.5])


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_the_process_ends_after_ctrl_c_in_any_fit(name):
    check_end(name, [0.2, 0.6, 1.1])
