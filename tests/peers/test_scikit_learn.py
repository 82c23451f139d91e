"""scikit-learn's own tests of its manifold methods, on ours.

Each of its test modules is loaded once more, with its classes replaced by functions that make our estimators from their
parameters. What fails is in `scikit_learn.txt`, with the reason; one that begins to pass must be taken out of it.
"""

import importlib.util
import inspect
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from sklearn import manifold
from sklearn.metrics.pairwise import rbf_kernel

import lowdim

VERSION = "1.9"  # of scikit-learn, whose tests the list is about
LIST = Path(__file__).with_name("scikit_learn.txt")
# Parameters that choose a solver, which ours chooses itself.
SOLVERS = ("eigen_solver", "path_method", "neighbors_algorithm", "tol", "max_iter", "eigen_tol", "hessian_tol")


def made(cls, renamed=(), dropped=SOLVERS):
    """A function with the parameters of scikit-learn's class that makes our estimator."""

    def make(**parameters):
        given = {dict(renamed).get(name, name): value for name, value in parameters.items() if name not in dropped}
        return cls(**{name: value for name, value in given.items() if not (name == "n_neighbors" and value is None)})

    return make


def spectral_embedding(affinity="nearest_neighbors", gamma=None, **parameters):
    """Their `affinity` is `weights` here."""
    if callable(affinity):
        given = {"weights": lambda A, B: affinity(A)}
    else:
        given = {
            "nearest_neighbors": {"weights": "binary"},
            "precomputed": {"metric": "precomputed", "weights": "given"},
            "rbf": {"weights": lambda A, B: rbf_kernel(A, B, gamma=gamma)},
        }[affinity]
    return made(lowdim.LaplacianEigenmaps)(**given, **parameters)


OURS = {
    "Isomap": made(lowdim.Isomap),
    "LocallyLinearEmbedding": made(lowdim.LLE, {"reg": "ridge"}, (*SOLVERS, "modified_tol")),
    "SpectralEmbedding": spectral_embedding,
}
SUITES = ("test_isomap", "test_locally_linear", "test_spectral_embedding")


def functions_of(name):
    """The test functions of one module of scikit-learn, which see our estimators."""
    home = importlib.util.find_spec(f"sklearn.manifold.tests.{name}")
    spec = importlib.util.spec_from_file_location(f"lowdim_peers_{name}", home.origin)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.manifold = SimpleNamespace(**{key: getattr(manifold, key) for key in manifold.__all__} | OURS)
    for key in OURS:
        if hasattr(module, key):
            setattr(module, key, OURS[key])
    found = {key: value for key, value in vars(module).items() if key.startswith("test_")}
    ours = {key: value for key, value in found.items() if any(f"{c}(" in inspect.getsource(value) for c in OURS)}
    return {f"{name}__{key[5:]}": value for key, value in ours.items()}  # not those of functions of their own


pytestmark = [
    pytest.mark.deep,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not sklearn.__version__.startswith(VERSION), reason=f"the list is about {VERSION}"),
]

for _suite in SUITES:
    globals().update(functions_of(_suite))


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(params=[np.float64])
def global_dtype(request):
    return request.param
