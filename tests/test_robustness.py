"""The sweep: odd and degenerate tables through every estimator and every entry point.

Every call ends in a finite answer or in an error of ours that says what to do; a warning is ours too; the table given
stays as it was, bit for bit. `docs/robustness.md` lists what is tried.
"""

import warnings
from contextlib import nullcontext, suppress

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

import lowdim
from lowdim.imputation.impute import BASELINES
from tests import odd_inputs as odd
from tests.estimators import CASES, VARIANTS, Case, case_id, thirds

TORCH = ("Autoencoder", "VAE", "NLPCA", "InverseNLPCA")
LONG = (*TORCH, "GPLVM", "MVU")
OTHERS = [Case(lowdim.MCA(n_components=2)), Case(lowdim.CA(n_components=2))]
EACH = CASES + OTHERS
each = pytest.mark.parametrize("case", EACH, ids=case_id)

# What is tried in the quick tier where fits are long.
FEW = (
    *("one row", "two rows", "one column", "all cells equal", "1e-300", "1e100", "1e300", "float32 1e20", "infinity"),
    *("NaN", "integers", "text", "no rows", "sparse", "pandas, names twice", "polars lazy"),
)
# Scales at which a method is known to give something else than a finite answer or an error of ours, and why.
KNOWN: dict[tuple[str, str], str] = {
    ("stress", "denormal"): "infinite, by its definition: the map is 1e320 times as large as the data",
    **{("sammon", name): "the same, in squares" for name in ("1e-300", "1e-160", "denormal")},
}


def rows_of(X):
    return X.shape[0] if getattr(X, "ndim", 2) and hasattr(X, "shape") else 20


def targets(case, X):
    """Labels or a second table for as many rows as there are."""
    return () if case.target is None else (case.target(np.resize(odd.plain(), (max(1, rows_of(X)), 4))),)


def tried(case, name):
    """What is wrong with fit, transform and inverse_transform on a table; "" for nothing."""
    X, model = odd.TABLES[name](), clone(case.estimator)
    before = odd.footprint(X) if name in UNCHANGED else None
    owners = (case.name, "Polynomial")  # a kernel speaks for itself
    said = odd.outcome(lambda: finite_cells(case, X, model.fit(X, *targets(case, X)).transform(X)), owners)
    if not said and hasattr(model, "n_features_in_") and hasattr(model, "inverse_transform"):
        said = odd.outcome(lambda: finite_cells(case, X, model.inverse_transform(model.transform(X))), owners)
    if not said and before is not None and odd.footprint(X) != before:
        said = "the table was changed"
    return said


def finite_cells(case, X, answer):
    """The answer; of a map of single cells those that X has."""
    return np.nan_to_num(answer, posinf=np.inf) if case.of_cells else answer


UNCHANGED = [
    name
    for name, make in odd.TABLES.items()
    if isinstance(make(), (np.ndarray, pd.DataFrame, pl.DataFrame)) or sparse.issparse(make())
]


def swept(case, names):
    wrong = {name: said for name in names if (said := tried(case, name))}
    known = {name for owner, name in KNOWN if owner == case.name}
    assert {name: said for name, said in wrong.items() if name not in known} == {}
    healed = sorted(known & set(names) - set(wrong))
    assert not healed, f"{case.name} now copes with {healed}: take it out of KNOWN"


@each
def test_odd_tables_through_every_estimator(case):
    swept(case, FEW if case.name in LONG else odd.TABLES)


@pytest.mark.deep
@pytest.mark.timeout(900)
@pytest.mark.parametrize("case", VARIANTS + [case for case in CASES if case.name in LONG], ids=case_id)
def test_odd_tables_through_every_variant(case):
    known = {name for owner, name in KNOWN if owner == case.name}
    wrong = {name: said for name in odd.TABLES if name not in known and (said := tried(case, name))}
    assert wrong == {}


# ---- new rows -----------------------------------------------------------------------------------------------

