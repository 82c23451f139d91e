"""What the adopted tests need around them: the fixtures of their package, its policy on warnings, and our list."""

import unittest

import numpy as np
import pytest

from tests.peers import adapter, exceptions, quick

ADOPTED = ("tests.peers.scikit_learn.", "tests.peers.umap_learn.", "tests.peers.open_tsne.")


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: of scikit-learn: not to be run in several threads at once")


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    """scikit-learn runs the first only where it is asked to."""
    return request.param


@pytest.fixture(params=[42])
def global_random_seed(request):
    """The seed that scikit-learn uses where none is given."""
    return request.param


@pytest.fixture(autouse=True)
def same_draws(request):
    """Generators of the module and the global one as they were at the start, so that no test depends on the others."""
    for value in vars(request.module).values():
        if isinstance(value, np.random.RandomState):
            value.set_state(_STATES.setdefault(id(value), value.get_state()))
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    yield
    np.random.set_state(before)  # noqa: NPY002


_STATES: dict[int, tuple] = {}


def module_of(item):
    """The short name of the adopted module, or None where the test is one of our own."""
    name = getattr(getattr(item, "module", None), "__name__", "")
    return name.rpartition(".test_")[2] if name.startswith(ADOPTED) else None


def names_of(item):
    """The name of an adopted test with its case and without; methods are called by their class too."""
    owner = f"{item.cls.__name__}." if item.cls is not None and issubclass(item.cls, unittest.TestCase) else ""
    return owner + item.name, owner + item.originalname


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """The policy of each adopted test: a listed one must fail, and all but a sample are deep."""
    listed, seen = exceptions.read(), set()
    for item in items:
        if (module := module_of(item)) is None:
            continue
        item.add_marker(pytest.mark.filterwarnings("ignore"))  # as there: a test that minds a warning says so
        case, test = ((module, name) for name in names_of(item))
        if test not in quick.SAMPLE:
            item.add_marker(pytest.mark.deep)
        seen |= {case, test}
        if entry := listed.get(case) or listed.get(test):
            item.add_marker(pytest.mark.xfail(reason=f"{entry.kind}: {entry.reason}", strict=True))
    config.stash[exceptions.SEEN] = seen


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that passes without one of our estimators is no test of ours."""
    before = adapter.used[0]
    result = yield
    if module_of(item) is not None and adapter.used[0] == before:
        pytest.skip("it asks nothing of lowdim")
    return result
