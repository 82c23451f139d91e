"""Thread counts, blocks, and long calls that can be interrupted."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from lowdim._core.runtime import threads


def hear_ctrl_c():
    """A test run in the background of a shell ignores the signal, and its children would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_what_n_jobs_means(monkeypatch):
    usable = len(os.sched_getaffinity(0))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert threads.n_threads(None) == usable
    assert threads.n_threads(-1) == usable
    assert threads.n_threads(3) == 3
    assert threads.n_threads(-1000) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads.n_threads(None) == 1
    for bad in (0, 1.5, "2", True):
        with pytest.raises(ValueError, match="n_jobs must be None or a non-zero integer"):
            threads.n_threads(bad)


def test_blocks_cover_everything_once():
    parts = threads.blocks(10, 4)
    assert [p.start for p in parts] == [0, 4, 8]
    assert parts[-1].stop == 10
    assert threads.blocks(0, 4) == []


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_order(n_jobs):
    def work(rows):
        time.sleep(0.002 * (rows.start % 3))
        return rows.start

    assert threads.map_rows(work, 20, 3, n_jobs) == list(range(0, 20, 3))


def test_an_error_in_a_block_reaches_the_caller():
    def work(rows):
        raise KeyError(rows.start)

    with pytest.raises(KeyError):
        threads.map_rows(work, 20, 3, 2)


def test_blas_setting_survives_blocks_in_several_threads():
    """Blocks that overlap in time must not restore each other's limit."""
    np.ones((50, 50)) @ np.ones((50, 50))
    before = blas_threads()
    first_in, first_out = threading.Event(), threading.Event()

    def first():
        with threads.single_blas():
            first_in.set()
            first_out.wait(5)

    def second():
        first_in.wait(5)
        with threads.single_blas():
            first_out.set()
            time.sleep(0.05)
            assert set(blas_threads()) == {1}

    workers = [threading.Thread(target=f) for f in (first, second)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert blas_threads() == before


def test_interruptible_gives_values_and_errors():
    assert threads.interruptible(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        threads.interruptible(lambda: 1 / 0)


def test_interruptible_hears_ctrl_c():
    """In a process of its own: only the main thread hears it."""
    code = """
import _thread, threading, time
from lowdim._core.runtime import threads
threading.Timer(0.2, _thread.interrupt_main).start()
start = time.monotonic()
try:
    threads.interruptible(lambda: time.sleep(4))
except KeyboardInterrupt:
    print(time.monotonic() - start < 2)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, preexec_fn=hear_ctrl_c
    )
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.deep
def test_ctrl_c_during_a_long_lapack_call():
    code = """
import numpy as np, signal, threading, os, time
from scipy.spatial.distance import pdist, squareform
from lowdim.select import n_dimensions
D = squareform(pdist(np.random.default_rng(0).normal(size=(5000, 4)), "cityblock"))
start = []
def send():
    time.sleep(4)
    start.append(time.monotonic()); os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send, daemon=True).start()
try:
    n_dimensions(D)  # all eigenvalues of D
except KeyboardInterrupt:
    print(time.monotonic() - start[0], flush=True)
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=200, preexec_fn=hear_ctrl_c
    )
    assert float(done.stdout) < 3, done.stderr