NEW = [name for name, make in odd.TABLES.items() if getattr(make(), "shape", (0, 0))[1:] == (4,)]


@each
def test_odd_new_rows(case):
    """A model fitted on plain rows: any new row is placed or refused, and coordinates likewise."""
    X = np.abs(odd.plain()) if case.name == "CA" else odd.plain()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = case.fit(clone(case.estimator), X)
    wrong = {}
    for name in NEW[::4] if case.name in LONG else NEW:
        rows = odd.TABLES[name]()
        before = odd.footprint(rows) if name in UNCHANGED else None
        said = odd.outcome(lambda rows=rows: finite_cells(case, rows, model.transform(rows)), (case.name,))
        if before is not None and odd.footprint(rows) != before:
            said = "the rows were changed"
        if said and (case.name, f"new rows: {name}") not in KNOWN and "X has feature names" not in said:
            wrong[name] = said
    k = model._n_features_out
    if hasattr(model, "inverse_transform"):
        for name, Z in {
            "no rows": np.empty((0, k)),
            "NaN": np.full((2, k), np.nan),
            "infinity": np.full((2, k), np.inf),
            "text": np.full((2, k), "a"),
            "too wide": np.zeros((2, k + 1)),
            "one dimension": np.zeros(k),
            "None": None,
            "far": np.full((2, k), 1e60),
        }.items():
            said = odd.outcome(lambda Z=Z: finite_cells(case, Z, model.inverse_transform(Z)), (case.name,))
            if said:
                wrong[f"inverse of {name}"] = said
    assert wrong == {}


# ---- functions ----------------------------------------------------------------------------------------------

MAP = np.random.default_rng(1).standard_normal((40, 2))


def _embedding(X):
    return np.resize(MAP, (max(1, rows_of(X)), 2))


FUNCTIONS = {
    "scores": lambda X: lowdim.quality.scores(X, _embedding(X), n_neighbors=3),
    "rnx_auc": lambda X: lowdim.quality.rnx_auc(X, _embedding(X)),
    "stress": lambda X: lowdim.quality.stress(X, _embedding(X)),
    "trustworthiness": lambda X: lowdim.quality.trustworthiness(X, _embedding(X), 3),
    "per_row": lambda X: lowdim.quality.per_row(X, _embedding(X)),
    "degeneracy": lambda X: lowdim.quality.degeneracy(X),
    "procrustes": lambda X: lowdim.quality.procrustes(X, _embedding(X)),
    "knn_error": lambda X: lowdim.quality.knn_error(X, np.arange(rows_of(X)) % 2, 1),
    "n_components": lambda X: lowdim.select.n_components(X, rules=["share", "kaiser"]),
    "n_dimensions": lambda X: lowdim.select.n_dimensions(X, metric="euclidean"),
    "low_rank": lambda X: lowdim.low_rank(X, 1).to_array(),
    "pseudo_inverse": lambda X: lowdim.pseudo_inverse(X),
    "dissimilarities": lambda X: lowdim.dissimilarities(X, metric="euclidean"),
    "impute": lambda X: lowdim.impute(X, 1, n_components=1, random_state=0).mean,
    "compare": lambda X, **more: lowdim.compare(X, methods=["pca"], verbose=False, **more).scores,
    "NeighborGraph": lambda X: lowdim.NeighborGraph(2).fit_transform(X).data,
    "mrre": lambda X: lowdim.quality.mrre(X, _embedding(X), 3),
    "sammon": lambda X: lowdim.quality.sammon(X, _embedding(X)),
    "shepard": lambda X: lowdim.quality.shepard(X, _embedding(X)),
    "residual_variance": lambda X: lowdim.quality.residual_variance(X, _embedding(X), graph_neighbors=3),
    "truncated_auc": lambda X: lowdim.quality.truncated_auc(X, _embedding(X), 5),
    "per_row_estimate": lambda X: lowdim.quality.per_row_estimate(X, _embedding(X), 3),
    "intrinsic_dimension": lambda X: lowdim.select.intrinsic_dimension(X),
    "kernel_width": lambda X: lowdim.select.kernel_width(X, n_components=1, widths=[1.0, 2.0], n_folds=2),
    "select.n_neighbors": lambda X: lowdim.select.n_neighbors(X, "isomap", grid=[3, 5]),
    "select.method": lambda X: lowdim.select.method(X, methods=["pca", "isomap"]),
    "trust.rows": lambda X: lowdim.trust.rows(X, _embedding(X), n_null=2, n_neighbors=3, random_state=0),
    "trust.groups": lambda X: lowdim.trust.groups(X, _embedding(X), np.arange(rows_of(X)) % 2, n_neighbors=3),
    "trust.structure": lambda X: lowdim.trust.structure(X, lowdim.PCA(1), n_null=2, random_state=0),
    "trust.stability": lambda X: lowdim.trust.stability(X, lowdim.PCA(1), n_resamples=2, n_neighbors=3, vary=["rows"]),
}
JUDGED = (
    *FEW,
    "rows repeated",
    "two different rows",
    "one row differs",
    "rank one",
)  # with a verdict: longer
INSIDE = ("Ranks.of", "svd", "PCA", "Isomap", "intrinsic_dimension")  # what functions call, and what may speak for them


