"""Ctrl-C in a fit of every estimator: the exception and the end of the process, both within a second."""

import subprocess
import sys
import time

import pytest

from tests._core.runtime.children import hear_ctrl_c
from tests._core.runtime.clocks import children
from tests.estimators import CASES

NAMES = [case.name for case in CASES]
CODE = """
import os, signal, sys, threading, time, warnings
import numpy as np
from sklearn.base import clone
from tests._core.runtime.clocks import stopwatch
from tests.estimators import CASES
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)
case = next(case for case in CASES if case.name == sys.argv[1])
X = np.random.default_rng(0).normal(size=(1500, 10))
case.fit(clone(case.estimator), X[:50])  # loads what is loaded on first use
sent = []

def send():
    time.sleep(float(sys.argv[2]))
    sent.append(stopwatch())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=send, daemon=True).start()
try:
    while True:
        case.fit(clone(case.estimator), X)
except KeyboardInterrupt:
    print(sent[0](), time.process_time(), time.monotonic(), flush=True)
    sys.exit(130)
"""


def interrupted(name, delay):
    """Seconds from the signal to the exception, and from there to the end of the process."""
    before = children()
    command = [sys.executable, "-c", CODE, name, str(delay)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, preexec_fn=hear_ctrl_c, check=False)
    ended = time.monotonic()
    assert done.returncode == 130, done.stderr
    heard, work, clock = map(float, done.stdout.split())
    return heard, min(children() - before - work, ended - clock)


def check_end(name, delays):
    """All trials: neither number counts what other programs do meanwhile."""
    times = [interrupted(name, delay) for delay in delays]
    assert max(heard for heard, _ in times) < 1, times
    assert max(ended for _, ended in times) < 1, times


@pytest.mark.parametrize("name", ["MDS", "Isomap"])
def test_the_process_ends_after_ctrl_c(name):
    check_end(name, [0.3])


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_the_process_ends_after_ctrl_c_in_any_fit(name):
    check_end(name, [0.2, 0.5, 0.6, 1.1])
