"""The contract every estimator keeps, whatever its method."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import lowdim
from lowdim._core.runtime import memory
from tests.estimators import ALL, CASES, case_id

# The cloud is nearly Gaussian, and a contract holds for few rows too: ICA is right to say so. Two factors are too many
# for four columns, and that warning is right as well.
pytestmark = [
    # Narrow widths and few neighbours, which some cases have, leave single rows apart.
    pytest.mark.filterwarnings("ignore:.* of the rows lie within 1 % of the map"),
    pytest.mark.filterwarnings("ignore:.*along which the others have shrunk"),
    pytest.mark.filterwarnings("ignore:ICA. . of . sources cannot be distinguished"),
    pytest.mark.filterwarnings("ignore:FactorAnalysis. .*Heywood"),
    # The cloud fills more than two dimensions: what follows the second axis is not much smaller.
    pytest.mark.filterwarnings("ignore:LLE. the gap after the last axis"),
    pytest.mark.filterwarnings(r"ignore:LLE. \d of \d+ rows"),  # random rows have no sheet, and a few of them lie out
]

every = pytest.mark.parametrize("case", ALL, ids=case_id)
each = pytest.mark.parametrize("case", CASES, ids=case_id)

SHAPE = np.array([[3.0, 0.4, 0.0, 0.2], [0.0, 1.5, 0.3, 0.0], [0.0, 0.0, 0.7, 0.1], [0.0, 0.0, 0.0, 0.2]])


def rows(n=60, seed=0, dtype=np.float64):
    """A bent cloud without symmetries, so that axes are unique up to sign."""
    X = np.random.default_rng(seed).standard_normal((n, 4)) @ SHAPE
    X[:, 1] += 0.15 * X[:, 0] ** 2
    return (X + 5.0).astype(dtype)


def fit(case, X):
    model = clone(case.estimator)
    Z = case.fit_transform(model, X)
    return model, Z


FITTED = {}


def fitted(case):
    """The case fitted to `rows()`, with its embedding: one fit for all tests that only look at it."""
    if id(case) not in FITTED:
        FITTED[id(case)] = fit(case, rows())
    return FITTED[id(case)]


def spread(Z):
    return np.abs(Z - Z.mean(axis=0)).max()


def up_to_sign(A, B):
    """B with each column's sign turned to match A."""
    return B * np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)


@every
def test_fitted_rows_are_placed_where_they_were(case):
    X = rows()
    model, Z = fitted(case)
    assert Z.shape == (len(X), case.columns)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(model.transform(X), Z, atol=case.transform_tolerance * spread(Z))
    assert hasattr(model, "embedding_") == case.keeps_embedding
    if case.keeps_embedding:
        np.testing.assert_array_equal(model.embedding_, Z)


@every
def test_a_new_row_does_not_depend_on_its_companions(case):
    model, Z = fitted(case)
    new = rows(7, seed=1)
    together = model.transform(new)
    alone = np.vstack([model.transform(new[i : i + 1]) for i in range(len(new))])
    np.testing.assert_allclose(together, alone, atol=1e-10 * spread(Z))
    shuffled = model.transform(new[::-1])[::-1]
    np.testing.assert_allclose(together, shuffled, atol=1e-10 * spread(Z))


@every
def test_new_rows_land_among_their_neighbours(case):
    """A small step in the data is a small step in the picture."""
    X = rows(80)
    model, Z = fit(case, X)
    moved = model.transform(X + 1e-7 * np.random.default_rng(2).standard_normal(X.shape))
    assert np.abs(moved - Z).max() < (1e-3 if case.continuous else 0.3) * spread(Z)


@every
def test_precision_in_is_precision_out(case):
    X = rows(dtype=np.float32)
    single, double = fit(case, X), fit(case, X.astype(np.float64))
    for (model, Z), dtype in ((single, np.float32), (double, np.float64)):
        assert Z.dtype == dtype
        assert model.transform(X[:3].astype(dtype)).dtype == dtype
        assert model.inverse_transform(Z[:3]).dtype == dtype
    Z, reference = single[1], double[1]
    allowed = max(2e-3, case.agreement) * spread(reference)
    np.testing.assert_allclose(up_to_sign(reference, Z.astype(np.float64)), reference, atol=allowed)


@every
def test_nothing_given_is_changed(case):
    X = rows()
    X.setflags(write=False)
    before = X.copy()
    model = clone(case.estimator)
    settings = repr(model.get_params())
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    Z = case.fit_transform(model, X)
    Z.setflags(write=False)
    model.transform(X)
    model.inverse_transform(Z)
    np.testing.assert_array_equal(X, before)
    assert repr(model.get_params()) == settings
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@every
def test_a_table_changed_after_the_fit_does_not_change_the_model(case):
    X = rows()
    model, _ = fit(case, X)
    before = model.transform(rows(5, seed=3))
    X *= 10
    np.testing.assert_array_equal(model.transform(rows(5, seed=3)), before)


