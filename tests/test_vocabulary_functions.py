"""One language for functions too: arguments that several public functions have mean and read the same."""

import inspect
import re

import pytest
from numpydoc.docscrape import NumpyDocString

import lowdim
from lowdim._core.vocabulary import LAST, SHARED
from tests.test_vocabulary import PRIVATE_WORDS

MODULES = ("quality", "select", "datasets", "plot", "kernels", "trust")


def functions():
    for name in lowdim.__all__:
        thing = getattr(lowdim, name)
        if name in MODULES:
            inner = {f"{name}.{each}": getattr(thing, each) for each in thing.__all__}
            yield from ((path, member) for path, member in inner.items() if inspect.isfunction(member))
        elif inspect.isfunction(thing):
            yield name, thing


FUNCTIONS = dict(functions())

# Arguments that several functions have and no estimator: type and first sentence, as in the table of the estimators.
ALSO = {
    "anchors": ('"auto", None, int or array of int', "Rows to rank from: all (None), a random sample of this size, or"),
    "pairs": ('"auto", None or int', 'Pairs of rows: all (None), or a random sample of this size. "auto":'),
    "graph_neighbors": ("int", 'Neighbours of each row in the graph, with ``reference="geodesic"``.'),
    "reference": (None, "Distances to compare with: between the rows of `X`, along its neighbour graph, or"),
    "noise": (None, "Standard deviation of the"),
    "ax": ("matplotlib Axes, optional", "The axes to draw on; new ones by default."),
    "title": ("str, optional", "The title."),
}
DEFAULTS = {"anchors": "auto", "pairs": "auto", "graph_neighbors": 10, "ax": None, "title": None}

# (function, argument): why its default or its text is another one.
VARIES = {
    ("compare", "metric"): "X always holds rows; distances may be given as the reference",
    ("compare", "device"): "None: the CPU, and networks as they are set",
    ("compare", "random_state"): "0: a comparison gives the same numbers when it is repeated",
    ("select.kernel_width", "random_state"): "0: as compare",
    ("select.n_neighbors", "random_state"): "0: as compare",
    ("select.method", "random_state"): "0: as compare",
    ("plot.shepard", "random_state"): "0: the same plot every time",
    ("select.n_dimensions", "metric"): "dissimilarities are what classical scaling takes",
    ("quality.knn_error", "metric"): "the rows are called Z",
}
# Functions of `_core` and of the linear methods, which have a different set of arguments.
VARIES |= {
    ("dissimilarities", "metric"): "None: X holds similarities; a function may compare items of any type",
    ("kernels.bandwidth", "metric"): "of the first three rules only; X always holds rows",
    ("kernels.bandwidth", "random_state"): "0: the same width every time",
    ("pseudo_inverse", "tol"): "not of a stopping rule: smaller singular values count as zero",
}
# Numbers that are the function's own: the text is shared, the default is not.
OWN_DEFAULT = {"max_iter", "tol", "n_init"}
# Positional arguments of the data sets come in the order n_samples, noise, random_state.
OWN_ORDER = ("datasets.", "plot.shepard", "dissimilarities", "kernels.bandwidth")

pytestmark = pytest.mark.parametrize("name", FUNCTIONS)


def described(name):
    """Argument -> (type, text) of the docstring."""
    found = {}
    for entry in NumpyDocString(inspect.getdoc(FUNCTIONS[name]))["Parameters"]:
        for part in entry.name.split(","):
            found[part.strip().lstrip("*")] = (entry.type, " ".join(" ".join(entry.desc).split()))
    return found


def arguments(name):
    return inspect.signature(FUNCTIONS[name]).parameters


def test_shared_arguments_read_the_same(name):
    texts = described(name)
    for argument in arguments(name):
        if (name, argument) in VARIES or argument not in {**SHARED, **ALSO}:
            continue
        kind, text = texts[argument]
        shared = (SHARED[argument].type, SHARED[argument].text) if argument in SHARED else ALSO[argument]
        assert shared[0] is None or kind == shared[0], argument
        assert text.startswith(shared[1]), f"{argument}: {text!r} must begin with {shared[1]!r}"


def test_shared_arguments_have_the_same_defaults(name):
    for argument, parameter in arguments(name).items():
        if (name, argument) in VARIES or argument in OWN_DEFAULT or parameter.default is inspect.Parameter.empty:
            continue
        known = {key: entry.default for key, entry in SHARED.items()} | DEFAULTS
        if argument in known:
            assert parameter.default == known[argument], argument


def test_shared_arguments_come_last_and_in_order(name):
    names = [p.name for p in arguments(name).values() if p.kind is p.KEYWORD_ONLY]
    there = [argument for argument in LAST if argument in names]
    if not name.startswith(OWN_ORDER):
        assert names[len(names) - len(there) :] == there


def test_documented_arguments_are_in_the_order_of_the_signature(name):
    names = list(arguments(name))
    assert [argument for argument in described(name) if argument in names] == names


def test_texts_use_the_words_of_the_field(name):
    text = inspect.getdoc(FUNCTIONS[name])
    words = {**PRIVATE_WORDS, r"\bheld against\b": "compared with", r"\bled back\b": "inverse transform"}
    for word in words:
        assert not re.search(word, text, re.IGNORECASE), word