def numbers_in(found):
    """The numbers of an answer; of records none: their own tests look into them."""
    return found if isinstance(found, (float, np.ndarray)) else None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_odd_tables_through_every_function(little_noise, name):
    wrong = {}
    for table, make in odd.TABLES.items():
        X = make()
        before = odd.footprint(X) if table in UNCHANGED else None
        more = {"verdict": table in JUDGED} if name == "compare" else {}
        said = odd.outcome(lambda X=X, more=more: numbers_in(FUNCTIONS[name](X, **more)), (name, *INSIDE))
        if before is not None and odd.footprint(X) != before:
            said = "the table was changed"
        if said:
            wrong[table] = said
    known = {table for owner, table in KNOWN if owner == name}
    assert {table: said for table, said in wrong.items() if table not in known} == {}
    assert known <= set(wrong), f"{name} now copes with {sorted(known - set(wrong))}: take it out of KNOWN"


@pytest.mark.deep
@pytest.mark.parametrize("method", BASELINES)
def test_odd_tables_through_every_way_of_filling(method):
    wrong = {}
    for table, make in odd.TABLES.items():
        settings = {"method": method, "n_components": 1, "random_state": 0}
        if said := odd.outcome(lambda X=make, s=settings: numbers_in(lowdim.impute(X(), 1, **s).mean), ("impute",)):
            wrong[table] = said
    assert wrong == {}


# ---- rows in blocks -----------------------------------------------------------------------------------------

FLOATS = [
    name for name in NEW if isinstance(odd.TABLES[name](), np.ndarray) and odd.TABLES[name]().dtype.kind in "fiub"
]


def as_batch(rows):
    columns = [pa.array(column) for column in np.asarray(rows, dtype=np.float64).T]
    return pa.RecordBatch.from_arrays(columns, names=list("abcd"))


def placed(batches):
    return pa.Table.from_batches(batches).to_pandas().to_numpy()


def either(call):
    """The answer, or what the error says."""
    try:
        return call()
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("model", [lowdim.PCA(2), lowdim.PCA(2, missing="error"), lowdim.Isomap(2)], ids=repr)
def test_odd_batches_are_placed_as_odd_rows_are(model):
    """The numbers of `transform`, or its error."""
    model = model.fit(odd.plain())
    for name in set(FLOATS) - {"no rows"}:
        rows = np.asarray(odd.TABLES[name](), dtype=np.float64)
        wanted = either(lambda X=rows: model.transform(X))
        found = either(lambda X=rows: placed(lowdim.transform_batches(model, [as_batch(X)])))
        np.testing.assert_array_equal(found, wanted, err_msg=name)
    assert placed(lowdim.transform_batches(model, [as_batch(odd.plain()[:0])])).shape == (0, 2)


