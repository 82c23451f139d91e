"""Odd values of every argument of every public function: an answer, or an error of ours that names its owner."""

import copy
import functools
import inspect
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import scverse
from lowdim._core.params import InvalidParameter, checked, flag, plain
from lowdim.study.running import Limits
from tests import odd_inputs as odd
from tests.scverse.test_scverse import Cells, counts
from tests.test_vocabulary_functions import FUNCTIONS as PUBLIC

X = odd.plain()
Z = X[:, :2].copy()
LABELS = np.arange(30) % 3
HOLES = X.copy()
HOLES[3, 1] = HOLES[7, 2] = np.nan

ODD = [
    *(np.uint8(2), np.uint8(255), 0, -1, 10**9, 2**40, 10**30, 1e300, -1.0, 0.0, 2.0, 0.5, np.float32(0.5)),
    *(float("nan"), float("inf"), True, None, "", "auto", b"auto", (), [], {}, [1, 2], ["a"], 1j, Decimal("0.5")),
    *(object(), int, np.array(2), np.array([2.0]), np.array([])),
]
# Tables and labels are swept in test_robustness.py.
TABLES = {"X", "Z", "D", "y", "labels", "model", "target", "source", "items", "embeddings", "adata"}
GIVEN = {
    "X": X,
    "Z": Z,
    "D": lowdim.dissimilarities(X, metric="euclidean"),
    "y": LABELS,
    "labels": LABELS,
    "estimator": lowdim.PCA(1),
    "target": X,
    "source": X[:, ::-1],
    "items": X,
    "embeddings": {"one": Z},
}
CHEAP = {  # arguments that keep a call short, where it has them
    "n_null": 2, "n_resamples": 2, "n_draws": 2, "n_folds": 2, "max_rows": 30, "methods": ["pca"], "verbose": False,
    "grid": [3, 5], "widths": [1.0, 3.0, 9.0], "vary": ["rows"], "rules": ["kaiser"], "n_permutations": 0, "k_up": 5,
    "n_neighbors": 3, "method": "isomap", "share": 0.1, "name": "swiss-roll", "n_samples": 40,
}  # fmt: skip
OWN = {
    "impute": {"X": HOLES, "n_components": 1, "m": 1, "method": "regularized"},
    "select.method": {"methods": ["pca", "isomap"]},
    "datasets.remove_cells": {"X": lowdim.datasets.helical_loop(40, random_state=0).X},
    "trust.fractures": {"model": lowdim.TSNE(2, perplexity=5, max_iter=60, random_state=0).fit(X)},
    "dissimilarities": {"metric": "euclidean"},
    "low_rank": {"n_components": 1},
    "compare": {"verdict": False},
    "scverse.umap": {"maxiter": 10},
    "scverse.tsne": {"perplexity": 5},
    "scverse.trust": {"n_null": 1, "estimator": lowdim.PCA(2)},
}
# As many rounds as asked for: a billion of them take that long.
LONG = {"n_null", "n_resamples", "n_draws", "n_folds", "m", "n_permutations", "max_iter", "maxiter", "stability"}
# Values that are taken start a process, or write files: test_isolated.py and test_checkpoint.py have them.
STARTS = {
    "limit_time": lambda value: Limits.of(value, None, False, "compare").isolate,
    "limit_memory": lambda value: Limits.of(None, value, False, "compare").isolate,
    "own_process": lambda value: value is True,
    "checkpoint": lambda value: isinstance(value, str) and value,
}
SLOW = 1.0  # seconds of processor time that an answer about an odd value may take
SKIPPED = {"kernels", "plot", "load", "save", "transform_batches", "config"}  # drawn, written, or not a single call


def functions():
    steps = {f"scverse.{name}": getattr(scverse, name) for name in scverse.__all__}
    steps = {path: f for path, f in steps.items() if inspect.isfunction(f)}
    return {path: f for path, f in PUBLIC.items() if path.split(".")[0] not in SKIPPED} | steps


