"""Hidden cells with known values: the exact share, the stated mechanism, and no empty row or column."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowdim
from lowdim.datasets import hide_cells

MECHANISMS = ("mcar", "mar", "nmar", "block")
X = np.random.default_rng(0).standard_normal((400, 6)) * [1, 10, 0.1, 3, 1, 1]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@given(seed=st.integers(0, 1000), n=st.integers(2, 30), d=st.integers(2, 9), share=st.floats(0.01, 0.7))
def test_the_share_is_exact_and_nothing_is_emptied(mechanism, seed, n, d, share):
    table = np.random.default_rng(seed).standard_normal((n, d))
    most = {"mar": n * (d - 1) - (d - 1), "block": (n - 1) * (d - 1)}.get(mechanism, n * d - (n + d - 1))
    try:
        holes = hide_cells(table, share, mechanism, random_state=seed)
    except ValueError:
        # Only where so many cells cannot go: a forest of n + d - 1 cells may have to stay, MAR keeps its column, and a
        # rectangle has to leave a row and a column.
        assert round(share * n * d) > most
        return
    assert holes.mask.sum() == round(share * n * d)
    assert not holes.mask.all(axis=0).any()
    assert not holes.mask.all(axis=1).any()
    np.testing.assert_array_equal(np.isnan(holes.X), holes.mask)
    np.testing.assert_array_equal(holes.truth, table)
    np.testing.assert_array_equal(holes.X[~holes.mask], table[~holes.mask])


def test_completely_at_random_does_not_look_at_the_values():
    mask = np.mean([hide_cells(X, 0.2, random_state=seed).mask for seed in range(60)], axis=0)
    assert mask.mean() == pytest.approx(0.2)
    assert np.abs(mask.mean(axis=0) - 0.2).max() < 0.01
    ranks = X.argsort(axis=0).argsort(axis=0) / len(X)
    assert abs(np.corrcoef(ranks.ravel(), mask.ravel())[0, 1]) < 0.06


def test_at_random_follows_its_driver_and_keeps_it():
    for driver, names in ((3, None), ("d", list("abcdef"))):
        table = X if names is None else pd.DataFrame(X, columns=names)
        masks = [hide_cells(table, 0.2, "mar", seed, driver=driver).mask for seed in range(60)]
        mask = np.mean(masks, axis=0)
        assert not mask[:, 3].any()
        order = X[:, 3].argsort()
        low, high = mask[order[:40]][:, [0, 1, 2, 4, 5]].mean(), mask[order[-40:]][:, [0, 1, 2, 4, 5]].mean()
        # The odds of being drawn early are 10 : 1; the share that goes levels off as the top rows run out of cells.
        assert 5 < high / low < 10
        # Given the driver, a cell's own value says nothing more.
        residual = X[:, 0] - np.polyval(np.polyfit(X[:, 3], X[:, 0], 1), X[:, 3])
        assert abs(np.corrcoef(residual, mask[:, 0])[0, 1]) < 0.15
    assert hide_cells(X, 0.1, "mar", 0).driver == 0


def test_not_at_random_takes_large_values():
    for strength, sign in ((10.0, -1), (0.1, 1), (1.0, 0)):
        means = [np.nanmean(hide_cells(X, 0.2, "nmar", s, strength=strength).X, axis=0) for s in range(20)]
        bias = (np.mean(means, axis=0) - X.mean(axis=0)) / X.std(axis=0)
        assert (sign * bias > 0.1).all() if sign else np.abs(bias).max() < 0.02


def test_a_block_is_a_rectangle_with_a_ragged_last_row():
    for seed in range(20):
        mask = hide_cells(X, 0.13, "block", random_state=seed).mask
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        assert np.ptp(rows) + 1 == len(rows)
        assert np.ptp(columns) + 1 == len(columns) == 2  # 6 sqrt(0.13) = 2.2
        assert mask[np.ix_(rows[:-1], columns)].all()
    assert len({np.flatnonzero(hide_cells(X, 0.13, "block", s).mask)[0] for s in range(20)}) > 5


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_frames_keep_their_kind_and_their_columns(mechanism):
    frame = pd.DataFrame({"size": np.arange(40.0), "count": np.arange(40), "kind": ["a", "b"] * 20, "ok": [True] * 40})
    frame["level"] = pd.Categorical(["low", "high"] * 20)
    before = frame.copy()
    holes = hide_cells(frame, 0.2, mechanism, random_state=1)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(holes.truth, before)
    assert isinstance(holes.X, pd.DataFrame)
    np.testing.assert_array_equal(holes.X.isna().to_numpy(), holes.mask)
    assert holes.mask.sum() == 40
    same = pl.DataFrame({name: frame[name].astype(object).tolist() for name in frame})
    other = hide_cells(same, 0.2, mechanism, random_state=1)
    assert isinstance(other.X, pl.DataFrame)
    assert other.X.schema == same.schema
    np.testing.assert_array_equal(other.mask, holes.mask)
    np.testing.assert_array_equal(other.X.select(pl.all().is_null()).to_numpy(), holes.mask)
    objects = hide_cells(frame.to_numpy(dtype=object), 0.2, mechanism, random_state=1)
    np.testing.assert_array_equal(objects.mask, holes.mask)


def test_cells_missing_before_stay_missing_and_do_not_count():
    table = X[:50].copy()
    table[::3, 2] = np.nan
    for mechanism in MECHANISMS:
        holes = hide_cells(table, 0.25, mechanism, random_state=0)
        assert holes.mask.sum() == round(0.25 * (~np.isnan(table)).sum())
        assert not holes.mask[::3, 2].any()
        np.testing.assert_array_equal(np.isnan(holes.X), holes.mask | np.isnan(table))
        assert (~np.isnan(holes.X)).any(axis=1).all()


def test_seeds_precision_and_words():
    np.testing.assert_array_equal(hide_cells(X, 0.3, random_state=5).mask, hide_cells(X, 0.3, random_state=5).mask)
    assert hide_cells(X.astype(np.float32), 0.1).X.dtype == np.float32
    assert hide_cells([[1, 2], [3, 4], [5, 6]], 0.2, random_state=0).X.dtype == np.float64
    assert repr(hide_cells(X, 0.5, "mar", 0)) == "<HiddenCells mar by column 0: 1200 of 400 x 6 cells hidden>"
    for arguments, message in (
        ((X, 0), "share must be a number between 0 and 1; got 0"),
        ((X, 1.0), "share must be"),
        ((X, 0.1, "random"), "mechanism must be one of mcar, mar, nmar, block; got 'random'"),
        ((X[0], 0.1), "X must be a table"),
        (
            (X, 0.999),
            r"can hide \d+ of 2400 cells, and 2398 are requested",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            hide_cells(*arguments)
    with pytest.raises(ValueError, match="driver must be a column of X, by name or by number from 0 to 5; got 'z'"):
        hide_cells(X, 0.1, "mar", driver="z")


def test_the_old_name_of_the_record_works_with_a_warning():
    with pytest.warns(FutureWarning, match="Holes is now called HiddenCells"):
        assert lowdim.datasets.Holes is lowdim.datasets.HiddenCells
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lowdim.datasets.nothing
