"""Ctrl-C at random moments: within a second, and the process is as good as before and ends at once."""

import subprocess
import sys
import time

import pytest

from tests._core.runtime.children import FITS, filled, hear_ctrl_c, python
from tests._core.runtime.clocks import children

AGAIN = (
    FITS
    + """
signal.signal(signal.SIGINT, signal.default_int_handler)

def latency(fit, delay):
    sent = []
    def send():
        time.sleep(delay)
        sent.append(stopwatch())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send, daemon=True).start()
    try:
        while True:
            fit()
    except KeyboardInterrupt:
        return sent[0]()

right = lowdim.PCA(2).fit_transform(X)
for name in <names>:
    for _ in range(<turns>):
        print(name, latency(FITS[name], rng.uniform(0.02, <longest>)), flush=True)
assert np.array_equal(right, lowdim.PCA(2).fit_transform(X))
print("end", flush=True)
"""
)


def check_latency(names, turns, longest, seconds=1.0):
    done = python(filled(AGAIN, names=names, turns=turns, longest=longest), 120 + 20 * turns * len(names))
    *lines, last = done.stdout.splitlines() or [""]
    assert last == "end", done.stdout + done.stderr[-3000:]
    assert done.returncode == 0, done.stderr
    slow = [line for line in lines if float(line.split()[1]) > seconds]
    assert not slow, slow


def test_ctrl_c_in_a_fit_of_each_family():
    check_latency(["svd", "isomap", "mds", "tsne", "curve", "nlpca"], 1, 0.25)


FAMILIES = ["tsne", "umap", "isomap", "mds", "pca", "svd", "neighbors", "lle", "gplvm", "nlpca", "inverse-nlpca"]


@pytest.mark.deep
@pytest.mark.parametrize("name", [*FAMILIES, "curve", "em", "mvu", "autoencoder", "scaling"])
def test_ctrl_c_at_many_moments(name):
    check_latency([name], 12, 1.5)


LARGE = {
    "svd": ("lowdim.PCA(20, solver='svd')", "rng.normal(size=(6000, 1500))", ""),
    "cca": ("lowdim.CCA(2, solver='svd')", "rng.normal(size=(6000, 1200))", ", rng.normal(size=(6000, 600))"),
    "scaling": ("lowdim.ClassicalMDS(1000)", "rng.normal(size=(3500, 4000))", ""),
    "sparse-factor": ("lowdim.LLE(2)", "rng.normal(size=(40_000, 3))", ""),
    "nlpca": ("lowdim.NLPCA(2)", "rng.normal(size=(2000, 20))", ""),
    "inverse-nlpca": ("lowdim.InverseNLPCA(2)", "rng.normal(size=(2000, 20))", ""),
    "autoencoder": ("lowdim.Autoencoder(2)", "rng.normal(size=(3000, 50))", ""),
}
STOP = """
import os, signal, sys, threading, time
import numpy as np, lowdim
from tests._core.runtime.clocks import stopwatch
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
model, X = {model}, {rows}
sent = []

def send():
    time.sleep(float(sys.argv[1]))
    sent.append(stopwatch())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=send, daemon=True).start()
try:
    while True:
        model.fit(X{more})
except KeyboardInterrupt:
    print(sent[0](), time.process_time(), time.monotonic(), flush=True)
    sys.exit(130)
"""


def interrupted(name, delay):
    """Seconds from the signal to the exception, from there to the end of the process, and its status."""
    model, rows, more = LARGE[name]
    before = children()
    command = [sys.executable, "-c", STOP.format(model=model, rows=rows, more=more), str(delay)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, preexec_fn=hear_ctrl_c, check=False)
    ended = time.monotonic()
    heard, work, clock = map(float, done.stdout.split() or [done.stderr])
    return heard, min(children() - before - work, ended - clock), done.returncode


@pytest.mark.deep
@pytest.mark.parametrize("delay", [0.1, 0.7, 1.3, 2.1, 3.4])
@pytest.mark.parametrize("name", list(LARGE))
def test_ctrl_c_in_a_long_call_and_the_end_of_the_process(name, delay):
    heard, ended, status = interrupted(name, delay)
    assert status == 130
    assert heard < 1
    assert ended < 3  # the interpreter takes down its modules, PyTorch among them; a call left behind works meanwhile


@pytest.mark.deep
@pytest.mark.parametrize("delay", [0.02, 0.1, 0.3, 0.6, 1.0, 1.5])
def test_ctrl_c_while_pytorch_is_imported(delay):
    """The import is not torn: a second fit works."""
    done = python(
        f"""
        import os, signal, threading, time
        import numpy as np, lowdim
        signal.signal(signal.SIGINT, signal.default_int_handler)
        X = np.random.default_rng(0).normal(size=(60, 5))
        model = lowdim.Autoencoder(2, max_iter=2)
        lowdim.PCA(1).fit(X)  # scikit-learn is there: its import is Python's business
        def send():
            time.sleep({delay})
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=send).start()
        try:
            model.fit(X)
            time.sleep(3)
        except KeyboardInterrupt:
            pass
        print(lowdim.Autoencoder(2, max_iter=2).fit(X).embedding_.shape)
        """,
        120,
    )
    assert done.stdout.strip() == "(60, 2)", done.stderr[-3000:]
    assert done.returncode == 0


def test_an_import_that_ctrl_c_leaves_behind_is_finished(tmp_path):
    """A module that takes long: KeyboardInterrupt at once, and the module is whole afterwards."""
    (tmp_path / "slow_module.py").write_text("import sys\nsys.begun.set()\nsys.go_on.wait()\nwhole = True\n")
    done = python(f"""
        import _thread, sys, threading
        sys.path.insert(0, {str(tmp_path)!r})
        from lowdim._core.runtime.background import imported
        sys.begun, sys.go_on = threading.Event(), threading.Event()
        def press():
            sys.begun.wait()
            _thread.interrupt_main()
        threading.Thread(target=press, daemon=True).start()
        try:
            imported("slow_module")  # for ever, if it did not hear
        except KeyboardInterrupt:
            sys.go_on.set()
            print(imported("slow_module").whole)
        """)
    assert done.stdout.strip() == "True", done.stderr


def test_ctrl_c_while_a_kernel_begins_is_not_lost():
    """A kernel first asks which thread it is in; what comes up while it asks is raised, not forgotten."""
    done = python("""
        import threading
        import numpy as np
        import lowdim
        def pressed():
            raise KeyboardInterrupt
        threading.main_thread = pressed  # before the kernels are loaded, which remember it
        from lowdim import _native
        try:
            _native.stress_detail(np.ones(3), np.empty(0), np.zeros((3, 2)), np.empty(3), np.empty((3, 2)), 1)
        except KeyboardInterrupt:
            print("heard")
        """)
    assert done.stdout.strip() == "heard", done.stderr
