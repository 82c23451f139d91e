"""Distances between rows with holes, and the maps drawn from them."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics.pairwise import nan_euclidean_distances

import lowdim
from lowdim import ClassicalMDS, Isomap
from lowdim._core.distances import pairwise
from lowdim._core.incomplete.gaussian import Gaussian
from lowdim._core.incomplete.holes import Holes
from lowdim._core.neighbors import nearest, within
from lowdim._core.tables.align import procrustes

pytestmark = [
    pytest.mark.filterwarnings("ignore:ClassicalMDS. the distances are not Euclidean"),
    pytest.mark.filterwarnings("ignore:.*pairs of rows have no observed column in common"),
]


def table(n=60, d=6, share=0.2, dtype=np.float64, offset=0.0):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.3 * rng.standard_normal((n, d)) + offset
    return X, lowdim.datasets.hide_cells(X, share, random_state=1).X.astype(dtype)


def seen(X, policy):
    return Holes.of(X, policy, np.random.default_rng(0), None, "test")


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_pairwise_is_the_scaled_distance_over_shared_columns(offset):
    X, H = table(offset=offset)
    H[10] = H[3]
    holes = seen(H, "pairwise")
    found = pairwise(holes.table(H), metric=holes.metric)
    known = nan_euclidean_distances(H - X.mean(axis=0))
    strangers = np.isnan(known)
    # Older versions of the reference take equal rows for 1e-8 apart.
    np.testing.assert_allclose(found[~strangers], known[~strangers], atol=1e-7)
    np.testing.assert_allclose(found[strangers] ** 2, 2 * np.nanvar(H, axis=0).sum())
    assert found[3, 10] == 0
    new = pairwise(holes.table(H[:7]), holes.table(H), metric=holes.metric)
    np.testing.assert_allclose(new, found[:7], atol=1e-10)


def test_expected_is_the_expectation_under_the_model():
    """Against the conditional means and covariances of the dense Gaussian, written out."""
    _, H = table(20, 4, share=0.3)
    rng = np.random.default_rng(0)
    model = Gaussian(rng.standard_normal(4), rng.standard_normal((4, 2)), rng.random(4) + 0.1)
    holes = Holes("expected", np.zeros(4), 1.0, model)
    means, traces = np.empty_like(H), np.empty(len(H))
    for i, row in enumerate(H):
        o, m = ~np.isnan(row), np.isnan(row)
        C = model.covariance
        gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
        means[i] = row
        means[i, m] = model.mean[m] + gain @ (row[o] - model.mean[o])
        traces[i] = np.trace(C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)])
    squared = ((means[:, None] - means[None]) ** 2).sum(axis=2) + traces[:, None] + traces
    np.fill_diagonal(squared, 0.0)
    np.testing.assert_allclose(pairwise(holes.table(H), metric=holes.metric) ** 2, squared, atol=1e-10)


@pytest.mark.parametrize("policy", ["pairwise", "expected"])
def test_complete_rows_are_at_their_euclidean_distances(policy):
    X, _ = table()
    holes = seen(X, policy)
    rows = holes.table(X)
    np.testing.assert_allclose(pairwise(rows, metric=holes.metric), pairwise(X), atol=1e-7)
    np.testing.assert_allclose(holes.rows(rows), X, atol=1e-12)


@pytest.mark.parametrize("policy", ["pairwise", "expected"])
def test_neighbours_are_those_of_all_distances(policy):
    _, H = table()
    holes = seen(H, policy)
    rows = holes.table(H)
    D = pairwise(rows, metric=holes.metric)
    found = nearest(rows, 5, metric=holes.metric)
    order = np.argsort(D + np.diag(np.full(len(D), np.inf)), axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_allclose(found.distances, np.take_along_axis(D, order, axis=1), rtol=1e-12)
    radius = float(np.median(D))
    reached = within(rows, radius, metric=holes.metric)
    assert reached.nnz == int((radius >= D).sum()) - len(D)


def test_pairs_that_share_no_column_are_counted():
    H = np.array([[1.0, np.nan], [np.nan, 2.0], [np.nan, 3.0], [1.0, 2.0], [2.0, 1.0]])
    with pytest.warns(UserWarning, match="ClassicalMDS: 2 or more pairs of rows have no observed column in common"):
        assert np.isfinite(ClassicalMDS(1, missing="pairwise").fit_transform(H)).all()


MAPS = {"classical-mds": ClassicalMDS(2), "isomap": Isomap(2, n_neighbors=12)}


@pytest.mark.filterwarnings("ignore:Isomap. the neighbour graph")
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_expected_distances_keep_incomplete_rows_nearest_to_their_places(name, load):
    """Held against the map of the complete table: closer than pairwise distances, and than holes at the mean."""
    X = load().data[:250]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    H = lowdim.datasets.hide_cells(X, 0.15, random_state=0).X
    method, full = MAPS[name], MAPS[name].fit_transform(X)
    gaps = {"mean": procrustes(full, method.fit_transform(np.where(np.isnan(H), np.nanmean(H, 0), H))).disparity}
    for policy in ("pairwise", "expected"):
        placed = type(method)(**{**method.get_params(), "missing": policy}).fit_transform(H)
        gaps[policy] = procrustes(full, placed).disparity
    assert gaps["expected"] < 0.9 * min(gaps["pairwise"], gaps["mean"])


@pytest.mark.filterwarnings("ignore:Isomap. the neighbour graph")
@pytest.mark.parametrize("policy", ["pairwise", "expected"])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_incomplete_rows_are_placed_one_by_one(policy, name, dtype, tmp_path):
    X, H = table(120, dtype=dtype)
    model = MAPS[name].__class__(**{**MAPS[name].get_params(), "missing": policy})
    Z = model.fit_transform(H[:100])
    assert Z.dtype == dtype
    assert np.isfinite(Z).all()
    new = model.transform(H[100:])
    assert new.dtype == dtype
    assert np.isfinite(new).all()
    loose = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(np.vstack([model.transform(H[i : i + 1]) for i in range(100, 120)]), new, atol=loose)
    complete = model.transform(X[100:].astype(dtype))
    assert np.sqrt(((complete - new) ** 2).mean()) < 0.7 * Z.std()
    # A row meets itself as another row with the same cells: not at 0 under "expected", hence not exactly its place.
    gap = np.sqrt(((model.transform(H[:100]) - Z) ** 2).mean()) / Z.std()
    assert gap < (0.15 if policy == "expected" else 1e-3)
    assert model.inverse_transform(Z).shape == (100, 6)
    lowdim.save(model, tmp_path / "model.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "model.lowdim").transform(H[100:]), new)


def test_a_fitted_row_given_again_is_shrunk_by_its_variance():
    _, H = table()
    model = ClassicalMDS(2, missing="expected", random_state=0).fit(H)
    variance = model._holes.model.conditional(H)[1].sum(axis=1)
    expected = (1 - variance[:, None] / model.eigenvalues_) * model.embedding_
    np.testing.assert_allclose(model.transform(H), expected, atol=1e-10)


def test_other_metrics_are_refused():
    _, H = table()
    with pytest.raises(ValueError, match="missing='expected' must go with metric='euclidean'"):
        ClassicalMDS(2, metric="manhattan", missing="expected").fit(H)
    with pytest.raises(ValueError, match="missing must be one of"):
        Isomap(2, missing="drop").fit(H)
