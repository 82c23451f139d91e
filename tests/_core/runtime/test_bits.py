"""What is promised of the bits: whatever runs beside, whatever BLAS is set to, and after a model file."""

import threading

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import lowdim
from tests.estimators import CASES

NAMES = [case.name for case in CASES]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of rows that are none of the methods' best
QUICK = ["Isomap", "KernelCCA", "MDS", "TCIE", "PCA", "GPLVM"]


def rows(n=150, d=6):
    return np.random.default_rng(1).normal(size=(n, d)) ** 3


def of_name(name):
    return next(case for case in CASES if case.name == name)


def check_counts(name, X):
    """One BLAS thread and two give the same bits."""
    case, found = of_name(name), []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            model = clone(case.estimator)
            found.append((case.fit_transform(model, X), model.transform(X[:7])))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", QUICK)
def test_bits_do_not_depend_on_the_threads_of_blas(name):
    check_counts(name, rows())


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_bits_of_no_method_depend_on_the_threads_of_blas(name):
    check_counts(name, rows(500, 12))


def check_beside(names, X, turns):
    """Fits in several threads at once, each compared with the same fit alone."""
    alone = {name: of_name(name).fit_transform(clone(of_name(name).estimator), X) for name in names}
    bad = []

    def work(name):
        for _ in range(turns):
            Z = of_name(name).fit_transform(clone(of_name(name).estimator), X)
            if not np.array_equal(Z, alone[name]):
                bad.append(name)

    with threadpool_limits(2, user_api="blas"):
        workers = [threading.Thread(target=work, args=(name,)) for name in names]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert bad == []


def test_bits_do_not_depend_on_other_fits():
    check_beside(["Isomap", "PCA", "KernelPCA"], rows(), 3)


@pytest.mark.deep
@pytest.mark.parametrize("first", range(0, len(NAMES), 4))
def test_bits_of_no_method_depend_on_other_fits(first):
    check_beside([*NAMES[first : first + 4], "Isomap"], rows(400, 10), 5)


def arrays(value, path):
    """All arrays that a model keeps."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from arrays(part, f"{path}.{name}")
    elif isinstance(value, (list, tuple)):
        for place, part in enumerate(value):
            yield from arrays(part, f"{path}[{place}]")
    elif type(value).__module__.startswith("lowdim") and hasattr(value, "__dict__"):
        yield from arrays(vars(value), path)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_a_model_are_in_the_order_that_a_file_keeps(name):
    model = of_name(name).fit(clone(of_name(name).estimator), rows(40, 4))
    fitted = {key: value for key, value in vars(model).items() if key not in model.get_params()}
    assert [path for path, array in arrays(fitted, name) if not array.flags.forc] == []


def test_a_loaded_model_of_categories_gives_the_same_bits(tmp_path):
    X = np.random.default_rng(0).integers(0, 4, size=(200, 6)).astype(str)
    model = lowdim.MCA(3).fit(X)
    lowdim.save(model, tmp_path / "m")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m").transform(X), model.transform(X))
