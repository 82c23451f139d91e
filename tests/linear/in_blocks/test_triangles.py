"""Ill-conditioned rows in blocks: the digits of the rows themselves, by QR of the blocks."""

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from lowdim._core.streams import Batches, mapped_blocks

RNG = np.random.default_rng(0)
CUTS = [(120, 6), (50, 6), (1, 6), (7, 4), ((0, 100, 0, 20), 6), (119, (1, 5))]
SIZES = 10.0 ** -np.arange(0, 12, 2)


def ill_conditioned(sizes=SIZES, n=120):
    """Rows whose singular values fall to 1e-10 of the first: their squares are below rounding."""
    U = RNG.normal(size=(n, len(sizes)))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    return U * sizes @ np.linalg.qr(RNG.normal(size=(len(sizes), len(sizes))))[0] + RNG.normal(size=len(sizes))


ROWS = ill_conditioned()
WHITENED = ill_conditioned(10.0 ** -np.arange(1, 7))  # directions without variance are left out of whitening
LABELS = np.arange(120) % 3
OTHERS = np.linalg.qr(ROWS - ROWS.mean(axis=0))[0][:, [1, 5, 2]] @ [[1, 0.3, 0], [0.2, 1, 0], [0, 0, 1]]
OTHERS += np.array([0.02, 0.05, 0.2]) * RNG.normal(size=(120, 3))
BESIDE = {"LDA": (LABELS,), "CCA": (OTHERS,)}
MODELS = [
    lowdim.PCA(solver="svd"),
    lowdim.PCA(6),
    lowdim.PCA(6, solver="svd", scale=True, ddof=0),
    lowdim.TruncatedSVD(6),
    lowdim.Whitening(6),
    lowdim.Whitening(6, kind="zca"),
    lowdim.LDA(solver="svd"),
    lowdim.LDA(),
    lowdim.CCA(2, solver="svd"),
    lowdim.CCA(2),
]


def beside(model):
    return BESIDE.get(type(model).__name__, ())


def rows_of(model):
    return WHITENED if isinstance(model, lowdim.Whitening) else ROWS


def assert_same_axes(found, wanted):
    """Scores of unit size: those of the smallest axes too; signs are the same."""
    X = rows_of(found)
    Z, wanted = np.asarray(found.transform(X)), np.asarray(wanted.transform(X))
    assert Z.shape == wanted.shape
    size = np.abs(wanted - wanted.mean(axis=0)).max(axis=0)
    np.testing.assert_allclose(Z / size, wanted / size, rtol=0, atol=2e-4)


@pytest.mark.parametrize("chunks", CUTS, ids=str)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_small_axes_are_those_in_memory(model, chunks):
    X = rows_of(model)
    wanted = clone(model).fit(X, *beside(model))
    found = clone(model).fit(da.from_array(X, chunks=chunks), *(da.from_array(y, chunks=11) for y in beside(model)))
    assert_same_axes(found, wanted)
    assert getattr(found, "solver_", "svd") == "svd"


def test_squares_alone_lose_them():
    """Or the tests above would show nothing."""
    wanted, found = lowdim.PCA(6).fit(ROWS), lowdim.PCA(6, solver="covariance").fit(iter([ROWS[:50], ROWS[50:]]))
    lost = np.abs(np.sum(found.components_ * wanted.components_, axis=1))
    assert lost[-1] < 0.999


@pytest.mark.parametrize("model", [m for m in MODELS if getattr(m, "solver", "") == "svd"], ids=str)
def test_batches_that_are_read_once(model):
    wanted = clone(model).fit(ROWS, *beside(model))
    parts = [tuple(part[rows] for part in (ROWS, *beside(model))) for rows in (slice(0, 70), slice(70, 120))]
    found = clone(model).fit(iter(parts if beside(model) else [rows for (rows,) in parts]))
    assert_same_axes(found, wanted)
    further = clone(model).partial_fit(*parts[0]).partial_fit(*parts[1])
    assert_same_axes(further, wanted)


def test_explained_variances_have_their_digits():
    wanted, found = lowdim.PCA(solver="svd").fit(ROWS), lowdim.PCA(solver="svd").fit(da.from_array(ROWS, (17, 6)))
    np.testing.assert_allclose(found.explained_variance_, wanted.explained_variance_, rtol=1e-4)
    assert found.resolution_ == wanted.resolution_ < 1e-12
    assert found.reconstruction_error_ == pytest.approx(wanted.reconstruction_error_, abs=1e-16)


def test_single_precision_and_fewer_rows_than_columns():
    X = (RNG.normal(size=(20, 50)) + 3).astype(np.float32)
    found, wanted = lowdim.PCA(4, solver="svd").fit(da.from_array(X, (6, 30))), lowdim.PCA(4, solver="svd").fit(X)
    Z = found.transform(X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, wanted.transform(X), atol=1e-4)
    with pytest.warns(UserWarning, match="keeping 20|at most 19"):
        assert lowdim.PCA(30, solver="svd").fit(iter([X[:9], X[9:]])).components_.shape == (20, 50)


def test_a_file_holds_the_triangle(tmp_path):
    model = lowdim.PCA(6, solver="svd").partial_fit(ROWS[:50])
    lowdim.save(model, tmp_path / "model.lowdim")
    found = lowdim.load(tmp_path / "model.lowdim").partial_fit(ROWS[50:])
    np.testing.assert_array_equal(found.components_, model.partial_fit(ROWS[50:]).components_)


def test_sums_and_triangles_are_not_mixed():
    model = lowdim.PCA(2).partial_fit(ROWS[:50])
    with pytest.raises(ValueError, match="not of the same kind"):
        model.set_params(solver="svd").partial_fit(ROWS[50:])
    with pytest.raises(ValueError, match="not of the same kind"):
        lowdim.PCA(2, solver="svd").partial_fit(ROWS[:50]).set_params(solver="auto").partial_fit(ROWS[50:])


def test_a_fit_that_read_twice_goes_on():
    """From the sums of its first pass."""
    model = lowdim.PCA(6).fit(da.from_array(ROWS[:50], (20, 6))).partial_fit(ROWS[50:])
    np.testing.assert_allclose(model.mean_, ROWS.mean(axis=0), rtol=1e-12)


def test_missing_cells_are_refused_where_rows_must_be_whole():
    X = ROWS.copy()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="complete rows"):
        lowdim.PCA(2, solver="svd").fit(da.from_array(X, (30, 6)))


@pytest.mark.parametrize("model", [lowdim.PCA(2), lowdim.PCA(6), lowdim.Whitening(3), lowdim.TruncatedSVD(3)], ids=str)
def test_mapped_files_larger_than_memory_are_read_once(model, tmp_path, monkeypatch):
    """Rows in memory are looked through for missing cells before they are multiplied: that is a second pass."""
    X = RNG.normal(size=(4000, 6)).astype(np.float32) * np.arange(1, 7, dtype=np.float32) + 5
    np.save(tmp_path / "rows.npy", X)
    monkeypatch.setattr(mapped_blocks, "BLOCK", 24 * 700)
    read = []
    monkeypatch.setattr(
        mapped_blocks.MappedBlocks,
        "gather",
        lambda self, of, **how: read.append(of) or Batches(self._blocks(), self.owner).gather(of, **how),
    )
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    with lowdim.config(memory_limit=90_000):
        found = clone(model).fit(mapped)
    assert len(read) == 1
    wanted = clone(model).fit(X)
    np.testing.assert_allclose(found.transform(X), wanted.transform(X), atol=1e-3)
    clone(model).fit(mapped)
    assert len(read) == 1  # as rows in memory, where they fit