class Copied(Cells):
    """With the method of AnnData that makes another one."""

    def copy(self):
        return copy.deepcopy(self)


@functools.cache
def cells():
    """An object with the places of AnnData, with components, a graph and a map."""
    X, labels = counts(60, 60, groups=1)
    made = Copied(X)
    made.obs["kind"] = pd.Categorical([f"kind {label}" for label in labels])
    scverse.pca(made, 5)
    scverse.neighbors(made, 8)
    made.obsm["X_umap"] = made.obsm["X_pca"][:, :2].copy()
    return made


def settings_of(path, function):
    named = inspect.signature(function).parameters
    given = {**GIVEN, **CHEAP, **OWN.get(path, {})}
    if path.startswith("scverse."):
        given = {"adata": copy.deepcopy(cells()), "estimator": lowdim.PCA(1), **OWN.get(path, {})}
    return {name: value for name, value in given.items() if name in named}


def swept(path, arguments):
    function = functions()[path]
    given, wrong = settings_of(path, function), {}
    within = [each.split(".")[-1] for each in functions() if path == "datasets.load"]  # the generators speak
    within += ["scverse.pca", "trust.rows", "trust.groups", "NeighborGraph"] if path.startswith("scverse.") else []
    owners = (path, path.split(".")[-1], "Ranks.of", "scores", "shepard", *within, *lowdim._ESTIMATORS)
    for name in arguments:
        for value in ODD:
            if name in LONG and isinstance(value, (int, np.integer)) and value > 100:
                continue
            if name in ("metric", "progress") and value is int:  # a callable, whose own error the user has to see
                continue
            if name in STARTS and starts(STARTS[name], value):
                continue
            started = time.process_time()
            said = odd.outcome(lambda n=name, v=value: called(function, given | {n: v}), owners)
            late = time.process_time() - started > SLOW and name != "device"  # which imports PyTorch
            if said or late:
                wrong[f"{name}={value!r}"] = said or "an answer, late"
    return wrong


def called(function, given):
    """None; a KeyError, which scanpy's users expect for names that are not there, as a ValueError."""
    try:
        function(**given)
    except KeyError as error:
        raise ValueError(error.args[0]) from error


def starts(asked, value):
    try:
        return asked(plain(value))
    except ValueError:
        return False


def arguments_of(path):
    named = inspect.signature(functions()[path]).parameters.values()
    return [p.name for p in named if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in TABLES]


@pytest.mark.parametrize("path", functions())
def test_the_call_itself_works(path):
    """Else the sweep would see the same error for every value."""
    functions()[path](**settings_of(path, functions()[path]))


def with_threads_or_seeds():
    """Maps by t-SNE, of which every value that is taken makes one, with all arguments in the deep tier alone."""
    for path in functions():
        if path != "scverse.tsne" and {"n_jobs", "random_state"} & set(arguments_of(path)):
            yield path


@pytest.mark.parametrize("path", list(with_threads_or_seeds()))
def test_odd_threads_and_seeds(path):
    assert swept(path, [name for name in ("n_jobs", "random_state") if name in arguments_of(path)]) == {}


@pytest.mark.parametrize("path", ["compare", *(f"scverse.{name}" for name in ("pca", "neighbors", "diffmap", "embed"))])
def test_odd_values_of_the_functions_with_most_arguments(path):
    assert swept(path, arguments_of(path)) == {}


@pytest.mark.deep
@pytest.mark.parametrize("path", functions())
def test_odd_values_of_every_argument(path):
    assert swept(path, arguments_of(path)) == {}


def test_rules_of_functions_hold_by_place_and_by_name():
    @checked("half", of=flag())
    def half(x, of=True, random_state=None):
        return x, of, random_state

    assert [type(value) for value in half(np.uint8(2), np.bool_(False), random_state=np.int8(3))] == [int, bool, int]
    for call in (lambda: half(1, "yes"), lambda: half(1, of="yes"), lambda: half(1, of=None)):
        with pytest.raises(InvalidParameter, match="half: of must be True or False"):
            call()
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        half()