@pytest.mark.parametrize("model", [lowdim.PCA(2), lowdim.Whitening(2)], ids=repr)
def test_odd_blocks_of_dask_end_as_odd_rows_do(model):
    """A finite map, or an error of ours; never another library's."""
    wrong = {}
    for name in FLOATS[::3]:
        X = da.from_array(odd.TABLES[name](), chunks=(7, 4))
        fit = lambda X=X: np.asarray(clone(model).fit(X).transform(X))  # noqa: E731
        if said := odd.outcome(fit, (type(model).__name__,)):
            wrong[name] = said
    assert wrong == {}


@pytest.mark.parametrize("case", [lowdim.PCA(2), lowdim.Isomap(2, n_neighbors=2), lowdim.TruncatedSVD(2)], ids=repr)
@pytest.mark.parametrize("name", odd.MALFORMED)
def test_malformed_blocks_reach_no_compiled_code(case, name):
    """Nor blocks that are not as wide as the table of Dask says."""
    whole = da.from_array(odd.plain(9), chunks=(3, 4))
    owner = type(case).__name__
    with pytest.raises(ValueError, match=f"{owner}: a block of rows is not a valid sparse table"):
        clone(case).fit(whole.map_blocks(lambda _: odd.MALFORMED[name](), dtype=float))
    if case._embed_batches is not None:
        with pytest.raises(ValueError, match=f"{owner}: a block of rows is not a valid sparse table"):
            clone(case).fit(iter([odd.MALFORMED[name]()]))
    with pytest.raises(ValueError, match=f"{owner}: X must have 4 columns, as it announces; a block has 3"):
        clone(case).fit(whole.map_blocks(lambda block: block[:, :3], dtype=float))


# ---- malformed sparse tables --------------------------------------------------------------------------------

SPARSE = [case for case in EACH if case.estimator._sparse_rows or case.estimator._sparse_graphs]
READS_SPARSE = {
    "nearest": lambda X: lowdim._core.neighbors.nearest(X, 1, owner="nearest"),
    "pairwise": lambda X: lowdim._core.distances.pairwise(X),
    "scores": lambda X: lowdim.quality.scores(X, _embedding(X), n_neighbors=1),
    "knn_error": lambda X: lowdim.quality.knn_error(X, np.arange(X.shape[0]) % 2, 1),
    "low_rank": lambda X: lowdim.low_rank(X, 1),
    "pseudo_inverse": lowdim.pseudo_inverse,
    "RBF": lambda X: lowdim.kernels.RBF(1.0)(X),
}


@pytest.mark.parametrize("name", odd.MALFORMED)
def test_malformed_sparse_tables_reach_no_compiled_code(name):
    """Indices outside the table made compiled code read outside its arrays."""
    for case in SPARSE:
        X, graphs = odd.MALFORMED[name](), case.estimator._sparse_graphs
        for settings in [{}] * case.estimator._sparse_rows + [{"metric": "precomputed"}] * graphs:
            with pytest.raises(ValueError, match=f"{case.name}: .*is not a valid sparse table"):
                clone(case.estimator).set_params(**settings).fit(X, *targets(case, X))
    for owner, read in READS_SPARSE.items():
        with pytest.raises(ValueError, match=f"{owner}: .*is not a valid sparse table"):
            read(odd.MALFORMED[name]())


