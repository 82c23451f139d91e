"""The interpreter ends while a daemon thread fits: no abort, no crash, no hang, and the status that was asked for."""

import pytest

from tests._core.runtime.children import FITS, filled, python

END = (
    FITS
    + """
FITS[<name>]()

def work():
    while True:
        FITS[<name>]()

threading.Thread(target=work, daemon=True).start()
time.sleep(<delay>)
print("end", flush=True)
sys.exit(7)
"""
)


def check_end(name, delay):
    done = python(filled(END, name=name, delay=delay))
    assert done.stdout.strip() == "end"
    assert done.returncode == 7, done.stderr[-3000:]
    assert "terminate" not in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["tsne"])
def test_the_interpreter_ends_during_a_fit(name):
    check_end(name, 0.2)


@pytest.mark.deep
@pytest.mark.parametrize("delay", [0.05, 0.13, 0.31, 0.47, 0.71])
@pytest.mark.parametrize(
    "name",
    ["tsne", "umap", "isomap", "mds", "pca", "svd", "neighbors", "lle", "gplvm", "nlpca", "scaling", "autoencoder"],
)
def test_the_interpreter_ends_during_any_fit(name, delay):
    check_end(name, delay)


SHORT = """
import threading, time
import numpy as np
from lowdim import _native
from tests._core.runtime.clocks import stopwatch
n = 300
Z, delta = np.zeros((n, 2)), np.ones(n * (n - 1) // 2)

def kernel():
    "Far less than the 0.1 s between two looks of the main thread at its signals."
    _native.stress_detail(delta, np.empty(0), Z, np.empty(n), np.empty((n, 2)), 1)

def work():
    until = time.monotonic() + 100
    try:
        while time.monotonic() < until:
            kernel()
            turns.append(1)
    except SystemExit:
        outcome.append("stopped")

turns, outcome = [], []
thread = threading.Thread(target=work)
thread.start()
while len(turns) < 50 and thread.is_alive():
    time.sleep(0.001)
spent = stopwatch()
_native.stop_other_threads()
thread.join(110)
kernel()  # of the main thread, which goes on
print(outcome, len(turns) >= 50, spent() < 5)
"""


def test_short_kernels_of_other_threads_stop_at_the_end():
    """A loop over kernels too short for the clock stops at the next one; the loop itself ends after 100 s."""
    done = python(SHORT)
    assert done.stdout.strip() == "['stopped'] True True", done.stderr


def test_a_long_kernel_of_another_thread_stops_at_the_end():
    """One call that would take minutes stops within a second or two, and says so by SystemExit."""
    done = python("""
        import threading, time
        import numpy as np
        import lowdim
        from lowdim import _native
        from tests._core.runtime.clocks import stopwatch
        X = np.random.default_rng(0).normal(size=(2000, 5))
        lowdim.UMAP(max_iter=5, solver="sampled").fit(X)
        outcome = []
        def work():
            try:
                lowdim.UMAP(max_iter=100_000, solver="sampled").fit(X)
                outcome.append("done")
            except SystemExit:
                outcome.append("stopped")
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.5)
        spent = stopwatch()
        _native.stop_other_threads()
        thread.join(150)
        print(outcome, spent() < 5)
        """)
    assert done.stdout.strip() == "['stopped'] True", done.stderr


@pytest.mark.parametrize("daemon", [False, True])
def test_a_sparse_factor_that_is_left_behind(daemon):
    """SuperLU goes on in its thread, after Ctrl-C or in a daemon thread: nothing is taken from it, nor from the status.

    It keeps what it has in the dictionary of its thread. Where that is taken down the process ends with 120.
    """
    done = python(f"""
        import _thread, sys, threading, time
        from scipy import sparse
        from scipy.sparse.linalg import splu
        from lowdim._core.runtime import threads
        line = sparse.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(40, 40)).tocsc()
        one = sparse.eye_array(40, format="csc")
        plane = sparse.kron(line, one) + sparse.kron(one, line)
        L = sparse.csc_array(sparse.kron(plane, one) + sparse.kron(sparse.kron(one, one), line))  # minutes, if it ended
        def factor():
            with threads.single_blas():
                threads.aside(lambda: splu(L))
        if {daemon}:
            threading.Thread(target=factor, daemon=True).start()
            time.sleep(0.2)
            sys.exit(7)
        threading.Timer(0.2, _thread.interrupt_main).start()
        try:
            factor()
        except KeyboardInterrupt:
            sys.exit(7)
        """)
    assert done.stderr == ""
    assert done.returncode == 7
