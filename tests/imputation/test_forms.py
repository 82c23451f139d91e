"""Tables come back as they were given: names, types, categories; numbers and categories are filled together."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim import impute
from lowdim.imputation import impute as front


@pytest.fixture(autouse=True)
def few_models(monkeypatch):
    kept = tuple(kind for kind in front.CANDIDATES if kind.name in ("mean", "regularized", "famd", "neighbors"))
    monkeypatch.setattr(front, "CANDIDATES", kept)


def columns(n=60, seed=0):
    """A number, a whole number, a word and a truth value that all follow one hidden quantity."""
    rng = np.random.default_rng(seed)
    t = rng.standard_normal(n)
    return {
        "length": t + 0.1 * rng.standard_normal(n),
        "count": np.round(10 * t).astype(int),
        "size": np.where(t < -0.4, "small", np.where(t < 0.4, "middle", "large")),
        "big": t > 0,
    }


def with_holes(frame):
    frame = frame.astype({"count": "Int64", "size": "category", "big": "boolean"})
    frame.iloc[3, 0], frame.iloc[[4, 9], 1], frame.iloc[[5, 11, 20], 2], frame.iloc[7, 3] = pd.NA, pd.NA, pd.NA, pd.NA
    return frame


def test_a_frame_of_pandas_keeps_names_types_and_categories():
    full = pd.DataFrame(columns(), index=[f"row {i}" for i in range(60)])
    given = with_holes(full)
    before = given.copy()
    found = impute(given, 3, method="neighbors", random_state=0)
    pd.testing.assert_frame_equal(given, before)
    out = found.completed
    assert list(out.columns) == list(given.columns)
    assert list(out.index) == list(given.index)
    assert (out.dtypes == given.dtypes).all()
    assert not out.isna().any().any()
    for name in given.columns:
        seen = given[name].notna()
        assert (out[name][seen] == given[name][seen]).all()
    assert (out["size"].iloc[[5, 11, 20]].to_numpy() == full["size"].iloc[[5, 11, 20]].to_numpy()).mean() > 0.5
    assert found.agreement is not None
    assert np.isnan(found.agreement[:, :2]).all()
    assert len(found.completed_tables()) == 3
    share = found.pool(lambda frame: ((frame["size"] == "small").mean(), 0.01)).estimate
    assert 0 < share < 1


def test_a_frame_of_polars_keeps_names_and_types():
    full = pl.DataFrame(columns())
    given = full.with_columns(
        pl.when(pl.int_range(pl.len()) == 4).then(None).otherwise(pl.col("count")).alias("count"),
        pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise(pl.col("size")).alias("size"),
    )
    out = impute(given, 2, random_state=0).completed
    assert out.schema == given.schema
    assert out.null_count().sum_horizontal().item() == 0
    assert out["length"].to_list() == given["length"].to_list()
    assert abs(out["count"][4] - full["count"][4]) < 10


def test_an_array_of_objects_and_one_of_floats():
    cells = np.array([[1.0, "a"], [2.0, "a"], [5.0, "b"], [6.0, None], [None, "b"], [1.5, "a"]] * 4, dtype=object)
    found = impute(cells, 2, method="famd", random_state=0)
    assert found.completed.shape == cells.shape
    assert found.completed[3, 1] == "b"
    assert isinstance(found.completed[4, 0], float)
    assert found.scores(1).shape == (2, 24, 1)
    with pytest.raises(ValueError, match="X must hold numbers for arrows of columns; it has categories"):
        found.axis_ellipses()
    low, high = found.intervals()
    assert (low[4, 0] < found.mean[4, 0]) & (high[4, 0] > found.mean[4, 0])
    assert np.isnan(low[3, 1])


@pytest.mark.parametrize("numbers", [True, False])
def test_ellipses_of_tables_with_categories_hold_what_is_missing(numbers):
    """By FAMD, or MCA: a row is the less certain the more of it is missing, and a complete one nearly still."""
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=60)
    cells = np.empty((60, 4), dtype=object)
    for j in range(4):
        cells[:, j] = [f"{j}{g}" for g in np.where(rng.random(60) < 0.15, rng.integers(3, size=60), group)]
    if numbers:
        cells[:, 0] = list(map(float, group + 0.3 * rng.normal(size=60)))
    cells[:5, 1:] = None
    cells[5:10, 3] = None
    found = impute(cells, 12, method="famd", n_components=2, random_state=0)
    reach = found.row_ellipses().axes[:, 0]
    reach = np.linalg.norm(reach, axis=1)
    assert reach[:5].mean() > 2 * reach[5:10].mean() > 2 * reach[10:].mean()


def test_questionnaires_are_filled_by_chosen_axes():
    """Three hidden groups: with the default two axes of MCA more answers are wrong."""
    rng = np.random.default_rng(0)
    group = rng.integers(5, size=200)
    truth = np.column_stack([rng.permutation(5)[group] for _ in range(8)])
    noisy = np.where(rng.random(truth.shape) < 0.1, rng.integers(5, size=truth.shape), truth)
    cells = np.array([[f"answer {v}" for v in row] for row in noisy], dtype=object)
    hidden = rng.random(cells.shape) < 0.1
    holed = np.where(hidden, None, cells)
    found = impute(holed, 1, method="famd", random_state=0)
    two = impute(holed, 1, n_components=2, random_state=0)
    assert found.n_components >= 4
    right = [(one.mean == cells)[hidden].mean() for one in (found, two)]
    assert right[0] > 0.8
    assert right[0] > right[1] + 0.05
    choice = lowdim.select.n_components(holed, rules=["kfold", "share"], n_folds=4, random_state=0)
    assert choice.choices["share"] is None
    assert 3 <= choice.choices["kfold"] <= 6


def test_dates_and_nothing_to_fill():
    with pytest.raises(ValueError, match="impute: X holds dates or durations"):
        impute(pd.DataFrame({"when": pd.date_range("2020", periods=5), "x": [1.0, 2.0, np.nan, 3.0, 4.0]}))
    frame = pd.DataFrame(columns(n=10))
    found = impute(frame, 2)
    pd.testing.assert_frame_equal(found.completed, frame)
    assert found.choice is None
