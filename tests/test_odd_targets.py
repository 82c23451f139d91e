"""Odd labels, second tables, weights and initial maps, through every method that takes some."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

import lowdim
from tests import odd_inputs as odd

N = 30
CODES = np.arange(N) % 3
TARGETS = {
    "None": lambda: None,
    "text and None": lambda: np.array(["a", None, 1] * 10, dtype=object),
    "NaN": lambda: np.where(CODES == 0, np.nan, CODES),
    "infinity": lambda: np.where(CODES == 0, np.inf, CODES),
    "too few": lambda: CODES[:5],
    "two columns": lambda: np.column_stack([CODES, CODES]),
    "one column": lambda: CODES[:, None],
    "three dimensions": lambda: np.zeros((N, 2, 2)),
    "sparse": lambda: sparse.csr_array(np.column_stack([CODES, CODES]).astype(float)),
    "malformed sparse": odd.MALFORMED["CSR, far too large index"],
    "complex": lambda: CODES + 1j,
    "dates": lambda: np.array("2026-01-01", dtype="M8[D]") + CODES,
    "one class": lambda: np.zeros(N),
    "a quantity": lambda: np.linspace(0, 1, N),
    "a number": lambda: 3,
    "a word": lambda: "abc",
    "a set": lambda: {1, 2},
    "a dict": lambda: {i: i for i in range(N)},
    "bytes": lambda: np.array([b"a", b"b", b"c"] * 10),
    "categories with NA": lambda: pd.Series(pd.Categorical(["a", None, "c"] * 10)),
    "whole numbers with NA": lambda: pd.Series([1, None, 2] * 10, dtype="Int64"),
    "a frame": lambda: pd.DataFrame({"a": CODES, "b": CODES}),
    "polars": lambda: pl.Series(list("abc") * 10),
    "numbers of 400 digits": lambda: np.array([10**400, 1, 2] * 10, dtype=object),
    "lists": lambda: [[1], [2, 3]] * 15,
    "lists as objects": lambda: np.array([[1], [2, 3], None] * 10, dtype=object),
    "largest floats": lambda: np.where(CODES == 0, 1.7e308, -1.7e308),
    "beyond float64": lambda: CODES * np.longdouble("1e400"),
    "text in a table": lambda: np.array([["a", "b"]] * N),
    "a function": lambda: len,
}
METHODS = {
    "LDA": lambda X, y: lowdim.LDA(1).fit(X, y).transform(X),
    "LDA, batches": lambda X, y: lowdim.LDA(1).partial_fit(X, y) and None,
    "CCA": lambda X, y: lowdim.CCA(1).fit(X, y).transform(X),
    "CCA, batches": lambda X, y: lowdim.CCA(1).partial_fit(X, y) and None,
    "KernelCCA": lambda X, y: lowdim.KernelCCA(1).fit(X, y).transform(X),
    "UMAP": lambda X, y: lowdim.UMAP(2, n_neighbors=5, max_iter=5, random_state=0).fit(X, y).embedding_,
    "UMAP, init": lambda X, y: lowdim.UMAP(2, n_neighbors=5, max_iter=5, init=y).fit(X).embedding_,
    "TSNE, init": lambda X, y: lowdim.TSNE(2, perplexity=5, max_iter=10, init=y).fit(X).embedding_,
    "MDS, init": lambda X, y: lowdim.MDS(2, max_iter=5, init=y).fit(X).embedding_,
    "MDS, weights": lambda X, y: lowdim.MDS(2, max_iter=5, weights=y).fit(X).embedding_,
    "PCA, weights": lambda X, y: lowdim.PCA(2).fit(X, sample_weight=y).transform(X),
    "ColumnSelection": lambda X, y: lowdim.ColumnSelection(2, criterion="mutual-information").fit_transform(X, y),
}


@pytest.mark.parametrize("name", METHODS)
def test_odd_targets(name):
    """A finite map, or an error of ours; scikit-learn's warning about a column of labels is part of its contract."""
    wrong = {}
    for target, make in TARGETS.items():
        said = odd.outcome(lambda make=make: METHODS[name](odd.plain(), make()), (name.split(",")[0],))
        if said and DataConversionWarning.__name__ not in said:
            wrong[target] = said
    assert wrong == {}


def test_labels_of_several_kinds_are_named():
    with pytest.raises(TypeError, match=r"labels of one kind.*; got NoneType, int, str"):
        lowdim.LDA(1).fit(odd.plain(), TARGETS["text and None"]())
