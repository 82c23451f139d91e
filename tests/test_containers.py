"""The same numbers, whatever holds the rows: lists, frames of several kinds, decimal numbers of databases."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lowdim

X = np.random.default_rng(1).standard_normal((50, 5))
X[25:, 0] += 4.0
X = X.round(6)
Z = X[:, :2].copy()
LABELS = np.arange(50) >= 25
DECIMALS = pd.DataFrame(X, columns=list("abcde")).map(lambda value: Decimal(f"{value:.6f}"))
HOLES = np.where(X > 2.0, np.nan, X)

HELD = {
    "lists": X.tolist(),
    "tuples": tuple(map(tuple, X.tolist())),
    "objects": X.astype(object),
    "pandas": pd.DataFrame(X, columns=list("abcde"), index=range(100, 150)),
    "pandas, nullable": pd.DataFrame(X, columns=list("abcde")).convert_dtypes(),
    "pandas on Arrow": pd.DataFrame(X, columns=list("abcde")).convert_dtypes(dtype_backend="pyarrow"),
    "decimal numbers": DECIMALS,
    "decimal numbers of Arrow": DECIMALS.astype(pd.ArrowDtype(pa.decimal128(12, 6))),
    "decimal numbers of polars": pl.DataFrame({name: DECIMALS[name].tolist() for name in DECIMALS}),
    "polars": pl.DataFrame(X, schema=list("abcde")),
}
FUNCTIONS = {
    "PCA": lambda rows: lowdim.PCA(2).fit_transform(rows),
    "MDS, Gower": lambda rows: lowdim.MDS(2, metric="gower", random_state=0).fit_transform(rows),
    "FAMD": lambda rows: lowdim.FAMD(2).fit_transform(rows),
    "NeighborGraph": lambda rows: lowdim.NeighborGraph(5).fit_transform(rows).toarray(),
    "scores": lambda rows: list(lowdim.quality.scores(rows, Z).values()),
    "trust.rows": lambda rows: lowdim.trust.rows(rows, Z, n_null=2, random_state=0).p_values,
    "trust.groups": lambda rows: [group.valley for group in lowdim.trust.groups(rows, Z, LABELS * 1).table],
    "trust.structure": lambda rows: lowdim.trust.structure(rows, lowdim.PCA(1), n_null=2, random_state=0).p_value,
    "trust.stability": lambda rows: lowdim.trust.stability(rows, lowdim.PCA(1), n_resamples=2, random_state=0).overall,
    "n_components": lambda rows: lowdim.select.n_components(rows, random_state=0).median,
    "intrinsic_dimension": lambda rows: lowdim.select.intrinsic_dimension(rows).value,
    "select.method": lambda rows: lowdim.select.method(rows, methods=["pca", "isomap"]).scores["pca"],
    "impute": lambda rows: lowdim.impute(rows, 2, method="regularized", random_state=0).mean,
}


@pytest.mark.filterwarnings("ignore:.*no missing cell:UserWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_answer_whatever_holds_the_rows(name):
    wanted = np.asarray(FUNCTIONS[name](X), dtype=object)
    for held, rows in HELD.items():
        found = np.asarray(FUNCTIONS[name](rows), dtype=object)
        for a, b in zip(found.ravel(), wanted.ravel(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=held) if isinstance(b, float) else None
        assert found.shape == wanted.shape


def test_holes_among_decimal_numbers():
    rows = pd.DataFrame(HOLES, columns=list("abcde")).map(lambda v: None if np.isnan(v) else Decimal(str(v)))
    rows.iloc[3, 1], wanted = Decimal("NaN"), HOLES.copy()
    wanted[3, 1] = np.nan
    for given in (rows, rows.to_numpy()):
        found, complete = (
            lowdim.impute(table, 2, method="regularized", random_state=0).mean for table in (given, wanted)
        )
        np.testing.assert_allclose(np.asarray(found, float), complete)


def test_groups_of_distances_in_a_frame():
    D = lowdim.dissimilarities(X, metric="euclidean")
    wanted = lowdim.trust.groups(X, Z, LABELS * 1).table
    frame = pd.DataFrame(D, index=[f"row {i}" for i in range(50)], columns=[f"row {i}" for i in range(50)])
    for held in (D, D.tolist(), frame, frame[frame.columns[::-1]]):  # columns are matched with rows by their names
        found = lowdim.trust.groups(held, Z, LABELS * 1, metric="precomputed").table
        assert [group.verdict for group in found] == [group.verdict for group in wanted]
        np.testing.assert_allclose([group.border for group in found], [group.border for group in wanted])
