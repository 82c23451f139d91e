"""Blocks of rows: sums, samples, and what does not depend on how rows are cut."""

from operator import methodcaller

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lowdim._core.spectrum import Moments
from lowdim._core.streams import Batches, blocks_of, is_lazy, is_stream

ROWS = np.random.default_rng(0).normal(size=(101, 4)) + 3
CUTS = [(101, 4), (10, 4), (1, 4), (33, 3), ((0, 1, 0, 100), 4), (50, (1, 3))]


def cut(chunks):
    return da.from_array(ROWS, chunks=chunks)


def unknown(chunks=(10, 4)):
    """Rows whose chunks have sizes that are known only when they are computed."""
    X = cut(chunks)
    return X[X[:, 0] > -1e9]


def test_what_is_a_stream():
    assert is_lazy(cut(10))
    assert is_stream(iter([ROWS]))
    assert not is_stream(ROWS)
    assert not is_stream([ROWS])
    assert not is_lazy(iter([ROWS]))


@pytest.mark.parametrize("chunks", CUTS, ids=str)
def test_sums_of_blocks_are_those_of_all_rows(chunks):
    found, wanted = blocks_of(cut(chunks), "test").gather(Moments.of), Moments.of(ROWS)
    assert found.weight == wanted.weight
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-14)
    np.testing.assert_allclose(found.scatter, wanted.scatter, rtol=1e-12)


def test_sums_do_not_depend_on_who_computes_them():
    blocks = blocks_of(cut((3, 4)), "test")
    with dask.config.set(scheduler="synchronous"):
        alone = blocks.gather(Moments.of)
    with dask.config.set(scheduler="threads", num_workers=4):
        together = blocks.gather(Moments.of)
    assert (alone.scatter == together.scatter).all()
    assert (alone.mean == together.mean).all()


def test_no_rows_give_no_sum():
    assert Batches([]).gather(len) is None
    assert blocks_of(cut(10)[:0], "test").gather(len) is None


@pytest.mark.parametrize("X", [cut((10, 4)), cut((7, 2)), unknown(), cut(((0, 101), 4))], ids=str)
def test_samples_do_not_depend_on_the_cut(X):
    numbers, rows, targets = blocks_of(X, "test").sample(20, np.random.default_rng(5))
    wanted = np.sort(np.random.default_rng(5).choice(101, 20, replace=False))
    assert (numbers == wanted).all()
    assert targets is None
    np.testing.assert_array_equal(rows, ROWS[wanted])


def test_a_sample_of_few_rows_is_all_of_them():
    numbers, rows, _ = blocks_of(unknown(), "test").sample(101, np.random.default_rng(5))
    assert numbers is None
    np.testing.assert_array_equal(rows, ROWS)


@pytest.mark.parametrize(
    "y", [np.arange(101), da.arange(101, chunks=9), dd.from_pandas(pd.Series(np.arange(101)), npartitions=1)], ids=str
)
def test_targets_stay_with_their_rows(y):
    chunks = (101, 4) if hasattr(y, "npartitions") and not hasattr(y, "rechunk") else (10, 4)
    numbers, rows, targets = blocks_of(cut(chunks), "test", y).sample(30, np.random.default_rng(1))
    np.testing.assert_array_equal(np.asarray(targets), numbers)
    np.testing.assert_array_equal(rows, ROWS[numbers])


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (unknown(), np.arange(101), "unknown sizes"),
        (cut(10), np.arange(100), "as many rows"),
        (cut(10), da.arange(100, chunks=10), "as many rows"),
        (unknown(), da.arange(101, chunks=50), "as many blocks"),
        (da.ones(5, chunks=2), None, "rows and columns"),
    ],
)
def test_what_does_not_fit_together_is_refused(X, y, says):
    with pytest.raises(ValueError, match=f"^test: .*{says}"):
        blocks_of(X, "test", y)


def test_blocks_of_other_lengths_than_their_targets_are_refused():
    X = cut((10, 4))
    with pytest.raises(ValueError, match="a block of X has"):
        blocks_of(X[X[:, 0] > 3], "test", da.arange(101, chunks=10)).gather(lambda pair: len(pair[0]))


@pytest.mark.parametrize("form", ["csr", "frame"])
def test_other_kinds_of_blocks(form):
    if form == "csr":
        X = cut((20, 4)).map_blocks(sparse.csr_matrix)
        _, rows, _ = blocks_of(X, "test").sample(15, np.random.default_rng(2))
        rows = rows.toarray()
    else:
        X = dd.from_pandas(pd.DataFrame(ROWS, columns=list("abcd")), npartitions=4)
        _, rows, _ = blocks_of(X, "test").sample(15, np.random.default_rng(2))
        assert list(rows.columns) == list("abcd")
        rows = rows.to_numpy()
    np.testing.assert_array_equal(rows, ROWS[np.sort(np.random.default_rng(2).choice(101, 15, replace=False))])


def test_sums_are_added_from_the_left():
    """Order matters for rounding: the first batch is the first summand."""
    assert Batches(["a", "b", "c"]).gather(methodcaller("upper")) == "ABC"
