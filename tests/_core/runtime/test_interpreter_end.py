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
    done = python(filled(END, name=name, delay=delay), 120)
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