@every
def test_same_seed_same_bits_for_any_number_of_threads(case):
    X = rows(120)
    results = []
    for n_jobs in (1, 3, None):
        model = clone(case.estimator).set_params(n_jobs=n_jobs)
        if model.get_params().get("random_state", 0) is None:
            model.set_params(random_state=0)
        results.append((case.fit_transform(model, X), model.transform(X[:9] + 0.01)))
    for Z, new in results[1:]:
        np.testing.assert_array_equal(Z, results[0][0])
        np.testing.assert_array_equal(new, results[0][1])


@every
def test_any_layout_gives_the_same_result(case):
    X, (_, Z) = rows(), fitted(case)
    for given_rows in (np.asfortranarray(X), X[:, ::-1][:, ::-1]):
        np.testing.assert_allclose(fit(case, given_rows)[1], Z, atol=1e-9 * spread(Z))


@each
def test_any_container_gives_the_same_result(case):
    X, (_, Z) = rows(), fitted(case)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for given_rows in (X.tolist(), frame, pl.DataFrame(frame.to_dict("list"))):
        np.testing.assert_allclose(fit(case, given_rows)[1], Z, atol=1e-9 * spread(Z))


@each
def test_names_of_columns_and_frames_out(case):
    X = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = case.fit(clone(case.estimator), frame)
    assert list(model.feature_names_in_) == list("abcd")
    assert model.n_features_in_ == 4
    names = [f"{case.name.lower()}{i}" for i in range(case.columns)]
    named = list(model.get_feature_names_out())
    if case.of_cells:
        assert set(named) <= set("abcd")
        names = [f"x{'abcd'.index(name)}" for name in named]
        assert len(set(names)) == case.columns
    else:
        assert named == names
    for kind, frame_type in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = case.fit_transform(clone(case.estimator).set_output(transform=kind), X)
        assert isinstance(out, frame_type)
        assert list(out.columns) == names
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[list("dcba")])


@every
def test_pickle_and_model_files_give_the_same_bits(case, tmp_path):
    new, (model, Z) = rows(5, seed=3), fitted(case)
    expected, back = model.transform(new), model.inverse_transform(Z[:4])
    path = tmp_path / "a model.lowdim"
    lowdim.save(model, path)
    for copy in (pickle.loads(pickle.dumps(model)), lowdim.load(path)):
        assert repr(copy.get_params()) == repr(model.get_params())
        np.testing.assert_array_equal(copy.transform(new), expected)
        np.testing.assert_array_equal(copy.inverse_transform(Z[:4]), back)


@every
def test_the_way_back(case):
    X = rows(150)
    model, Z = fit(case, X)
    back = model.inverse_transform(Z)
    assert back.shape == X.shape
    # Better than the mean, by far: two numbers a row carry most of this cloud.
    assert ((back - X) ** 2).sum() < case.loses * ((X - X.mean(axis=0)) ** 2).sum()
    with pytest.raises(ValueError, match=f"Z must have {case.columns} columns, one per component; got 3"):
        model.inverse_transform(np.zeros((4, 3)))
    if case.exact_inverse:
        with pytest.raises(ValueError, match="return_outside"):
            model.inverse_transform(Z, return_outside=True)
    else:
        _, inside = model.inverse_transform(Z, return_outside=True)
        _, outside = model.inverse_transform(Z + 100 * spread(Z), return_outside=True)
        assert inside.max() < 1e-6 if case.keeps_rows else np.median(inside) < 1
        assert outside.min() > 1


@every
def test_neither_order_nor_origin_nor_rotation_of_the_rows_matters(case):
    X = rows(70)
    _, Z = fit(case, X)
    allowed = case.agreement * spread(Z)
    all_rows = getattr(case.estimator, "n_landmarks", None) in (None, "auto")
    if all_rows:  # landmarks depend on where the search starts
        order = np.random.default_rng(5).permutation(len(X))
        np.testing.assert_allclose(up_to_sign(Z[order], fit(case, X[order])[1]), Z[order], atol=allowed)
    if case.invariant_to_shift:
        np.testing.assert_allclose(up_to_sign(Z, fit(case, X + 3.0)[1]), Z, atol=allowed)
    if case.invariant_to_rotation and all_rows:
        Q = np.linalg.qr(np.random.default_rng(6).standard_normal((4, 4)))[0]
        np.testing.assert_allclose(up_to_sign(Z, fit(case, X @ Q)[1]), Z, atol=allowed)