@pytest.mark.parametrize("case", [case for case in SPARSE if case.estimator._sparse_rows], ids=case_id)
def test_new_rows_that_are_malformed(case):
    X = sparse.csr_array(np.abs(odd.plain()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = case.fit(clone(case.estimator), X if case.target is None else odd.plain())
    bad = odd.MALFORMED["CSR, far too large index"]()
    with pytest.raises(ValueError, match=f"{case.name}: X is not a valid sparse table"):
        model.transform(bad)


# ---- tables stay as they are --------------------------------------------------------------------------------


def _read_only(X):
    X.flags.writeable = False
    return X


def _unsorted(make):
    """A sparse table whose indices are not in order, as sums and slices leave it."""
    X = make(sparse.csr_array(np.where(odd.plain() > 0.5, odd.plain(), 0.0)))
    for i in range(len(X.indptr) - 1):
        part = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[part], X.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()
    X.has_sorted_indices = False
    return X


FORMATS = {
    "C order": odd.plain,
    "Fortran order": lambda: np.asfortranarray(odd.plain()),
    "every other row": lambda: np.repeat(odd.plain(), 2, axis=0)[::2],
    "reversed": lambda: odd.plain()[::-1, ::-1],
    "read-only": lambda: _read_only(odd.plain()),
    "read-only Fortran": lambda: _read_only(np.asfortranarray(odd.plain())),
    "float32": lambda: odd.plain().astype(np.float32),
    "float32 Fortran": lambda: np.asfortranarray(odd.plain().astype(np.float32)),
    "big-endian": lambda: odd.plain().astype(">f8"),
    "integers": lambda: np.rint(odd.plain()).astype(np.int32),
    "CSR, unsorted": lambda: _unsorted(lambda X: X),
    "CSC, unsorted": lambda: _unsorted(lambda X: X.tocsc()),
    "COO": lambda: sparse.coo_array(np.where(odd.plain() > 0.5, odd.plain(), 0.0)),
    "pandas": lambda: pd.DataFrame(odd.plain(), columns=list("abcd")),
    "polars": lambda: pl.DataFrame(odd.plain(), schema=list("abcd")),
}


@pytest.fixture
def formats(tmp_path):
    def mapped():
        X = np.memmap(tmp_path / "rows", np.float64, "w+", shape=(30, 4))
        X[:] = odd.plain()
        return X

    return FORMATS | {"memory map": mapped}


SORTS = Case(lowdim.LDA(n_components=2, shrinkage="auto"), target=thirds)  # counts stored cells column by column
ENTRIES = [SORTS] + [case for case in EACH + VARIANTS if case.name not in (*TORCH, "GPLVM", "MVU", "CA")]


@pytest.mark.parametrize("case", ENTRIES, ids=case_id)
def test_no_estimator_changes_what_it_is_given(case, formats):
    wide = case.name in ("LDA", "CCA", "PCA", "TruncatedSVD", "Whitening", "Isomap", "KernelPCA")
    quick = ("C order", "Fortran order", "read-only Fortran", "CSR, unsorted", "CSC, unsorted")
    for name in formats if wide else quick:
        X, model = formats[name](), clone(case.estimator)
        before, y = odd.footprint(X), targets(case, X)
        given = [odd.footprint(table) for table in y]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X, *y)
            except (ValueError, TypeError):
                assert case is not SORTS
                assert sparse.issparse(X) or case.name == "MCA", name
            else:
                Z = model.transform(X)
                kept = odd.footprint(Z)
                model.inverse_transform(Z)
                assert odd.footprint(Z) == kept, f"{name}: inverse_transform"
        assert odd.footprint(X) == before, name
        assert [odd.footprint(table) for table in y] == given, f"{name}: y"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_function_changes_what_it_is_given(little_noise, name, formats):
    for form, make in formats.items():
        X = make()
        before = odd.footprint(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(ValueError, TypeError) if sparse.issparse(X) else nullcontext():
                FUNCTIONS[name](X)
        assert odd.footprint(X) == before, form


def test_every_way_of_filling_takes_every_order_of_memory():
    X = odd.plain()
    X[3, 1] = X[7, 2] = np.nan
    for method in BASELINES:
        want = lowdim.impute(X, 1, method=method).mean
        for form in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], _read_only(X.copy())):
            before = odd.footprint(form)
            np.testing.assert_allclose(lowdim.impute(form, 1, method=method).mean, want, rtol=1e-9)
            assert odd.footprint(form) == before
