"""Models of imputation by themselves."""

import numpy as np

import lowdim
from lowdim._core.tables.indicators import Layout
from lowdim.imputation.cells import Cells
from lowdim.imputation.models.chains import RidgeChain
from lowdim.imputation.models.model import Effort


def spectra(n=80, d=30):
    """Smooth curves of five kinds with a little noise: neighbouring columns are nearly equal."""
    rng = np.random.default_rng(0)
    places = np.linspace(0, 1, d)
    kinds = np.exp(-0.5 * ((places - np.linspace(0.1, 0.9, 5)[:, None]) / 0.15) ** 2)
    X = rng.standard_normal((n, 5)) @ kinds + 1e-4 * rng.standard_normal((n, d))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_ridge_chains_from_a_low_rank_completion_settle_where_columns_are_nearly_equal():
    X = spectra()
    H = np.asarray(lowdim.datasets.hide_cells(X, 0.2, random_state=0).X)
    cells, model = Cells(H, Layout.of([None] * X.shape[1])), RidgeChain(Effort())
    plain, low_rank = model.path(cells)
    assert (plain, low_rank) == (0, 10)
    errors = [np.sqrt(np.mean((model.fill(cells, start) - X)[np.isnan(H)] ** 2)) for start in (plain, low_rank)]
    assert errors[1] < 0.8 * errors[0]
    assert model.said(low_rank) == "started from 10 components"
    categories = Cells(np.column_stack([H[:, :2], np.arange(80) % 2]), Layout.of([None, None, ("a", "b")]))
    assert model.path(categories) == [0]