@each
def test_memory_is_known_before_it_is_needed(case):
    X = rows()
    needed = case.estimator.estimate_memory(X)
    assert isinstance(needed, int)
    assert needed > 0
    if not case.memory_grows:
        return
    assert case.estimator.estimate_memory((10_000, 50)) > case.estimator.estimate_memory((1_000, 50))
    with (
        lowdim.config(memory_limit=1000),
        pytest.raises(MemoryError, match=rf"{case.name}: this needs about .*memory_limit"),
    ):
        case.fit(clone(case.estimator), X)
    with lowdim.config(memory_limit=2 * needed):
        case.fit(clone(case.estimator), X)


@each
def test_the_limit_comes_before_the_allocation(case, monkeypatch):
    monkeypatch.setattr(memory, "_available", lambda: 1000)
    monkeypatch.setattr(memory, "_SMALL", 0)
    if not case.memory_grows:
        pytest.skip("allocates nothing")
    model = clone(case.estimator)
    with pytest.raises(MemoryError):
        case.fit(model, rows())
    assert not [name for name in vars(model) if name.endswith("_")]


@each
def test_an_interrupted_fit_leaves_the_model_as_it_was(case, monkeypatch):
    X = rows()
    model, _ = fit(case, X)
    before = dict(vars(model))
    new = model.transform(X[:3])

    def interrupted(self, X, **options):
        self.junk_ = 1
        raise KeyboardInterrupt

    monkeypatch.setattr(type(model), "_embed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        case.fit(model, rows(30, seed=9))
    assert vars(model).keys() == before.keys()
    np.testing.assert_array_equal(model.transform(X[:3]), new)


@each
def test_a_second_fit_forgets_the_first(case):
    model, _ = fit(case, rows())
    model.inverse_transform(np.zeros((1, case.columns)))
    fresh = case.fit(clone(case.estimator), rows(40, seed=8))
    case.fit(model, rows(40, seed=8))
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.transform(rows(5, seed=7)), fresh.transform(rows(5, seed=7)))


def refusing(estimator):
    """The estimator, told to refuse missing values where it has a choice."""
    model = clone(estimator)
    return model.set_params(missing="error") if "missing" in model.get_params() else model


# All but those whose model always takes missing cells.
REFUSING = [case for case in CASES if not case.estimator._takes_nan or "missing" in case.estimator.get_params()]


@pytest.mark.parametrize("case", REFUSING, ids=case_id)
def test_missing_values_are_named_and_never_filled(case):
    X = rows()
    X[3, 1] = X[4, 1] = X[4, 2] = np.nan
    named = rf"{case.name}: X has 3 missing values \(NaN\) in 2 of 60 rows and 2 columns"
    with pytest.raises(ValueError, match=named) as said:
        case.fit(refusing(case.estimator), X)
    policies = case.estimator._accepts(fitting=True).policies
    assert bool(policies) == ("missing" in case.estimator.get_params())
    assert all(f"missing={policy!r}" in str(said.value) for policy in policies)
    model = case.fit(refusing(case.estimator), rows())
    with pytest.raises(ValueError, match="missing values"):
        model.transform(X[:5])
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        case.fit(clone(case.estimator), X)


