"""Python in a process of its own: what a signal, a fork or the end of the interpreter does is seen from outside."""

import signal
import subprocess
import sys
import textwrap


def hear_ctrl_c():
    """A test run in the background of a shell ignores the signal, and its children would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def filled(code, **values):
    """The code with <name> replaced by values (braces mean something in Python)."""
    for name, value in values.items():
        code = code.replace(f"<{name}>", repr(value))
    return code


def python(code, seconds=240, env=None):
    """Run some lines; a process that hangs fails the test."""
    command = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, preexec_fn=hear_ctrl_c, env=env, check=False
    )


FITS = """
import faulthandler, os, signal, sys, threading, time, warnings
import numpy as np
import lowdim
from lowdim._core.neighbors import nearest
from tests._core.runtime.clocks import stopwatch
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(1200, 10))
wide = rng.normal(size=(900, 850))
FITS = {
    "tsne": lambda: lowdim.TSNE(n_jobs=2).fit(X),
    "umap": lambda: lowdim.UMAP(n_jobs=2).fit(X),
    "isomap": lambda: lowdim.Isomap(n_jobs=2).fit(X),
    "mds": lambda: lowdim.MDS(n_jobs=2).fit(X[:400]),
    "pca": lambda: lowdim.PCA(5, n_jobs=2).fit(wide),
    "svd": lambda: lowdim.PCA(5, solver="svd").fit(wide),
    "neighbors": lambda: nearest(X, 10, n_jobs=2),
    "lle": lambda: lowdim.LLE(n_jobs=2).fit(X),
    "gplvm": lambda: lowdim.GPLVM(2, max_iter=20).fit(X[:200]),
    "nlpca": lambda: lowdim.NLPCA(2, n_jobs=2).fit(X),
    "inverse-nlpca": lambda: lowdim.InverseNLPCA(2, n_jobs=2).fit(X),
    "curve": lambda: lowdim.PrincipalCurve().fit(X),
    "em": lambda: lowdim.BayesianPCA(3).fit(np.where(X > 2, np.nan, X)),
    "mvu": lambda: lowdim.MVU().fit(X[:300]),
    "autoencoder": lambda: lowdim.Autoencoder(2).fit(X),
    "scaling": lambda: lowdim.ClassicalMDS(400).fit(wide),
}
"""
