"""Rows in blocks of Dask: every estimator takes them, with the numbers that it finds in memory."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from scipy import sparse
from sklearn.base import clone

import lowdim
from tests.estimators import CASES

# Rows that say little about some models: these warn of it, in memory too.
pytestmark = pytest.mark.filterwarnings("ignore:(ICA|FactorAnalysis)")

ROWS = np.random.default_rng(3).normal(size=(90, 4)) @ np.random.default_rng(4).normal(size=(4, 4)) + 2
CUTS = [(90, 4), (20, 4), (7, 3), (1, 4), ((0, 30, 0, 60), 4), (40, (1, 3))]
BY_SUMS = [
    lowdim.PCA(2),
    lowdim.PCA(2, scale=True, whiten=True),
    lowdim.PCA(0.9),
    lowdim.PCA(2, solver="randomized"),
    lowdim.ProbabilisticPCA(2),
    lowdim.FactorAnalysis(1),
    lowdim.Whitening(2),
    lowdim.LDA(2),
    lowdim.CCA(2),
    lowdim.TruncatedSVD(2),
    lowdim.MinMax((-1, 1)),
    lowdim.RandomProjection(2, random_state=0),
    lowdim.RandomProjection(2, kind="sparse", random_state=0),
    lowdim.ColumnSelection(2),
    lowdim.FAMD(2),
]


def labels(X):
    return np.argsort(np.argsort(X[:, 0])) * 3 // len(X)


def targets(model, X):
    """What the model is fitted with beside X."""
    return {"LDA": (labels(X),), "CCA": (np.tanh(X[:, :2]) + X[:, 2:],)}.get(type(model).__name__, ())


def assert_same(Z, wanted, rtol=1e-8):
    Z = np.asarray(Z)
    assert Z.shape == wanted.shape
    assert Z.dtype == wanted.dtype
    np.testing.assert_allclose(Z, wanted, rtol=0, atol=rtol * np.nanmax(np.abs(wanted)))


@pytest.mark.parametrize("chunks", CUTS, ids=str)
@pytest.mark.parametrize("model", BY_SUMS, ids=str)
def test_methods_on_moments_read_every_block(model, chunks):
    beside = targets(model, ROWS)
    wanted = clone(model).fit(ROWS, *beside)
    X = da.from_array(ROWS, chunks=chunks)
    found = clone(model).fit(X, *(da.from_array(y, chunks=11) for y in beside))
    Z = found.transform(X)
    assert isinstance(Z, da.Array)
    assert Z.chunks[0] == X.chunks[0]
    assert_same(Z, wanted.transform(ROWS))
    back = found.inverse_transform(Z)
    assert isinstance(back, da.Array)
    assert_same(back, wanted.inverse_transform(wanted.transform(ROWS)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_estimator_takes_an_array_of_dask(case):
    """As in memory where its rows fit there; new rows are placed block by block, when they are asked for."""
    X = da.from_array(ROWS, chunks=(25, 3))
    beside = case.targets(ROWS)
    wanted = clone(case.estimator).fit(ROWS, *beside)
    found = clone(case.estimator)
    Z = found.fit_transform(X, *beside)
    assert isinstance(Z, da.Array)
    assert Z.shape == (len(ROWS), case.columns)
    if case.keeps_embedding:
        assert_same(Z, wanted.embedding_)
    new = ROWS[:40] * 1.01
    assert_same(found.transform(da.from_array(new, chunks=(9, 2))), wanted.transform(new), 1e-7)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_inverse_transform_is_lazy_too(case):
    wanted = case.fit(clone(case.estimator), ROWS)
    if not hasattr(wanted, "inverse_transform"):
        pytest.skip("has no inverse")
    Z = np.asarray(wanted.transform(ROWS))[:30]
    back = wanted.inverse_transform(da.from_array(Z, chunks=(7, 1)))
    assert isinstance(back, da.Array)
    assert back.shape == (30, 4)
    assert_same(back, wanted.inverse_transform(Z))


@pytest.mark.parametrize("model", [lowdim.PCA(2), lowdim.Whitening(2), lowdim.LDA(2), lowdim.CCA(2)], ids=str)
def test_missing_cells_in_blocks(model):
    X = ROWS.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = model if isinstance(model, lowdim.PCA) else model.set_params(missing="em")
    beside = targets(model, ROWS)
    wanted = clone(model).fit(X, *beside)
    blocks = da.from_array(X, chunks=(8, 4))
    found = clone(model).fit(blocks, *beside)
    assert_same(found.transform(blocks), wanted.transform(X), 1e-5)


@pytest.mark.parametrize("model", [lowdim.PCA(2), lowdim.PCA(2, solver="randomized")], ids=str)
def test_sparse_blocks(model):
    S = sparse.random(200, 30, 0.2, format="csr", random_state=0)
    X = da.from_array(S.toarray(), chunks=(30, 30)).map_blocks(sparse.csr_matrix)
    assert_same(clone(model).fit(X).transform(X), lowdim.PCA(2).fit(S).transform(S))


def test_data_frames_keep_their_names_and_their_index():
    frame = pd.DataFrame(ROWS, columns=list("abcd"), index=[f"row {i}" for i in range(90)])
    X = dd.from_pandas(frame, npartitions=4, sort=False)
    model = lowdim.PCA(2).fit(X)
    wanted = lowdim.PCA(2).fit(frame)
    assert list(model.feature_names_in_) == list("abcd")
    Z = model.transform(X)
    assert list(Z.columns) == ["pca0", "pca1"]
    assert list(Z.dtypes) == [np.float64, np.float64]
    found = Z.compute()
    assert list(found.index) == list(frame.index)
    assert_same(found.to_numpy(), wanted.transform(frame))
    assert list(model.inverse_transform(Z).columns) == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X[list("abdc")]).compute()


def test_single_precision_stays_single():
    X = da.from_array(ROWS.astype(np.float32), chunks=(20, 4))
    Z = lowdim.PCA(2).fit(X).transform(X)
    assert Z.dtype == np.float32 == Z.compute().dtype
    assert_same(Z, lowdim.PCA(2).fit(ROWS.astype(np.float32)).transform(ROWS.astype(np.float32)), 1e-5)


def test_blocks_of_unknown_size():
    X = da.from_array(ROWS, chunks=(20, 4))
    X = X[X[:, 0] > 0]
    rows = X.compute()
    Z = lowdim.PCA(2).fit(X).transform(X)
    assert np.isnan(Z.shape[0])
    assert_same(Z, lowdim.PCA(2).fit(rows).transform(rows))
    assert_same(lowdim.Isomap(2, n_neighbors=8).fit_transform(X), lowdim.Isomap(2, n_neighbors=8).fit_transform(rows))


def test_large_tables_are_sampled_with_a_warning():
    X = da.from_array(ROWS, chunks=(20, 4))
    with lowdim.config(sample_rows=50), pytest.warns(UserWarning, match="random sample of 50 rows"):
        model = lowdim.Isomap(2, n_neighbors=8).fit(X)
    assert len(model.sample_indices_) == 50 == len(model.embedding_)
    wanted = lowdim.Isomap(2, n_neighbors=8).fit(ROWS[model.sample_indices_])
    np.testing.assert_array_equal(model.embedding_, wanted.embedding_)
    assert_same(model.transform(X), wanted.transform(ROWS))


def test_nothing_is_computed_before_it_is_asked_for():
    read = []

    def block(rows):
        read.append(len(rows))
        return rows

    model = lowdim.PCA(2).fit(ROWS)
    Z = model.transform(da.from_array(ROWS, chunks=(20, 4)).map_blocks(block, meta=np.empty((0, 0))))
    assert not read
    Z[:5].compute()
    assert read == [20]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda X: lowdim.PCA(2).fit(X, sample_weight=np.ones(90)), "sample_weight must be None"),
        (lambda X: lowdim.Isomap(2, metric="precomputed").fit(X), "must be in memory"),
        (lambda X: lowdim.LDA(2).fit(X), "y must hold a label"),
        (lambda X: lowdim.PCA(2).fit(X[:1]), "at least 2 rows"),
        (lambda X: lowdim.PCA(2).fit(X[:, 0]), "rows and columns"),
        (lambda X: lowdim.PCA(2, missing="error").fit(da.where(X > 3, np.nan, X)), "missing"),
        (lambda X: lowdim.PCA(2).fit(da.where(X > 3, np.inf, X)), "infinity"),
        (lambda X: lowdim.PCA(2).fit(ROWS).transform(X[:, :3]).compute(), "features"),
        (lambda X: lowdim.Isomap(2).fit(ROWS).inverse_transform(X[:, :2], return_outside=True), "return_outside"),
    ],
)
def test_what_blocks_cannot_do_is_said(call, says):
    with pytest.raises((TypeError, ValueError), match=says):
        call(da.from_array(ROWS, chunks=(20, 4)))


@pytest.mark.parametrize("rows", [1, 0, 2.5, "many"])
def test_the_size_of_a_sample_is_checked(rows):
    with pytest.raises(ValueError, match="sample_rows must be"), lowdim.config(sample_rows=rows):
        pass


ALL_AT_ONCE = {
    "per_row": lambda D, Z: lowdim.quality.per_row(D, Z),
    "trustworthiness: Z": lambda D, Z: lowdim.quality.trustworthiness(ROWS, D),
    "trust.rows": lambda D, Z: lowdim.trust.rows(D, Z),
    "trust.groups": lambda D, Z: lowdim.trust.groups(D, Z, np.arange(90) % 2),
    "trust.stability": lambda D, Z: lowdim.trust.stability(D, lowdim.PCA(2)),
    "trust.structure": lambda D, Z: lowdim.trust.structure(D, lowdim.PCA(2)),
    "trust.fractures": lambda D, Z: lowdim.trust.fractures(lowdim.TSNE(2), D),
    "intrinsic_dimension": lambda D, Z: lowdim.select.intrinsic_dimension(D),
    "n_components": lambda D, Z: lowdim.select.n_components(D),
    "select.n_neighbors": lambda D, Z: lowdim.select.n_neighbors(D, "isomap"),
    "select.method": lambda D, Z: lowdim.select.method(D),
    "kernel_width": lambda D, Z: lowdim.select.kernel_width(D),
}


@pytest.mark.parametrize("name", ALL_AT_ONCE)
def test_what_needs_all_rows_at_once_says_what_to_compute(name):
    """To compute them silently could fill the memory of the machine."""
    files = ds.dataset(pa.table({f"c{j}": ROWS[:, j] for j in range(4)}))
    for given, words in ((da.from_array(ROWS, chunks=(20, 4)), "collection of Dask"), (files, "a pyarrow data set")):
        with (
            lowdim.config(sample_rows=50),
            pytest.raises(
                TypeError, match=rf"{name}.* must be rows in memory; got .*{words}.* model\.transform\(rows\)"
            ),
        ):
            ALL_AT_ONCE[name](given, ROWS[:, :2])


def test_a_sample_of_rows_is_judged():
    D = da.from_array(ROWS, chunks=(20, 4))
    model = lowdim.PCA(2).fit(D)
    rows = D[::2].compute()
    assert lowdim.quality.trustworthiness(rows, model.transform(rows)) > 0.5