@pytest.mark.parametrize("case", [case for case in CASES if case.estimator._takes_nan], ids=case_id)
def test_missing_cells_are_taken_as_they_are(case):
    """Where the model says what they mean: fitted or new, each row on its own, and the same in every container."""
    X = rows(80)
    holes = np.random.default_rng(1).random(X.shape) < 0.1
    holes[np.arange(80), np.arange(80) % 4] = False
    Y = np.where(holes, np.nan, X)
    model, Z = fit(case, Y)
    kept = [int(name[1:]) for name in model.get_feature_names_out()] if case.of_cells else []
    np.testing.assert_array_equal(np.isnan(Z), holes[:, kept] if case.of_cells else np.zeros(Z.shape, dtype=bool))
    np.testing.assert_array_equal(np.isnan(Y), holes)
    size = spread(Z[np.isfinite(Z).all(axis=1)])
    np.testing.assert_allclose(model.transform(Y), Z, atol=case.transform_tolerance * size)
    alone = np.vstack([model.transform(Y[i : i + 1]) for i in range(len(Y))])
    np.testing.assert_allclose(alone, Z, atol=1e-10 * size)
    for container in (np.ma.masked_array(X, holes), pd.DataFrame(Y)):
        np.testing.assert_allclose(fit(case, container)[1], Z, atol=1e-9 * size)
    for where, what in ((np.s_[5], "row"), (np.s_[:, 2], "column")):
        empty = Y.copy()
        empty[where] = np.nan
        with pytest.raises(ValueError, match=rf"{case.name}: 1 {what} of X has no observed cell"):
            case.fit(clone(case.estimator), empty)
    for bad in (np.full((1, 4), np.nan), np.full((1, 4), np.inf)):
        with pytest.raises(ValueError, match=f"{case.name}: "):
            model.transform(bad)
    Y[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        case.fit(clone(case.estimator), Y)


@each
def test_bad_settings_are_refused_with_the_rule(case):
    X = rows()
    for name, value, rule in (
        ("n_components", 0, "a whole number >= 1"),
        ("n_components", 2.5, "a whole number >= 1"),
        ("n_components", "two", "a whole number >= 1"),
        ("random_state", "x", "a random generator"),
        ("n_jobs", 0, "a non-zero integer"),
    ):
        if name not in case.estimator.get_params():
            continue
        with pytest.raises(ValueError, match=rf"{case.name}: {name} must be .*{rule}.*; got {value!r}"):
            case.fit(clone(case.estimator).set_params(**{name: value}), X)
    with pytest.raises(TypeError):
        type(case.estimator)(2, "positional")


@each
def test_wrong_shapes_and_types_are_refused(case):
    model, _ = fitted(case)
    text = [] if case.takes_text else [[["a", "b"], ["c", "d"]]]
    for bad in (np.zeros(4), np.zeros((2, 3, 4)), *text, np.empty((0, 4)), 3):
        with pytest.raises((ValueError, TypeError)):
            clone(case.estimator).fit(bad)
    with pytest.raises(ValueError, match="features"):
        model.transform(np.zeros((3, 5)))
    with pytest.raises(TypeError, match="iterator"):
        model.transform(iter([rows()]))
    with pytest.raises(TypeError, match="iterator"):
        clone(case.estimator).fit_transform(iter([rows()]))


@each
def test_disguised_values_are_refused(case):
    X = rows()
    if "missing" in case.estimator.get_params() or not case.estimator._takes_nan:
        with pytest.raises(ValueError, match=rf"{case.name}: X has \d+ masked cells"):
            case.fit(refusing(case.estimator), np.ma.masked_array(X, X > 6))
    np.testing.assert_array_equal(fit(case, np.ma.masked_array(X))[1], fitted(case)[1])  # nothing is masked
    dates = np.array("2026-01-01", dtype="datetime64[D]") + np.arange(240).reshape(60, 4)
    for given_rows in (dates, pd.DataFrame(dates.astype("datetime64[ns]"))):
        with pytest.raises(ValueError, match=rf"{case.name}: X holds dates"):
            clone(case.estimator).fit(given_rows, *case.targets(X))
    swapped = X.astype(np.float32).astype(">f4")
    assert fit(case, swapped)[1].dtype == np.float32


@each
def test_warnings_point_at_the_caller(case):
    if case.complains is None:
        pytest.skip("has no warnings")
    X = np.repeat(rows(4), 10, axis=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(case.estimator).set_params(**case.complains).fit(X[:, :3], *case.targets(X))
    assert caught
    assert {w.filename for w in caught} == {__file__}


DEGENERATE = {
    "duplicated rows": np.repeat(rows(12), 5, axis=0),
    "two rows": rows(2),
    "fewer rows than columns": np.random.default_rng(3).standard_normal((6, 30)),
    "a constant column": np.hstack([rows(40), np.ones((40, 1))]),
    "rank one": np.outer(np.arange(30.0), [1.0, 2.0, 3.0]),
    "one column": np.random.default_rng(4).standard_normal((40, 1)),
    "all rows equal": np.ones((20, 3)),
    "huge numbers": 1e150 * np.random.default_rng(5).standard_normal((30, 3)),
    "tiny numbers": 1e-150 * np.random.default_rng(5).standard_normal((30, 3)),
    "far from the origin": 1e6 + np.random.default_rng(5).standard_normal((30, 3)),
}


@each
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_gives_a_result_or_a_clear_error(case, name):
    """Never NaN without a word, never a crash from inside."""
    X = DEGENERATE[name]
    model = clone(case.estimator)
    if "n_neighbors" in model.get_params():
        model.set_params(n_neighbors=min(5, len(X) - 1))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        try:
            Z = case.fit_transform(model, X)
        except ValueError as error:
            if not str(error).startswith(f"{case.name}:"):
                raise
            return
    assert Z.shape[0] == len(X)
    assert np.isfinite(Z).all()
    assert np.isfinite(model.transform(X)).all()
    if name == "duplicated rows" and case.parts_equal_rows:
        Z = np.repeat(Z.reshape(12, 5, -1).mean(axis=1), 5, axis=0)
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-5 * max(spread(Z), 1e-300))


@each
@given(seed=st.integers(0, 10_000), n=st.integers(8, 60), d=st.integers(2, 6), k=st.integers(1, 3))
def test_random_tables(case, seed, n, d, k):
    X = np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1)
    model = clone(case.estimator)
    if "n_components" in model.get_params():
        model.set_params(n_components=k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # disconnected graphs and clamped components are expected here
        Z = case.fit_transform(model, X)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-6 * spread(Z))
