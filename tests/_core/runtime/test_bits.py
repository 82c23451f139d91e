"""What is promised of the bits: whatever runs beside, whatever BLAS is set to, and after a model file."""

import threading

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import lowdim
from tests.estimators import CASES, VARIANTS, Case, case_id

# Two that need categories and counts, beside the others.
OTHERS = [Case(lowdim.MCA(2)), Case(lowdim.CA(2))]
EACH = {case_id(case): case for case in [*CASES, *OTHERS]}
NAMES = list(EACH)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of rows that are none of the methods' best
QUICK = ["Isomap", "KernelCCA", "MDS", "TCIE", "PCA", "GPLVM"]


def rows(n=150, d=6):
    return np.random.default_rng(1).normal(size=(n, d)) ** 3


def table(case, n=150, d=6):
    """Rows that the method takes."""
    X = rows(n, d)
    if case.name == "MCA":
        return np.array(list("abcd"), dtype=object)[np.digitize(X, [-1.0, 0.0, 1.0])]
    return np.rint(np.abs(X)) + 1 if case.name == "CA" else X


def of_name(name):
    return next(case for case in EACH.values() if case.name == name)


def check_counts(case, X):
    """One BLAS thread and two give the same bits."""
    found = []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            model = clone(case.estimator)
            found.append((case.fit_transform(model, X), model.transform(X[:7])))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", QUICK)
def test_bits_do_not_depend_on_the_threads_of_blas(name):
    check_counts(of_name(name), rows())


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_bits_of_no_method_depend_on_the_threads_of_blas(name):
    check_counts(EACH[name], table(EACH[name], 500, 12))


@pytest.mark.deep
@pytest.mark.parametrize("case", VARIANTS, ids=case_id)
def test_bits_of_no_variant_depend_on_the_threads_of_blas(case):
    check_counts(case, rows(100, 8))


def check_beside(cases, n, d, turns):
    """Fits in several threads at once, each compared with the same fit alone."""
    alone = [case.fit_transform(clone(case.estimator), table(case, n, d)) for case in cases]
    bad = []

    def work(case, expected):
        for _ in range(turns):
            Z = case.fit_transform(clone(case.estimator), table(case, n, d))
            if not np.array_equal(Z, expected):
                bad.append(case_id(case))

    with threadpool_limits(2, user_api="blas"):
        workers = [threading.Thread(target=work, args=each) for each in zip(cases, alone, strict=True)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert bad == []


def test_bits_do_not_depend_on_other_fits():
    check_beside([of_name(name) for name in ("Isomap", "PCA", "KernelPCA")], 150, 6, 3)


@pytest.mark.deep
@pytest.mark.parametrize("first", range(0, len(NAMES), 4))
def test_bits_of_no_method_depend_on_other_fits(first):
    check_beside([*(EACH[name] for name in NAMES[first : first + 4]), of_name("Isomap")], 400, 10, 5)


@pytest.mark.deep
@pytest.mark.parametrize("first", range(0, len(VARIANTS), 4))
def test_bits_of_no_variant_depend_on_other_fits(first):
    check_beside([*VARIANTS[first : first + 4], of_name("PCA")], 100, 8, 2)


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
    model = EACH[name].fit(clone(EACH[name].estimator), table(EACH[name], 40, 4))
    fitted = {key: value for key, value in vars(model).items() if key not in model.get_params()}
    assert [path for path, array in arrays(fitted, name) if not array.flags.forc] == []


def check_loaded(case, path, n=60, d=6):
    """A loaded model places rows, one or many, and finds their way back, to the bit as the one that was saved."""
    X = table(case, n, d)
    model = case.fit(clone(case.estimator), X)
    lowdim.save(model, path / "m")
    loaded = lowdim.load(path / "m")
    for some in (X[:1], X[3:10], X):
        Z = model.transform(some)
        np.testing.assert_array_equal(loaded.transform(some), Z)
        if hasattr(model, "inverse_transform"):
            np.testing.assert_array_equal(loaded.inverse_transform(Z), model.inverse_transform(Z))


# The others are loaded in the contract.
@pytest.mark.parametrize("case", OTHERS, ids=case_id)
def test_a_loaded_model_of_categories_gives_the_same_bits(case, tmp_path):
    check_loaded(case, tmp_path, 200)


@pytest.mark.deep
@pytest.mark.parametrize("case", [*CASES, *VARIANTS], ids=case_id)
def test_a_loaded_model_gives_the_same_bits(case, tmp_path):
    check_loaded(case, tmp_path, 200, 12)
