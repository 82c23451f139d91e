"""Ctrl-C at random moments: within a second, and the process is as good as before and ends at once."""

import signal
import subprocess
import sys
import time

import pytest

from tests._core.runtime.children import FITS, filled, hear_ctrl_c, python

AGAIN = (
    FITS
    + """
signal.signal(signal.SIGINT, signal.default_int_handler)

def latency(fit, delay):
    sent = []
    def send():
        time.sleep(delay)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send, daemon=True).start()
    try:
        while True:
            fit()
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]

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
    "nlpca": ("lowdim.NLPCA(2)", "rng.normal(size=(2000, 20))", ""),
    "inverse-nlpca": ("lowdim.InverseNLPCA(2)", "rng.normal(size=(2000, 20))", ""),
    "autoencoder": ("lowdim.Autoencoder(2)", "rng.normal(size=(3000, 50))", ""),
}
STOP = """
import signal, sys
import numpy as np, lowdim
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
model, X = {model}, {rows}
print("go", flush=True)
try:
    while True:
        model.fit(X{more})
except KeyboardInterrupt:
    print("heard", flush=True)
    sys.exit(130)
"""


def interrupted(name, delay):
    """Seconds to the exception and to the end of a process whose fit is interrupted, and its status."""
    model, rows, more = LARGE[name]
    code = STOP.format(model=model, rows=rows, more=more)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "preexec_fn": hear_ctrl_c}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:
        assert child.stdout.readline() == "go\n", child.stderr.read()
        time.sleep(delay)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        said = child.stdout.readline()
        heard = time.monotonic() - start
        status = child.wait(60)
        assert said == "heard\n", child.stderr.read()
        return heard, time.monotonic() - start, status


@pytest.mark.deep
@pytest.mark.parametrize("delay", [0.1, 0.7, 1.3, 2.1, 3.4])
@pytest.mark.parametrize("name", list(LARGE))
def test_ctrl_c_in_a_long_call_and_the_end_of_the_process(name, delay):
    heard, ended, status = interrupted(name, delay)
    assert status == 130
    assert heard < 1
    assert ended < 3  # the interpreter takes down its modules, PyTorch among them


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
        def send():
            time.sleep({delay})
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=send).start()
        try:
            lowdim.Autoencoder(2, max_iter=2).fit(X)
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
    (tmp_path / "slow_module.py").write_text("import time\nfor _ in range(20):\n    time.sleep(0.02)\nwhole = True\n")
    done = python(f"""
        import _thread, sys, threading, time
        sys.path.insert(0, {str(tmp_path)!r})
        from lowdim._core.runtime.background import imported
        threading.Timer(0.1, _thread.interrupt_main).start()
        start = time.monotonic()
        try:
            imported("slow_module")
        except KeyboardInterrupt:
            print(time.monotonic() - start < 2, imported("slow_module").whole)
        """)
    assert done.stdout.split() == ["True", "True"], done.stderr
